// The life of a shell as data: one row for every state and event, and in it what happens, case by case. life.ts carries
// it out, docs/shells.md shows it to people (SHL1 to SHL4).

import type { ShellResult } from '../model/shells.ts';

export const lifeStates = ['running_fg', 'running_bg', 'completed', 'failed'] as const;
export type LifeState = (typeof lifeStates)[number];

export const lifeEventKinds = [
  'started',
  'exit',
  'budget_elapsed',
  'background_request',
  'kill',
  'kill_failed',
  'resume',
  'stopped',
  'continued',
  'timeout_elapsed',
  'spawn_failed',
  'holder_lost',
  'adopted',
  'cancelled',
] as const;
export type LifeEventKind = (typeof lifeEventKinds)[number];

/** What decides between the cases of one cell; the first that holds is taken. */
export type LifeWhen = 'always' | 'status_zero' | 'kill_pending' | 'is_stopped' | 'unavailable';

/** What becomes of the record. */
export type LifeChange =
  | 'know_process'
  | 'finish'
  | 'promote'
  | 'adopt'
  | 'request_kill'
  | 'forget_kill'
  | 'stop'
  | 'continue'
  | 'restart';

export type LifeEffectKind = 'send_term' | 'continue' | 'send_kill_later' | 'rerun' | 'answer_call' | 'answer_kills';

/** The events of the feed; those of people only if it was a person (life.ts sees to it). */
export type LifeTold = 'start' | 'promote' | 'terminate' | 'kill' | 'background_request' | 'resume';

export interface LifeCase {
  readonly when: LifeWhen;
  readonly to: LifeState;
  readonly change: LifeChange | null;
  /** What whoever asked is told; null when nobody asked. */
  readonly result: ShellResult | null;
  readonly effects: readonly LifeEffectKind[];
  /** What a `shell_run` that still waits is told by `answer_call`. */
  readonly call: ShellResult | null;
  /** What kills that still wait are told by `answer_kills`. */
  readonly kills: ShellResult | null;
  readonly told: readonly LifeTold[];
  /** What the agent may have to be told; life.ts leaves out what it did itself or hears as an answer. */
  readonly notice: 'promoted' | 'resumed' | 'ended' | null;
}

export interface LifeRow {
  readonly state: LifeState;
  readonly event: LifeEventKind;
  readonly cases: readonly LifeCase[];
}

type Said = Partial<Omit<LifeCase, 'to'>>;

const one = (to: LifeState, said: Said = {}): LifeCase => ({
  when: 'always',
  to,
  change: null,
  result: null,
  effects: [],
  call: null,
  kills: null,
  told: [],
  notice: null,
  ...said,
});

const row = (state: LifeState, event: LifeEventKind, ...cases: readonly LifeCase[]): LifeRow => ({
  state,
  event,
  cases,
});

const ending: Said = {
  change: 'finish',
  effects: ['answer_call', 'answer_kills'],
  call: 'Failed',
  kills: 'Killed',
  told: ['terminate'],
  notice: 'ended',
};

/** TERM waits in a stopped process until it is continued, so it is. */
const killing: Said = { change: 'request_kill', effects: ['send_term', 'send_kill_later'] };
const killingStopped: Said = { when: 'is_stopped', ...killing, effects: ['send_term', 'continue', 'send_kill_later'] };

type Running = 'running_fg' | 'running_bg';

