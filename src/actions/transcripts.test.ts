import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunView, Transcript } from '../agents/contract.ts';
import { transcript as copilot } from '../agents/copilot/transcript.ts';
import { transcript as gemini } from '../agents/gemini/transcript.ts';
import { transcript as opencode } from '../agents/opencode/transcript.ts';
import { transcriptRun } from '../agents/transcript/transcript.contract.ts';
import { limits } from '../model/limits.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import { textsFrom } from '../store/foreign-database.ts';
import { openDatabase } from '../store/node-sqlite.ts';
import { transcriptLines } from './transcripts.ts';

const files = createRealFileWatch();
let home = '';
let bytesRead = 0;
let run: RunView = transcriptRun;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agtmux-transcripts-'));
  run = { ...transcriptRun, home };
  bytesRead = 0;
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const ports = {
  files: {
    ...files,
    readPiece: async (path: string, from: number, bytesMax: number) => {
      const piece = await files.readPiece(path, from, bytesMax);
      bytesRead += piece?.bytes.length ?? 0;
      return piece;
    },
  },
  textsFrom,
};
const linesOf = (transcript: Transcript, sessions: readonly string[], linesMax = 10) =>
  transcriptLines(ports, transcript, run, sessions, linesMax);

const journal = (session: string): string => join(home, '.copilot/session-state', session, 'events.jsonl');
const says = (content: string): string => `${JSON.stringify({ type: 'assistant.message', data: { content } })}\n`;

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

describe('transcripts in files', () => {
  it('of several conversations of the run the one that was written to last, and of others none', async () => {
    put(journal('old'), says('old'));
    put(journal('now'), says('now'));
    put(journal('other'), says('of another run'));
    utimesSync(journal('old'), 1_000, 1_000);
    utimesSync(journal('now'), 2_000, 2_000);
    expect(await linesOf(copilot, ['old', 'now', 'gone'])).toEqual(['assistant: now']);
    expect(await linesOf(copilot, ['gone'])).toBe(null);
    expect(await linesOf(copilot, [])).toBe(null);
  });

  it('an id that is no name of a folder leads nowhere', async () => {
    put(join(home, '.copilot/elsewhere/events.jsonl'), says('outside'));
    put(journal('inside'), says('inside'));
    expect(await linesOf(copilot, ['../elsewhere', '.', '', 'a/b', 'inside\n', '[^/]+'])).toBe(null);
  });

  it('a row that is still being written waits, and a file without rows is no trouble', async () => {
    put(journal('a'), '');
    expect(await linesOf(copilot, ['a'])).toEqual([]);
    const whole = says('two');
    put(journal('a'), says('one') + whole.slice(0, 20));
    expect(await linesOf(copilot, ['a'])).toEqual(['assistant: one']);
    appendFileSync(journal('a'), whole.slice(20));
    expect(await linesOf(copilot, ['a'])).toEqual(['assistant: one', 'assistant: two']);
  });

  it('of a huge file only the end is read, and more of it while lines are missing', async () => {
    const bulk = `${JSON.stringify({ type: 'system.message', data: { content: 'x'.repeat(100_000) } })}\n`;
    put(journal('a'), says('first') + bulk.repeat(60) + Array.from({ length: 20 }, (_, at) => says(`${at}`)).join(''));
    expect(await linesOf(copilot, ['a'], 2)).toEqual(['assistant: 18', 'assistant: 19']);
    expect(bytesRead).toBe(limits.transcriptPieceBytes);
    bytesRead = 0;
    expect(await linesOf(copilot, ['a'], 100)).toHaveLength(20);
    expect(bytesRead).toBeGreaterThanOrEqual(limits.transcriptBytesMax);
    expect(bytesRead).toBeLessThanOrEqual(2 * limits.transcriptBytesMax);
    put(journal('a'), says('first') + bulk.repeat(10) + says('last'));
    expect(await linesOf(copilot, ['a'], 2)).toEqual(['assistant: first', 'assistant: last']);
  });

  it('what is no file, and what may not be read, is as if it were not there', async () => {
    mkdirSync(journal('a'), { recursive: true });
    put(join(home, '.copilot/session-state/b'), 'a file where a folder should be');
    expect(await linesOf(copilot, ['a', 'b'])).toBe(null);
  });

  it('BND1 a file whose name fits is taken only if its first row says so', async () => {
    const [own, twin] = ['0925d4ac-2fd8-470e-9469-62efd0eee20c', '0925d4ac-0000-470e-9469-62efd0eee20c'];
    const record = (session: string, text: string): string =>
      [{ sessionId: session }, { id: 'u', timestamp: '2026-11-15T15:35:40Z', type: 'user', content: [{ text }] }]
        .map((row) => `${JSON.stringify(row)}\n`)
        .join('');
    put(join(home, '.gemini/tmp/one/chats/session-2026-11-15T15-35-0925d4ac.jsonl'), record(own, 'mine'));
    const newer = join(home, '.gemini/tmp/two/chats/session-2026-11-15T15-36-0925d4ac.jsonl');
    put(newer, record(twin, 'not mine'));
    utimesSync(newer, 4_000_000_000, 4_000_000_000);
    put(join(home, '.gemini/tmp/bin'), 'no folder');
    expect(await linesOf(gemini, [own])).toEqual(['user: mine']);
  });
});

describe('transcripts in a database', () => {
  function database(): ReturnType<typeof openDatabase> {
    const path = join(home, '.local/share/opencode/opencode.db');
    mkdirSync(dirname(path), { recursive: true });
    const made = openDatabase(path);
    made.exec(`pragma journal_mode = wal;
      create table message (id text primary key, session_id text, time_created integer, data text);
      create table part (id text primary key, message_id text, data text);`);
    return made;
  }

  it('the end of the conversation that was spoken in last, while its program goes on writing', async () => {
    const made = database();
    const say = (id: number, session: string, role: string, part: object): void => {
      made.prepare('insert into message values (?, ?, ?, ?)').run(`m${id}`, session, id, JSON.stringify({ role }));
      made.prepare('insert into part values (?, ?, ?)').run(`p${id}`, `m${id}`, JSON.stringify(part));
    };
    say(1, 'ses_a', 'user', { type: 'text', text: 'earlier' });
    say(2, 'ses_b', 'user', { type: 'text', text: 'run it' });
    const state = { status: 'completed', input: { command: 'make' }, output: `ok${'x'.repeat(100_000)}` };
    say(3, 'ses_b', 'assistant', { type: 'tool', tool: 'bash', state });
    say(4, 'ses_c', 'user', { type: 'text', text: 'of another run' });
    made.exec('begin immediate');
    const lines = await linesOf(opencode, ['ses_a', 'ses_b']);
    expect(lines).toHaveLength(3);
    expect(lines?.slice(0, 2)).toEqual(['user: run it', 'tool: bash make']);
    expect(lines?.[2]).toMatch(/^tool: bash → okx+$/);
    expect(await linesOf(opencode, ['ses_b'], 1)).toEqual(lines?.slice(2));
    expect(await linesOf(opencode, ['ses_none'])).toBe(null);
    made.exec('rollback');
    made.close();
  });

  it('a database of another kind, a file that is none, and none at all', async () => {
    expect(await linesOf(opencode, ['ses_a'])).toBe(null);
    const made = database();
    made.exec('drop table part');
    made.close();
    expect(await linesOf(opencode, ['ses_a'])).toBe(null);
    put(join(home, '.local/share/opencode/opencode.db'), 'no database at all, but long enough to look at');
    expect(await linesOf(opencode, ['ses_a'])).toBe(null);
  });
});
