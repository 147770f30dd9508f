// What is kept of a session on disk: its record with the machine's own memory, and apart from it what nobody else may see.
// Files of an older agtmux lack fields; what is missing is as in a fresh session.

import { z } from 'zod';
import { askKinds } from '../model/asks.ts';
import { agentName, agentSessionId, askId, runtimeId, scopeId } from '../model/ids.ts';
import { type ManagedId, machineStates, type SessionRecord } from '../model/sessions.ts';
import { freshMemory, type MachineMemory } from './machine-memory.ts';

export interface KeptSession extends SessionRecord {
  readonly memory: MachineMemory;
  /** Messages that wait until it takes one. */
  readonly queue: readonly string[];
  /** Accepted, and not yet known to have reached the agent, in order (SES5). */
  readonly outgoing: readonly Outgoing[];
  /** What was said to it last: a start that failed is tried again with it. */
  readonly prompt: string;
  /** It has a process or a connection, or had one when this was written. */
  readonly is_led: boolean;
  /** Stands in the environment of its present or last process and of all that these started. */
  readonly mark: string | null;
  /** The program it had last: others that this one started may still run. */
  readonly last_process: SessionRecord['process'];
  /** Where its server answers. */
  readonly address: string | null;
  /** The branch of its worktree was made for it. */
  readonly made_branch: boolean;
  readonly last_words: string | null;
}

/** A message on its way to the agent. */
export interface Outgoing {
  readonly text: string;
  /** An answer belongs to its question, and is never said without it. */
  readonly kind: 'message' | 'answer';
  /** held: the agent was certainly not told. said: it was told, or is just being. */
  readonly stage: 'held' | 'said';
  /** Its id in the conversation. */
  readonly message: string;
}

/** The caller's environment and the password of its server. */
export interface SessionSecrets {
  readonly env: Readonly<Record<string, string>>;
  readonly secret: string;
}

export const managedIdOf = (text: string): ManagedId | null =>
  /^s[1-9]\d{0,9}$/.test(text) ? (text as ManagedId) : null;

const process = z.object({ boot: z.string(), pid: z.int().positive(), start: z.string() });
const texts = z.record(z.string(), z.string());

const ask = z.object({
  ask_id: z.string().transform(askId),
  kind: z.enum(askKinds),
  scope: z.string().transform(scopeId),
  text: z.string(),
  options: z.array(z.object({ id: z.string(), label: z.string() })),
  accepts: z.array(z.enum(['approve', 'reject', 'option', 'text', 'retry'])),
});

const session = z.string().transform(agentSessionId).nullable();

const outgoing = z.object({
  text: z.string(),
  kind: z.enum(['message', 'answer']),
  stage: z.enum(['held', 'said']),
  message: z.string(),
});

const keptSchema = z.object({
  version: z.literal(1),
  id: z.string().refine((text) => managedIdOf(text) !== null),
  runtime_id: z.string().transform(runtimeId),
  agent: z.string().transform(agentName),
  driver: z.string(),
  title: z.string(),
  cwd: z.string(),
  model: z.string().nullable(),
  auto_approve: z.boolean(),
  worktree: z.object({ path: z.string(), branch: z.string(), repository: z.string() }).nullable(),
  created_at: z.number(),
  updated_at: z.number(),
  state: z.enum(machineStates),
  state_version: z.int(),
  reason: z.string().nullable(),
  words: z.string().nullable(),
  confidence: z.enum(['high', 'low']),
  pending_ask: ask.nullable(),
  answered: z.array(z.string()),
  agent_session: session,
  is_resumable: z.boolean(),
  process: process.nullable(),
  asleep_since: z.number().nullable().default(null),
  rejoin: texts.nullable(),
  turns: z.int(),
  tokens: z.object({ input: z.number(), output: z.number() }).nullable(),
  memory: z.looseObject({ has_no_created: z.boolean() }),
  queue: z.array(z.string()).default([]),
  outgoing: z.array(outgoing).default([]),
  /** Of an older agtmux: the one message that was on its way. */
  going: z.string().nullable().default(null),
  prompt: z.string().default(''),
  is_led: z.boolean().default(false),
  mark: z.string().nullable().default(null),
  last_process: process.nullable().default(null),
  address: z.string().nullable().default(null),
  made_branch: z.boolean().default(false),
  last_words: z.string().nullable().default(null),
});

export const keptText = (kept: KeptSession): string => JSON.stringify({ version: 1, ...kept });

/** Null for what is no session of ours, or damaged. */
export function keptOf(text: string): KeptSession | null {
  const read = keptSchema.safeParse(parsed(text));
  if (!read.success) return null;
  const { version: _, id, memory, going, outgoing: onTheWay, ...rest } = read.data;
  const whole = { ...freshMemory({ hasNoCreated: memory.has_no_created }), ...memory };
  const before = going === null ? [] : [{ text: going, kind: 'message', stage: 'said', message: 'going' } as const];
  return { ...rest, id: id as ManagedId, memory: whole as MachineMemory, outgoing: [...before, ...onTheWay] };
}

const secretsSchema = z.object({ env: texts, secret: z.string() });

export function secretsOf(text: string): SessionSecrets | null {
  const read = secretsSchema.safeParse(parsed(text));
  return read.success ? read.data : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
