// Finding: what is asked, that the quick half stands there at once, and where a hit leads.
import { expect, it } from 'vitest';
import { itemOf } from '../../../test/kit/fake-daemon.ts';
import { paneRow } from '../../../test/kit/rows.ts';
import { Played, worldOf } from '../../../test/kit/tui-screens.ts';
import type { GrepReply } from '../../api/grep.ts';
import { AgtmuxError } from '../../model/errors.ts';
import { grepScreen } from './screen.ts';

const row = itemOf(paneRow({ window: 1, state: 'running' }));
const hit = (fields: Partial<GrepReply['items'][number]> = {}): GrepReply['items'][number] => ({
  ...{ place: 'screens', ref: row.ref, runtime_id: row.runtime_id, shell_id: null },
  ...{ name: 'claude', where: 'host/work:1.0', line: 'editing src/cart.ts\u001b[2J', ...fields },
});
const reply = (...items: GrepReply['items']): GrepReply => ({
  ...{ schema_version: 1, generated_at: '', is_cut: false, searched: 3, left_out: 0 },
  items,
});
const opened = () =>
  new Played(grepScreen, { screen: 'grep' }, worldOf({ rows: new Map([[`row:${row.runtime_id}`, row]]) }));

const streamOf = (played: ReturnType<typeof opened>) => grepScreen.streams?.(played.model, played.world) ?? [];

it('GRP1 asks when one stops writing, for screens by themselves, and each hit leads to its agent', async () => {
  const played = opened().press('c');
  expect(streamOf(played)).toEqual([]);
  played.press(...'art');
  const [stream] = streamOf(played);
  expect(stream?.key).toBe('grep cart');
  const asked: unknown[] = [];
  const leaving = new AbortController();
  const api = {
    get: async (_: string, query: unknown) => {
      asked.push(query);
      return asked.length === 1 ? reply(hit()) : reply(shell);
    },
  };
  const shell = hit({ place: 'shells', runtime_id: null, shell_id: 'shell-1', name: 'tests', where: 'shell-1' });
  const ports = { api, sleep: async () => undefined } as never;
  const told = stream?.start(ports, leaving.signal)[Symbol.asyncIterator]();
  const next = async (): Promise<void> => {
    const one = await told?.next();
    if (one?.value !== undefined) played.own(one.value);
  };
  await next();
  expect(played.text()).toMatch(
    /1 line; looked into 3; looking on…\n> claude {2}host\/work:1\.0 {2}screen {2}editing src\/cart\.ts +$/m,
  );
  await next();
  expect(asked).toEqual([
    { pattern: 'cart', in: ['screens'] },
    { pattern: 'cart', in: ['transcripts', 'shells'] },
  ]);
  expect(played.text()).toContain('2 lines; looked into 6\n');
  expect(played.press('enter').took()).toEqual([{ do: 'open', place: { screen: 'detail', runtime: row.runtime_id } }]);
  expect(played.press('down', 'enter').took()).toEqual([{ do: 'open', place: { screen: 'shells' } }]);
  leaving.abort();
});

it('GRP1 an answer to what was looked for before is not taken for one to this', () => {
  const played = opened().press('a', 'b', 'c');
  played.own({ is: 'found', pattern: 'ab', reply: reply(hit()) });
  expect(played.text()).not.toContain('cart');
  const problem = new AgtmuxError('E_INPUT', 'the pattern cannot be used', { next: 'correct it' });
  played.own({ is: 'failed', pattern: 'abc', problem });
  expect(played.text()).toContain('the pattern cannot be used; correct it [E_INPUT]');
  expect(played.press('esc').took()).toEqual([{ do: 'back' }]);
});
