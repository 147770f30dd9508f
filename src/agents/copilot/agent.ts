// The parts of the copilot adapter, put together for the registry, and what it can and cannot tell.

import { agentName } from '../../model/ids.ts';
import { type Agent, contractVersion } from '../contract.ts';
import { hooks } from './hooks.ts';
import { identify } from './identify.ts';
import { install } from './install.ts';
import { keys } from './keys.ts';
import { mcp } from './mcp.ts';
import { natives } from './native.ts';
import screen from './screen.json' with { type: 'json' };
import { acp, sessions } from './session.ts';
import { transcript } from './transcript.ts';
import { usage } from './usage.ts';

export const agent: Agent = {
  name: agentName('copilot'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: true,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
    measured: ['1.0.102', 'screens of 1.0.46'],
    limits: [
      'Its title says nothing about its state.',
      'No hook is called when a person interrupts, approves or refuses; its journal and its screen tell it.',
      'Its journal begins with the first prompt; until then, and for the trust dialog, only the screen speaks.',
      'A run with several conversations open is told by whichever of them wrote last.',
      'An answer that its model cut off looks finished, on its screen and in its journal.',
      'A message of 20 KB or more it keeps in a file, and tells its model where that is.',
      'Autopilot, subagents and a GitHub login were not run.',
    ],
  },
  identify,
  childVariables: ['COPILOT_\\w+'],
  screen,
  hooks,
  natives,
  install,
  mcp,
  keys,
  transcript,
  sessions,
  acp,
  usage,
};
