import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { assert } from '../model/errors.ts';
import { type LifeCase, type LifeEventKind, type LifeState, lifeEventKinds, lifeTable } from './life-table.ts';

const eventWords: Readonly<Record<LifeEventKind, string>> = {
  started: 'it was started',
  exit: 'it ended',
  budget_elapsed: 'the budget is over',
  background_request: 'background is asked for',
  kill: 'a kill is asked for',
  kill_failed: 'the kill cannot be done',
  resume: 'resume is asked for',
  stopped: 'a signal stopped it',
  continued: 'it was continued',
  timeout_elapsed: 'its timeout is over',
  spawn_failed: 'it cannot be started',
  holder_lost: 'its holder is gone without a status',
  adopted: 'a new daemon finds it running',
  cancelled: 'its caller went away',
};

const whenWords: Readonly<Record<LifeCase['when'], string>> = {
  always: '',
  status_zero: 'status 0: ',
  kill_pending: 'being killed: ',
  is_stopped: 'stopped: ',
  unavailable: 'folder gone: ',
};

const stateWords: Readonly<Record<LifeState, string>> = {
  running_fg: 'foreground',
  running_bg: 'background',
  completed: 'completed',
  failed: 'failed',
};

const effectWords: Readonly<Record<LifeCase['effects'][number], string>> = {
  send_term: 'TERM',
  continue: 'CONT',
  send_kill_later: 'KILL after 5 s',
  rerun: 'next attempt',
  answer_call: '',
  answer_kills: '',
};

function caseText(one: LifeCase, state: LifeState): string {
  const parts = [
    one.to === state ? '' : `→ ${stateWords[one.to]}`,
    one.change === 'stop' ? 'shown as stopped' : one.change === 'continue' ? 'no longer stopped' : '',
    one.result === null ? '' : `\`${one.result}\``,
    one.effects
      .map((effect) => effectWords[effect])
      .filter((words) => words !== '')
      .join(', '),
    one.call === null ? '' : `the call gets \`${one.call}\``,
  ].filter((part) => part !== '');
  return whenWords[one.when] + (parts.length === 0 ? '-' : parts.join(', '));
}

function cellText(state: LifeState, event: LifeEventKind): string {
  const row = lifeTable.find((one) => one.state === state && one.event === event);
  assert(row !== undefined, `${state} ${event}`);
  const texts = row.cases.map((one) => caseText(one, state));
  return texts.every((text) => text.endsWith('-')) ? '-' : texts.join('; ');
}

function tableText(): string {
  const states: readonly LifeState[] = ['running_fg', 'running_bg', 'completed', 'failed'];
  const lines = lifeEventKinds.map((event) => [eventWords[event], ...states.map((state) => cellText(state, event))]);
  const head = ['what happens', ...states.map((state) => stateWords[state])];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

it('SHL1 docs/shells.md shows the table of the life cycle as it is', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/shells.md'), 'utf8');
  const start = text.indexOf('| what happens |');
  const end = text.indexOf('\n\n', start);
  expect(start, 'the table is there').toBeGreaterThan(-1);
  expect(text.slice(start, end === -1 ? undefined : end).trimEnd()).toBe(tableText());
});
