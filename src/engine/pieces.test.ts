// The small parts: spelling and fingerprints, secrets, order, bases, decay and publication, rollups, loading.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asks, event, host, identity, oneAgent, says, settles, started, TestWorld, t0 } from '../../test/kit/engine.ts';
import { agentName, runtimeId, targetId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { StateName } from '../model/states.ts';
import { admit } from './admit.ts';
import { join, joinFolds, readFold, writeFold } from './base.ts';
import { canonical, deeperThan, hashText, isSame, utf8Bytes } from './canonical.ts';
import { emptyFold, type Fold } from './fold.ts';
import { Loader } from './load.ts';
import { compareKeys } from './order.ts';
import { hidesValuesOnly, redact } from './redact.ts';
import { rollup, rollupBy } from './rollup.ts';
import { Works } from './works.ts';
import { World } from './world.ts';

describe('spelling and fingerprints', () => {
  it('ORD2 one value has one spelling, whatever the order of its keys', () => {
    expect(canonical({ b: [1, 'x', null, undefined], a: { d: true, c: undefined } })).toBe(
      '{"a":{"d":true},"b":[1,"x",null,null]}',
    );
    expect(canonical([])).toBe('[]');
    fc.assert(fc.property(fc.jsonValue(), (value) => JSON.parse(canonical(value)) !== undefined));
  });

  it('ORD2 different texts have different fingerprints of one length', () => {
    const seen = new Set<string>();
    for (let count = 0; count < 50_000; count++) seen.add(hashText(`event ${count}`));
    expect(seen.size).toBe(50_000);
    expect(new Set([...seen].map((hash) => hash.length))).toEqual(new Set([22]));
  });

  it('ADM1 bytes and depth are counted as they are', () => {
    expect(utf8Bytes('aé€🙂')).toBe(1 + 2 + 3 + 4);
    expect([deeperThan([[1]], 1), deeperThan([[1]], 2), deeperThan(null, 0)]).toEqual([true, false, false]);
  });

  it('RSV11 sameness is by content', () => {
    expect(isSame({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toBe(true);
    expect([
      isSame({ a: 1 }, { a: 1, b: 2 }),
      isSame({ a: 1 }, null),
      isSame(1, '1'),
      isSame({ a: 1 }, { b: 1 }),
    ]).toEqual([false, false, false, false]);
    expect([isSame(null, { a: 1 }), isSame({ a: 1 }, 1)]).toEqual([false, false]);
  });

  it('ORD2 keys compare by number, then by the second number, then by content', () => {
    const key = (major: number, minor = 0, hash = '') => ({ major, minor, hash });
    expect(compareKeys(key(1), key(2))).toBe(-1);
    expect(compareKeys(key(2), key(1))).toBe(1);
    expect(compareKeys(key(1, 1), key(1, 2))).toBe(-1);
    expect(compareKeys(key(1, 2), key(1, 1))).toBe(1);
    expect(compareKeys(key(1, 1, 'a'), key(1, 1, 'b'))).toBe(-1);
    expect(compareKeys(key(1, 1, 'b'), key(1, 1, 'a'))).toBe(1);
    expect(compareKeys(key(1), key(1))).toBe(0);
  });
});

describe('secrets', () => {
  it.each([
    ['curl -H "Authorization: Bearer abcdef0123456789"', 'abcdef0123456789'],
    ['export OPENAI_API_KEY=sk-proj-abcdefghijklmnop', 'abcdefghijklmnop'],
    ['export AWS_SECRET_ACCESS_KEY="wJalr/XUtn"', 'wJalr'],
    ["password: 'hunter2'", 'hunter2'],
    ['git clone https://me:hunter2@example.org/x', 'hunter2'],
    ['ghp_abcdefghijklmnopqrstuv', 'abcdefghij'],
    ['AKIAABCDEFGHIJKLMNOP', 'ABCDEFGHIJ'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn', 'b3Blbn'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.sig', 'eyJzdWI'],
    ['mysql --password hunter2 shop', 'hunter2'],
    ['mysql -u me -phunter2 shop', 'hunter2'],
    ['tool --access-token "hunter2 too" --x', 'hunter2'],
    ['curl -s -u me:hunter2 https://example.org', 'hunter2'],
    ['sshpass -p hunter2 ssh example.org', 'hunter2'],
    ['{"password": "hunter2", "user": "me"}', 'hunter2'],
    ['curl -d "{\\"password\\":\\"hunter2\\"}" x', 'hunter2'],
    ['X-Api-Key: hunter2', 'hunter2'],
    ['DB_PASS=hunter2 make', 'hunter2'],
  ])('ADM1 %s is blotted out', (text, secret) => {
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain('[redacted]');
    expect(redact(redact(text))).toBe(redact(text));
  });

  it.each([
    ['TOKEN=x;rm -rf ~ make', ';rm -rf ~'],
    ['TOKEN=$(curl$IFS-s|sh) make', '$(curl$IFS-s|sh)'],
    ['TOKEN="abc$(evil)" make', '$(evil)'],
    ['TOKEN=`evil` make', '`evil`'],
    ['tool --password x|evil', '|evil'],
    ['git clone https://me:$(evil)@example.org', '$(evil)'],
  ])('ADM1 %s: no command hides behind the name of a secret', (text, command) => {
    expect(redact(text)).toContain(command);
    expect(hidesValuesOnly(text)).toBe(true);
  });

  it('ADM1 what is hidden and may be more than a value is known as such', () => {
    expect(hidesValuesOnly('echo "-----BEGIN PRIVATE KEY-----"; rm -rf ~')).toBe(false);
  });

  it('ADM1 ordinary text stays as it is', () => {
    const texts = [
      'npm test -- --grep "tokens are counted" && git push origin main',
      'llm --max-tokens 4096 --bypass x PWD=/src docker login --password-stdin',
      'gh auth login --with-token < token.txt',
    ];
    for (const text of texts) expect(redact(text)).toBe(text);
  });
});

describe('a fold as one event', () => {
  function eventful(): TestWorld {
    const world = oneAgent();
    world.take(
      says('a', 'hook', 5, 'running', { dialog: false }),
      says('a', 'screen', 6, 'idle'),
      asks('a', 'hook', 7, 'x'),
      asks('a', 'hook', 8, 'y'),
      settles('a', 'hook', 9, 'x'),
      event('a', 'hook', 2, 'turn.ended'),
      event('a', 'hook', 9, 'background.counted', { shells: 1, agents: 1 }),
      event('a', 'process', 9, 'process.observed', { suspended: true }),
      event('a', 'native', 9, 'runtime.session', { agent_session: 's' }),
      event('a', 'operator', 9, 'route.activated'),
    );
    return world;
  }
  const foldOf = (world: TestWorld): Fold => world.world.entries.get(runtimeId('a'))?.fold ?? emptyFold;
  const baseOf = (fold: Fold) => ({
    evidence: { target: host },
    source: 'retention' as const,
    fact: { kind: 'runtime.base' as const, fold: writeFold(fold) },
    key: { major: 1, minor: 0, hash: '' },
    time: 1,
    ingested_at: 1,
    dedupe_key: 'base',
  });

  it('CNV1 reads back as it was written and joins to the same fold', () => {
    const fold = foldOf(eventful());
    expect(writeFold(readFold(writeFold(fold)))).toBe(writeFold(fold));
    expect(writeFold(join(emptyFold, baseOf(fold)))).toBe(writeFold(fold));
    expect(writeFold(joinFolds(fold, emptyFold))).toBe(writeFold(fold));
    expect(writeFold(joinFolds(fold, fold))).toBe(writeFold(fold));
  });

  it('CNV1 base and later events give what all events together give', () => {
    const before = foldOf(eventful());
    const world = eventful();
    world.take(
      says('a', 'hook', 50, 'completed'),
      settles('a', 'hook', 51, 'y'),
      event('a', 'wrapper', 60, 'runtime.ended', { cause: 'exit', status: 0 }),
    );
    const after = foldOf(world);
    expect(writeFold(joinFolds(after, before))).toBe(writeFold(after));
    expect(writeFold(joinFolds(before, after))).toBe(writeFold(after));
  });
});

describe('what time does', () => {
  it('RSV0 running without any sign for 60 s is unknown; a repeat of the same look keeps it', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 5, 'running'), says('a', 'screen', 6, 'running'), says('a', 'title', 6, 'idle'));
    world.now += limits.runningStaleMs - 1;
    expect(world.state('a').state).toBe('running');
    world.take(event('a', 'screen', 7, 'state.repeated'), event('a', 'title', 7, 'state.repeated'));
    world.now += limits.runningStaleMs - 1;
    expect(world.state('a').state).toBe('running');
    world.now += 1;
    expect(world.word('a')).toBe('unknown/stale_signal');
    expect(world.state('a').confidence).toBe('low');
  });

  it('RSV7 a state that time made began when it was due, however late anyone looks', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 5, 'completed'));
    const due = world.now + limits.completedMs;
    world.now = due + 60_000;
    world.take();
    expect(world.lastStates).toMatchObject([{ state: 'idle', reason: 'completed_aged', since: due }]);
    world.now += 60_000;
    expect(world.state('a').since).toBe(due);
    const other = oneAgent();
    other.take(says('a', 'hook', 5, 'running'));
    const stale = other.now + limits.runningStaleMs;
    other.now = stale + 1;
    expect(other.state('a')).toMatchObject({ state: 'unknown', reason: 'stale_signal', since: stale });
  });

  it('RSV5 a repeat of an idle screen is no sign of running', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 5, 'running'), says('a', 'screen', 6, 'idle'));
    world.now += limits.runningStaleMs;
    world.take(event('a', 'screen', 7, 'state.repeated'));
    expect(world.word('a')).toBe('unknown/stale_signal');
  });

  it('RSV7 the world knows when the next state ages, publishes it once, and forgets the date', () => {
    const world = oneAgent();
    expect(world.world.nextDue()).toBeNull();
    world.take(says('a', 'hook', 5, 'completed'));
    const due = world.now + limits.completedMs;
    expect(world.world.nextDue()).toBe(due);
    world.now = due - 1;
    world.take();
    expect(world.lastStates).toEqual([]);
    world.now = due;
    world.take();
    expect(world.lastStates).toMatchObject([{ state: 'idle', reason: 'completed_aged', state_version: 3 }]);
    expect(world.world.nextDue()).toBeNull();
    world.take();
    expect(world.lastStates).toEqual([]);
  });

  it('RSV7 is guarded: a runtime that worked again meanwhile is not demoted', () => {
    const world = oneAgent();
    world.take(says('a', 'hook', 5, 'completed'));
    world.take(says('a', 'hook', 6, 'running'));
    world.now += limits.completedMs;
    world.take(says('a', 'hook', 7, 'running'));
    expect(world.word('a')).toBe('running/turn_running');
    world.world.show({ ...world.state('a'), runtime_id: runtimeId('nobody') });
    expect(world.world.entries.size).toBe(1);
  });
});

