import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../agents/contract.ts';
import { agent as gemini } from '../agents/gemini/agent.ts';
import { agent as opencode } from '../agents/opencode/agent.ts';
import { classify } from '../agents/screen/classify.ts';
import { readRuleFile } from '../agents/screen/rule-file.ts';
import type { Ask } from '../model/asks.ts';
import { askId, mainScope } from '../model/ids.ts';
import { type Intent, planFor } from './intents.ts';

const agents: Readonly<Record<string, Agent>> = { gemini, opencode };
const agentOf = (file: string): Agent => agents[file.split('/')[0] ?? ''] ?? gemini;

function seenIn(file: string) {
  const url = new URL(`../agents/${file.replace('/', '/fixtures/')}.txt`, import.meta.url);
  const lines = readFileSync(url, 'utf8').split('\n');
  const { ask } = classify(readRuleFile(agentOf(file).screen), { lines, title: '', command: 'node' }, null);
  if (ask === null) throw new Error(`${file} shows no dialog`);
  return ask;
}

/** What comes of it: its strokes, or why not. */
function outcome(file: string, intent: Intent, id: string): unknown {
  const { keys } = agentOf(file);
  if (keys === null) throw new Error('no keys');
  const seen = seenIn(file);
  const ask: Ask = { ask_id: askId(id), kind: seen.kind, scope: mainScope, text: seen.text, options: seen.options };
  const plan = planFor(keys, intent, ask, seen);
  return plan.ok ? plan.value.strokes.flatMap((one) => ('keys' in one ? one.keys : [])) : plan.failure.code;
}

const cut = [
  'gemini/sizes/screens/0.61.0-60x10-approval_cut',
  'gemini/sizes/screens/0.61.0-40x24-approval_cut',
  'gemini/sizes/screens/0.61.0-40x24-approval_cut_head',
  'gemini/sizes/screens/0.61.0-120x40-approval_cut_write',
  'gemini/sizes/screens/0.61.0-60x10-approval_cut_own_screen',
  'opencode/screens/1.18.33-approval_scrolls.120x40',
  'opencode/screens/1.18.33-approval_scrolls.40x24',
  'opencode/screens/1.18.33-approval_edit_scrolls.300x60',
  'opencode/screens/1.18.33-approval_edit_full_scrolls.120x40',
  'opencode/screens/1.18.33-approval_edit_full_low.60x10',
];
const whole = [
  'gemini/sizes/screens/0.61.0-44x24-approval_shell',
  'gemini/sizes/screens/0.61.0-44x24-approval_edit',
  'gemini/sizes/screens/0.61.0-200x60-approval_shell',
  'opencode/screens/1.18.33-lab_approval_bash.40x20',
  'opencode/screens/1.18.33-lab_approval_long.50x22',
  'opencode/screens/1.18.33-lab_approval_edit.40x20',
  'opencode/screens/1.18.33-lab_approval_edit.200x60',
  'opencode/screens/1.18.33-lab_approval_edit_full.80x24',
];

describe('wishes at a dialog of which not all is in sight', () => {
  it.each(cut)('ASK3a nobody says yes to what was not shown: %s', (file) => {
    expect(seenIn(file).cut).toBe(true);
    expect(outcome(file, { kind: 'approve' }, 'screen:1')).toBe('E_UNSUPPORTED');
    expect(outcome(file, { kind: 'choose', option: '1' }, 'screen:1')).toBe('E_UNSUPPORTED');
    expect(outcome(file, { kind: 'choose', option: '2' }, 'screen:1')).toBe('E_UNSUPPORTED');
  });

  it.each(cut)('ASK3a a no needs no more than what is there: %s', (file) => {
    const no = seenIn(file).options.at(-1)?.id ?? '';
    expect(outcome(file, { kind: 'reject', because: null }, 'screen:1')).toEqual(['Escape']);
    expect(outcome(file, { kind: 'choose', option: no }, 'screen:1')).toEqual(['Escape']);
  });

  it('ASK3 where the agent itself told the whole of it, what is cut on the screen was shown', () => {
    expect(outcome('gemini/sizes/screens/0.61.0-120x40-approval_cut_write', { kind: 'approve' }, 'call-1')).toEqual([
      '1',
    ]);
  });

  it.each(whole)('ASK3 what is whole is answered: %s', (file) => {
    expect(seenIn(file).cut).toBeUndefined();
    expect(outcome(file, { kind: 'approve' }, 'screen:1')).toEqual([file.startsWith('gemini') ? '1' : 'Enter']);
  });
});
