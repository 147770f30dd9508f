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
  hooks_only: { states: ['running'], words: 'working, as far as its hooks tell; an interrupt would not be seen' },
  retrying: { states: ['running'], words: 'retrying a failed request' },
  compacting: { states: ['running'], words: 'compacting its context' },
  starting: { states: ['running', 'unknown'], words: 'starting up' },
  stalled: { states: ['running', 'unknown'], words: 'looks busy but has had no output for minutes' },
  approval_asked: { states: ['waiting_approval'], words: 'asks for approval' },
  trust_asked: { states: ['waiting_approval', 'waiting_input'], words: 'asks whether to trust this folder or setting' },
  question_asked: { states: ['waiting_input'], words: 'asks a question' },
  dialog_open: { states: ['waiting_input', 'waiting_approval'], words: 'shows a dialog that waits for a choice' },
  login_needed: { states: ['waiting_input', 'error'], words: 'needs a login' },
  turn_completed: { states: ['completed'], words: 'finished its turn' },
  completed_aged: { states: ['idle'], words: 'finished a while ago' },
  prompt_ready: { states: ['idle', 'completed'], words: 'its prompt is ready for input' },
  interrupted: { states: ['idle'], words: 'was interrupted' },
  refused_by_person: { states: ['idle'], words: 'stopped after a rejection' },
  paused: { states: ['idle'], words: 'paused and can be resumed' },
  stopped: { states: ['idle'], words: 'stopped by a person' },
  api_error: { states: ['error'], words: 'a request to its model failed' },
  turn_failed: { states: ['error'], words: 'its turn ended in an error' },
  usage_limit: { states: ['error'], words: 'hit a usage limit' },
  ended_by_signal: { states: ['error'], words: 'was terminated by a signal' },
  ended_with_status: { states: ['error'], words: 'exited with an error status' },
  ended_without_goodbye: { states: ['error'], words: 'exited unexpectedly' },
  not_started: { states: ['idle'], words: 'has not been started' },
  resuming: { states: ['running'], words: 'resuming where it left off' },
  outcome_unverified: { states: ['completed'], words: 'ended its turn without confirming success' },
  daemon_restarted: { states: ['idle'], words: 'ended with the daemon and can be resumed' },
  exited_with_ask: { states: ['idle'], words: 'exited while waiting for an answer' },
  stopped_outside: { states: ['idle'], words: 'was stopped by an external signal' },
  start_failed: { states: ['error'], words: 'exited before it started working' },
  creation_timeout: { states: ['error'], words: 'did not respond after its start' },
  heartbeat_lost: { states: ['error'], words: 'has not responded for too long during a turn' },
  needs_action: { states: ['error'], words: 'its requests fail until a person acts' },
  mistake_limit: { states: ['error'], words: 'gave up after too many mistakes' },
  invalid_model: { states: ['error'], words: 'does not know the requested model' },
  payment_required: { states: ['error'], words: 'payment required' },
  no_output: { states: ['error'], words: 'exited normally without output' },
  process_failed: { states: ['error'], words: 'its process could not be controlled any more' },
  ran_out_of_time: { states: ['error'], words: 'exceeded its time limit' },
  killed_or_oom: { states: ['error'], words: 'was killed, or ran out of memory' },
  exited: { states: ['unknown'], words: 'exited normally' },
  replaced: { states: ['unknown'], words: 'another agent took its place in the same pane' },
  target_restarted: { states: ['unknown'], words: 'its tmux server is gone' },
  agent_not_running: { states: ['unknown'], words: 'no agent runs here' },
  not_observed_yet: { states: ['unknown'], words: 'was found, but its state is not known yet' },
  unsupported_signal: { states: ['unknown'], words: 'shows something that no rule matches' },
  stale_signal: { states: ['unknown'], words: 'reported running long ago, nothing since' },
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
  not_kept: { states: living, words: 'seen now, but cannot be stored' },
  rebuilt: { states: ['unknown'], words: 'the log was damaged; waiting to be seen again' },
} as const satisfies Record<string, ReasonRule>;

/** What this machine suffers from while the log takes nothing: every screen says it (LOG5). */
export const notKeptTrouble = 'events cannot be stored: what is shown is current but not stored; free disk space';

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
