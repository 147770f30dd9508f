import { describe, expect, it } from 'vitest';
import { identity } from '../../test/kit/engine.ts';
import { agentName, paneId, serverKey, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { PaneAgents } from '../sources/process/foreground.ts';
import type { ProcessEntry } from '../sources/process/table.ts';
import type { TmuxPane } from '../terminals/tmux/view.ts';
import { claimsOf, lookRestMs, outclaimed, StartBudget, UnlistedPanes } from './pane-claims.ts';
import type { LiveRuntime, Look, RawEvent } from './sightings.ts';

const server = serverKey('server-1');
const entry = (pid: number): ProcessEntry => ({ identity: { boot: 'b', pid, start: 's' }, pid }) as ProcessEntry;
const pane = (id: number, panePid: number, dead = false): TmuxPane =>
  ({ pane: paneId(`%${id}`), panePid, dead }) as TmuxPane;
const claude = { agent: agentName('claude'), mode: 'interactive', version: null, confidence: 'high' } as const;
const holding = (pid: number | null, more: Partial<PaneAgents> = {}): PaneAgents => ({
  agent: pid === null ? null : claude,
  process: pid === null ? null : entry(pid),
  suspended: false,
  children: [],
  foregroundCommand: null,
  inside: null,
  door: null,
  ...more,
});
const liveIn = (id: number, pid: number): LiveRuntime => ({
  identity: identity(`r${id}`, { pane: paneId(`%${id}`), server, process: entry(pid).identity }),
  suspended: false,
});
const owners = (agents: ReadonlyMap<TmuxPane, PaneAgents>): string[] =>
  [...agents].flatMap(([one, { process }]) => (process === null ? [] : [`${one.pane} ${process.pid}`]));

describe('SEC5 what a server may claim by its list of panes', () => {
  it('the longer the table of processes that a machine tells, the seldomer it is read', () => {
    const table = (count: number) => ({
      processes: new Map(Array.from({ length: count }, (_, pid) => [pid, entry(pid)])),
    });
    expect([null, table(0), table(400), table(limits.processesMax)].map(lookRestMs)).toEqual([0, 0, 200, 16_384]);
  });

  it('one process is one agent, in the pane that had it, and is judged once', () => {
    const panes = Array.from({ length: 2_000 }, (_, n) => pane(n, 100));
    let judged = 0;
    const judge = (): PaneAgents => {
      judged += 1;
      return holding(100);
    };
    expect(owners(claimsOf(panes, [liveIn(7, 100)], judge, 256).agents)).toEqual(['%7 100']);
    expect(judged).toBe(1);
    expect(owners(claimsOf(panes, [], judge, 256).agents)).toEqual(['%0 100']);
  });

  it('also when panes name other processes of the same tree, or the same child', () => {
    const panes = [pane(1, 10), pane(2, 11), pane(3, 12)];
    const child = { agent: claude, process: entry(200), suspended: false };
    const found = new Map([
      [10, holding(100, { children: [child] })],
      [11, holding(100)],
      [12, holding(300, { children: [child] })],
    ]);
    const { agents } = claimsOf(panes, [], (one) => found.get(one.panePid) ?? holding(null), 256);
    expect(owners(agents)).toEqual(['%1 100', '%3 300']);
    expect([...agents.values()].map((one) => one.children.length)).toEqual([1, 0, 0]);
  });

  it('a door in two panes is one door', () => {
    const { agents } = claimsOf(
      [pane(1, 10), pane(2, 11)],
      [],
      () => holding(null, { inside: 'ssh', door: entry(50) }),
      256,
    );
    expect([...agents.values()].map((one) => one.inside)).toEqual(['ssh', null]);
  });

  it('the pid of a dead pane that somebody else has by now takes nothing from him', () => {
    const panes = [pane(1, 10, true), pane(2, 10)];
    expect(owners(claimsOf(panes, [], () => holding(100), 256).agents)).toEqual(['%2 100']);
  });

  it('more agents than its share are left out, and that is told', () => {
    const panes = Array.from({ length: 500 }, (_, n) => pane(n, n + 1));
    const { agents, isCut } = claimsOf(panes, [], (one) => holding(one.panePid), 256);
    expect(owners(agents)).toHaveLength(256);
    expect([isCut, agents.size]).toEqual([true, 500]);
    expect(claimsOf(panes.slice(0, 256), [], (one) => holding(one.panePid), 256).isCut).toBe(false);
  });

  it('a runtime over a process that another pane has leaves quietly', () => {
    const look = { target: targetId('vm1'), live: [liveIn(1, 100), liveIn(2, 100), liveIn(3, 300)], now: 5 };
    const events = outclaimed(look as unknown as Look, new Map([[pane(2, 10), holding(100)]]));
    expect(events.map(({ kind, evidence }) => [kind, evidence.runtime_id])).toEqual([
      ['runtime.goodbye', 'r1'],
      ['runtime.ended', 'r1'],
    ]);
  });

  it('an agent whose pane is not listed any more leaves after a while, one whose pane comes back does not', () => {
    const unlisted = new UnlistedPanes();
    const at = (panes: readonly TmuxPane[], ms: number): readonly string[] =>
      unlisted.due({ live: [liveIn(1, 100)], panes, server }, ms).map((one) => one.identity.runtime_id);
    expect(at([], 0)).toEqual([]);
    expect(at([], limits.farPaneUnlistedMs - 1)).toEqual([]);
    expect(at([pane(1, 10)], limits.farPaneUnlistedMs)).toEqual([]);
    expect(at([], limits.farPaneUnlistedMs + 1)).toEqual([]);
    expect(at([], 2 * limits.farPaneUnlistedMs + 1)).toEqual(['r1']);
    const other = { live: [liveIn(1, 100)], panes: [], server: serverKey('server-2') };
    expect(unlisted.due(other, 1e6)).toEqual([]);
  });

  it('new agents without end begin slowly', () => {
    const starts = Array.from({ length: 1_000 }, () => ({ kind: 'runtime.started' }) as RawEvent);
    const budget = new StartBudget();
    expect(budget.within(starts, 0)).toHaveLength(limits.farAgentsMax);
    expect(budget.within(starts, 10_000)).toHaveLength(10 * limits.farStartsPerSecondMax);
    expect(budget.within([{ kind: 'runtime.ended' } as RawEvent], 10_000)).toHaveLength(1);
  });
});
