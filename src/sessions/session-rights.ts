// Who may do what to a session, by the same rights as for every other agent (ACT6), and the audit row that every action leaves,
// refused ones too. What was written stays out of it, only how much.

import { mayAlso, mayAnswer, mayDo, type Policy } from '../auth/policy.ts';
import { actorOf, type Principal } from '../auth/principal.ts';
import type { ActionKind } from '../model/actions.ts';
import { type Failure, failure } from '../model/errors.ts';
import type { AuditRecord } from '../model/records.ts';
import type { SessionCommand, SessionRequest } from '../model/sessions.ts';
import { takesWordsForAnswer } from './machine-memory.ts';
import type { SleepCause } from './rest.ts';
import type { StoredSession } from './store.ts';

type ActionName = SessionCommand['action'] | 'start';

/** The right that each needs. */
const asActions: Readonly<Record<ActionName, ActionKind>> = {
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

const answers: readonly ActionName[] = ['approve', 'reject', 'answer'];

/** As far as rights go: what it is, and whether it brings words of its own. */
export interface WantedAction {
  readonly action: ActionName;
  readonly text?: string;
  /** It lets an agent do everything unasked. */
  readonly auto_approve?: boolean;
}

/** Whether it answers what is asked: words to one that waits for some do, whatever they are called. */
const isAnswer = (name: ActionName, session: StoredSession): boolean =>
  answers.includes(name) || (name === 'send' && takesWordsForAnswer(session));

/** Null: it may. */
export function mayAct(
  caller: Principal,
  policy: Policy,
  { action: name, text, auto_approve }: WantedAction,
  session: StoredSession | null,
): Failure | null {
  if (caller.role === 'observer' && name === 'send') {
    // Its name has to stand in the message, and how many agents it went through.
    return failure(
      'E_ROLE',
      'an agent has to write to a session like to any other agent',
      'use `agtmux send session:<id>`',
    );
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

export interface AuditedAction {
  readonly audit_id: string;
  readonly at: number;
  readonly caller: Principal;
  readonly name: ActionName;
  /** What was named, before it was resolved. */
  readonly named: string;
  readonly session: StoredSession | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

export function auditOfAction(done: AuditedAction, result: 'delivered' | 'queued' | Failure): AuditRecord {
  const { caller, session, name } = done;
  const isRefused = typeof result !== 'string';
  return {
    at: done.at,
    actor: actorOf(caller),
    action: `session ${name}`,
    runtime_id: session?.runtime_id ?? null,
    snapshot_id: null,
    result: isRefused ? 'refused' : result,
    detail: {
      audit_id: done.audit_id,
      named: done.named,
      why: caller.why,
      way: 'session',
      ...(session === null ? {} : { session: session.id, state: session.state, auto_approve: session.auto_approve }),
      ...done.detail,
      ...(isRefused ? { code: result.code, message: result.message } : {}),
    },
  };
}

export function auditOfSleep(
  { id, runtime_id, state, auto_approve, updated_at }: StoredSession,
  cause: SleepCause,
  { audit_id, at }: Pick<AuditedAction, 'audit_id' | 'at'>,
): AuditRecord {
  const why = cause === 'rested' ? 'nothing happened for a while' : 'another session needed its place';
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

export function detailOfAction(done: SessionCommand): Readonly<Record<string, unknown>> {
  switch (done.action) {
    case 'send':
      return { bytes: Buffer.byteLength(done.text) };
    case 'approve':
      return named(done.ask_id);
    case 'reject':
      return { ...named(done.ask_id), ...sized('because', done.because) };
    case 'answer':
      return {
        ...named(done.ask_id),
        ...(done.option === undefined ? {} : { option: done.option }),
        ...sized('text', done.text),
      };
    case 'resume':
      return sized('text', done.text);
    case 'remove':
      return { force: done.force };
    case 'stop':
    case 'retry':
      return {};
  }
}

export const detailOfRequest = ({
  agent,
  cwd,
  model,
  auto_approve,
  worktree,
  driver,
  resume,
  prompt,
}: SessionRequest) => ({
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