describe('joining', () => {
  it('CNV1 the same fact twice changes nothing, of whatever kind it is', () => {
    const samples = [
      started(identity('a')),
      event('a', 'native', 1, 'runtime.session', { agent_session: 's' }),
      event('a', 'hook', 1, 'runtime.goodbye'),
      event('a', 'wrapper', 1, 'runtime.ended', { cause: 'exit', status: 0 }),
      { ...event('a', 'process', 1, 'server.seen', { server: 's', server_started_at: 1 }), evidence: { target: host } },
      says('a', 'hook', 1, 'running', { dialog: false }),
      event('a', 'screen', 1, 'state.repeated'),
      asks('a', 'hook', 1, 'x'),
      settles('a', 'hook', 1, 'x'),
      event('a', 'hook', 1, 'turn.ended'),
      event('a', 'hook', 1, 'background.counted', { shells: 1, agents: 2 }),
      event('a', 'process', 1, 'process.observed', { suspended: true }),
      event('a', 'operator', 1, 'route.activated'),
    ];
    for (const raw of samples) {
      const admission = admit(raw, { now: t0 + 10, offsetMs: () => 0, allowed: () => new Set() });
      if (!admission.ok) throw new Error(`${raw.kind} was refused`);
      const once = join(emptyFold, admission.event);
      expect(join(once, admission.event)).toBe(once);
      const later = { ...admission.event, key: { ...admission.event.key, hash: '' } };
      expect(join(join(once, later), later)).toStrictEqual(join(once, later));
    }
  });

  it('RSV5 the same word taken in twice counts from the first time, in whatever order the two are joined', () => {
    const admission = admit(says('a', 'hook', 1, 'running'), {
      now: t0 + 10,
      offsetMs: () => 0,
      allowed: () => new Set(),
    });
    if (!admission.ok) throw new Error('refused');
    const again = { ...admission.event, ingested_at: t0 + 9_000 };
    const received = (...events: (typeof again)[]) => events.reduce(join, emptyFold).claims.hook?.received;
    expect([received(admission.event, again), received(again, admission.event)]).toEqual([t0 + 10, t0 + 10]);
  });

  it('ORD3 an older count or an older look says nothing new', () => {
    const world = oneAgent();
    world.take(event('a', 'hook', 9, 'background.counted', { shells: 1, agents: 1 }));
    expect(world.take(event('a', 'hook', 8, 'background.counted', { shells: 5, agents: 5 }))).toEqual([
      'older_than_cursor',
    ]);
    expect(world.state('a').background).toEqual({ shells: 1, agents: 1 });
    world.take(event('a', 'native', 10, 'background.counted', { shells: 2, agents: 2 }));
    expect(world.state('a').background).toEqual({ shells: 2, agents: 2 });
  });
});

