// Finding: what is asked, that the quick half stands there at once, and where a hit leads.
import { expect, it } from 'vitest';
import { itemOf } from '../../../test/kit/fake-daemon.ts';
import { paneRow } from '../../../test/kit/rows.ts';
import { Played, sentBy, worldOf } from '../../../test/kit/tui-screens.ts';
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

it('GRP1 asks for screens by themselves, shows their lines while the rest is read, and opens the agent of a hit', async () => {
  const played = opened().press(...'cart', 'enter');
  const asked = (await Promise.all(played.took().map((call) => sentBy(call)))).flat();
  expect(asked).toEqual([
    { path: '/v1/grep', body: { pattern: 'cart', in: ['screens'] } },
    { path: '/v1/grep', body: { pattern: 'cart', in: ['transcripts', 'shells'] } },
  ]);
  played.own({ is: 'found', pattern: 'cart', reply: reply(hit()) });
  expect(played.text()).toMatch(
    /1 line; looked into 3; looking on…\n> claude {2}host\/work:1\.0 {2}screen {2}editing src\/cart\.ts +$/m,
  );
  const shell = hit({ place: 'shells', runtime_id: null, shell_id: 'shell-1', name: 'tests', where: 'shell-1' });
  played.own({ is: 'found', pattern: 'cart', reply: reply(shell) });
  expect(played.text()).toContain('2 lines; looked into 6\n');
  expect(played.press('enter').took()).toEqual([{ do: 'open', place: { screen: 'detail', runtime: row.runtime_id } }]);
  expect(played.press('j', 'enter').took()).toEqual([{ do: 'open', place: { screen: 'shells' } }]);
});

it('GRP1 an answer to what was looked for before is not taken for one to this', () => {
  const played = opened().press('a', 'enter', '/', 'b', 'enter');
  played.own({ is: 'found', pattern: 'a', reply: reply(hit()) });
  expect(played.text()).not.toContain('cart');
  const problem = new AgtmuxError('E_INPUT', 'the pattern cannot be used', { next: 'correct it' });
  played.own({ is: 'failed', pattern: 'ab', problem });
  expect(played.text()).toContain('the pattern cannot be used; correct it [E_INPUT]');
});
