import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agent as gemini } from '../agents/gemini/agent.ts';
import { classify } from '../agents/screen/classify.ts';
import { readRuleFile } from '../agents/screen/rule-file.ts';
import type { Ask } from '../model/asks.ts';
import { askId, mainScope } from '../model/ids.ts';
import { planFor, type Wish } from './wishes.ts';

const rules = readRuleFile(gemini.screen);
const seenIn = (file: string) => {
  const url = new URL(`../agents/gemini/fixtures/sizes/screens/0.61.0-${file}.txt`, import.meta.url);
  const lines = readFileSync(url, 'utf8').split('\n');
  const { ask } = classify(rules, { lines, title: '', command: 'node' }, null);
  if (ask === null) throw new Error(`${file} shows no dialog`);
  return ask;
};

/** What comes of it: its strokes, or why not. */
function outcome(file: string, wish: Wish, id: string): unknown {
  const { keys } = gemini;
  if (keys === null) throw new Error('no keys');
  const seen = seenIn(file);
  const ask: Ask = { ask_id: askId(id), kind: seen.kind, scope: mainScope, text: seen.text, options: seen.options };
  const plan = planFor(keys, wish, ask, seen);
  return plan.ok ? plan.value.strokes.flatMap((one) => ('keys' in one ? one.keys : [])) : plan.failure.code;
}

const cut = [
  '60x10-approval_cut',
  '40x24-approval_cut',
  '40x24-approval_cut_head',
  '120x40-approval_cut_write',
  '60x10-approval_cut_own_screen',
];

describe('wishes at a dialog of which not all is in sight', () => {
  it.each(cut)('ASK3 nobody says yes to what was not shown: %s', (file) => {
    expect(seenIn(file).cut).toBe(true);
    expect(outcome(file, { kind: 'approve' }, 'screen:1')).toBe('E_UNSUPPORTED');
    expect(outcome(file, { kind: 'choose', option: '1' }, 'screen:1')).toBe('E_UNSUPPORTED');
    expect(outcome(file, { kind: 'choose', option: '2' }, 'screen:1')).toBe('E_UNSUPPORTED');
  });

  it.each(cut)('ASK3 a no needs no more than what is there: %s', (file) => {
    const no = seenIn(file).options.at(-1)?.id ?? '';
    expect(outcome(file, { kind: 'reject', because: null }, 'screen:1')).toEqual(['Escape']);
    expect(outcome(file, { kind: 'choose', option: no }, 'screen:1')).toEqual(['Escape']);
  });

  it('ASK3 where the agent itself told the whole of it, what is cut on the screen was shown', () => {
    expect(outcome('120x40-approval_cut_write', { kind: 'approve' }, 'call-1')).toEqual(['1']);
  });

  it.each(['44x24-approval_shell', '44x24-approval_edit', '200x60-approval_shell'])(
    'ASK3 what is whole is answered: %s',
    (file) => {
      expect(seenIn(file).cut).toBeUndefined();
      expect(outcome(file, { kind: 'approve' }, 'screen:1')).toEqual(['1']);
    },
  );
});