/** What is the same in the foreground and in the background. */
const running = (state: Running): readonly LifeRow[] => [
  row(state, 'exit', one('completed', { ...ending, when: 'status_zero', call: 'Completed' }), one('failed', ending)),
  row(
    state,
    'kill',
    // Who came first keeps the blame (SHL3), and one TERM is enough: KILL follows anyway.
    one(state, { when: 'kill_pending', result: 'KillPending' }),
    one(state, { ...killingStopped, result: 'KillPending', told: ['kill'] }),
    one(state, { ...killing, result: 'KillPending', told: ['kill'] }),
  ),
  row(
    state,
    'kill_failed',
    one(state, {
      when: 'kill_pending',
      change: 'forget_kill',
      result: 'KillFailed',
      effects: ['answer_kills'],
      kills: 'KillFailed',
    }),
    one(state),
  ),
  row(
    state,
    'resume',
    one(state, { when: 'is_stopped', result: 'Resumed', effects: ['continue'], told: ['resume'], notice: 'resumed' }),
    one(state, { result: 'AlreadyRunning' }),
  ),
  row(state, 'stopped', one(state, { change: 'stop' })),
  row(state, 'continued', one(state, { change: 'continue' })),
  row(state, 'timeout_elapsed', one(state, { when: 'kill_pending' }), one(state, killingStopped), one(state, killing)),
  row(state, 'spawn_failed', one('failed', { ...ending, kills: 'AlreadyFinishedFailed' })),
  row(state, 'holder_lost', one('failed', ending)),
];

const foreground: readonly LifeRow[] = [
  row('running_fg', 'started', one('running_fg', { change: 'know_process', told: ['start'] })),
  row(
    'running_fg',
    'budget_elapsed',
    one('running_bg', {
      change: 'promote',
      effects: ['answer_call'],
      call: 'Running',
      told: ['promote'],
      notice: 'promoted',
    }),
  ),
  row(
    'running_fg',
    'background_request',
    one('running_bg', {
      change: 'promote',
      result: 'Backgrounded',
      effects: ['answer_call'],
      call: 'Running',
      told: ['background_request', 'promote'],
      notice: 'promoted',
    }),
  ),
  // Nobody waits for it any more: the daemon that held the call is gone.
  row(
    'running_fg',
    'adopted',
    one('running_bg', {
      when: 'kill_pending',
      change: 'adopt',
      effects: ['send_term', 'send_kill_later'],
      told: ['promote'],
      notice: 'promoted',
    }),
    one('running_bg', { change: 'adopt', told: ['promote'], notice: 'promoted' }),
  ),
  row(
    'running_fg',
    'cancelled',
    one('running_fg', { when: 'kill_pending' }),
    one('running_fg', killingStopped),
    one('running_fg', killing),
  ),
];

const background: readonly LifeRow[] = [
  row(
    'running_bg',
    'started',
    one('running_bg', { change: 'know_process', effects: ['answer_call'], call: 'Started', told: ['start'] }),
  ),
  row('running_bg', 'budget_elapsed', one('running_bg')),
  row('running_bg', 'background_request', one('running_bg', { result: 'AlreadyBackground' })),
  row(
    'running_bg',
    'adopted',
    one('running_bg', { when: 'kill_pending', change: 'adopt', effects: ['send_term', 'send_kill_later'] }),
    one('running_bg', { change: 'adopt' }),
  ),
  row('running_bg', 'cancelled', one('running_bg')),
];

type Finished = 'completed' | 'failed';

const already = { completed: 'AlreadyFinishedCompleted', failed: 'AlreadyFinishedFailed' } as const;

const finished = (state: Finished): readonly LifeRow[] => {
  const nothing = (event: LifeEventKind): LifeRow => row(state, event, one(state));
  return [
    nothing('started'),
    nothing('exit'),
    nothing('budget_elapsed'),
    row(state, 'background_request', one(state, { result: already[state] })),
    row(state, 'kill', one(state, { result: already[state] })),
    nothing('kill_failed'),
    row(
      state,
      'resume',
      one(state, { when: 'unavailable', result: 'ResumeUnavailable' }),
      one('running_bg', {
        change: 'restart',
        result: 'Restarted',
        effects: ['rerun'],
        told: ['resume'],
        notice: 'resumed',
      }),
    ),
    nothing('stopped'),
    nothing('continued'),
    nothing('timeout_elapsed'),
    nothing('spawn_failed'),
    nothing('holder_lost'),
    nothing('adopted'),
    nothing('cancelled'),
  ];
};

export const lifeTable: readonly LifeRow[] = [
  ...foreground,
  ...running('running_fg'),
  ...background,
  ...running('running_bg'),
  ...finished('completed'),
  ...finished('failed'),
];
