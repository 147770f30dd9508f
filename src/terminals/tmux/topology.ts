// The questions a sweep asks tmux and how their answers are read: a light one for every look (the gate) and the full one.
// Names, commands and paths may hold any byte, so they stand last, and what parts them and the records holds a nonce: no
// program can forge the row of another pane by its name, nor hide its own.

import { type PaneId, paneId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Executor } from '../../targets/executor.ts';
import type { TmuxCapabilities } from './capabilities.ts';
import type { TmuxPane, TmuxServer, Topology } from './view.ts';

/**
 * In both questions, first and in this order. Few, because tmux pays for each field of each pane in every sweep: moves
 * and deaths ring the bell, and a pane that was swapped stands at another place in the list.
 */
const gateFields = ['pane_id', 'pane_pid', 'window_activity'] as const;

const fullFields = [
  ...gateFields,
  'pane_dead',
  'pane_in_mode',
  'session_id',
  'window_id',
  'window_index',
  'pane_index',
  'pane_tty',
  'pane_active',
  'window_active',
  'session_attached_list',
  'pane_dead_status',
  'pane_dead_signal',
  'pane_width',
  'pane_height',
] as const;

/** Only in the full question, at its end. In a name tmux keeps a separator as the letters that 3.4 and 3.5 print for it. */
const rawFields = ['pane_title', 'session_name', 'window_name', 'pane_current_command', 'pane_current_path'] as const;

const serverFields = ['pid', 'start_time', 'version', 'socket_path'] as const;

/** Letters and digits for the command line; bytes for the argument of a process. */
const escapedBytes = { record: '\\036', field: '\\037' } as const;
const rawBytes = { record: '\x1e', field: '\x1f' } as const;
type Separators = typeof escapedBytes | typeof rawBytes;

/**
 * What programs and people fill without a bound of tmux's own, cut by tmux itself: a title of a megabyte in every sweep
 * would cost tmux, the wire and us more than all other panes together. Only what is too long is touched, because the
 * cutting of tmux reads `#` as the beginning of a style; and it counts columns, so what takes none is left out whole.
 */
function cut(name: string): string {
  const { tmuxNameBytesMax: bytes, tmuxNameColumnsMax: columns } = limits;
  const short = `#{=${columns}:${name}}`;
  return `#{?#{e|>|:#{n:${name}},${bytes}},#{?#{e|>|:#{n:${short}},${bytes}},...,${short}},#{${name}}}`;
}

/** A part of a path is another path. */
const path = (name: string): string => `#{?#{e|>|:#{n:${name}},${limits.tmuxPathBytesMax}},,#{${name}}}`;

/** The title of a pane as every question asks for it. */
export const titleFormat = cut('pane_title');

const bounded: Readonly<Record<string, string>> = {
  pane_title: titleFormat,
  session_name: cut('session_name'),
  window_name: cut('window_name'),
  pane_current_command: cut('pane_current_command'),
  pane_current_path: path('pane_current_path'),
};

const named = (fields: readonly string[]): string[] => fields.map((name) => bounded[name] ?? `#{${name}}`);
const recordOf = ({ record }: Separators, nonce: string): string => `${record}${nonce}${record}`;
const boundaryOf = ({ field }: Separators, nonce: string): string => `${field}${nonce}${field}`;

function gateFormat(bytes: Separators, nonce: string): string {
  return recordOf(bytes, nonce) + named([...gateFields, 'pane_title']).join(bytes.field);
}

function fullFormat(bytes: Separators, nonce: string): string {
  const clean = named(fullFields).join(bytes.field);
  return recordOf(bytes, nonce) + [clean, ...named(rawFields)].join(boundaryOf(bytes, nonce));
}

/** The full question as arguments of a process. */
export const fullArgv = (nonce: string): readonly string[] => ['list-panes', '-a', '-F', fullFormat(rawBytes, nonce)];

/** The questions of one connection, with its own nonce of letters and digits, and the reading of their answers. */
export interface Questions {
  /** Lines of control mode, where a double-quoted string reads octal escapes. */
  readonly gateCommand: string;
  readonly fullCommand: string;
  readonly parseGate: (body: Uint8Array) => ActivityRow[];
  readonly parseFull: (body: Uint8Array) => FullRow[];
}

/** Of the server that answers, and how many of its rows are taken. */
interface Printing extends Pick<TmuxCapabilities, 'escapesDollars'> {
  readonly rowsMax: number;
}

/** A machine behind ssh has its share: what it tells beyond is not even read. */
export const rowsMaxOf = (kind: Executor['kind']): number =>
  kind === 'ssh' ? limits.farPanesMax : limits.panesPerServerMax;

