// What an editor shows and says: the tree, the badge, the status bar with who is CONNECTED, asks as far as they are shown whole,
// what a selection is called, and receipts in words.
import { describe, expect, it } from 'vitest';
import { itemOf } from '../../test/kit/fake-daemon.ts';
import { paneRow, type RowOptions } from '../../test/kit/rows.ts';
import type { PaneItem } from '../api/panes.ts';
import type { AgentItem } from './board.ts';
import {
  askOffer,
  badgeOf,
  editorGroups,
  type Link,
  noticeText,
  plainAnswer,
  quotedText,
  receiptWords,
  selectedPlace,
  sendBody,
  statusLine,
} from './editor.ts';

const now = Date.now();
const moment = { nowMs: now, offsetMinutes: 0 };
const item = (options: RowOptions, fields: Partial<PaneItem> = {}): AgentItem =>
  itemOf(paneRow(options), fields) as AgentItem;
const connected: Link = { is: 'connected' };

const ask = (text: string, labels: readonly string[]): Partial<PaneItem> => ({
  ask: {
    ask_id: 'ask-1',
    kind: 'command',
    scope: '',
    text,
    options: labels.map((label, index) => ({ id: `${index + 1}`, label })),
  },
  asks_open: 1,
});
const asking = (text: string, labels: readonly string[] = ['Yes', 'No']): AgentItem =>
  item({ window: 1, state: 'waiting_approval' }, ask(text, labels));

describe('the tree', () => {
  it('EDI4 has who needs a person first, all others by project, and the number that waits', () => {
    const groups = editorGroups(
      [
        item({ window: 1, state: 'running' }, { cwd: '/home/me/web-shop' }),
        item({ window: 2, state: 'waiting_input' }, { cwd: '/home/me/api' }),
        item({ window: 3, state: 'idle' }, { cwd: '/home/me/api' }),
        item({ window: 4, agent: null }),
      ],
      moment,
    );
    expect(groups.map(({ title, rows }) => [title, rows.length])).toEqual([
      ['Needs you', 1],
      ['api', 1],
      ['web-shop', 1],
    ]);
    expect(badgeOf(groups)).toBe(1);
    expect(badgeOf([])).toBe(0);
    expect(groups[1]?.rows[0]).toMatchObject({ kind: 'agent', label: expect.stringContaining('idle') });
  });

  it('EDI4 SEC3 a row does nothing but show, and its tooltip has the ask whole', () => {
    const [group] = editorGroups([asking('rm \u001b[2J\u202ex\nsecond line', ['Yes', 'No, stop'])], moment);
    const row = group?.rows[0];
    expect(row?.kind).toBe('approval');
    expect(`${row?.label}${row?.description}${row?.tooltip}`).not.toMatch(/[\u001b\u202e]/);
    expect(row?.tooltip).toMatch(/rm .*\nsecond line\n1\. Yes\n2\. No, stop$/);
  });
});

describe('the status bar', () => {
  const text = (rows: readonly PaneItem[], link: Link = connected): string => statusLine(rows, link, moment).text;
  const agent = (window: number, route: 'CONNECTED' | 'DISCONNECTED'): PaneItem =>
    item({ window, state: 'idle', session: 'work' }, { route });

  it('EDI4 RTE1 seed 000 scenario 1: no agent, the one that runs, no agent', () => {
    expect(text([])).toBe('no agent');
    expect(text([agent(1, 'CONNECTED')])).toMatch(/^→ claude host\/work:1/);
    expect(text([item({ window: 1, agent: null })])).toBe('no agent');
  });

  it('EDI4 RTE2 seed 000 scenario 2: of several the one that is CONNECTED, whatever their order', () => {
    const two = [agent(1, 'DISCONNECTED'), agent(2, 'CONNECTED')];
    for (const rows of [two, two.toReversed()]) expect(text(rows)).toMatch(/^→ claude host\/work:2/);
  });

  it('EDI4 RTE2 seed 000 scenario 3: when the CONNECTED one ends, the one that took over', () => {
    const ended = {
      cause: 'exit',
      status: 0,
      signal: null,
      clean: true,
      at: new Date(now).toISOString(),
      listed_until: null,
    } as const;
    const first = item({ window: 1, state: 'idle' }, { route: 'NONE', ended });
    expect(text([first, agent(2, 'DISCONNECTED'), agent(3, 'CONNECTED')])).toMatch(/^→ claude host\/work:3/);
  });

  it('EDI4 says what is missing, and never shows what is old as new', () => {
    const rows = [agent(1, 'CONNECTED')];
    expect(text(rows, { is: 'lost', words: 'gone' })).toContain('(daemon gone)');
    expect(statusLine(rows, { is: 'down', hasProgram: false }, moment)).toMatchObject({
      text: 'agtmux: off',
      tooltip: expect.stringContaining('was not found'),
      tone: 'bad',
    });
    expect(statusLine(rows, { is: 'down', hasProgram: true }, moment).tooltip).toContain('does not run');
    expect(text(rows, { is: 'other', words: 'x' })).toBe('agtmux: other version');
    expect(text(rows, { is: 'looking' })).toBe('agtmux …');
    expect(statusLine([asking('x')], connected, moment)).toMatchObject({
      text: expect.stringContaining('  ▲1'),
      tone: 'attention',
    });
  });
});

