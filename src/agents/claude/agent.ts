// The parts of the claude adapter, put together for the registry, and what it can and cannot tell.

import { agentName } from '../../model/ids.ts';
import { type Agent, contractVersion } from '../contract.ts';
import { claudeChannel } from './channel.ts';
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
  name: agentName('claude'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: true,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
    measured: ['2.1.325', '2.1.197', '2.0.77', '1.0.128', '1.0.60 (screen only)'],
    limits: [
      'No hook tells that a turn was interrupted or a dialog answered; the registry (since 2.1) and the screen do.',
      'Before 2.1 there is no registry, and a turn that failed ends like a finished one for the hooks: only the screen tells.',
      'Hooks are for 2.0.77 and later: 1.0 skips a settings file that names PermissionRequest, and tells approvals on the screen alone.',
      'The text of a usage limit was taken from reports; none was seen.',
      'An answer that breaks off in 1.0 and 2.0 leaves no mark on the screen.',
      'While the detailed transcript is shown, the screen tells only that a turn of 2.1 has ended.',
      'The title proves nothing but running, and that only in early 2.1.',
    ],
  },
  identify,
  childVariables: ['CLAUDECODE', 'CLAUDE_CODE_\\w+', 'CLAUDE_PID'],
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
  channel: claudeChannel,
};
