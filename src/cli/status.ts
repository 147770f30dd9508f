// `agtmux status`: whether the daemon is up, what it sees and what troubles it. Starts nothing: who asks how it is wants
// to know, not to change it.

import type { StatusReply } from '../api/daemon.ts';
import type { PaneList } from '../api/panes.ts';
import { get } from '../api/requests.ts';
import type { TargetItem } from '../api/targets.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { cut } from '../text/width.ts';
import { type PaintRole, paint } from '../view/paint.ts';
import { hasNoServer, healthWord } from '../view/pane-words.ts';
import { ageLabel, statesInOrder, wordsOf } from '../view/words.ts';
import type { Action } from './context.ts';
import { otherBuildWords } from './other-build.ts';
import { columnsOf, hasColour, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { askRunning } from './running.ts';

/** The daemon is up but something it watches, or itself, is not well. */
const troubleStatus = 1;

export const status: Action = async (parsed, context) => {
  const daemon = (await askRunning(get('/v1/status'))).reply;
  const { summary } = (await askRunning(get('/v1/panes'))).reply;
  const troubles = troublesOf(daemon, summary.targets, context.version);
  if (parsed.has('json')) {
    const { schema_version, generated_at, ...rest } = daemon;
    print(JSON.stringify({ schema_version, generated_at, daemon: rest, summary, troubles }));
  } else {
    print(lines(daemon, summary, troubles, parsed).join('\n'));
  }
  if (troubles.length > 0) process.exitCode = troubleStatus;
};

function troublesOf(daemon: StatusReply, targets: readonly TargetItem[], version: string): readonly string[] {
  const own = daemon.trouble === null ? [] : [`the daemon: ${daemon.trouble}`];
  const old = daemon.version === version ? [] : [otherBuildWords(daemon.version, version)];
  const others = targets
    .filter((target) => target.health !== 'ok')
    .map((target) => `${target.target} is ${target.health}${target.trouble === null ? '' : `: ${target.trouble}`}`);
  return [...own, ...old, ...others];
}

const megabyte = 1_048_576;

function lines(
  daemon: StatusReply,
  summary: PaneList['summary'],
  troubles: readonly string[],
  parsed: Parsed,
): readonly string[] {
  const { by_state, needs_action } = summary;
  const told = statesInOrder.filter((state) => by_state[state] > 0);
  const agents = [
    ...(needs_action === 0 ? [] : [`${needs_action} ${needs_action === 1 ? 'needs' : 'need'} you`]),
    ...told.map((state) => `${by_state[state]} ${wordsOf(state).word}`),
  ];
  const targets = summary.targets.map(
    (item) =>
      `${item.target} ${healthWord(item)}${hasNoServer(item) ? '' : `, ${item.panes} pane${item.panes === 1 ? '' : 's'}`}`,
  );
  const row = (title: string, text: string, role: PaintRole | null = null): string => {
    const shown = cut(sanitizeLine(foreign(text)), Math.max(1, columnsOf() - titleColumns));
    return title.padEnd(titleColumns) + (role === null || !hasColour(parsed) ? shown : paint(shown, role));
  };
  const calls = daemon.hook_calls;
  const counted = [
    `${calls.taken} calls`,
    ...(calls.waiting > 0 ? [`${calls.waiting} waiting`] : []),
    ...(calls.refused > 0 ? [`${calls.refused} refused, see \`agtmux logs\``] : []),
  ];
  const hooks = calls.taken + calls.waiting + calls.refused === 0 ? '' : counted.join(', ');
  const memory = Math.round(daemon.memory_bytes / megabyte);
  return [
    row('daemon', `up ${ageLabel(daemon.up_ms)}, version ${daemon.version}, pid ${daemon.pid}, ${memory} MB`, 'good'),
    row('agents', agents.join(' · ') || 'none'),
    row('targets', targets.join(' · ') || 'none'),
    row('events', `${daemon.events.taken} stored, feed at version ${daemon.feed_version}`),
    ...(hooks === '' ? [] : [row('hooks', hooks)]),
    ...restoreWords(daemon).map((text) => row('restore', text, 'bad')),
    ...shellWords(daemon).map((text) => row('shells', text)),
    ...(troubles.length === 0
      ? [row('trouble', 'none')]
      : troubles.map((text, place) => row(place === 0 ? 'trouble' : '', text, 'bad'))),
  ];
}

/** What a reboot or a lost tmux server took away. */
function restoreWords({ restorable }: StatusReply): readonly string[] {
  // An older daemon does not say.
  if (restorable === undefined || restorable === 0) return [];
  return [`${restorable} agent${restorable === 1 ? '' : 's'} of a lost tmux server: run \`agtmux restore\``];
}

/** What runs, and how long agents waited for their answers. */
function shellWords({ shells }: StatusReply): readonly string[] {
  // An older daemon has none.
  if (shells === undefined) return [];
  const { running, run_to_answer } = shells;
  const { count, p50_ms, max_ms } = run_to_answer;
  const waits = count === 0 ? [] : [`answered in ${waitText(p50_ms)} (p50), ${waitText(max_ms)} at most, of ${count}`];
  return running + count === 0 ? [] : [[`${running} running`, ...waits].join(', ')];
}

const waitText = (ms: number | null): string =>
  ms === null ? '-' : ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;

const titleColumns = 10;
