// What an agent's keys do to the dialogs that were recorded from it: every screen goes through the rules, and what they
// make of it to the keys, as it does when a person answers.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateOfAsk } from '../../model/asks.ts';
import type { Agent, KeyStep, SeenAsk } from '../contract.ts';
import { classify } from '../screen/classify.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import { hitBy, meansNo, meansOnce } from './keys.contract.ts';

export interface RecordedDialog {
  readonly file: string;
  readonly version: string;
  readonly ask: SeenAsk;
}

/** Every recorded dialog whose options the rules can read. In low windows some of them are out of sight. */
export function recordedDialogs(
  { name, screen }: Agent,
  parts: readonly string[] = ['', 'everyday', 'narrow', 'sizes'],
): readonly RecordedDialog[] {
  const rules = readRuleFile(screen);
  return parts.flatMap((part) => {
    const folder = join(import.meta.dirname, '..', name, 'fixtures', part);
    if (!existsSync(join(folder, 'screens.json'))) return [];
    const list = JSON.parse(readFileSync(join(folder, 'screens.json'), 'utf8')) as Record<
      'file' | 'version' | 'title' | 'command',
      string
    >[];
    return list.flatMap(({ file, version, title, command }) => {
      const lines = readFileSync(join(folder, 'screens', file), 'utf8').split('\n');
      const { ask } = classify(rules, { lines, title, command }, version);
      return ask === null || ask.options.length === 0 ? [] : [{ file, version, ask }];
    });
  });
}

export const shown = (strokes: readonly KeyStep[] | null): string =>
  strokes === null
    ? '-'
    : strokes.map((one) => ('keys' in one ? one.keys.join(' ') : JSON.stringify(one.text))).join(', ');

/**
 * `twoSteps` are dialogs in which a yes would last: they get none. `begun` are those in whose field a person is writing: they get
 * no key at all.
 */
export function recordedSuite(
  agent: Agent,
  approvalsMin: number,
  twoSteps: (ask: SeenAsk) => boolean,
  begun: (ask: SeenAsk) => boolean = () => false,
): void {
  const { keys } = agent;
  if (keys === null) throw new Error('it has no keys');
  const [written, dialogs] = partOf(recordedDialogs(agent), ({ ask }) => begun(ask));
  const approvals = dialogs.filter(({ ask }) => stateOfAsk(ask.kind) === 'waiting_approval');

  describe(`keys of ${agent.name} at recorded dialogs`, () => {
    it('has recordings to go by', () => {
      process.stdout.write(tableOf(agent, approvals));
      expect(approvals.length).toBeGreaterThanOrEqual(approvalsMin);
    });

    it('approves every one by the option that means yes, this once', () => {
      for (const { file, ask } of approvals.filter((one) => !twoSteps(one.ask))) {
        const hit = hitBy(keys.approve(ask) ?? [], ask.options);
        expect(keys.approve(ask), file).not.toBeNull();
        expect(hit !== null && hit !== 'escape' && meansOnce(hit.label), `${file}: ${JSON.stringify(hit)}`).toBe(true);
      }
      for (const { file, ask } of approvals.filter((one) => twoSteps(one.ask)))
        expect(keys.approve(ask), file).toBeNull();
    });

    it('rejects every one by Escape or by the option that means no', () => {
      for (const { file, ask } of approvals) {
        const hit = hitBy(keys.reject(ask, null) ?? [], ask.options);
        expect(keys.reject(ask, null), file).not.toBeNull();
        expect(hit === 'escape' || (hit !== null && meansNo(hit.label)), `${file}: ${JSON.stringify(hit)}`).toBe(true);
      }
    });

    it('rejects with words only in a field of the dialog, and Enter comes after them', () => {
      for (const { file, ask } of approvals) {
        const strokes = keys.reject(ask, 'use the other folder');
        if (strokes === null) continue;
        const hit = hitBy(strokes.slice(0, -2), ask.options);
        expect(hit !== null && hit !== 'escape' && meansNo(hit.label), file).toBe(true);
        expect(strokes.slice(-2), file).toEqual([{ text: 'use the other folder' }, { keys: ['Enter'] }]);
      }
    });

    it('chooses every option by its id, and no other', () => {
      for (const { file, ask } of approvals)
        for (const option of ask.options) {
          const hit = hitBy(keys.choose(ask, option.id) ?? [], ask.options);
          expect(keys.choose(ask, option.id), `${file} ${option.id}`).not.toBeNull();
          expect(hit === option || (hit === 'escape' && meansNo(option.label)), `${file} ${option.id}`).toBe(true);
        }
    });

    it('presses no key in a dialog in whose field a person is writing', () => {
      for (const { file, ask } of written) {
        const all = [keys.approve(ask), keys.reject(ask, null), ...ask.options.map(({ id }) => keys.choose(ask, id))];
        expect(
          all.filter((strokes) => strokes !== null),
          file,
        ).toEqual([]);
      }
    });

    it('answers nothing but approvals with a yes', () => {
      for (const { file, ask } of dialogs)
        if (stateOfAsk(ask.kind) !== 'waiting_approval') expect(keys.approve(ask), file).toBeNull();
    });
  });
}

