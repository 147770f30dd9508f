// The parts of the opencode adapter, put together for the registry, and what it can and cannot tell.

import { agentName } from '../../model/ids.ts';
import { type Agent, contractVersion } from '../contract.ts';
import { serverChannel } from './channel.ts';
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
  name: agentName('opencode'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: true,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
    measured: ['1.18.33 (events, screen)', '1.14.41 (screen)', '1.2.27 (screen, in part)', '1.0.98 (screen, in part)'],
    limits: [
      'Without the plugin and without --port only the screen speaks.',
      'A view of a subagent shows no sign of life: its screen is unknown.',
      'On the screen a failed turn is told by its shape; after several failures in a row it is unknown.',
      'On the screen an answer that its model cut off looks finished; events tell it.',
      'Events do not tell which conversation the terminal shows: one that runs behind another counts as well.',
      'A server that others are attached to (`opencode attach`) is not followed.',
    ],
  },
  identify,
  childVariables: ['OPENCODE\\w*'],
  screen,
  hooks,
  natives,
  install,
  mcp,
  keys,
  transcript,
  sessions,
  acp,
  channel: serverChannel({ agent: 'opencode', hasOwnPassword: false }),
  usage,
};
