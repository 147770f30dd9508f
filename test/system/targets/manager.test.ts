// Machines as the daemon keeps them, with real sshd behind relays: health, loss, return, and that no machine pays for
// another.

import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TargetId } from '../../../src/model/ids.ts';
import { limits } from '../../../src/model/limits.ts';
import type { TargetRecord } from '../../../src/model/records.ts';
import { type TargetEvent, TargetManager, type TargetStore } from '../../../src/targets/manager.ts';
import { type Relay, startRelay } from '../../kit/relay.ts';
import { startSshd, type TestSshd } from '../../kit/sshd.ts';
import { ports, removeTemporaries, temporary, uid, until } from './bench.ts';

let sshd: TestSshd;
let base = '';
const managers: TargetManager[] = [];
const relays: Relay[] = [];

class Book implements TargetStore {
  readonly records = new Map<TargetId, TargetRecord>();
  targets = async (): Promise<readonly TargetRecord[]> => [...this.records.values()];
  putTarget = async (record: TargetRecord): Promise<void> => {
    this.records.set(record.target, record);
  };
  removeTarget = async (target: TargetId): Promise<void> => {
    this.records.delete(target);
  };
}

interface Fixture {
  readonly manager: TargetManager;
  readonly book: Book;
  readonly events: TargetEvent[];
  readonly healthOf: (name: string) => string | undefined;
}

async function manager(book = new Book()): Promise<Fixture> {
  const events: TargetEvent[] = [];
  const variables = { ...process.env, TMUX_TMPDIR: base, AGTMUX_SSH_CONFIG: sshd.configFile };
  const where = { runtimeDir: await temporary('manager'), uid, variables };
  const made = new TargetManager({ ...ports, ...where, book, onEvent: (event) => events.push(event) });
  managers.push(made);
  expect(await made.start()).toEqual([]);
  const healthOf = (name: string): string | undefined => made.machine(name)?.view().health;
  return { manager: made, book, events, healthOf };
}

async function relayed(alias: string, delayMs = 0): Promise<Relay> {
  const relay = await startRelay(sshd.port, delayMs);
  relays.push(relay);
  await sshd.addAlias(alias, relay.port);
  return relay;
}

beforeAll(async () => {
  base = await temporary('far');
  sshd = await startSshd({ environment: { TMUX_TMPDIR: base } });
  const { TMUX: _, ...env } = process.env;
  execFileSync('tmux', ['-L', 'work', '-f', '/dev/null', 'new-session', '-d'], { env: { ...env, TMUX_TMPDIR: base } });
});
afterEach(async () => {
  for (const made of managers.splice(0)) await made.close();
  for (const relay of relays.splice(0)) await relay.close();
});
afterAll(async () => {
  execFileSync('tmux', ['-L', 'work', 'kill-server'], { env: { ...process.env, TMUX_TMPDIR: base } });
  await sshd.close();
  await removeTemporaries();
});

