// Step "refs": the canonical ways to name what an action is for, and how a name is resolved: none, one or several,
// and several is never an action (ACT1). Short forms are sugar of the command line and expand to these.

import { fail, ok, type Result } from '../model/errors.ts';
import { type PaneId, paneId, type RuntimeId, runtimeId, type TargetId, targetId } from '../model/ids.ts';

export interface PaneRef {
  readonly target: TargetId;
  readonly session: string;
  readonly window: string;
  readonly pane: PaneId;
}

/** By the number that a person finds it under; which of several runs had it is told by who lives (IDN3). */
export interface ProcessRef {
  readonly target: TargetId;
  readonly pid: number;
}

export type Ref =
  | { readonly kind: 'runtime'; readonly runtime_id: RuntimeId }
  | { readonly kind: 'session'; readonly session_id: string }
  | ({ readonly kind: 'process' } & ProcessRef)
  | ({ readonly kind: 'pane' } & PaneRef);

/** What a ref is resolved against: one row a runtime. Managed sessions have no pane (IDN9). */
export interface RefRow {
  readonly runtime_id: RuntimeId;
  readonly session_id: string | null;
  /** Null where its process is not known. */
  readonly process: ProcessRef | null;
  /** The window may be shown by further sessions; which of them names it is chance. */
  readonly pane: (PaneRef & { readonly otherSessions?: readonly string[] }) | null;
}

/**
 * Names may hold any character. These would be read as part of the grammar, end the line, or vanish from a log. The mark
 * is a tilde, not a percent sign, so that tmux's own pane ids stay readable: `pane:host/work/@1/%5`.
 */
const unsafe = /[~/\s\p{Cc}\p{Cf}\p{Cs}]/gu;
const wellFormed = /^(?:[^~]|~[0-9A-F]{2}|~\{(?:10[0-9A-F]{4}|[0-9A-F]{2,5})\})*$/u;

function escapePart(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(2, '0');
    return code.length === 2 ? `~${code}` : `~{${code}}`;
  });
}

/** Null when an escape is broken: a ref that can be read two ways is not read at all. */
function unescapePart(text: string): string | null {
  if (!wellFormed.test(text)) return null;
  return text.replace(/~(?:\{([0-9A-F]+)\}|([0-9A-F]{2}))/gu, (_, long: string | undefined, short: string) =>
    String.fromCodePoint(Number.parseInt(long ?? short, 16)),
  );
}

export function formatRef(ref: Ref): string {
  switch (ref.kind) {
    case 'runtime':
      return `runtime:${escapePart(ref.runtime_id)}`;
    case 'session':
      return `session:${escapePart(ref.session_id)}`;
    case 'process':
      return ref.target === thisMachine ? `proc:${ref.pid}` : `proc:${escapePart(ref.target)}/${ref.pid}`;
    case 'pane':
      return `pane:${[ref.target, ref.session, ref.window, ref.pane].map(escapePart).join('/')}`;
  }
}

export function parseRef(text: string): Result<Ref> {
  const colon = text.indexOf(':');
  const parts = text
    .slice(colon + 1)
    .split('/')
    .map(unescapePart);
  const [first, session, window, pane] = parts;
  if (colon < 0 || parts.includes(null) || parts.includes('')) return invalid(text);
  switch (`${text.slice(0, colon)}/${parts.length}`) {
    case 'runtime/1':
      return ok({ kind: 'runtime', runtime_id: runtimeId(String(first)) });
    case 'session/1':
      return ok({ kind: 'session', session_id: String(first) });
    case 'proc/1':
      return processRef(thisMachine, String(first)) ?? invalid(text);
    case 'proc/2':
      return processRef(targetId(String(first)), String(session)) ?? invalid(text);
    case 'pane/4':
      return ok({
        kind: 'pane',
        target: targetId(String(first)),
        session: String(session),
        window: String(window),
        pane: paneId(String(pane)),
      });
    default:
      return invalid(text);
  }
}

/** The machine of the daemon needs no name. */
const thisMachine = targetId('host');

const processRef = (target: TargetId, pid: string): Result<Ref> | null =>
  /^[1-9]\d{0,9}$/.test(pid) ? ok({ kind: 'process', target, pid: Number(pid) }) : null;

/** Said back as it was written, but for what would not be seen. */
const invalid = (text: string): Result<never> =>
  fail('E_REF_INVALID', `"${text.split('/').map(escapePart).join('/')}" is not a reference`);

/** Exactly one row, or the reason why not. Names are compared whole: `ab` never reaches `abc`. */
export function resolveRef<Row extends RefRow>(ref: Ref, rows: readonly Row[]): Result<Row> {
  const found = rows.filter((row) => matches(ref, row));
  const [row] = found;
  if (row === undefined) return fail('E_REF_NOT_FOUND', `there is no ${formatRef(ref)}`);
  if (found.length === 1) return ok(row);
  const names = found.map((one) => formatRef({ kind: 'runtime', runtime_id: one.runtime_id }));
  return fail('E_REF_AMBIGUOUS', `${formatRef(ref)} could be ${names.join(' or ')}`);
}

function matches(ref: Ref, row: RefRow): boolean {
  switch (ref.kind) {
    case 'runtime':
      return row.runtime_id === ref.runtime_id;
    case 'session':
      return row.session_id === ref.session_id;
    case 'process':
      return row.process !== null && row.process.target === ref.target && row.process.pid === ref.pid;
    case 'pane':
      return (
        row.pane !== null &&
        row.pane.target === ref.target &&
        (row.pane.session === ref.session || row.pane.otherSessions?.includes(ref.session) === true) &&
        row.pane.window === ref.window &&
        row.pane.pane === ref.pane
      );
  }
}