export function createQuestions(nonce: string, printing: Printing): Questions {
  return {
    gateCommand: `list-panes -a -F "${gateFormat(escapedBytes, nonce)}"`,
    fullCommand: `list-panes -a -F "${fullFormat(escapedBytes, nonce)}"`,
    parseGate: (body) => readRows(body, nonce, printing, gateRowOf),
    parseFull: (body) => readRows(body, nonce, printing, (record, bytes) => fullRowOf(record, bytes, nonce)),
  };
}

const serverFormat = named(serverFields).join(' ');
export const serverCommand = `display-message -p "${serverFormat}"`;
export const serverArgv = ['display-message', '-p', serverFormat] as const;

/** What the gate tells of one pane. */
export interface ActivityRow {
  readonly pane: PaneId;
  readonly panePid: number;
  /** Seconds on tmux's clock when its window last printed something. */
  readonly activity: number;
  readonly title: string;
}

export interface FullRow extends ActivityRow {
  readonly view: TmuxPane;
}

/** The socket's path stands last and may hold spaces. */
export function parseServer(body: Uint8Array): TmuxServer | null {
  const match = /^(\d+) (\d+) (\S+) (.+)$/s.exec(Buffer.from(body).toString().replace(/\n$/, ''));
  if (match === null) return null;
  const [, pid = '', startTime = '', version = '', socketPath = ''] = match;
  return { pid: numberOf(pid), startTime: numberOf(startTime), version, socketPath };
}

/**
 * A window linked into several sessions is listed once in each; the first one names the pane, the others are other names
 * of it, and the pane is visible when it is so anywhere.
 */
export function topologyOf(server: TmuxServer, rows: readonly FullRow[]): Topology {
  const panes = new Map<PaneId, TmuxPane>();
  for (const { view } of rows) {
    const known = panes.get(view.pane);
    if (known === undefined) {
      panes.set(view.pane, view);
      continue;
    }
    const visible = known.visible || view.visible;
    // A window may be linked twice into one session.
    const names = new Set([...(known.otherSessions ?? []), view.sessionName]);
    names.delete(known.sessionName);
    const viewers = [known.viewers, view.viewers].filter((some) => some !== undefined).join();
    panes.set(view.pane, {
      ...known,
      visible,
      ...(viewers === '' ? {} : { viewers }),
      ...(names.size === 0 ? {} : { otherSessions: [...names] }),
    });
  }
  return { server, panes };
}

/** The gate still describes the panes of the full answer; titles and stamps may differ. */
export function hasSameShape(one: readonly ActivityRow[], other: readonly ActivityRow[]): boolean {
  return (
    one.length === other.length &&
    one.every((row, index) => row.pane === other[index]?.pane && row.panePid === other[index]?.panePid)
  );
}

/** The full rows with what a later gate of the same shape tells; the same array when it tells nothing new. */
export function withActivity(full: readonly FullRow[], gate: readonly ActivityRow[]): readonly FullRow[] {
  let isChanged = false;
  const rows = full.map((row, index) => {
    const now = gate[index];
    if (now === undefined || (row.title === now.title && row.activity === now.activity)) return row;
    isChanged = true;
    const { title, activity } = now;
    return { ...row, title, activity, view: row.title === title ? row.view : { ...row.view, title } };
  });
  return isChanged ? rows : full;
}

export function isSameServer(one: TmuxServer, other: TmuxServer): boolean {
  return one.pid === other.pid && one.startTime === other.startTime && one.socketPath === other.socketPath;
}

export function isSameTopology(one: Topology, other: Topology): boolean {
  if (!isSameServer(one.server, other.server) || one.panes.size !== other.panes.size) return false;
  for (const [id, pane] of one.panes) {
    const twin = other.panes.get(id);
    if (twin === undefined || !isSamePane(pane, twin)) return false;
  }
  return true;
}

/** The later one with what is the same as before: whoever made something of a pane can tell at a glance that it holds. */
export function keepingSame(before: Topology, { server, panes }: Topology): Topology {
  const kept = Array.from(panes, ([id, pane]): [PaneId, TmuxPane] => {
    const known = before.panes.get(id);
    return [id, known !== undefined && isSamePane(known, pane) ? known : pane];
  });
  return { server, panes: new Map(kept) };
}

