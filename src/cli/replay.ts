// `agtmux replay`: recorded events in, states out. The whole path of a fact without a daemon, for trying the engine, for
// bug reports and for explaining a verdict.

import { reasons } from '../model/reasons.ts';
import { verdictNames, verdictReasons } from '../model/verdicts.ts';
import { type OfflineReport, type OfflineRow, replayLines } from '../offline/replay.ts';
import { foreign, type SafeText, sanitizeLine } from '../text/sanitize.ts';
import { tableLines } from '../view/table.ts';
import { ageLabel, backgroundLabel, stateLabel, wordsOf } from '../view/words.ts';
import type { Action } from './context.ts';
import { readText } from './input.ts';
import { columnsOf, print } from './output.ts';

export const replay: Action = async (parsed) => {
  const report = await replayLines((await readText(parsed.args[0] ?? '-')).split('\n'));
  if (parsed.has('json')) print(JSON.stringify(asJson(report), null, 2));
  else print([...(parsed.has('verdicts') ? verdictLines(report) : []), ...tableOf(report)].join('\n'));
};

const plain = (text: string): SafeText => sanitizeLine(foreign(text));

function tableOf({ rows, now, taken, verdicts }: OfflineReport): readonly string[] {
  const columns = [
    { title: 'STATE' },
    { title: 'AGENT' },
    { title: 'WHAT', flexible: true },
    { title: 'AGE' },
    { title: 'WHERE', flexible: true },
    { title: 'ROUTE' },
  ];
  const needFirst = (one: OfflineRow, other: OfflineRow): number =>
    wordsOf(one.state.state).order - wordsOf(other.state.state).order || one.state.since - other.state.since;
  const cells = [...rows]
    .sort(needFirst)
    .map((row) => [
      plain(stateLabel(row.state)),
      plain(row.identity.agent),
      plain(whatOf(row)),
      plain(ageLabel(now - row.state.since)),
      plain(`${row.identity.target}/${row.identity.pane ?? 'session'}`),
      plain(row.route === 'CONNECTED' ? '→' : row.route === 'DISCONNECTED' ? '·' : ''),
    ]);
  const counted = verdictNames.filter((name) => verdicts[name] > 0).map((name) => `${verdicts[name]} ${name}`);
  const footer = `${taken} events: ${counted.join(', ') || 'none'}`;
  const listed = rows.length === 0 ? ['no agents in these events'] : tableLines(columns, cells, columnsOf());
  return [...listed, '', footer];
}

/** What it does or asks, in its own words where it has any, otherwise the reason in ours. */
function whatOf({ state }: OfflineRow): string {
  const words =
    state.detail ?? (state.state === 'idle' || state.state === 'running' ? '' : reasons[state.reason].words);
  const more = state.asks_open > 1 ? `(+${state.asks_open - 1} more)` : '';
  return [words, more, backgroundLabel(state.background), state.suspended ? `was ${wordsOf(state.state).word}` : '']
    .filter((part) => part !== '')
    .join('  ');
}

function verdictLines({ lines }: OfflineReport): readonly string[] {
  const told = lines.map(({ line, verdict }) => {
    const detail = verdict.detail === undefined ? '' : `: ${plain(verdict.detail)}`;
    const words = verdictReasons[verdict.reason].words;
    return `${String(line).padStart(5)}  ${verdict.verdict.padEnd(9)}  ${verdict.reason}${detail} (${words})`;
  });
  return [...told, ''];
}

function asJson({ rows, now, taken, verdicts, lines }: OfflineReport): object {
  return {
    schema_version: 1,
    generated_at: now,
    taken,
    verdicts,
    items: rows.map(({ identity, state, route }) => ({ identity, route, ...state })),
    lines: lines.map(({ line, verdict }) => ({ line, ...verdict })),
  };
}