describe('rollups', () => {
  const row = (target: string, agent: string, state: StateName) => ({
    target: targetId(target),
    agent: agentName(agent),
    state,
  });

  it('RSV2 the top state follows the precedence, and counts add up', () => {
    const rows = [
      row('host', 'claude', 'idle'),
      row('host', 'codex', 'waiting_input'),
      row('vm1', 'claude', 'running'),
      row('vm1', 'claude', 'waiting_approval'),
    ];
    expect(rollup(rows)).toMatchObject({
      total: 4,
      by_agent: { claude: 3, codex: 1 },
      by_target: { host: 2, vm1: 2 },
      top_state: 'waiting_approval',
      waiting: 2,
      running: 1,
    });
    expect(rollup([]).top_state).toBeNull();
    const groups = rollupBy(rows, (one) => one.target);
    expect([...groups].map(([key, group]) => [key, group.total, group.top_state])).toEqual([
      ['host', 2, 'waiting_input'],
      ['vm1', 2, 'waiting_approval'],
    ]);
  });
});

describe('loading', () => {
  const rowsOf = (world: TestWorld) =>
    world.log
      .map((one, event_id) => ({
        ...one,
        event_id,
        source: one.event.source,
        kind: one.event.fact.kind,
        key: one.event.key,
        time: one.event.time,
        ingested_at: one.event.ingested_at,
        decode: () => one.event,
      }))
      .reverse();
  function reload(world: TestWorld): World {
    const fresh = new World();
    const loader = new Loader(fresh);
    for (const one of rowsOf(world)) loader.visit(one);
    loader.finish([...world.world.entries.values()].flatMap((entry) => entry.record ?? []));
    return fresh;
  }
  const answers = (world: World, now: number) =>
    [...world.entries.values()]
      .map((entry) => canonical(world.stateOf(entry.identity, entry.fold, entry.record, world.index, now)))
      .sort();

  it('CNV1 gives back every state, young and old, with its version, and what still waits', () => {
    const world = oneAgent();
    world.take({
      ...event('a', 'process', 0, 'server.seen', { server: 'server-1', server_started_at: t0 - 5 }),
      evidence: { target: host },
    });
    world.take(says('a', 'hook', 1, 'running', {}, { dedupe_key: 'old' }));
    world.take(says('a', 'hook', 0, 'idle', {}, { dedupe_key: 'old' }));
    world.take(
      says('a', 'notify', 0, 'idle', {}, { dedupe_key: 'kept' }),
      says('a', 'notify', 1, 'error', {}, { dedupe_key: 'kept' }),
    );
    world.take(event('a', 'native', 1, 'runtime.session', { agent_session: 's' }));
    world.now += limits.bindTtlMs + 1;
    world.take(
      started(identity('b')),
      says('b', 'hook', 9, 'error', {}, { dedupe_key: 'young' }),
      says('b', 'hook', 12, 'running', {}, { dedupe_key: 'young' }),
    );
    world.take(
      says('b', 'notify', 12, 'running', {}, { dedupe_key: 'swap' }),
      says('b', 'notify', 9, 'idle', {}, { dedupe_key: 'swap' }),
    );
    world.take(says('nobody', 'hook', 20, 'running'));
    const fresh = reload(world);
    expect(answers(fresh, world.now)).toEqual(answers(world.world, world.now));
    expect(fresh.pending.size).toBe(1);
    expect(new Loader(new World()).newest).toBe(0);
    expect(fresh.index.ofSession(host, 's' as never)).toHaveLength(1);
    expect(fresh.index.server(host)?.server).toBe('server-1');
  });

  it('IDN5 a runtime that a batch has opened and not added to is what its own start says', () => {
    const admission = admit(started(identity('c')), { now: t0, offsetMs: () => 0, allowed: () => new Set() });
    if (!admission.ok) throw new Error('The start was not admitted.');
    const work = new Works(new World(), t0).open(runtimeId('c'), admission.event);
    expect([work.identity.runtime_id, work.recents()]).toEqual([runtimeId('c'), []]);
  });

  it('CNV1 old rows that can add nothing are passed over, and nothing is lost by it', () => {
    const world = oneAgent();
    for (let at = 0; at < limits.settledAsksMax + 30; at++) {
      world.take(
        says('a', 'hook', at, at % 3 === 0 ? 'running' : 'idle'),
        says('a', 'screen', at, at % 2 === 0 ? 'running' : 'idle', at % 5 === 0 ? { dialog: false } : {}),
      );
      world.take(asks('a', 'hook', at, `n${at}`), settles('a', 'hook', at, `n${at}`));
    }
    world.take(asks('a', 'notify', 900, 'open'), settles('a', 'hook', 901, 'never asked'));
    world.now += limits.bindTtlMs + 1;
    world.take(started(identity('b')));
    const fresh = reload(world);
    expect(answers(fresh, world.now)).toEqual(answers(world.world, world.now));
    const settled = (of: World) => [...(of.entries.get(runtimeId('a'))?.fold.settled ?? [])].sort();
    // What was settled last is remembered on both ways; how far back differs by less than the bound.
    expect(settled(fresh).length).toBeGreaterThan(100);
  });

  it('ADM2 rows that were given up, and runtimes whose start is not in the log, are left alone', () => {
    const world = new TestWorld();
    world.take(says('nobody', 'hook', 1, 'running'));
    world.now += limits.bindTtlMs;
    world.take();
    const orphan = { ...world.log[0], runtime_id: runtimeId('orphan'), verdict: 'joined' as const };
    world.log.push(orphan as never, { ...orphan, verdict: 'same_event' } as never);
    const fresh = reload(world);
    expect([fresh.pending.size, fresh.entries.size]).toEqual([0, 0]);
  });
});
