// The parts of the kilo adapter, put together for the registry, and what it can and cannot tell.

import { agentName } from '../../model/ids.ts';
import { type Agent, contractVersion } from '../contract.ts';
import { serverChannel } from '../opencode/channel.ts';
import { hooks } from './hooks.ts';
import { identify } from './identify.ts';
import { install } from './install.ts';
import { keys } from './keys.ts';
import { mcp } from './mcp.ts';
import { natives } from './native.ts';
import { screen } from './screen.ts';
import { acp, sessions } from './session.ts';
import { transcript } from './transcript.ts';
import { usage } from './usage.ts';

export const agent: Agent = {
  name: agentName('kilo'),
  forkOf: agentName('opencode'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: true,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
    measured: ['7.7.7 (screen, events, that it loads a plugin)'],
    limits: [
      'Before 7 it was another program, driven by lines; in a pane only its process is known.',
      'Without the plugin only the screen speaks: a server opened with --port wants a password that 7.7.7 makes up itself.',
      'At the keyboard a refusal takes two steps: it asks for a reason before it counts.',
      'A view of a subagent shows no sign of life: its screen is unknown.',
      'On the screen a failed turn is told by its shape; after several failures in a row it is unknown.',
    ],
  },
  identify,
  childVariables: ['KILO\\w*'],
  screen,
  hooks,
  natives,
  install,
  mcp,
  keys,
  transcript,
  sessions,
  acp,
  // 7.7.7 makes one up.
  channel: serverChannel({ agent: 'kilo', hasOwnPassword: true }),
  usage,
};
