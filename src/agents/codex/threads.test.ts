// Which thread is in which pane: by name, by what changes together, and how a wrong guess is undone.

import { describe, expect, it } from 'vitest';
import { type RuntimeId, runtimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { RunView } from '../contract.ts';
import { ThreadMatcher, threadIdOf } from './threads.ts';

const one = '01a1de36-b671-7cc0-9bb0-6df43546e29c';
const two = '01a1de45-3db2-7360-9fb3-9b644566fdf9';
const a = runtimeId('a');
const b = runtimeId('b');

function run(id: RuntimeId, parts: Partial<RunView> = {}): RunView {
  return {
    runtime_id: id,
    version: '0.166.0',
    programs: [{ pid: 1, start: '1', argv: ['codex'] }],
    home: '/home/dev',
    cwd: '/home/dev/proj',
    env: {},
    openFiles: [],
    title: 'proj',
    startedAt: 0,
    ...parts,
  };
}

const resumed = (id: string) => [{ pid: 1, start: '1', argv: ['node', '/usr/bin/codex', 'resume', id] }];

/** Two threads and two panes with nothing to tell them apart but what they do. */
function pair(): { matcher: ThreadMatcher; runs: readonly RunView[] } {
  const matcher = new ThreadMatcher();
  matcher.threadIs(one, 'settled', 0);
  matcher.threadIs(two, 'settled', 0);
  matcher.runShows(a, 'idle', 0);
  matcher.runShows(b, 'idle', 0);
  return { matcher, runs: [run(a), run(b)] };
}

const later = limits.threadFitMs;

describe('BND1 BND1c a thread is given to a run on evidence only', () => {
  it('the title names it by its first 29 characters', () => {
    const matcher = new ThreadMatcher();
    matcher.threadIs(one, 'settled', 0);
    matcher.threadIs(two, 'settled', 0);
    const { bound } = matcher.settle([run(a, { title: '⠋ 01a1de45-3db2-7360-9fb3-9b644... | Working' }), run(b)], 1);
    expect(bound).toMatchObject([{ runtime_id: a, thread: two, confidence: 'high' }]);
  });

  it('so do the arguments of resume, an open journal and a lock', () => {
    const views = [
      run(a, { programs: resumed(one) }),
      run(a, { openFiles: [`/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T07-55-51-${one}.jsonl`] }),
      run(a, { openFiles: [`/home/dev/.codex/thread-writer-locks/${one}.lock`] }),
    ];
    for (const view of views) {
      const matcher = new ThreadMatcher();
      matcher.threadIs(one, 'running', 0);
      expect(matcher.settle([view, run(b)], 1).bound).toMatchObject([
        { runtime_id: a, thread: one, confidence: 'high' },
      ]);
    }
    expect(threadIdOf('/home/dev/notes.jsonl')).toBeNull();
  });

  it('a shared directory and a lone candidate are no evidence: a thread that fits nobody waits', () => {
    const matcher = new ThreadMatcher();
    matcher.threadIs(one, 'settled', 0);
    matcher.runShows(a, 'idle', 0);
    expect(matcher.settle([run(a)], later * 2).bound).toEqual([]);
    expect(matcher.bindingsOf(one)).toEqual([]);
  });

  it('two changes that fit one run alone bind it with medium confidence; one is not enough', () => {
    const { matcher, runs } = pair();
    matcher.threadIs(one, 'running', 10_000);
    matcher.runShows(a, 'running', 10_300);
    expect(matcher.settle(runs, 10_000 + later).bound).toEqual([]);
    matcher.threadIs(one, 'waiting', 20_000);
    matcher.runShows(a, 'waiting_approval', 20_100);
    expect(matcher.settle(runs, 20_000 + later).bound).toMatchObject([
      { runtime_id: a, thread: one, confidence: 'medium' },
    ]);
    expect(matcher.bindingsOf(two)).toEqual([]);
  });

  it('two panes that work at the same time are told apart by what they do apart', () => {
    const { matcher, runs } = pair();
    const steps = [
      [one, a, 'running', 'running', 10_000],
      [two, b, 'running', 'running', 15_000],
      [two, b, 'waiting', 'waiting_approval', 20_000],
      [one, a, 'settled', 'completed', 25_000],
      [two, b, 'settled', 'completed', 30_000],
    ] as const;
    const found = steps.flatMap(([thread, id, phase, state, at]) => {
      matcher.threadIs(thread, phase, at);
      matcher.runShows(id, state, at + 400);
      return matcher.settle(runs, at + later).bound.map((binding) => [binding.runtime_id, binding.thread]);
    });
    expect(found).toEqual([
      [b, two],
      [a, one],
    ]);
  });

  it('what both do at once proves nothing, however often', () => {
    const { matcher, runs } = pair();
    for (let at = 10_000; at < 100_000; at += 20_000) {
      for (const [phase, state, start] of [
        ['running', 'running', at],
        ['settled', 'idle', at + 10_000],
      ] as const) {
        matcher.threadIs(one, phase, start);
        matcher.threadIs(two, phase, start + 50);
        matcher.runShows(a, state, start + 100);
        matcher.runShows(b, state, start + 150);
        expect(matcher.settle(runs, start + 50 + later).bound).toEqual([]);
      }
    }
  });

  it('a screen that follows proves nothing when another thread did the same', () => {
    const { matcher, runs } = pair();
    for (const [phase, state, at] of [
      ['running', 'running', 10_000],
      ['settled', 'idle', 20_000],
      ['running', 'running', 30_000],
    ] as const) {
      matcher.threadIs(one, phase, at);
      matcher.threadIs(two, phase, at + 100);
      matcher.runShows(a, state, at + 200);
      expect(matcher.settle(runs, at + 100 + later).bound).toEqual([]);
    }
  });

  it('a change that does not fit starts the count anew', () => {
    const { matcher, runs } = pair();
    matcher.threadIs(one, 'running', 10_000);
    matcher.runShows(a, 'running', 10_100);
    matcher.settle(runs, 10_000 + later);
    matcher.threadIs(one, 'settled', 20_000);
    expect(matcher.settle(runs, 20_000 + later).bound).toEqual([]);
    matcher.runShows(a, 'idle', 29_000);
    matcher.threadIs(one, 'running', 40_000);
    matcher.runShows(a, 'running', 40_100);
    expect(matcher.settle(runs, 40_000 + later).bound).toEqual([]);
  });

  it('a run with a server of its own is no candidate', () => {
    const { matcher } = pair();
    const own = { programs: [{ pid: 1, start: '1', argv: ['codex', '-c', 'model="x"'] }] };
    const runs = [run(a, own), run(b)];
    for (const [phase, state, at] of [
      ['running', 'running', 10_000],
      ['settled', 'idle', 20_000],
      ['running', 'running', 30_000],
    ] as const) {
      matcher.threadIs(one, phase, at);
      matcher.runShows(a, state, at + 100);
      expect(matcher.settle(runs, at + later).bound).toEqual([]);
    }
  });
});

describe('BND1 a wrong match cannot be kept', () => {
  function wronglyBound(): { matcher: ThreadMatcher; runs: readonly RunView[] } {
    const { matcher, runs } = pair();
    // By chance pane b did twice what thread one did, and pane a was not looked at.
    matcher.threadIs(one, 'running', 10_000);
    matcher.runShows(b, 'running', 10_300);
    matcher.settle(runs, 10_000 + later);
    matcher.threadIs(one, 'settled', 20_000);
    matcher.runShows(b, 'idle', 20_300);
    matcher.settle(runs, 20_000 + later);
    expect(matcher.bindingsOf(one)).toMatchObject([{ runtime_id: b }]);
    return { matcher, runs };
  }

  it('a thread that works while its screen is still is taken back, and can be given to another', () => {
    const { matcher, runs } = wronglyBound();
    matcher.threadIs(one, 'running', 30_000);
    matcher.runShows(a, 'running', 30_200);
    expect(matcher.settle(runs, 30_000 + later - 1).lost).toEqual([]);
    expect(matcher.settle(runs, 30_000 + later).lost).toMatchObject([{ runtime_id: b, thread: one }]);
    matcher.threadIs(one, 'waiting', 40_000);
    matcher.runShows(a, 'waiting_approval', 40_200);
    expect(matcher.settle(runs, 40_000 + later).bound).toMatchObject([{ runtime_id: a, thread: one }]);
  });

  it('so is one whose screen works while it is still', () => {
    const { matcher, runs } = wronglyBound();
    matcher.runShows(b, 'running', 30_000);
    expect(matcher.settle(runs, 30_000 + later).lost).toMatchObject([{ runtime_id: b, thread: one }]);
  });

  it('arguments that name a thread the pane has left are not believed again', () => {
    const matcher = new ThreadMatcher();
    const runs = [run(a, { programs: resumed(one) })];
    matcher.threadIs(one, 'settled', 0);
    expect(matcher.settle(runs, 1).bound).toHaveLength(1);
    matcher.runShows(a, 'running', 10_000);
    expect(matcher.settle(runs, 10_000 + later).lost).toHaveLength(1);
    expect(matcher.settle(runs, 20_000).bound).toEqual([]);
  });

  it('a menu or a screen that cannot be read denies nothing', () => {
    const { matcher, runs } = wronglyBound();
    matcher.runShows(b, 'waiting_input', 30_000);
    expect(matcher.settle(runs, 40_000).lost).toEqual([]);
    matcher.threadIs(one, 'running', 50_000);
    matcher.runShows(b, 'unknown', 50_000);
    expect(matcher.settle(runs, 60_000).lost).toEqual([]);
  });

  it('a title that names another thread moves the run at once; a thread that is gone lets go', () => {
    const { matcher } = wronglyBound();
    const runs = [run(a), run(b, { title: '01a1de45-3db2-7360-9fb3-9b644... | Ready' })];
    const { bound, lost } = matcher.settle(runs, 30_000);
    expect(bound).toMatchObject([{ runtime_id: b, thread: two, confidence: 'high' }]);
    expect(lost).toMatchObject([{ runtime_id: b, thread: one }]);
    matcher.threadGone(two);
    expect(matcher.settle(runs, 30_001).lost).toMatchObject([{ thread: two }]);
  });

  it('two panes on one thread both have it', () => {
    const matcher = new ThreadMatcher();
    matcher.threadIs(one, 'waiting', 0);
    const title = '[ ! ] Action Required | 01a1de36-b671-7cc0-9bb0-6df43...';
    matcher.settle([run(a, { title }), run(b, { programs: resumed(one) })], 1);
    expect(matcher.bindingsOf(one).map((binding) => binding.runtime_id)).toEqual([a, b]);
  });
});
