// The parts of the opencode adapter, put together for the registry, and what it can and cannot tell.

import { agentName } from '../../model/ids.ts';
import { type Agent, contractVersion } from '../contract.ts';
import { identify } from './identify.ts';
import screen from './screen.json' with { type: 'json' };

export const agent: Agent = {
  name: agentName('opencode'),
  contract: contractVersion,
  capabilities: {
    event_driven: false,
    polling_required: true,
    supports_waiting_approval: false,
    supports_waiting_input: false,
    supports_completed: false,
    supports_interrupted: false,
    measured: [],
    limits: [],
  },
  identify,
  screen,
  hooks: null,
  natives: [],
  install: null,
};