describe('machines', () => {
  it('IDN1 host is there from the start and can be neither added nor removed', async () => {
    const { manager: made, book } = await manager();
    await until(() => made.targets().length > 0);
    expect(made.targets()[0]).toMatchObject({ target: 'host', kind: 'local', health: 'ok' });
    expect(await made.add('host', 'ssh', 'vm1')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    expect(await made.remove('host')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    expect([...book.records.values()]).toMatchObject([{ target: 'host', is_default: true }]);
  });

  it('IDN1 two sockets of one machine behind ssh are two targets; only the alias is stored', async () => {
    const { manager: made, book } = await manager();
    expect(await made.add('far', 'ssh', 'vm1')).toMatchObject({ ok: true });
    const report = await made.connect('far');
    expect(report).toMatchObject({ ok: true, value: { health: 'ok', trouble: null, facts: { uid } } });
    const names = made.targets().filter((view) => view.machine === 'far');
    expect(names.map((view) => [view.target, view.socket.alive])).toEqual([
      ['far', false],
      ['far@work', true],
    ]);
    const view = made.machine('far')?.view();
    expect(Math.abs(view?.clockOffset?.offsetMs ?? 1e9)).toBeLessThanOrEqual(view?.clockOffset?.uncertaintyMs ?? 0);
    await until(() => [...book.records.values()].some((record) => record.target === 'far' && record.health === 'ok'));
    const { updated_at: _, last_seen_at: seen, ...stored } = book.records.get('far' as TargetId) ?? {};
    expect(stored).toEqual({ target: 'far', kind: 'ssh', connection_ref: 'vm1', is_default: false, health: 'ok' });
    expect(seen).toBeGreaterThan(0);
  });

  it('bad names and references are refused with words', async () => {
    const { manager: made } = await manager();
    for (const name of ['', '-x', 'a@b', 'a/b', 'a b', 'a:b', 'x'.repeat(65)]) {
      expect(await made.add(name, 'ssh', 'vm1')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    }
    expect(await made.add('x', 'ssh', '-oProxyCommand=id')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    expect(await made.add('x', 'local', 'a b')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    expect(await made.connect('x')).toMatchObject({ ok: false, failure: { code: 'E_REF_NOT_FOUND' } });
    expect((await made.add('x', 'ssh', 'no-such-machine.invalid')).ok).toBe(true);
    expect(await made.add('x', 'ssh', 'vm1')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    const told = await made.connect('x');
    expect(told.ok ? '' : told.failure.message).toContain('the host name is unknown');
  });

  it('a machine that was added is there after a restart, and gone after it was removed', async () => {
    const first = await manager();
    await first.manager.add('far', 'ssh', 'vm1');
    await first.manager.add('other', 'local', `${base}/tmux-${uid}/work`);
    await first.manager.close();
    const second = await manager(first.book);
    await until(() => second.healthOf('far') === 'ok');
    await until(() => second.manager.targets().some((view) => view.target === 'other' && view.socket.alive));
    expect(await second.manager.remove('far')).toMatchObject({ ok: true });
    expect(second.manager.machine('far')).toBe(null);
    expect([...first.book.records.keys()].sort()).toEqual(['host', 'other']);
  });
});

describe('a machine in trouble', () => {
  it('FED4 a frozen one is degraded, then down within 3 s; the other answers throughout; it returns by itself', async () => {
    const bad = await relayed('bad');
    await relayed('good', 50);
    const { manager: made, healthOf, events } = await manager();
    await made.add('bad', 'ssh', 'bad');
    await made.add('good', 'ssh', 'good');
    await until(() => healthOf('bad') === 'ok' && healthOf('good') === 'ok');
    const before = events.length;
    const frozenAt = performance.now();
    bad.freeze();
    await until(() => healthOf('bad') === 'down');
    const downAfterMs = performance.now() - frozenAt;
    expect(downAfterMs).toBeGreaterThan(limits.heartbeatDegradedMs);
    expect(downAfterMs).toBeLessThan(3_500);
    const told = events
      .slice(before)
      .flatMap((event) => (event.kind === 'health' && event.view.machine === 'bad' ? [event.view.health] : []));
    expect(told).toEqual(['degraded', 'down']);
    // What it had is still known, only not reachable (RSV6).
    expect(made.targets().filter((view) => view.machine === 'bad')).toHaveLength(2);
    const asked = performance.now();
    expect((await made.machine('good')?.collector?.ping())?.ok).toBe(true);
    expect(performance.now() - asked).toBeLessThan(1_000);
    bad.cut();
    bad.thaw();
    bad.mend();
    await until(() => healthOf('bad') === 'ok');
    expect(healthOf('good')).toBe('ok');
  });

  it('FED4a a machine that refuses the key it took before is dialled once, whoever asks; a person is tried for at once', async () => {
    const door = await relayed('locked');
    const { manager: made, healthOf } = await manager();
    await made.add('locked', 'ssh', 'locked');
    await until(() => healthOf('locked') === 'ok');
    const machine = made.machine('locked');
    const keys = `${sshd.directory}/authorized_keys`;
    const key = await readFile(keys);
    await writeFile(keys, '');
    try {
      const before = door.dials();
      door.cut();
      door.mend();
      await until(() => machine?.view().trouble?.message.includes('did not accept your key') === true);
      // What watchers do all the time: each of these was a dial of its own.
      for (let use = 0; use < 20; use += 1) {
        expect(
          (await machine?.executor.run(['true'], { deadlineMs: 60_000, outputBytesMax: 100 }))?.failure?.code,
        ).toBe('E_TARGET_DOWN');
        expect((await machine?.collector?.ping())?.ok).toBe(false);
      }
      // One that met the cut, or none, and one that was refused.
      expect(door.dials() - before).toBeLessThanOrEqual(2);
      const refused = door.dials();
      expect(await made.connect('locked')).toMatchObject({ ok: false, failure: { code: 'E_TARGET_DOWN' } });
      expect(door.dials()).toBe(refused + 1);
    } finally {
      await writeFile(keys, key);
    }
    expect(await made.connect('locked')).toMatchObject({ ok: true, value: { health: 'ok' } });
  });

  it('FED4 a frozen machine is back as soon as something passes, by the attempt under way', async () => {
    const way = await relayed('thawing');
    const { manager: made, healthOf } = await manager();
    await made.add('thawing', 'ssh', 'thawing');
    await until(() => healthOf('thawing') === 'ok');
    const before = way.dials();
    way.freeze();
    await until(() => healthOf('thawing') === 'down');
    await until(() => way.dials() > before);
    const dials = way.dials();
    const thawedAt = performance.now();
    way.thaw();
    await until(() => healthOf('thawing') === 'ok');
    expect(way.dials()).toBe(dials);
    expect(performance.now() - thawedAt).toBeLessThan(8_000);
  });

  it('SEC5 a machine that answers with garbage is down with words, and nothing of it is believed', async () => {
    const forced = await startSshd({ lines: ['ForceCommand cat /dev/zero | tr "\\\\000" "@"'] });
    try {
      await sshd.addAlias('hostile', forced.port, [
        `IdentityFile ${forced.directory}/user_key`,
        `UserKnownHostsFile ${forced.directory}/known_hosts`,
      ]);
      const { manager: made } = await manager();
      await made.add('hostile', 'ssh', 'hostile');
      const told = await made.connect('hostile');
      expect(told).toMatchObject({ ok: false, failure: { code: 'E_TARGET_DOWN' } });
      expect(told.ok ? '' : told.failure.message).toContain('no shell was started');
      expect(made.machine('hostile')?.view()).toMatchObject({ health: 'down', facts: null, sockets: [] });
    } finally {
      await forced.close();
    }
  });
});
