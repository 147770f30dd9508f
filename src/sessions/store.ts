// The sessions on disk, three private files each: the record, written whole and synced; secrets, the same; the messages,
// appended. A kill at any moment leaves each of them as it was before or after, and a last line of messages perhaps cut.

import { join } from 'node:path';
import { z } from 'zod';
import { askKinds } from '../model/asks.ts';
import { assert } from '../model/errors.ts';
import { agentName, agentSessionId, askId, runtimeId, scopeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { type ManagedId, machineStates, type SessionRecord } from '../model/sessions.ts';
import { FileError, type Files } from '../platform/files.ts';
import { freshMemory, type MachineMemory } from './machine-memory.ts';

const recordEnd = '.json';
const counterName = 'counter';
/** Files of all sessions, and of those that were set aside. */
const namesMax = 10_000;

interface FoundSessions {
  readonly sessions: readonly StoredSession[];
  /** Files that could not be understood; they were set aside. */
  readonly damaged: readonly string[];
  /** Files that could not be read this time; they are as they were, and their sessions missing until the next start. */
  readonly unread: readonly UnreadFile[];
}

interface UnreadFile {
  readonly file: string;
  readonly problem: string;
}

/** What stands there cannot be a record of ours, whoever reads it. */
const isNoRecord = ({ code }: FileError): boolean => ['EFBIG', 'EISDIR', 'EINVAL', 'ELOOP'].includes(code);

export class SessionStore {
  readonly #files: Files;
  readonly #folder: string;
  #last = 0;
  #isCounted = false;

  constructor(files: Files, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  async open(): Promise<FoundSessions> {
    await this.#files.mkdirPrivate(this.#folder);
    const listed = await this.#files.list(this.#folder, namesMax);
    const sessions: StoredSession[] = [];
    const damaged: string[] = [];
    const unread: UnreadFile[] = [];
    for (const name of listed?.names ?? []) {
      const id = name.endsWith(recordEnd) ? managedIdOf(name.slice(0, -recordEnd.length)) : null;
      if (id === null) continue;
      this.#last = Math.max(this.#last, numberOf(id));
      const text = await this.#readOrTrouble(name);
      // What cannot be read now (too many open files, a bad disk) may be as good as ever: it stays where it is.
      if (text instanceof FileError && !isNoRecord(text)) {
        unread.push({ file: this.#path(name), problem: text.message });
        continue;
      }
      const kept = keptOf(typeof text === 'string' ? text : '');
      if (kept !== null && kept.id === id) sessions.push(kept);
      else {
        await this.#files.rename(this.#path(name), this.#path(`${name}.damaged`));
        damaged.push(this.#path(`${name}.damaged`));
      }
    }
    // Without it a number could be given twice; then none is given before it can be read.
    await this.#count().catch(() => undefined);
    return { sessions: sessions.sort((one, other) => numberOf(one.id) - numberOf(other.id)), damaged, unread };
  }

  async #count(): Promise<void> {
    const text = await this.#readOrTrouble(counterName);
    if (text instanceof FileError && !isNoRecord(text)) throw text;
    const counted = Number(text);
    if (Number.isSafeInteger(counted)) this.#last = Math.max(this.#last, counted);
    this.#isCounted = true;
  }

  /** Never given twice: it is on disk before anyone has it. */
  async nextId(): Promise<ManagedId> {
    if (!this.#isCounted) await this.#count();
    this.#last += 1;
    const id = managedIdOf(`s${this.#last}`);
    assert(id !== null, 'sessions are counted from 1');
    await this.#files.writeAtomic(this.#path(counterName), Buffer.from(String(this.#last)));
    return id;
  }

  /** Resolves when it survives a power cut. Rejects with a FileError. */
  save(kept: StoredSession): Promise<void> {
    return this.#files.writeAtomic(this.#path(`${kept.id}${recordEnd}`), Buffer.from(keptText(kept)));
  }

  saveSecrets(id: ManagedId, secrets: SessionSecrets): Promise<void> {
    return this.#files.writeAtomic(this.#path(`${id}.secrets`), Buffer.from(JSON.stringify(secrets)));
  }

  async secrets(id: ManagedId): Promise<SessionSecrets | null> {
    return secretsOf((await this.#read(`${id}.secrets`)) ?? '');
  }

  /** Where a server of this session prints to. */
  outputPath(id: ManagedId): string {
    return this.#path(`${id}.output`);
  }

  async messages(id: ManagedId): Promise<string> {
    return (await this.#read(`${id}.messages`)) ?? '';
  }

  addMessages(id: ManagedId, text: string, { isSynced = false } = {}): Promise<void> {
    return this.#files.append(this.#path(`${id}.messages`), Buffer.from(text), { sync: isSynced });
  }

  replaceMessages(id: ManagedId, text: string): Promise<void> {
    return this.#files.writeAtomic(this.#path(`${id}.messages`), Buffer.from(text));
  }

  /** The record last: as long as it is there, the session is. */
  async remove(id: ManagedId): Promise<void> {
    for (const end of ['.messages', '.output', '.secrets', recordEnd])
      await this.#files.remove(this.#path(`${id}${end}`));
  }

  /** Null for what is not there, or cannot be read. */
  async #read(name: string): Promise<string | null> {
    const text = await this.#readOrTrouble(name);
    return text instanceof FileError ? null : text;
  }

  async #readOrTrouble(name: string): Promise<string | null | FileError> {
    try {
      const found = await this.#files.read(this.#path(name), { bytesMax: limits.sessionFileBytesMax });
      return found === null ? null : Buffer.from(found.bytes).toString();
    } catch (problem) {
      if (problem instanceof FileError) return problem;
      throw problem;
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

const numberOf = (id: ManagedId): number => Number(id.slice(1));

// What is kept of a session on disk: its record with the machine's own memory, and apart from it what nobody else may see.
// Files of an older agtmux lack fields; what is missing is as in a fresh session.

export interface StoredSession extends SessionRecord {
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

export const keptText = (kept: StoredSession): string => JSON.stringify({ version: 1, ...kept });

/** Null for what is no session of ours, or damaged. */
export function keptOf(text: string): StoredSession | null {
  const read = keptSchema.safeParse(parsed(text));
  if (!read.success) return null;
  const { version: _, id, memory, going, outgoing: onTheWay, ...rest } = read.data;
  const whole = { ...freshMemory({ hasNoCreated: memory.has_no_created }), ...memory };
  const before = going === null ? [] : [{ text: going, kind: 'message', stage: 'said', message: 'going' } as const];
  return { ...rest, id: id as ManagedId, memory: whole as MachineMemory, outgoing: [...before, ...onTheWay] };
}

const secretsSchema = z.object({ env: texts, secret: z.string() });

function secretsOf(text: string): SessionSecrets | null {
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