const partOf = <One>(all: readonly One[], isIn: (one: One) => boolean): readonly [readonly One[], readonly One[]] => [
  all.filter(isIn),
  all.filter((one) => !isIn(one)),
];

/** Where a part of a dialog is out of sight the right option is reached, or none at all. */
export function lowSuite(agent: Agent, approvalsMin: number): void {
  const { keys } = agent;
  if (keys === null) throw new Error('it has no keys');
  const dialogs = recordedDialogs(agent, ['low']);
  const approvals = dialogs.filter(({ ask }) => stateOfAsk(ask.kind) === 'waiting_approval');

  describe(`keys of ${agent.name} in low windows`, () => {
    it('says yes only by the option that means yes, this once', () => {
      expect(approvals.length).toBeGreaterThanOrEqual(approvalsMin);
      for (const { file, ask } of dialogs) {
        const strokes = keys.approve(ask);
        const hit = strokes === null ? null : hitBy(strokes, ask.options);
        const isOnce = hit !== null && hit !== 'escape' && meansOnce(hit.label);
        expect(strokes === null || (approvals.some((one) => one.ask === ask) && isOnce), file).toBe(true);
      }
    });

    it('says no only by Escape or by the option that means no', () => {
      for (const { file, ask } of approvals) {
        const strokes = keys.reject(ask, null);
        const hit = strokes === null ? null : hitBy(strokes, ask.options);
        const isNo = hit === 'escape' || (hit !== null && meansNo(hit.label));
        expect(strokes === null || isNo, file).toBe(true);
      }
    });

    it('reads no option together with the words of the next', () => {
      for (const { file, ask } of approvals)
        for (const { label } of ask.options.filter((option) => option.label.startsWith('Yes')))
          expect(label, file).toMatch(/^Yes(?:$|,)/);
    });

    it('chooses an option by its id, or nothing', () => {
      for (const { file, ask } of dialogs)
        for (const option of ask.options) {
          const strokes = keys.choose(ask, option.id);
          const hit = strokes === null ? null : hitBy(strokes, ask.options);
          expect(strokes === null || hit === option || (hit === 'escape' && meansNo(option.label)), file).toBe(true);
        }
    });
  });
}

/** One row for dialogs that are worded alike. */
function tableOf({ name, keys }: Agent, dialogs: readonly RecordedDialog[]): string {
  const rows = new Map<string, { count: number; versions: Set<string> }>();
  for (const { ask, version } of dialogs) {
    const options = ask.options
      .map(({ id, label }) => (id === label ? label : `${id} ${label}`).slice(0, 28))
      .join(' | ');
    const answers = [keys?.approve(ask), keys?.reject(ask, null), keys?.reject(ask, 'why')];
    const row = `${answers.map((one) => shown(one ?? null).padEnd(16)).join('')}${options}`;
    const known = rows.get(row) ?? { count: 0, versions: new Set() };
    rows.set(row, { count: known.count + 1, versions: known.versions.add(version) });
  }
  const head = `${'approve'.padEnd(16)}${'reject'.padEnd(16)}${'reject, why'.padEnd(16)}options`;
  const lines = [...rows]
    .sort()
    .map(([row, { count, versions }]) => `  ${row}  (${count}: ${[...versions].join(', ')})`);
  return `${name}: ${dialogs.length} approvals\n  ${head}\n${lines.join('\n')}\n`;
}
