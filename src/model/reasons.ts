// The closed table of reason codes (RSV0): why a state is what it is. A code that is not here cannot be published.

import type { StateName } from './states.ts';

interface ReasonRule {
  /** The states this reason may stand beside. */
  readonly states: readonly StateName[];
  /** What a person reads. */
  readonly words: string;
}

/** What an agent behind a door can look like: everything that lives. */
const living = ['running', 'waiting_approval', 'waiting_input', 'completed', 'idle', 'error'] as const;

export const reasons = {
  turn_running: { states: ['running'], words: 'working on a turn' },
  tool_running: { states: ['running'], words: 'running a tool' },
  retrying: { states: ['running'], words: 'retrying a failed request' },
  compacting: { states: ['running'], words: 'compacting its context' },
  starting: { states: ['running', 'unknown'], words: 'starting up' },
  stalled: { states: ['running', 'unknown'], words: 'looks busy but has printed nothing for minutes' },
  approval_asked: { states: ['waiting_approval'], words: 'asks for approval' },
  trust_asked: { states: ['waiting_approval', 'waiting_input'], words: 'asks whether to trust this folder or setting' },
  question_asked: { states: ['waiting_input'], words: 'asks a question' },
  dialog_open: { states: ['waiting_input', 'waiting_approval'], words: 'shows a dialog that waits for a choice' },
  login_needed: { states: ['waiting_input', 'error'], words: 'wants a login' },
  turn_completed: { states: ['completed'], words: 'finished its turn' },
  completed_aged: { states: ['idle'], words: 'finished a while ago' },
  prompt_ready: { states: ['idle', 'completed'], words: 'its prompt is ready for input' },
  interrupted: { states: ['idle'], words: 'was interrupted' },
  refused_by_person: { states: ['idle'], words: 'stopped after a refusal' },
  paused: { states: ['idle'], words: 'paused and can be resumed' },
  stopped: { states: ['idle'], words: 'stopped by a person' },
  api_error: { states: ['error'], words: 'a request to its model failed' },
  turn_failed: { states: ['error'], words: 'its turn ended in an error' },
  usage_limit: { states: ['error'], words: 'hit a usage limit' },
  ended_by_signal: { states: ['error'], words: 'was ended by a signal' },
  ended_with_status: { states: ['error'], words: 'ended with an error status' },
  ended_without_goodbye: { states: ['error'], words: 'is gone without a goodbye' },
  not_started: { states: ['idle'], words: 'has not been started' },
  resuming: { states: ['running'], words: 'starting again where it left off' },
  outcome_unverified: { states: ['completed'], words: 'ended its turn without a sign that it succeeded' },
  daemon_restarted: { states: ['idle'], words: 'ended with the daemon and can be resumed' },
  exited_with_ask: { states: ['idle'], words: 'left while it waited for an answer' },
  stopped_outside: { states: ['idle'], words: 'was stopped by a signal from outside' },
  start_failed: { states: ['error'], words: 'ended before it began to work' },
  creation_timeout: { states: ['error'], words: 'said nothing after its start' },
  heartbeat_lost: { states: ['error'], words: 'has been silent for too long in the middle of a turn' },
  needs_action: { states: ['error'], words: 'its requests keep failing until somebody acts' },
  mistake_limit: { states: ['error'], words: 'gave up after too many mistakes' },
  invalid_model: { states: ['error'], words: 'does not know the model it was told to use' },
  payment_required: { states: ['error'], words: 'wants to be paid for' },
  no_output: { states: ['error'], words: 'left in good order without having done anything' },
  process_failed: { states: ['error'], words: 'its process could not be led any further' },
  ran_out_of_time: { states: ['error'], words: 'ran out of the time it was given' },
  killed_or_oom: { states: ['error'], words: 'was killed, or ran out of memory' },
  exited: { states: ['unknown'], words: 'left in good order' },
  replaced: { states: ['unknown'], words: 'another agent took its place in the same pane' },
  target_restarted: { states: ['unknown'], words: 'its tmux server is gone' },
  agent_not_running: { states: ['unknown'], words: 'no agent runs here' },
  not_observed_yet: { states: ['unknown'], words: 'was found but has shown no state yet' },
  unsupported_signal: { states: ['unknown'], words: 'shows something no rule knows' },
  stale_signal: { states: ['unknown'], words: 'said running long ago and nothing since' },
  target_unreachable: { states: ['unknown'], words: 'its machine does not answer' },
  no_pane: { states: ['unknown'], words: 'runs on without a pane' },
  inside_ssh: { states: living, words: 'seen on the screen of an ssh connection' },
  inside_mosh: { states: living, words: 'seen on the screen of a mosh connection' },
  inside_et: { states: living, words: 'seen on the screen of an et connection' },
  inside_docker: { states: living, words: 'seen on the screen of a docker container' },
  inside_nerdctl: { states: living, words: 'seen on the screen of a nerdctl container' },
  inside_podman: { states: living, words: 'seen on the screen of a podman container' },
  inside_kubectl: { states: living, words: 'seen on the screen of a kubectl session' },
  inside_lxc: { states: living, words: 'seen on the screen of an lxc container' },
  inside_incus: { states: living, words: 'seen on the screen of an incus container' },
  inside_machinectl: { states: living, words: 'seen on the screen of a machinectl container' },
  inside_tmux: { states: living, words: 'seen on the screen of an inner tmux' },
  inside_screen: { states: living, words: 'seen on the screen of an inner screen' },
  inside_zellij: { states: living, words: 'seen on the screen of an inner zellij' },
  not_kept: { states: living, words: 'seen now, but nothing can be written down' },
  rebuilt: { states: ['unknown'], words: 'the log was damaged; waiting to be seen again' },
} as const satisfies Record<string, ReasonRule>;

export type ReasonCode = keyof typeof reasons;
export const reasonCodes = Object.keys(reasons) as readonly ReasonCode[];

export function isReasonCode(text: string): text is ReasonCode {
  return Object.hasOwn(reasons, text);
}

/** Whether the table allows this reason beside this state. */
export function reasonFits(reason: ReasonCode, state: StateName): boolean {
  return (reasons[reason].states as readonly StateName[]).includes(state);
}

/** The turn ended before it was finished: a person, or a word of theirs, cut it short. */
const cuts: readonly ReasonCode[] = ['interrupted', 'refused_by_person', 'stopped'];

export const isCut = (reason: ReasonCode): boolean => cuts.includes(reason);
