// The asks that Claude's hooks told in recorded runs, against the dialogs that its screens showed: each fits its own and
// no other, and the words that differ from version to version do not matter.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Ask } from '../../model/asks.ts';
import { hookReader } from '../claude/hooks.ts';
import rules from '../claude/screen.json' with { type: 'json' };
import type { SeenAsk } from '../contract.ts';
import { classify } from './classify.ts';
import { fitsScreen } from './fitting.ts';
import { readRuleFile } from './rule-file.ts';

const folder = join(import.meta.dirname, '../claude/fixtures');
const ruleFile = readRuleFile(rules);

/** By what they are about; the same is asked in several runs. */
function asksOf(...files: readonly string[]): ReadonlyMap<string, Ask> {
  const asks = new Map<string, Ask>();
  for (const file of files) {
    const reader = hookReader();
    for (const line of readFileSync(join(folder, 'hooks', file), 'utf8').split('\n')) {
      const findings = line === '' ? [] : reader.read(JSON.parse(line));
      for (const { fact } of findings)
        if (fact.kind === 'ask.opened') asks.set(fact.ask.text.split('\n', 1)[0] ?? '', fact.ask);
    }
  }
  return asks;
}

const asks = asksOf('ask.jsonl', 'bash.jsonl', 'bg.jsonl', 'plan.jsonl', 'task.jsonl', 'write.jsonl');

function seenIn(file: string): SeenAsk {
  const [version = ''] = (file.split('/').at(-1) ?? '').split('-');
  const lines = readFileSync(join(folder, file), 'utf8').replace(/\n$/, '').split('\n');
  const seen = classify(ruleFile, { lines, title: '✳ Claude Code', command: null, isAlive: true }, version)?.ask;
  if (seen == null) throw new Error(`there is no dialog in ${file}`);
  return seen;
}

const own: readonly (readonly [string, readonly string[]])[] = [
  [
    'touch made-a.txt && sleep 8',
    [
      'screens/2.1.325-approval_bash.80x24.txt',
      'screens/2.1.325-approval_bash.200x50.txt',
      'narrow/screens/2.1.325-approval_bash.50x30.txt',
      'narrow/screens/2.1.197-approval_bash.50x30.txt',
      'narrow/screens/2.0.77-approval_bash.200x60.txt',
      'narrow/screens/1.0.128-approval_bash.50x30.txt',
    ],
  ],
  ['rm -rf ./build', ['screens/2.1.325-approval_bash2.80x24.txt', 'narrow/screens/2.0.77-approval_bash2.50x30.txt']],
  ['touch bg-a && sleep 25', ['screens/2.1.325-approval_bgbash.80x24.txt']],
  ['touch sub-a.txt', ['screens/2.1.325-approval_in_subagent.80x24.txt']],
  ['Write /home/user/labs/work/proj/notes-new-a.js', ['screens/2.1.325-approval_write.80x24.txt']],
  [
    'Edit /home/user/labs/work/proj/notes.txt',
    ['screens/2.1.325-approval_edit.80x24.txt', 'narrow/screens/2.1.197-approval_edit.50x30.txt'],
  ],
  ['## Plan', ['screens/2.1.325-waiting_plan_approval.200x50.txt', 'screens/2.1.197-waiting_plan_approval.80x24.txt']],
  ['Which database should the service use?', ['screens/2.1.325-waiting_question.80x24.txt']],
  ['Which features do you want to enable?', ['screens/2.1.325-waiting_question_multi.80x24.txt']],
];

describe('asks of Claude that were told by its hooks', () => {
  it.each(own)('ASK3 %s fits the dialogs that were shown for it, and no other ask does', (name, files) => {
    for (const file of files) {
      const fits = [...asks].filter(([, ask]) => fitsScreen(ask, seenIn(file))).map(([one]) => one);
      expect([file, fits]).toEqual([file, [name]]);
    }
  });

  it('ASK3 a command says what it is for, as a comment, and fits where the dialog shows that in its own way', () => {
    const ask = asks.get('rm -rf ./build');
    expect(ask?.text).toBe('rm -rf ./build\n# Run the requested command');
    const description = 'clean up (`build` only) & nothing else';
    const [opened] = hookReader().read({
      event: 'PermissionRequest',
      time: 1,
      payload: { session_id: 's', tool_name: 'Bash', tool_input: { command: 'rm -rf ./build', description } },
    });
    if (opened?.fact.kind !== 'ask.opened') throw new Error('nothing was asked');
    const shown = seenIn('narrow/screens/2.1.197-approval_bash2.50x30.txt');
    const seen = { ...shown, text: shown.text.replace('Run the requested command', description) };
    expect(fitsScreen(opened.fact.ask, seen)).toBe(true);
    expect(fitsScreen(opened.fact.ask, { ...seen, text: seen.text.replace('./build', './') })).toBe(false);
  });

  it('ASK3 a page to be fetched fits as every version shows it', () => {
    const [opened] = hookReader().read({
      event: 'PermissionRequest',
      time: 1,
      payload: {
        session_id: 's',
        tool_name: 'WebFetch',
        tool_input: { url: 'http://127.0.0.1:9/doc', prompt: 'Summarise' },
      },
    });
    if (opened?.fact.kind !== 'ask.opened') throw new Error('nothing was asked');
    for (const version of ['1.0.60', '1.0.128', '2.0.77', '2.1.197', '2.1.325']) {
      const seen = seenIn(`narrow/screens/${version}-more_approval_webfetch.50x30.txt`);
      expect([version, fitsScreen(opened.fact.ask, seen)]).toEqual([version, true]);
      const other = { ...seen, text: seen.text.replaceAll('/doc', '/other') };
      expect([version, fitsScreen(opened.fact.ask, other)]).toEqual([version, false]);
    }
  });
});
