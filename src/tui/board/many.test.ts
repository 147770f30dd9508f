// The board beyond one row: messages of several lines, to many at once, the screen beside the list, copies, and the diff.
import { describe, expect, it } from 'vitest';
import { itemOf } from '../../../test/kit/fake-daemon.ts';
import { gitFacts, paneRow, type RowOptions } from '../../../test/kit/rows.ts';
import { Played, sentBy, worldOf } from '../../../test/kit/tui-screens.ts';
import type { ReceiptReply } from '../../api/actions.ts';
import type { AgentDiffReply } from '../../api/git.ts';
import type { PaneItem } from '../../api/panes.ts';
import { width } from '../../text/width.ts';
import { lineText } from '../../view/shells-spans.ts';
import { diffScreen } from '../diff/screen.ts';
import { boardScreen } from './screen.ts';

const item = (options: RowOptions, fields: Partial<PaneItem> = {}): PaneItem => itemOf(paneRow(options), fields);
const rowsOf = (items: readonly PaneItem[]): ReadonlyMap<string, PaneItem> =>
  new Map(items.map((one) => [`row:${one.runtime_id}`, one]));
const wide = { columns: 120, lines: 40 };
const board = (items: readonly PaneItem[], size = { columns: 80, lines: 24 }) =>
  new Played(boardScreen, { screen: 'board' }, worldOf({ rows: rowsOf(items), nowMs: Date.now(), size }));

const running = item({ window: 1, state: 'running' });
const codex = item({ window: 2, state: 'running', agent: 'codex' });
const twenty = Array.from({ length: 20 }, (_, place) => item({ window: place, state: 'running' }));

const receiptFor = (runtime: string, fields: Partial<ReceiptReply> = {}): ReceiptReply => ({
  ...{ schema_version: 1, generated_at: '', outcome: 'delivered', action: 'send', ref: `runtime:${runtime}` },
  ...{ who: null, runtime_id: runtime, snapshot_id: null, way: 'keys', strength: 'atomic', failure: null, words: null },
  ...fields,
});

