// The words for one pane and for one target, as every screen and table says them. What others wrote is still as they wrote
// it, except where a type says that it has passed the gate.

import type { PaneItem } from '../api/panes.ts';
import type { TargetItem } from '../api/targets.ts';
import { notKeptTrouble, reasons } from '../model/reasons.ts';
import { projectOf } from '../model/rows.ts';
import type { StateName } from '../model/states.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';
import type { PaintRole } from './paint.ts';
import { ageLabel, backgroundLabel, colourOf, stateLabel, unseenMark, wordsOf } from './words.ts';

export { placeOf, projectOf } from '../model/rows.ts';

/** What its project may be called: the folder it works in, and its repository. */
export const projectsOf = ({ cwd, git }: Pick<PaneItem, 'cwd' | 'git'>): readonly string[] =>
  git === null ? [projectOf(cwd)] : [projectOf(cwd), git.repository];

/** `main *3 ↑1 ↓2`: files that differ from the commit, commits to push and to pull; empty where git knows nothing. */
export function gitLabel(git: PaneItem['git']): string {
  if (git === null) return '';
  const { branch, head, dirty, ahead, behind } = git;
  const counted = [
    dirty > 0 ? `*${dirty}` : '',
    (ahead ?? 0) > 0 ? `↑${ahead}` : '',
    (behind ?? 0) > 0 ? `↓${behind}` : '',
  ];
  return joined(
    [branch ?? `at ${head?.slice(0, 7) ?? 'no commit'}`, counted.filter((part) => part !== '').join(' ')],
    ' ',
  );
}

/** Both in wall time; empty where nobody knows since when. */
export const ageSince = (since: string | null, nowMs: number): string =>
  since === null ? '' : ageLabel(nowMs - Date.parse(since));

/** `● ~running`, `✓ done •`; a dash for a pane without an agent. */
export const paneLabel = ({ state, confidence, suspended, seen }: PaneItem): string =>
  state === null || confidence === null
    ? '-'
    : `${stateLabel({ state, confidence, suspended })}${suspended ? '' : unseenMark(seen)}`;

export const stateRole = (state: StateName | null, suspended = false): PaintRole | null =>
  state === null ? 'dim' : colourOf({ state, suspended });

/** What stands above everything else while nothing is written down (LOG5); null while it is. */
export const notKeptNotice = (targets: Iterable<Pick<TargetItem, 'trouble'>>): string | null =>
  [...targets].some(({ trouble }) => trouble === notKeptTrouble)
    ? 'Nothing can be written down: what is shown is seen now and not kept. Free disk space.'
    : null;

/** Its machine does not answer: what is shown is as old as the last good look. */
export const isAway = (item: PaneItem): boolean => item.reason_code === 'target_unreachable';

/** Its words hold an age or a countdown, and are other ones later although nothing has changed. */
export const saysTime = (item: PaneItem): boolean =>
  isAway(item) || (item.reason_code === 'usage_limit' && item.until !== null);

export const routeMarks = { CONNECTED: '→', DISCONNECTED: '·', NONE: '' } as const;
export const routeRoles = { CONNECTED: 'connected', DISCONNECTED: 'disconnected', NONE: null } as const;

/** What it asks, does or suffers from; unknown is never shown without its reason. */
export function saidOf(item: PaneItem, nowMs: number, offsetMinutes: number): string {
  if (item.state === null || item.reason_code === null) return item.current_command;
  const said =
    item.ask?.text ??
    limitText(item, nowMs, offsetMinutes) ??
    item.detail ??
    (item.state === 'unknown' ? '' : reasonText(item, nowMs));
  return joined([doubtOf(item, nowMs), said]);
}

/** Why nobody knows what it does: what was known last must not look like what is known. Empty for everyone else. */
export const doubtOf = (item: PaneItem, nowMs: number): string =>
  item.state === 'unknown' ? reasonText(item, nowMs) : '';

/** What is true beside its state. */
export const besidesOf = (item: PaneItem): readonly string[] =>
  [
    item.reason_code === 'stalled' ? 'stalled' : '',
    backgroundLabel(item.background),
    item.suspended && item.state !== null ? `was ${wordsOf(item.state).word}` : '',
  ].filter((part) => part !== '');

/** Both, in one line. */
export function whatOf(item: PaneItem, nowMs: number, offsetMinutes: number): string {
  const said = saidOf(item, nowMs, offsetMinutes);
  if (item.state === null || item.reason_code === null) return said;
  const asks = item.asks_open > 1 ? `(${item.asks_open})` : '';
  return joined([said, asks, ...besidesOf(item), item.session?.auto_approve === true ? '[auto-approve]' : '']);
}

const joined = (parts: readonly string[], by = '  '): string => parts.filter((part) => part !== '').join(by);

/** When it can go on, and how long that is from now; once that has passed it only waits for somebody. */
function limitText({ reason_code, until }: PaneItem, nowMs: number, offsetMinutes: number): string | null {
  if (reason_code !== 'usage_limit') return null;
  if (until === null) return 'usage limit';
  const local = new Date(Date.parse(until) + offsetMinutes * 60_000).toISOString().slice(11, 16);
  const restMs = Date.parse(until) - nowMs;
  return restMs > 0 ? `usage limit, resets ${local} in ${restLabel(restMs)}` : `usage limit reset at ${local}`;
}

/** `1h05m`, `40m`, `2d`: to the minute, for those who wait for it. */
export function restLabel(restMs: number): string {
  const minutes = Math.ceil(restMs / 60_000);
  if (minutes < 60) return `${minutes}m`;
  if (minutes >= 2_880) return `${Math.round(minutes / 1_440)}d`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

function reasonText(item: PaneItem, nowMs: number): string {
  if (item.reason_code === null || (item.state !== 'unknown' && item.state !== 'error')) return '';
  const words = reasons[item.reason_code].words;
  return isAway(item) ? `${words}, seen ${ageSince(item.last_seen_at, nowMs)} ago` : words;
}

/** Machines that could not be looked at, with the reason: beside them nobody can say that no agent runs. */
export const unseenTargets = (targets: readonly TargetItem[]): readonly SafeText[] =>
  targets
    .filter(({ health }) => health !== 'ok')
    .map(({ target, health, trouble }) => sanitizeLine(foreign(`${target}: ${trouble ?? health}`)));

const healthRoles = { ok: 'good', degraded: 'attention', down: 'bad' } as const;

type TargetHealth = Pick<TargetItem, 'health' | 'tmux_version'>;

/** It answers, and no tmux server runs there: no trouble, and nothing to be proud of. */
export const hasNoServer = ({ health, tmux_version }: TargetHealth): boolean =>
  health === 'ok' && tmux_version === null;

export const healthWord = (item: TargetHealth): string => (hasNoServer(item) ? 'no tmux server' : item.health);

export const healthRole = (item: TargetHealth): PaintRole => (hasNoServer(item) ? 'dim' : healthRoles[item.health]);

/** `host ok`, `vm2 down 12s`: with the age of the last good look; `host 4 ok` with how many agents it has. */
export function healthText(
  { target, health, tmux_version, last_seen_at }: TargetItem,
  nowMs: number,
  agents: number | null = null,
): SafeText {
  const age = health === 'ok' || last_seen_at === null ? '' : ` ${ageSince(last_seen_at, nowMs)}`;
  return sanitizeLine(
    foreign(`${target} ${agents === null ? '' : `${agents} `}${healthWord({ health, tmux_version })}${age}`),
  );
}
