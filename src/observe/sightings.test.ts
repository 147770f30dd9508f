import { describe, expect, it } from 'vitest';
import { identity } from '../../test/kit/engine.ts';
import { agentName, type PaneId, paneId, serverKey, targetId } from '../model/ids.ts';
import type { PaneAgents } from '../sources/process/foreground.ts';
import type { ProcessEntry, ProcessTable } from '../sources/process/table.ts';
import type { TmuxPane } from '../terminals/tmux/view.ts';
import { factsOf, type Look, runtimeIdOf } from './sightings.ts';

const server = serverKey('server-1');
const pane = (id: string): TmuxPane => ({ pane: paneId(id), panePid: 10 }) as TmuxPane;
const entry = (pid: number, start = 's', state = 'S'): ProcessEntry =>
  ({ identity: { boot: 'b', pid, start }, pid, state, startedAtMs: 5_000 }) as ProcessEntry;
const tableOf = (...entries: ProcessEntry[]): ProcessTable => ({
  boot: 'b',
  processes: new Map(entries.map((one) => [one.pid, one])),
});
const claude = { agent: agentName('claude'), mode: 'interactive' as const, version: null, confidence: 'high' as const };
const nobody: PaneAgents = {
  agent: null,
  process: null,
  suspended: false,
  children: [],
  foregroundCommand: 'bash',
  inside: null,
  door: null,
};

function look(parts: Partial<Look> & { found?: Partial<PaneAgents> }): Look {
  const { found = {}, ...rest } = parts;
  return {
    target: targetId('host'),
    server,
    panes: [pane('%1')],
    table: tableOf(entry(100)),
    agentsIn: () => ({ ...nobody, ...found }),
    live: [],
    epochOf: () => -1,
    isKnown: () => false,
    toTimeline: (ms) => ms + 1,
    now: 9_000,
    ...rest,
  };
}

const owner = { agent: claude, process: entry(100) };
const id = runtimeIdOf(server, paneId('%1') as PaneId, entry(100).identity);
const live = { identity: identity(id, { pane: paneId('%1'), process: entry(100).identity }), suspended: false };

describe('facts of a look', () => {
  it('RSV8 a table that was cut ends nobody who is missing from it, only who is certainly gone', () => {
    const cut = (...entries: ProcessEntry[]): ProcessTable => ({ ...tableOf(...entries), isCut: true });
    expect(factsOf(look({ live: [live], table: cut(entry(7)) }))).toEqual([]);
    expect(factsOf(look({ live: [live], table: tableOf(entry(7)) }))).toMatchObject([{ kind: 'runtime.ended' }]);
    expect(factsOf(look({ live: [live], table: cut(entry(100, 'later')) }))).toMatchObject([{ kind: 'runtime.ended' }]);
  });

  it('IDN4 an agent that was not known begins, with the next epoch of its pane and its own start time', () => {
    const facts = factsOf(look({ found: owner, epochOf: () => 4 }));
    expect(facts).toMatchObject([
      {
        kind: 'runtime.started',
        event_time: 5_001,
        dedupe_key: `start:${id}`,
        payload: { runtime: { runtime_id: id, pane: '%1', pane_epoch: 5, agent: 'claude', started_at: 5_001 } },
      },
    ]);
  });

  it('IDN5 the same agent has the same id at every look, another process or server another one', () => {
    expect(factsOf(look({ found: owner, isKnown: (known) => known === id, live: [live] }))).toEqual([]);
    expect(runtimeIdOf(server, paneId('%1'), entry(100, 'later').identity)).not.toBe(id);
    expect(runtimeIdOf(serverKey('server-2'), paneId('%1'), entry(100).identity)).not.toBe(id);
    expect(runtimeIdOf(server, paneId('%2'), entry(100).identity)).not.toBe(id);
  });

  it('IDN6 suspension is told when it changes, and children without a pane of their own', () => {
    const known = { isKnown: (one: string) => one === id, live: [live] };
    expect(factsOf(look({ ...known, found: { ...owner, suspended: true } }))).toMatchObject([
      { kind: 'process.observed', payload: { suspended: true } },
    ]);
    expect(
      factsOf(look({ ...known, live: [{ ...live, suspended: true }], found: { ...owner, suspended: true } })),
    ).toEqual([]);
    const child = { agent: claude, process: entry(101), suspended: false };
    expect(
      factsOf(look({ ...known, table: tableOf(entry(100), entry(101)), found: { ...owner, children: [child] } })),
    ).toMatchObject([{ kind: 'runtime.started', payload: { runtime: { parent: id, pane: null, server: null } } }]);
  });

  it('IDN3 RSV2a a process that is gone, a zombie or another with the same pid ends the runtime; a missing pane does not', () => {
    for (const table of [tableOf(), tableOf(entry(100, 's', 'Z')), tableOf(entry(100, 'other'))]) {
      expect(factsOf(look({ table, live: [live] }))).toMatchObject([
        { kind: 'runtime.ended', event_time: 9_000, payload: { cause: 'vanished' } },
      ]);
    }
    expect(factsOf(look({ panes: [], live: [live] }))).toEqual([]);
    const managed = { identity: identity('m', { process: null }), suspended: false };
    expect(factsOf(look({ panes: [], live: [managed] }))).toEqual([]);
  });

  it('IDN4 an agent that comes back to the foreground after another one was there is a new run of the pane', () => {
    const known = { isKnown: (one: string) => one === id, epochOf: () => 7 };
    const [fact] = factsOf(look({ ...known, found: owner, live: [] }));
    expect(fact).toMatchObject({ kind: 'runtime.started', payload: { runtime: { pane_epoch: 8 } } });
    expect(fact?.payload).not.toMatchObject({ runtime: { runtime_id: id } });
    const back = { identity: identity('back', { pane: paneId('%1'), process: entry(100).identity }), suspended: false };
    expect(factsOf(look({ ...known, isKnown: () => true, found: owner, live: [back] }))).toEqual([]);
  });

  it('ORD2 a start is never stamped later than the look that saw it', () => {
    const [fact] = factsOf(look({ found: owner, toTimeline: () => 99_999 }));
    expect(fact?.event_time).toBe(9_000);
  });
});