describe('an ask', () => {
  it('EDI5 is offered in a notification with the options of the agent only when that shows it whole', () => {
    const offer = askOffer(asking('run `npm test`?', ['Yes', 'No, and say why']));
    expect(offer).toMatchObject({ shown: 'notice', text: 'run `npm test`?' });
    expect(offer?.options).toEqual([
      { words: 'Yes', body: { action: 'answer', ask_id: 'ask-1', option: '1' } },
      { words: 'No, and say why', body: { action: 'answer', ask_id: 'ask-1', option: '2' } },
    ]);
    const others: [string, readonly string[], string][] = [
      ['two\nlines', ['Yes'], 'notice'],
      ['a\nb\nc\nd\ne', ['Yes'], 'dialog'],
      ['one ⏎ line', ['Yes'], 'dialog'],
      ['x'.repeat(300), ['Yes'], 'dialog'],
      ['many', ['1', '2', '3', '4', '5'], 'dialog'],
      ['a [link](command:x)', ['Yes'], 'dialog'],
      ['fine', ['[Yes](command:x)'], 'dialog'],
      ['x'.repeat(5_000), ['Yes'], 'elsewhere'],
      ['x\n'.repeat(80), ['Yes'], 'elsewhere'],
    ];
    for (const [text, labels, shown] of others)
      expect([text, askOffer(asking(text, labels))?.shown]).toEqual([text, shown]);
    expect(noticeText('two\nlines')).toBe('two ⏎ lines');
  });

  it('EDI5 is another one when its words change, and none once it is settled or its machine is away', () => {
    const one = asking('first');
    expect(askOffer(one)?.key).not.toBe(askOffer(asking('second'))?.key);
    expect(askOffer({ ...one, ask: null })).toBeNull();
    expect(askOffer({ ...one, state: 'running' })).toBeNull();
    expect(askOffer({ ...one, reason_code: 'target_unreachable' })).toBeNull();
    expect(askOffer(asking('a \u202e b'))?.text).not.toContain('\u202e');
  });

  it('EDI5 without options takes a plain yes or no where it is an approval, and words where it is a question', () => {
    expect(askOffer(asking('go on?', []))?.options.map(({ words }) => words)).toEqual(['Approve', 'Reject']);
    const question = item({ window: 1, state: 'waiting_input' }, ask('which one?', []));
    expect(askOffer(question)?.options).toEqual([]);
  });

  it('EDI5 a plain yes is taken only where the words of the options tell which one it is', () => {
    const plain = (labels: readonly string[], text = 'x'): unknown => {
      const one = asking(text, labels);
      const offer = askOffer(one);
      return offer === null || one.ask === null ? null : plainAnswer(offer, one.ask, 'approve');
    };
    expect(plain(['Yes', 'Yes, and do not ask again', 'No'])).toEqual({ action: 'approve', ask_id: 'ask-1' });
    expect(plain(['Allow always'])).toBeNull();
    expect(plain([])).toEqual({ action: 'approve', ask_id: 'ask-1' });
    expect(plain(['Yes'], 'x'.repeat(5_000))).toBeNull();
  });
});

describe('what is sent', () => {
  const selection = (startLine: number, endLine: number, endColumn: number, isEmpty = false) =>
    selectedPlace('/p/a.ts', { startLine, endLine, endColumn, isEmpty });

  it('EDI4 RTE6 a selection is called by the lines it touches, counted from 1', () => {
    expect(selection(0, 0, 4)).toEqual({ path: '/p/a.ts', from: 1, to: 1 });
    expect(selection(0, 2, 0)).toEqual({ path: '/p/a.ts', from: 1, to: 2 });
    expect(selection(0, 2, 1)).toEqual({ path: '/p/a.ts', from: 1, to: 3 });
    expect(selection(6, 6, 3, true)).toEqual({ path: '/p/a.ts', from: 7, to: 7 });
  });

  it('EDI4 RTE4 goes to the CONNECTED agent and names no other', () => {
    expect(sendBody('look', [selection(0, 2, 0)])).toEqual({
      action: 'send',
      connected: true,
      text: 'look',
      files: [{ path: '/p/a.ts', from: 1, to: 2 }],
    });
    expect(sendBody('look', [])).not.toHaveProperty('files');
  });

  it('EDI4 text that is not on disk is fenced by more than it has', () => {
    expect(quotedText('a.md', 'markdown', 'x\n```\ny')).toBe('a.md:\n````markdown\nx\n```\ny\n````');
  });

  it('EDI4 a receipt is said in words, a refused one with its reason and what to do', () => {
    const said = (outcome: 'delivered' | 'queued' | 'unconfirmed' | 'refused', words: string | null = null) =>
      receiptWords({ outcome, words, failure: null }, 'claude');
    expect(said('delivered')).toEqual({ tone: 'good', words: 'Delivered to claude' });
    expect(said('queued').words).toBe('Queued for claude until it is ready');
    expect(said('unconfirmed', 'look first')).toEqual({
      tone: 'doubt',
      words: 'Sent to claude, arrival not confirmed: look first',
    });
    const failure = { code: 'E_ROLE', message: 'no', next: 'pair again' } as const;
    expect(receiptWords({ outcome: 'refused', words: null, failure }, 'claude')).toEqual({
      tone: 'bad',
      words: 'Refused: no; pair again [E_ROLE]',
    });
  });
});
