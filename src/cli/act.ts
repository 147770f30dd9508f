// What all acting commands share: who asks, under which conditions, how it is asked once and never twice, and how a
// receipt reads. Also the commands that need nothing more than that.

import type { ActBody, ReceiptReply } from '../api/actions.ts';
import { type ApiRequest, post } from '../api/requests.ts';
import type { ActionKind } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { Action, Context } from './context.ts';
import { type DurationBounds, durationOf } from './duration.ts';
import { print } from './output.ts';
import { type Parsed, statesOf } from './parse.ts';
import { refOf } from './refs.ts';
import { type Answer, askRunning, isDown, tellOtherBuild } from './running.ts';

/** It left, and nobody saw it arrive: a script wants to know. */
const unconfirmedStatus = 1;

const windowBounds: DurationBounds = { minMs: 1, maxMs: 86_400_000, words: 'from 1ms to 24h' };

/** What must still hold when it takes effect (ACT1, ACT8). */
export function conditionsOf(parsed: Parsed): NonNullable<ActBody['conditions']> {
  const runtime = parsed.value('if-runtime')?.replace(/^runtime:/, '');
  const states = statesOf('if-state', parsed);
  const withinMs = durationOf('if-updated-within', parsed.value('if-updated-within'), windowBounds);
  return {
    ...(runtime === undefined ? {} : { if_runtime: runtime }),
    ...(states.length === 0 ? {} : { if_state: [...states] }),
    ...(withinMs === null ? {} : { if_updated_within_ms: withinMs }),
    ...(parsed.has('force-stale') ? { force_stale: true } : {}),
  };
}

/**
 * Asked once. A daemon that was never reached is started; one that fell silent may have done it already, and a second
 * try could type the same text twice.
 */
export async function askOnce<Reply>(context: Context, request: ApiRequest<Reply>): Promise<Answer<Reply>> {
  const patient: ApiRequest<Reply> = { silenceMs: limits.actAnswerMs, ...request };
  try {
    const answer = await askRunning(patient);
    await tellOtherBuild(context, answer.version);
    return answer;
  } catch (problem) {
    if (!isDown(problem)) throw problem;
    if (!wasNeverReached(problem)) throw unknownEnd(problem);
  }
  const { startDaemon } = await import('./start-daemon.ts');
  await startDaemon(context);
  return askRunning(patient);
}

function wasNeverReached(problem: unknown): boolean {
  const cause = problem instanceof AgtmuxError ? problem.cause : null;
  return cause instanceof Error && 'code' in cause && ['ENOENT', 'ECONNREFUSED'].includes(String(cause.code));
}

function unknownEnd(problem: unknown): AgtmuxError {
  const words = problem instanceof Error ? problem.message : String(problem);
  return new AgtmuxError('E_DAEMON_DOWN', `${words}; the result is not known`, {
    next: 'check the agent and `agtmux audit` before you try again',
    cause: problem,
  });
}

export const safe = (text: string): string => sanitizeLine(foreign(text));

type Distribute<Body> = Body extends unknown ? Omit<Body, 'conditions'> : never;
/** A request without what every command adds to it. */
export type Wanted = Distribute<ActBody>;

export async function act(
  parsed: Parsed,
  context: Context,
  wanted: Wanted,
  more: NonNullable<ActBody['conditions']> = {},
): Promise<ReceiptReply> {
  const body = { ...wanted, conditions: { ...conditionsOf(parsed), ...more } };
  return tellReceipt(parsed, await askOnce(context, post('/v1/act', body)));
}

/** One line of what became of it, in words of its own where `done` has them. A refusal is thrown to where failures are printed; its receipt is still JSON. */
export function tellReceipt(
  parsed: Parsed,
  { body, reply: receipt }: Answer<ReceiptReply>,
  done: string | null = null,
): ReceiptReply {
  const { outcome, failure, words } = receipt;
  if (parsed.has('json')) print(body);
  if (failure !== null) {
    const more = words === null ? '' : ` (${safe(words)})`;
    throw new AgtmuxError(failure.code, `${whatOf(receipt)} was refused: ${safe(failure.message)}${more}`, {
      next: safe(failure.next),
    });
  }
  if (!parsed.has('json')) {
    const way = receipt.way === null ? '' : `, by ${safe(receipt.way)}`;
    const what = done === null ? `${outcome}: ${whatOf(receipt)}${way}` : `${done}${forWhom(receipt)}`;
    print(`${what}${words === null ? '' : `; ${safe(words)}`}`);
  }
  if (outcome === 'unconfirmed') process.exitCode = unconfirmedStatus;
  return receipt;
}

const joints: Partial<Readonly<Record<ActionKind, string>>> = { send: ' to', answer: ' to', new: ' as', queue: ' for' };

/**
 * As lists name it, and with the canonical reference behind: what the person wrote may mean another agent tomorrow. An older
 * daemon says the reference alone.
 */
const nameOf = (ref: string, who: string | null | undefined): string =>
  who == null ? safe(ref) : `${safe(who)} (${safe(ref)})`;

const whatOf = ({ action, ref, who }: ReceiptReply): string =>
  ref === null ? action : `${action}${joints[action] ?? ''} ${nameOf(ref, who)}`;

const forWhom = ({ ref, who }: ReceiptReply): string => (ref === null ? '' : `, for ${nameOf(ref, who)}`);

const onRef =
  (action: 'interrupt' | 'resume' | 'seen' | 'activate'): Action =>
  async (parsed, context) => {
    await act(parsed, context, { action, ref: await refOf(context, parsed.args[0]) });
  };

export const interrupt = onRef('interrupt');
export const resume = onRef('resume');
export const seen = onRef('seen');
export const routeActivate = onRef('activate');

export const name: Action = async (parsed, context) => {
  const [said, nick] = parsed.args;
  if ((nick === undefined) !== parsed.has('remove')) {
    throw new AgtmuxError('E_USAGE', 'name needs either a name or --remove', {
      next: 'use `agtmux name <agent> <name>` or `agtmux name <agent> --remove`',
    });
  }
  await act(parsed, context, { action: 'name', ref: await refOf(context, said), nick: nick ?? null });
};
