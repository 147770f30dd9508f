// The parts of the cursor adapter, put together for the registry, and what it can and cannot tell.

import { agentName } from '../../model/ids.ts';
import { type Agent, contractVersion } from '../contract.ts';
import { hooks } from './hooks.ts';
import { identify } from './identify.ts';
import { install } from './install.ts';
import { keys } from './keys.ts';
import { mcp } from './mcp.ts';
import { natives } from './native.ts';
import screen from './screen.json' with { type: 'json' };

export const agent: Agent = {
  name: agentName('cursor'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: true,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
    measured: [],
    limits: [
      'Not tested with the real program: everything is from its documentation and from captures of others.',
      'Asking for approval fires no hook; it is read from the screen with low confidence.',
      'A ready prompt is not told from a busy one on the screen: without hooks it is unknown.',
      'Its hooks are not called in print mode.',
    ],
  },
  identify,
  // Its editor sets the trace id in the terminals of people.
  childVariables: ['CURSOR_(?!TRACE_ID$)\\w+'],
  screen,
  hooks,
  natives,
  install,
  mcp,
  keys,
};
