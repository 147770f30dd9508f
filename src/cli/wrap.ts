// `agtmux wrap`: hands the terminal to bin/agtmux-wrap, which starts the agent and tells its exact end. This process makes
// room for it where it can, so that no second program stays behind every agent.

import { fileURLToPath } from 'node:url';
import { becomeProgram } from '../platform/launch.ts';
import type { Action } from './context.ts';

export const wrap: Action = async (parsed, context) => {
  const program = fileURLToPath(new URL('../bin/agtmux-wrap', context.daemonUrl));
  process.exitCode = await becomeProgram('/bin/sh', ['sh', program, '--', ...parsed.args], process.env);
};
