// The parts of the codex adapter, put together for the registry, and what it can and cannot tell.

import { agentName } from '../../model/ids.ts';
import { type Agent, contractVersion } from '../contract.ts';
import { codexChannel } from './channel.ts';
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
  name: agentName('codex'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: true,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
    measured: [
      '0.166.0: screen, title, hooks, notify, control socket, rollout',
      '0.128.0: screen, title',
      '0.80.0: screen',
    ],
    limits: [
      'While an answer streams no status row is shown; without a title that spins the screen alone is unknown.',
      '0.80 sets no title: an answer of several paragraphs may still be growing when it looks finished.',
      'Hooks say nothing of API errors, retries, and approvals granted at the keyboard.',
      'On the shared server hooks and commands are no children of the pane; which thread is whose is told by title, arguments or two changes that fit only one run.',
      'The control socket is read on this machine only, and it tells that something is asked, not what.',
      'A run that holds several threads open is told by none of their rollouts.',
      'A permission that is asked again in the same turn after a restart of the daemon is known from the screen alone.',
      'Its state sequences (OSC 7501) are not read: the raw output of panes is not watched.',
      'Hooks of subagents were never seen.',
    ],
  },
  identify,
  childVariables: ['CODEX_\\w+'],
  screen,
  hooks,
  natives,
  install,
  mcp,
  keys,
  transcript,
  sessions,
  acp,
  channel: codexChannel,
  usage,
};
