// What is asked in every recorded dialog, word for word. The rules wrote `fixtures/asks.json` of an agent (`-u` writes it
// anew); a person has held each line against its screen. What can be checked without the rules is checked here as well.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AskKind, stateOfAsk } from '../model/asks.ts';
import type { Agent, SeenAsk } from './contract.ts';
import { agents } from './registry.ts';
import { classify } from './screen/classify.ts';
import { readRuleFile } from './screen/rule-file.ts';

const folders = ['', 'everyday', 'narrow', 'sizes', 'low'];

interface RecordedAsk {
  readonly file: string;
  readonly lines: readonly string[];
  readonly ask: SeenAsk | null;
}

const fixturesOf = (agent: string): string => join(import.meta.dirname, agent, 'fixtures');

function recordedAsks({ name, screen }: Agent): readonly RecordedAsk[] {
  const rules = readRuleFile(screen);
  return folders.flatMap((part) => {
    const folder = join(fixturesOf(name), part);
    if (!existsSync(join(folder, 'screens.json'))) return [];
    const list = JSON.parse(readFileSync(join(folder, 'screens.json'), 'utf8')) as Record<
      'file' | 'version' | 'title' | 'command',
      string
    >[];
    return list.map(({ file, version, title, command }) => {
      const lines = readFileSync(join(folder, 'screens', file), 'utf8').split('\n');
      const { ask } = classify(rules, { lines, title, command }, version);
      return { file: join(part, file), lines, ask };
    });
  });
}

interface ReviewedAsk {
  readonly kind: AskKind;
  /** Not all of it is in sight, and the rules know that. */
  readonly cut?: true;
  readonly text: readonly string[];
  readonly files: readonly string[];
}

/** Dialogs of the same words stand together: they are read once. */
function reviewed(asks: readonly RecordedAsk[]): readonly ReviewedAsk[] {
  const rows = asks.flatMap(({ file, ask }) => (ask === null ? [] : [{ file, ask }]));
  const groups = Map.groupBy(rows, ({ ask: { kind, text, cut } }) => JSON.stringify([kind, text, cut]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { kind, text, cut } = first.ask;
    const files = group.map(({ file }) => file);
    return [{ kind, ...(cut === true ? { cut } : {}), text: text === '' ? [] : text.split('\n'), files }];
  });
}

/** A line a row, so that a change of one dialog is a change of one line. */
const fileOf = (list: readonly ReviewedAsk[]): string =>
  `[\n${list.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`;

const squeezed = (text: string): string => text.replace(/[\s─-▟]+/gu, '');
/** A permission, a plan or a question; what else is open is a menu, whose words only name it. */
const isRequest = ({ kind }: SeenAsk): boolean => kind !== 'dialog';
const frame = /^[\s─-▟]*$/u;

const recorded = agents.map((agent) => ({ agent, name: agent.name, asks: recordedAsks(agent) }));

describe.each(recorded.filter(({ asks }) => asks.some(({ ask }) => ask !== null)))(
  'what $name asks on recorded screens',
  ({ name, asks }) => {
    it('RSV10 is read word for word as it was reviewed', async () => {
      await expect(fileOf(reviewed(asks))).toMatchFileSnapshot(join(fixturesOf(name), 'asks.json'));
    });

    it('RSV10 stands on the screen, line by line and in this order', () => {
      for (const { file, lines, ask } of asks) {
        if (ask === null) continue;
        const screen = squeezed(lines.join(''));
        let from = 0;
        for (const line of ask.text.split('\n').map(squeezed)) {
          const at = screen.indexOf(line, from);
          expect(at, `${file}: ${line}`).toBeGreaterThanOrEqual(0);
          from = at + line.length;
        }
      }
    });

    it('RSV10 has no option, no frame and no keys in it', () => {
      for (const { file, ask } of asks) {
        if (ask === null || !isRequest(ask)) continue;
        const text = ask.text.split('\n');
        expect(
          text.filter((line) => line !== '' && frame.test(line)),
          file,
        ).toEqual([]);
        // One of them is a command that writes such lines into a file.
        const keys = file.includes('_forged')
          ? []
          : text.filter((line) => /\b(?:esc|enter) to (?:cancel|submit|confirm|select)\b/i.test(line));
        expect(keys, file).toEqual([]);
        // A command may contain whatever it likes, but not the first option of this very dialog.
        const [first] = ask.options;
        const isOption = (line: string): boolean => {
          const words = line.replace(/^[❯›●>] ?/u, '').replace(/^\d+[.)] */, '');
          return first !== undefined && words === first.label;
        };
        expect(text.filter(isOption), file).toEqual([]);
      }
    });

    it('RSV10 ASK3 is whole, or is known to be cut: without the command, the change or the plan there is no yes', () => {
      for (const { file, ask } of asks) {
        if (ask === null || ask.cut === true || stateOfAsk(ask.kind) !== 'waiting_approval') continue;
        const isBare = ask.text
          .split('\n')
          .join(' ')
          .match(/^(?:Do you want to|Would you like to) [^/~]*\?$/);
        expect(isBare, `${file}: ${ask.text}`).toBeNull();
        expect(/hidden\b.*\.\.\.|\[… \d+ lines\]/.test(ask.text), `${file}: ${ask.text}`).toBe(false);
      }
    });
  },
);
