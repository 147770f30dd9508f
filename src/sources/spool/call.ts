// What stands in a spool file (ADM3): its name, its first line, and the payload below. Everything in it was written by
// others, so every field is checked here; nothing throws.

import { type AgentName, agentName, type PaneId, paneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';

/** One call of `agtmux-hook`. */
export interface SpoolCall {
  /** Name of its file. With the time it is the call's own id: names come back after a restart of the machine. */
  readonly file: string;
  readonly agent: AgentName;
  /** In the agent's own words. */
  readonly event: string;
  /** What the environment of the call said; no evidence (BND1). */
  readonly pane: PaneId | null;
  readonly socket: string | null;
  readonly pid: number;
  readonly ppid: number;
  /** The processes above the call, nearest first; empty where the system does not tell. */
  readonly ancestors: readonly SpoolAncestor[];
  /** Null when the payload is no JSON object. Foreign. */
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly text: string;
  /** When it was written, ms by the clock of its machine. */
  readonly time: number;
  /** Our monotonic time of the last look that did not show its file, which tells as much whatever the clocks say; null when there was none. */
  readonly sinceMs: number | null;
}

export interface SpoolAncestor {
  readonly pid: number;
  readonly start: string;
}

/** Acknowledges one call: `done` when it is on disk and its file can go, `refused` to set the file aside. */
export type TakeCall = (call: SpoolCall) => Promise<'done' | 'refused'>;

export const spoolRefusals = {
  name: 'its name was not given by agtmux-hook',
  kind: 'it is not a regular file',
  owner: 'it belongs to another user',
  size: 'it is larger than allowed',
  header: 'its first line cannot be read',
  payload: 'its payload is incomplete',
  unreadable: 'it cannot be opened',
  handler: 'its claim was refused',
} as const;

export type SpoolRefusal = keyof typeof spoolRefusals;

export type SpoolReading =
  | { readonly kind: 'call'; readonly call: SpoolCall }
  /** Not whole yet. `call` is there when only the payload is missing and nothing of it has come. */
  | { readonly kind: 'yet'; readonly why: SpoolRefusal; readonly call: SpoolCall | null }
  | { readonly kind: 'refused'; readonly why: SpoolRefusal };

/** Start of the caller, pid of the call, and a digit for the case that both were there before. */
const namePattern = /^(\d{1,20})-(\d{1,10})-(\d)$/;

export function isSpoolName(name: string): boolean {
  return namePattern.test(name);
}

/** The older first. Clocks of file systems stand still for some milliseconds; meanwhile pids go up. */
export function compareSpoolFiles(
  left: { readonly name: string; readonly mtimeMs: number },
  right: { readonly name: string; readonly mtimeMs: number },
): number {
  if (left.mtimeMs !== right.mtimeMs) return left.mtimeMs - right.mtimeMs;
  const ours = (namePattern.exec(left.name) ?? []).slice(1).map(Number);
  const theirs = (namePattern.exec(right.name) ?? []).slice(1).map(Number);
  for (const [at, value] of ours.entries()) {
    const step = value - (theirs[at] ?? 0);
    if (step !== 0) return step;
  }
  return left.name < right.name ? -1 : 1;
}

/** Parts of a millisecond that a time of these years can hold. */
const timeParts = 4_096;

export function readSpoolFile(
  name: string,
  bytes: Uint8Array,
  mtimeMs: number,
  sinceMs: number | null = null,
): SpoolReading {
  const end = bytes.subarray(0, limits.spoolHeaderBytesMax).indexOf(0x0a);
  if (end === -1) {
    const isTooLong = bytes.length > limits.spoolHeaderBytesMax;
    return isTooLong ? { kind: 'refused', why: 'header' } : { kind: 'yet', why: 'header', call: null };
  }
  const header = parseSpoolHeader(new TextDecoder().decode(bytes.subarray(0, end)));
  if (header === null) return { kind: 'refused', why: 'header' };
  const { hasBody, ...who } = header;
  // Calls of one moment keep the order of their pids: two stamps that are equal would be ordered by chance.
  const time = Math.floor(mtimeMs) + (who.pid % timeParts) / timeParts;
  const text = new TextDecoder().decode(bytes.subarray(end + 1));
  const call = { file: name, ...who, payload: null, text, time, sinceMs };
  if (text === '') return hasBody ? { kind: 'yet', why: 'payload', call } : { kind: 'call', call };
  try {
    const value: unknown = JSON.parse(text);
    return { kind: 'call', call: { ...call, payload: isRecord(value) ? value : null } };
  } catch {
    return { kind: 'yet', why: 'payload', call: null };
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface SpoolHeader {
  readonly agent: AgentName;
  readonly event: string;
  readonly pane: PaneId | null;
  readonly socket: string | null;
  readonly pid: number;
  readonly ppid: number;
  readonly ancestors: readonly SpoolAncestor[];
  /** A payload was there to be copied. */
  readonly hasBody: boolean;
}

/** The first line, or null when it is none. Fields of later versions are passed over; none may stand there twice. */
export function parseSpoolHeader(line: string): SpoolHeader | null {
  const [mark, ...words] = line.split(' ');
  if (mark !== 'agtmux1') return null;
  const values = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf('=');
    const value = at < 1 ? null : unescaped(word.slice(at + 1));
    if (value === null || values.has(word.slice(0, at))) return null;
    values.set(word.slice(0, at), value);
  }
  const agent = values.get('agent') ?? '';
  const event = values.get('event') ?? '';
  const pid = numberOf(values.get('pid'));
  const ppid = numberOf(values.get('ppid'));
  const ancestors = ancestorsOf(values.get('up') ?? '');
  const pane = values.get('pane') ?? '';
  const socket = values.get('socket') ?? '';
  if (!isName(agent) || !isName(event) || pid === null || ppid === null || ancestors === null) return null;
  if (!/^(?:%\d{1,10})?$/.test(pane) || (socket !== '' && !socket.startsWith('/'))) return null;
  return {
    agent: agentName(agent),
    event,
    pane: pane === '' ? null : paneId(pane),
    socket: socket === '' ? null : socket,
    pid,
    ppid,
    ancestors,
    hasBody: values.get('body') !== 'none',
  };
}

function isName(text: string): boolean {
  return text !== '' && text.length <= limits.idCharsMax;
}

function unescaped(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function ancestorsOf(text: string): SpoolAncestor[] | null {
  if (text === '') return [];
  const ancestors: SpoolAncestor[] = [];
  for (const word of text.split(',')) {
    const found = /^(\d{1,10}):(\d{1,20})$/.exec(word);
    if (found === null || ancestors.length >= limits.ancestryMax) return null;
    ancestors.push({ pid: Number(found[1]), start: String(found[2]) });
  }
  return ancestors;
}
