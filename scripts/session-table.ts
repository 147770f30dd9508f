// Writes the table of managed sessions into docs/sessions.md, between its two marks: as a table and as a diagram, both from
// src/sessions/table.ts. A test fails when the document is older than the table: `node scripts/session-table.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  extraEventKinds,
  type MachineEventKind,
  type MachineState,
  machineEventKinds,
  machineStates,
} from '../src/model/sessions.ts';
import { canonicalStates, shownIn } from '../src/sessions/entry.ts';
import { type Cell, cellOf, guards, origins, otherOutcomes, shortNames, stateOf } from '../src/sessions/table.ts';

const begin = '<!-- session-table: begin; written by scripts/session-table.ts -->';
const end = '<!-- session-table: end -->';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...body.map(row)].join('\n');

function cellText({ guard, yes, no, origin }: Cell): string {
  const what = guard === null ? yes : `${guard} ? ${yes} : ${no}`;
  return `${what} <sub>${origin}</sub>`;
}

const eventRows = (kinds: readonly MachineEventKind[]): string[][] =>
  kinds.map((kind) => [`\`${kind}\``, ...machineStates.map((state) => cellText(cellOf(state, kind)))]);

const stateHead = ['event', ...Object.keys(shortNames)];

/** Where a cell leads to another state; with a question where it has one. */
function arrowsOf(from: MachineState, kind: MachineEventKind): { readonly to: MachineState; readonly label: string }[] {
  const { guard, yes, no, origin } = cellOf(from, kind);
  // What is there only so that no cell is empty would bury the rest.
  if (origin === 'N') return [];
  const label = kind.replace(':', ' ');
  const ways =
    guard === null
      ? [{ outcome: yes, label }]
      : [
          { outcome: yes, label: `${label} [${guard}]` },
          { outcome: no, label: `${label} [not ${guard}]` },
        ];
  return ways.flatMap(({ outcome, label: words }) => {
    const to = stateOf(outcome);
    return to === null || to === from ? [] : [{ to, label: words }];
  });
}

/** One arrow for each pair of states, with all that leads along it. */
function diagram(): string {
  const lines = machineStates.flatMap((from) => {
    const byState = new Map<MachineState, string[]>();
    for (const kind of [...machineEventKinds, ...extraEventKinds])
      for (const { to, label } of arrowsOf(from, kind)) byState.set(to, [...(byState.get(to) ?? []), label]);
    return [...byState].map(([to, labels]) => `  ${from} --> ${to}: ${labels.join('<br/>')}`);
  });
  return ['```mermaid', 'stateDiagram-v2', '  [*] --> idle', ...lines, '```'].join('\n');
}

const legend = (words: Readonly<Record<string, string>>): string =>
  Object.entries(words)
    .map(([name, means]) => `- \`${name}\`: ${means}`)
    .join('\n');

/** What stands between the marks. */
export function sessionTable(): string {
  return [
    '### States',
    table(
      ['state', 'short', 'as a state of agents', 'shows'],
      Object.entries(shortNames).map(([short, state]) => [
        `\`${state}\``,
        short,
        `\`${canonicalStates[state].state}\``,
        Object.entries(shownIn)
          .filter(([, states]) => (states as readonly MachineState[]).includes(state))
          .map(([name]) => `\`${name}\``)
          .join(', ') || 'nothing',
      ]),
    ),
    '`showAutoModeWarning` only where the agent approves for itself.',
    '### Transitions',
    'Each cell says what comes next and, in small, where it comes from. An ask counts when it is whole.',
    table(stateHead, eventRows(machineEventKinds)),
    'Events that real agents need besides:',
    table(stateHead, eventRows(extraEventKinds)),
    'Besides the states a cell may say:',
    legend(otherOutcomes),
    'Cells with two outcomes ask a question:',
    legend(guards),
    'Origins:',
    legend(origins),
    '### Diagram',
    'Without the cells of origin `N`.',
    diagram(),
  ].join('\n\n');
}

/** The document with its part brought up to date; null when it lacks the marks. */
export function withSessionTable(document: string): string | null {
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from === -1 || to < from) return null;
  return `${document.slice(0, from + begin.length)}\n\n${sessionTable()}\n\n${document.slice(to)}`;
}

export const sessionDocument = join(import.meta.dirname, '../docs/sessions.md');

if (process.argv[1] === import.meta.filename) {
  const updated = withSessionTable(readFileSync(sessionDocument, 'utf8'));
  if (updated === null) throw new Error(`${sessionDocument} lacks the marks:\n${begin}\n${end}`);
  writeFileSync(sessionDocument, updated);
}