function isSamePane(one: TmuxPane, other: TmuxPane): boolean {
  if (one === other) return true;
  const { otherSessions: some = [], ...rest } = one;
  const { otherSessions: others = [] } = other;
  const isSameNames = some.length === others.length && some.every((name, place) => name === others[place]);
  return (
    isSameNames &&
    one.viewers === other.viewers &&
    (Object.keys(rest) as (keyof typeof rest)[]).every((field) => rest[field] === other[field])
  );
}

/** 3.4 and 3.5 print control characters escaped, and so the separators; 3.4 also writes a backslash before `$NAME`. */
function readRows<Row>(
  body: Uint8Array,
  nonce: string,
  { escapesDollars, rowsMax }: Printing,
  rowOf: (record: string, bytes: Separators) => Row | null,
): Row[] {
  const answer = Buffer.from(body.buffer, body.byteOffset, body.length);
  const bytes = answer.subarray(0, escapedBytes.record.length).equals(escapedRecord) ? escapedBytes : rawBytes;
  const mark = Buffer.from(recordOf(bytes, nonce));
  const rows: Row[] = [];
  // One after the other: an answer of many megabytes costs no more than the rows that are taken of it.
  let from = answer.indexOf(mark);
  for (let taken = 0; from !== -1 && taken < rowsMax; taken += 1) {
    const next = answer.indexOf(mark, from + mark.length);
    const end = next === -1 ? answer.length : next;
    if (end - from <= limits.tmuxRowCharsMax) {
      const printed = answer.toString('utf8', from + mark.length, end);
      const record = escapesDollars ? printed.replace(/\\(?=\$[A-Za-z_{])/g, '') : printed;
      // The last record has no newline in control mode, the others end with one.
      const row = rowOf(record.endsWith('\n') ? record.slice(0, -1) : record, bytes);
      if (row !== null) rows.push(row);
    }
    from = next;
  }
  return rows;
}

const escapedRecord = Buffer.from(escapedBytes.record);

const paneIdPattern = /^%\d{1,9}$/;

function gateRowOf(record: string, { field }: Separators): ActivityRow | null {
  const [pane = '', pid = '', activity = '', ...title] = record.split(field);
  if (!paneIdPattern.test(pane) || title.length === 0) return null;
  return { pane: paneId(pane), panePid: numberOf(pid), activity: numberOf(activity), title: title.join(field) };
}

function fullRowOf(record: string, bytes: Separators, nonce: string): FullRow | null {
  const [clean = '', title = '', sessionName = '', windowName = '', currentCommand = '', path] = record.split(
    boundaryOf(bytes, nonce),
  );
  const fields = clean.split(bytes.field);
  const [pane = '', panePid = '', activity = ''] = fields;
  if (!paneIdPattern.test(pane) || path === undefined || fields.length !== fullFields.length) return null;
  const [dead = '', inMode = '', sessionId = '', windowId = '', windowIndex = '', paneIndex = '', tty = ''] =
    fields.slice(gateFields.length);
  const [paneActive = '', windowActive = '', attached = ''] = fields.slice(gateFields.length + 7);
  const viewers = viewersOf(attached);
  const [deadStatus = '', deadSignal = '', width = '', height = ''] = fields.slice(gateFields.length + 10);
  const gate = { pane: paneId(pane), panePid: numberOf(panePid), activity: numberOf(activity), title };
  return {
    ...gate,
    view: {
      pane: gate.pane,
      panePid: gate.panePid,
      title,
      dead: dead === '1',
      inMode: numberOf(inMode) > 0,
      sessionId,
      windowId,
      windowIndex: numberOf(windowIndex),
      paneIndex: numberOf(paneIndex),
      tty,
      sessionName,
      windowName,
      visible: paneActive === '1' && windowActive === '1' && viewers !== '',
      ...(viewers === '' ? {} : { viewers }),
      deadStatus: deadStatus === '' ? null : numberOf(deadStatus),
      deadSignal: deadSignal === '' ? null : deadSignal,
      width: numberOf(width),
      height: numberOf(height),
      currentCommand,
      cwd: bytes === escapedBytes ? path.replace(escapedControl, unescaped) : path,
    },
  };
}

/** What no path is likely to hold as letters. Tabs and line ends come as they are. */
const escapedControl = /\\0([0-3][0-7])/g;
const unescaped = (_: string, octal: string): string => String.fromCharCode(Number.parseInt(octal, 8));

/** Clients without a terminal (ours, and other programs') are called `client-<pid>`; nobody looks at them. */
function viewersOf(attachedList: string): string {
  const names = attachedList.split(',');
  return names.filter((name) => name !== '' && !/^client-\d+$/.test(name)).join();
}

function numberOf(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : 0;
}
