// The parts of the gemini adapter, put together for the registry, and what it can and cannot tell.

import { agentName } from '../../model/ids.ts';
import { type Agent, contractVersion } from '../contract.ts';
import { hooks } from './hooks.ts';
import { identify } from './identify.ts';
import { install } from './install.ts';
import { keys } from './keys.ts';
import { mcp } from './mcp.ts';
import screen from './screen.json' with { type: 'json' };
import { acp, sessions } from './session.ts';
import { transcript } from './transcript.ts';
import { usage } from './usage.ts';

export const agent: Agent = {
  name: agentName('gemini'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: true,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
    measured: ['0.61.0', 'screens of 0.22.4 and 0.36.0'],
    limits: [
      'No hook is called when a person refuses at a dialog or stops a tool; the screen tells it within a second.',
      'A hook tells the end of a turn and not how it went; the screen tells a finished one from an error and an interrupt.',
      'Hooks carry no ids of tools: when one has ended, every ask of its conversation is taken as answered.',
      'Subagents, plan mode and MCP approvals were not run; their kinds are from its source.',
    ],
  },
  identify,
  childVariables: ['GEMINI_CLI\\w*'],
  screen,
  hooks,
  natives: [],
  install,
  mcp,
  keys,
  transcript,
  sessions,
  acp,
  usage,
};