describe('a message', () => {
  it('SCR5 has as many lines as one wants: Ctrl-J, Alt-Enter and pasted ones stay, and an editor gives them back', async () => {
    const played = board([running]).press('s', 'a', 'ctrl+j', 'b', 'alt+enter');
    played.tell({ is: 'paste', text: 'c\nd\u001b[2J' });
    expect(played.text()).toMatch(/› a\s*\n {2}b\s*\n {2}c\s*\n {2}d/);
    const [edit] = played.press('ctrl+e').took();
    expect(edit).toMatchObject({ do: 'edit', text: 'a\nb\nc\nd' });
    if (edit?.do === 'edit') played.own(edit.done('one\ntwo', ''), edit.done(null, 'vi ended with status 1'));
    const [sent] = await sentBy(played.press('enter').took()[0]);
    expect(sent?.body).toMatchObject({ action: 'send', text: 'one\ntwo' });
  });

  it('SCR6 goes to everyone who is marked, each guarded as if alone, and each has a receipt of its own', async () => {
    const played = board(twenty).press('A', 'S', 'h', 'i');
    expect(played.text()).toContain('Send to 20: claude, host/work:0.0 · claude, host/work:1.0');
    const calls = played.press('enter').took();
    expect(calls).toHaveLength(20);
    const bodies = (await Promise.all(calls.map((call) => sentBy(call)))).flat().map(({ body }) => body);
    const runtimes = twenty.map(({ runtime_id }) => runtime_id);
    expect(bodies).toEqual(
      runtimes.map((runtime) => ({
        ...{ action: 'send', text: 'hi', when_ready: false, ref: `runtime:${runtime}` },
        // Whoever asks something would take the words for an answer.
        conditions: { if_runtime: runtime, if_state: ['error', 'running', 'completed', 'idle', 'unknown'] },
      })),
    );
    const failure = { code: 'E_DIALOG', message: 'it asks for approval', next: 'answer it first' } as const;
    for (const [place, call] of calls.entries()) {
      if (call.do !== 'call') continue;
      const reply = place === 7 ? { outcome: 'refused' as const, failure } : {};
      const api = { post: async () => receiptFor(runtimes[place] ?? '', reply) };
      played.own(await call.run({ api } as never));
    }
    expect(played.text()).toContain('Sent to 20: 19 delivered, 1 not');
    expect(played.text()).toMatch(
      /^ {2}claude, host\/work:7\.0 {2}refused: it asks for approval; answer it first \[E_DIAL/m,
    );
    expect(played.press('esc').text()).not.toContain('Sent to 20');
  });

  it('SCR6 space marks and goes on, esc takes the marks back, and who has gone meanwhile is left out', () => {
    const played = board([running, codex]).press(' ', ' ');
    expect(played.text().match(/^[> ]\*/gm)).toHaveLength(2);
    expect(boardScreen.keys(played.model, played.world).find(({ keys }) => keys === 'S')?.words).toBe(
      'send to 2 marked',
    );
    played.becomes({ rows: rowsOf([codex]) });
    expect(played.press('S').text()).toContain('Send to 1: codex');
    played.press('esc', ' ', 'esc');
    expect(played.text()).not.toMatch(/^[> ]\*/m);
    // Without marks the key is the frame's.
    expect(played.tell({ is: 'key', key: 'S' })).toBe(false);
  });
});

describe('other deeds', () => {
  it('names an agent, restarts one that has ended, and mutes its kind in its project for an hour', async () => {
    const [named] = await sentBy(
      board([running])
        .press('N', ...'tests', 'enter')
        .took()[0],
    );
    expect(named?.body).toMatchObject({
      action: 'name',
      nick: 'tests',
      conditions: { if_runtime: running.runtime_id },
    });
    const ended = {
      cause: 'exit',
      status: 1,
      signal: null,
      clean: false,
      at: '',
      listed_until: '2999-01-01T00:00:00Z',
    } as const;
    const gone = item({ window: 3, state: 'error' }, { ended });
    const [resumed] = await sentBy(board([gone]).press('R').took()[0]);
    expect(resumed?.body).toMatchObject({ action: 'resume', ref: `runtime:${gone.runtime_id}` });
    const [muted] = await sentBy(board([running]).press('u').took()[0]);
    expect(muted).toEqual({
      path: '/v1/notifications/mute',
      body: { agent: 'claude', project: 'web-shop', minutes: 60 },
    });
  });

  it('SCR5 copies the reference, what it asks, and its output without effects', async () => {
    const ask = {
      ask_id: 'a',
      kind: 'command',
      scope: 'main',
      text: 'rm -rf build',
      options: [],
    } satisfies PaneItem['ask'];
    const asking = item({ window: 1, state: 'waiting_approval' }, { ask });
    const copied = (...keys: readonly string[]) =>
      board([asking])
        .press(...keys)
        .took()
        .find((one) => one.do === 'copy');
    expect(copied('y', 'r')).toEqual({ do: 'copy', text: asking.ref });
    expect(copied('y', 'a')).toEqual({ do: 'copy', text: 'rm -rf build' });
    expect(board([asking]).press('y', 'q').took()).toContainEqual({ do: 'say', text: 'Nothing was copied.' });
    const played = board([asking]);
    const call = played
      .press('y', 'o')
      .took()
      .find((one) => one.do === 'call');
    const api = { get: async () => ({ lines: ['a\u001b]52;c;eA==\u0007', 'b'] }) };
    if (call?.do === 'call') played.own(await call.run({ api } as never));
    expect(played.took()).toContainEqual({ do: 'copy', text: 'a\nb' });
  });

  it('SCR5 rings only where one wants it, once for everyone who comes to need a person', () => {
    const asking = item({ window: 2, state: 'waiting_input' });
    expect(
      board([running])
        .becomes({ rows: rowsOf([running, asking]) })
        .took(),
    ).toEqual([]);
    const played = board([running])
      .press('B')
      .becomes({ rows: rowsOf([running]) });
    played.took();
    expect(played.becomes({ rows: rowsOf([running, asking]) }).took()).toEqual([{ do: 'bell' }]);
    expect(played.becomes({ rows: rowsOf([running, { ...asking }]) }).took()).toEqual([]);
  });
});

describe('the screen beside the list', () => {
  const streamOf = (played: ReturnType<typeof board>) => boardScreen.streams?.(played.model, played.world) ?? [];

  it('SCR7 is there from 100 columns on, is that of the selected agent alone, and a key takes it away', () => {
    expect(streamOf(board([running, codex]))).toEqual([]);
    const played = board([running, codex], wide);
    expect(streamOf(played).map(({ key }) => key)).toEqual([`preview ${running.runtime_id}`]);
    const preview = {
      runtime: running.runtime_id ?? '',
      lines: ['\u001b[31mhello\u001b[0m there', 'two'],
      words: null,
    };
    played.own({ is: 'preview', preview });
    const row = played.lines().find((line) => lineText(line).includes('hello')) ?? [];
    expect(lineText(row)).toMatch(/ │ hello there$/);
    for (const line of played.lines()) expect(width(lineText(line))).toBeLessThanOrEqual(wide.columns);
    // What another one shows never stands beside it.
    expect(played.press('down').text()).not.toContain('hello');
    expect(streamOf(played).map(({ key }) => key)).toEqual([`preview ${codex.runtime_id}`]);
    expect(streamOf(played.press('p'))).toEqual([]);
    expect(played.text()).not.toContain('│');
  });

  it('SCR7 is read again while it moves, less and less often while it stands still, and tells only what is new', async () => {
    const played = board([running], wide);
    const [stream] = streamOf(played);
    const shown = ['a', 'b', 'b', 'b', 'b', 'b', 'b'];
    const [waits, told]: [number[], string[]] = [[], []];
    const leaving = new AbortController();
    const ports = {
      api: { get: async () => ({ lines: [shown.shift() ?? 'c'] }) },
      sleep: async (ms: number) => {
        waits.push(ms);
        if (shown.length === 0) leaving.abort();
      },
    };
    for await (const own of stream?.start(ports as never, leaving.signal) ?? []) {
      if (own.is === 'preview') told.push(own.preview.lines.join());
    }
    expect(told).toEqual(['a', 'b']);
    expect(waits).toEqual([100, 250, 250, 500, 750, 1_000, 1_250, 1_250]);
  });

  it('SCR7 the wheel scrolls what it is over', () => {
    const lines = Array.from({ length: 100 }, (_, place) => `line ${place}.`);
    const played = board([running, codex], wide);
    played.own({ is: 'preview', preview: { runtime: running.runtime_id ?? '', lines, words: null } });
    expect(played.text()).toContain('line 99.');
    played.tell({ is: 'mouse', what: 'wheelup', column: 110, row: 10 });
    expect(played.text()).not.toContain('line 99.');
    expect(played.text()).toContain('line 96.');
    played.tell({ is: 'mouse', what: 'wheeldown', column: 3, row: 10 });
    expect(played.text()).toMatch(/^> ● codex/m);
  });
});

describe('the diff', () => {
  const diff: AgentDiffReply = {
    ...{
      schema_version: 1,
      generated_at: '2026-11-19T10:00:00.000Z',
      ref: 'runtime:r',
      runtime_id: 'r',
      agent: 'claude',
    },
    git: gitFacts({ dirty: 1 }),
    base: { kind: 'turn', head: null, at: '2026-11-19T09:56:00.000Z' },
    files: [{ path: 'a\u001b[2J.ts', old_path: null, change: 'modified', added: 1, removed: 0 }],
    ...{ files_total: 1, left_out: 0, is_cut: false },
    patch: `diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1,2 @@\n one\n+two\u001b]0;x\u0007\n${'+more\n'.repeat(50)}`,
  };

  it('GIT2 is opened from the board, tells since when and what, and is scrolled', async () => {
    expect(board([running]).press('d').took()).toEqual([
      { do: 'open', place: { screen: 'diff', runtime: running.runtime_id } },
    ]);
    const played = new Played(diffScreen, { screen: 'diff', runtime: 'r' });
    const [asked] = await sentBy(played.took()[0]);
    expect(asked?.path).toBe('/v1/agents/runtime%3Ar/diff');
    played.own({ is: 'diff', diff });
    expect(played.text()).toMatch(
      /^web-shop {2}main \*1 {2}since its turn began, 4m ago\n1 file, \+1 -0\nM {2}a\.ts {2}\+1 -0\n\ndiff --git/,
    );
    const plus = played.lines().find((line) => lineText(line).startsWith('+two'));
    expect(plus).toEqual([{ text: '+two', role: 'connected' }]);
    expect(played.press('tab').text()).toMatch(/^diff --git/);
    expect(played.press('G').text()).not.toContain('diff --git');
    expect(played.press('y').took()).toContainEqual({ do: 'copy', text: diff.patch });
  });
});
