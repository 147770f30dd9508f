// What is written down of a shell, so that the next daemon knows it: its record, what its agent was not told yet, and at
// the birth of an attempt what is needed to run it again. Read back with care: a file may be cut short or damaged.

import { z } from 'zod';
import { runtimeId } from '../model/ids.ts';
import {
  type ShellId,
  type ShellNotice,
  type ShellRecord,
  shellEndReasons,
  shellModes,
  shellNoticeKinds,
  shellParties,
  shellStatuses,
} from '../model/shells.ts';
import { problemOf } from './life.ts';

const idPattern = /^shell-[1-9]\d{0,14}$/;
export const isShellId = (text: string): text is ShellId => idPattern.test(text);
const shellIdSchema = z.custom<ShellId>((value) => typeof value === 'string' && isShellId(value));
const party = z.enum(shellParties);
const mode = z.enum(shellModes);

const recordSchema = z.object({
  shell_id: shellIdSchema,
  attempt: z.number(),
  call_id: z.string(),
  command: z.string(),
  cwd: z.string(),
  label: z.string().nullable(),
  owner: z.object({
    key: z.string(),
    runtime_id: z.string().transform(runtimeId).nullable(),
    client: z.string().nullable(),
    thread: z.string().nullable(),
  }),
  started_by: party,
  status: z.enum(shellStatuses),
  requested_mode: mode,
  start_mode: mode,
  promoted_by: party.nullable(),
  budget_ms: z.number(),
  expected_ms: z.number().nullable(),
  timeout_ms: z.number().nullable(),
  tty: z.boolean(),
  is_stopped: z.boolean(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  process: z.object({ boot: z.string(), pid: z.number(), start: z.string() }).nullable(),
  exit_code: z.number().nullable(),
  signal: z.string().nullable(),
  is_signal_inferred: z.boolean(),
  ended_by: party.nullable(),
  end_reason: z.enum(shellEndReasons).nullable(),
  kill_requested_by: party.nullable(),
  words: z.string().nullable(),
  log: z.object({ bytes: z.number(), first_offset: z.number(), is_capped: z.boolean() }),
  seen: z.boolean(),
});

const noticeSchema = z.object({
  shell_id: shellIdSchema,
  attempt: z.number(),
  kind: z.enum(shellNoticeKinds),
  by: party,
  at: z.number(),
  words: z.string(),
});

const keptSchema = z.object({ record: recordSchema, notices: z.array(noticeSchema) });
const birthSchema = keptSchema.extend({
  version: z.literal(1),
  boot: z.string(),
  env: z.record(z.string(), z.string()),
});

export interface StoredShell {
  readonly record: ShellRecord;
  /** Not told yet. */
  readonly notices: readonly ShellNotice[];
}

export interface ShellBirth extends StoredShell {
  readonly version: 1;
  /** Of the machine: what ran before another boot runs no more. */
  readonly boot: string;
  readonly env: Readonly<Record<string, string>>;
}

export const keptLine = ({ record, notices }: StoredShell): string => `${JSON.stringify({ record, notices })}\n`;

/** Null when it cannot be understood. */
export function readBirth(line: string): ShellBirth | null {
  const read = birthSchema.safeParse(parsed(line));
  return read.success && problemOf(read.data.record) === null ? read.data : null;
}

/** The last line that is whole and sound. A line that was cut short by a crash told nobody anything. */
export function readKept(text: string): StoredShell | null {
  for (const line of text.split('\n').slice(0, -1).reverse()) {
    const read = keptSchema.safeParse(parsed(line));
    if (read.success && problemOf(read.data.record) === null) return read.data;
  }
  return null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
