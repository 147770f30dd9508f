// Who may do what to a session, by the same rights as for every other agent (ACT6), and the audit row that every deed leaves,
// refused ones too. What was written stays out of it, only how much.

import type { KnownCaller } from '../act/callers.ts';
import { mayAlso, mayAnswer, mayDo, type Policy } from '../act/policy.ts';
import type { ActionKind } from '../model/actions.ts';
import { type Failure, failure } from '../model/errors.ts';
import type { AuditRecord } from '../model/records.ts';
import type { SessionDeed, SessionWish } from '../model/sessions.ts';
import type { SleepCause } from './live-rest.ts';
import { takesWordsForAnswer } from './machine-deeds.ts';
import type { KeptSession } from './store-record.ts';

type DeedName = SessionDeed['action'] | 'start';

/** The right that each needs. */
const asActions: Readonly<Record<DeedName, ActionKind>> = {
  start: 'new',
  send: 'send',
  approve: 'approve',
  reject: 'reject',
  answer: 'answer',
  stop: 'interrupt',
  resume: 'resume',
  retry: 'resume',
  remove: 'kill',
};

const answers: readonly DeedName[] = ['approve', 'reject', 'answer'];

/** As far as rights go: what it is, and whether it brings words of its own. */
export interface WantedDeed {
  readonly action: DeedName;
  readonly text?: string;
  /** It lets an agent do everything unasked. */
  readonly auto_approve?: boolean;
}

/** Whether it answers what is asked: words to one that waits for some do, whatever they are called. */
const isAnswer = (name: DeedName, session: KeptSession): boolean =>
  answers.includes(name) || (name === 'send' && takesWordsForAnswer(session));

/** Null: it may. */
export function mayDeed(
  caller: KnownCaller,
  policy: Policy,
  { action: name, text, auto_approve }: WantedDeed,
  session: KeptSession | null,
): Failure | null {
  if (caller.role === 'observer' && name === 'send') {
    // Its name has to stand in the message, and how many agents it went through.
    return failure('E_ROLE', 'an agent writes to a session as to any other agent', 'use `agtmux send session:<id>`');
  }
  const runtime = session?.runtime_id ?? null;
  const problem = mayDo(caller, asActions[name], runtime);
  if (problem !== null) return problem;
  if (name === 'start' && auto_approve === true) return mayAlso(caller, 'auto_approve');
  // Words reach its input, also where they come with something else.
  if (name === 'resume' && text !== undefined) return mayDo(caller, 'send', runtime);
  if (session?.pending_ask == null || !isAnswer(name, session)) return null;
  return mayAnswer(caller, policy, [session.pending_ask.kind]);
}

export interface AuditedDeed {
  readonly audit_id: string;
  readonly at: number;
  readonly caller: KnownCaller;
  readonly name: DeedName;
  /** What was named, before it was resolved. */
  readonly named: string;
  readonly session: KeptSession | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

export function auditOfDeed(deed: AuditedDeed, result: 'delivered' | 'queued' | Failure): AuditRecord {
  const { caller, session, name } = deed;
  const isRefused = typeof result !== 'string';
  return {
    at: deed.at,
    actor: `${caller.role}: ${caller.name}`,
    action: `session ${name}`,
    runtime_id: session?.runtime_id ?? null,
    snapshot_id: null,
    result: isRefused ? 'refused' : result,
    detail: {
      audit_id: deed.audit_id,
      named: deed.named,
      why: caller.why,
      way: 'session',
      ...(session === null ? {} : { session: session.id, state: session.state, auto_approve: session.auto_approve }),
      ...deed.detail,
      ...(isRefused ? { code: result.code, message: result.message } : {}),
    },
  };
}

export function auditOfSleep(
  { id, runtime_id, state, auto_approve, updated_at }: KeptSession,
  cause: SleepCause,
  { audit_id, at }: Pick<AuditedDeed, 'audit_id' | 'at'>,
): AuditRecord {
  const why = cause === 'rested' ? 'nothing happened for a while' : 'another session wanted its place';
  const detail = { audit_id, why, way: 'session', session: id, state, auto_approve, rested_ms: at - updated_at };
  return {
    at,
    actor: 'daemon: agtmux',
    action: 'session sleep',
    runtime_id,
    snapshot_id: null,
    result: 'delivered',
    detail,
  };
}

export function detailOfDeed(deed: SessionDeed): Readonly<Record<string, unknown>> {
  switch (deed.action) {
    case 'send':
      return { bytes: Buffer.byteLength(deed.text) };
    case 'approve':
      return named(deed.ask_id);
    case 'reject':
      return { ...named(deed.ask_id), ...sized('because', deed.because) };
    case 'answer':
      return {
        ...named(deed.ask_id),
        ...(deed.option === undefined ? {} : { option: deed.option }),
        ...sized('text', deed.text),
      };
    case 'resume':
      return sized('text', deed.text);
    case 'remove':
      return { force: deed.force };
    case 'stop':
    case 'retry':
      return {};
  }
}

export const detailOfWish = ({ agent, cwd, model, auto_approve, worktree, driver, resume, prompt }: SessionWish) => ({
  agent,
  cwd,
  model,
  auto_approve,
  ...(worktree === null ? {} : { worktree }),
  ...(driver === null ? {} : { driver }),
  ...(resume === null ? {} : { resume }),
  bytes: Buffer.byteLength(prompt),
});

const named = (ask_id: string | undefined) => (ask_id === undefined ? {} : { ask_id });
const sized = (name: string, text: string | undefined) =>
  text === undefined ? {} : { [`${name}_bytes`]: Buffer.byteLength(text) };
