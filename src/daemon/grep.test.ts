// Looking through what two hundred agents have shown and said: what is found, in which time, and what was left out.
import { describe, expect, it } from 'vitest';
import { paneRow } from '../../test/kit/rows.ts';
import { ok } from '../model/errors.ts';
import type { GrepQuestion } from '../model/grep.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { Grep, type GrepPorts } from './grep.ts';

const rows = Array.from({ length: 200 }, (_, place) => paneRow({ id: place, window: place, state: 'running' }));
const screen = (place: number): readonly string[] =>
  Array.from({ length: 50 }, (_, line) =>
    line === 7 ? `agent ${place} edits src/Cart.ts` : `line ${line} of ${place}`,
  );
const person = { pid: 1, hops: 0 };

function open(ports: Partial<GrepPorts> = {}) {
  const audited: unknown[] = [];
  const grep = new Grep({
    clock: createSimulatedClock(),
    rows: () => rows,
    screenOf: (_, runtime) => screen(rows.findIndex((row) => row.runtime_id === runtime)),
    transcriptOf: async () => null,
    shells: () => ({
      list: () => [],
      log: async () => ({ ok: false, failure: { code: 'E_INPUT', message: '', next: '' } }),
    }),
    acting: () => ({
      authorizeAndAudit: async (deed, _, effect) => {
        audited.push(deed);
        return effect();
      },
    }),
    ...ports,
  });
  const look = async (pattern: string, question: Partial<GrepQuestion> = {}) => {
    const found = await grep.grep({ pattern, places: ['screens'], hits_max: 1_000, ...question }, person as never);
    if (!found.ok) throw new Error(found.failure.message);
    return found.value;
  };
  return { grep, look, audited };
}

describe('grep', () => {
  it('GRP1 finds a line on each of 200 screens, small letters mean capitals too, and whoever asks is in the audit', async () => {
    const { look, audited } = open();
    const { items, searched, left_out, is_cut } = await look('src/cart.ts');
    expect([items.length, searched, left_out, is_cut]).toEqual([200, 200, 0, false]);
    expect(items[3]).toMatchObject({ name: 'claude', where: 'host/work:3.0', line: 'agent 3 edits src/Cart.ts' });
    expect((await look('src/cArt.ts')).items).toEqual([]);
    expect((await look('agent 1[0-4] edits')).items).toHaveLength(5);
    expect(await look('line', { hits_max: 30 })).toMatchObject({ is_cut: true, items: { length: 30 } });
    expect(audited[0]).toMatchObject({ action: 'view', named: 'all agents' });
  });

  it('GRP1 a pattern runs in RE2, and one that cannot is refused with the reason', async () => {
    const { look, grep } = open({ screenOf: () => ['a'.repeat(50_000)] });
    expect((await look('(a+)+$')).items).toHaveLength(200);
    const bad = await grep.grep({ pattern: '(', places: ['screens'], hits_max: 1 }, person as never);
    expect(bad).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
  });

  it('GRP1 transcripts and logs are read to a bound in time, and what was left out is counted', async () => {
    const clock = createSimulatedClock();
    const { look } = open({
      clock,
      transcriptOf: async (runtime) => {
        await clock.advance(100);
        return runtime === rows[0]?.runtime_id ? null : ['said cart'];
      },
    });
    const { items, searched, left_out } = await look('cart', { places: ['transcripts'] });
    expect(searched).toBeGreaterThan(20);
    expect([items.length, searched + left_out]).toEqual([searched, 200]);
    expect(left_out).toBeGreaterThan(100);
  });

  it('GRP1 a long log is looked through at its beginning and its end', async () => {
    const pages = Array.from({ length: 100 }, (_, page) => [`page ${page}`]);
    const shell = { shell_id: 'shell-1', label: 'tests', owner: { runtime_id: null } };
    const log = async (_: string, { mode, cursor }: { mode: string; cursor: string | null }) => {
      const page = mode === 'tail' ? 99 : Number(cursor ?? 0);
      return ok({ lines: pages[page], cursor: String(page + 1), has_more: page < 99 });
    };
    const { look } = open({ shells: () => ({ list: () => [shell], log }) as never });
    const found = async (pattern: string) =>
      (await look(pattern, { places: ['shells'] })).items.map(({ line }) => line);
    expect(await found('page 3$')).toEqual(['page 3']);
    expect(await found('page 99')).toEqual(['page 99']);
  });
});
