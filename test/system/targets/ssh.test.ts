// Programs on another machine over a real sshd: exact arguments, shared connection, every way to be cut off, and nothing
// left behind.

import { spawn, spawnSync } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Collector } from '../../../src/targets/collector.ts';
import type { SshExecutor, SshOptions } from '../../../src/targets/ssh.ts';
import { checkHostAlias } from '../../../src/text/quote.ts';
import { type Relay, startRelay } from '../../kit/relay.ts';
import { startSshd, type TestSshd } from '../../kit/sshd.ts';
import { isAlive, listen, ports, removeTemporaries, run, sshTo, temporary, text, uid, until } from './bench.ts';

/** Node before 22.18 runs TypeScript only when told to. */
const typeFlags = process.features.typescript === false ? ['--experimental-strip-types', '--no-warnings'] : [];

let sshd: TestSshd;
let runtimeDir = '';
const executors: SshExecutor[] = [];
const relays: Relay[] = [];

function executor(alias = 'vm1', more: Partial<SshOptions> = {}): SshExecutor {
  const made = sshTo(alias, sshd.configFile, runtimeDir, more);
  executors.push(made);
  return made;
}

async function relayed(alias: string, delayMs = 0): Promise<Relay> {
  const relay = await startRelay(sshd.port, delayMs);
  relays.push(relay);
  await sshd.addAlias(alias, relay.port);
  return relay;
}

beforeAll(async () => {
  sshd = await startSshd();
  runtimeDir = await temporary('run');
});
afterEach(async () => {
  for (const made of executors.splice(0)) await made.close();
  for (const relay of relays.splice(0)) await relay.close();
});
afterAll(async () => {
  await sshd.close();
  await removeTemporaries();
});

describe('run over ssh', () => {
  it('arguments arrive byte for byte, whatever the far shell would make of them', async () => {
    const torture = ['', ' ', 'two words', "it's", '"', '$HOME', '`id`', '$(id)', 'a\nb', '\t', '\\', '\\n', '*', '~'];
    const more = ['--', '-x', ';', '&', '|', '>', '#', '!', '{a,b}', 'é漢🎉', '%s', '\u001b[31m', '\r', "'\\''"];
    const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const result = await run(executor(), [process.execPath, '-e', script, '--', ...torture, ...more]);
    expect(text(result.stderr)).toBe('');
    expect(JSON.parse(text(result.stdout))).toEqual([...torture, ...more]);
  });

  const shells = ['tcsh', 'fish', 'zsh', 'dash', 'sh'].filter((one) => spawnSync(one, ['-c', 'exit 0']).status === 0);
  it.each(shells)('a machine whose login shell is %s can be asked everything', async (shell) => {
    // As sshd itself does it: the shell, -c, and the line that the client sent.
    const other = await startSshd({ lines: [`ForceCommand exec ${shell} -c "$SSH_ORIGINAL_COMMAND"`] });
    const machine = sshTo('vm1', other.configFile, await temporary('shell'));
    const collector = new Collector({ executor: machine, clock: ports.clock, random: ports.random, answerMs: 60_000 });
    try {
      expect(await machine.connect()).toEqual({ ok: true, value: null });
      expect(await collector.host()).toMatchObject({ ok: true, value: { uid } });
      const args = ['a\nb', 'c!d', '!!', "it's", '\\', 'é漢'];
      const result = await run(machine, ['printf', '%s|', ...args]);
      expect([text(result.stdout), text(result.stderr)]).toEqual([args.map((arg) => `${arg}|`).join(''), '']);
    } finally {
      collector.close();
      await machine.close();
      await other.close();
    }
  });

  it('status, both outputs and standard input come through', async () => {
    const argv = ['sh', '-c', 'cat; echo err >&2; exit 7'];
    const stdin = new TextEncoder().encode('in\u0000put');
    const result = await executor().run(argv, { stdin, deadlineMs: 60_000, outputBytesMax: 1_000 });
    expect(result).toMatchObject({ status: 7, truncated: false, timedOut: false });
    expect([text(result.stdout), text(result.stderr)]).toEqual(['in\u0000put', 'err\n']);
    expect(result.failure).toBeUndefined();
  });

  it('a program that leaves with 255 by itself is not taken for a lost connection', async () => {
    const result = await run(executor(), ['sh', '-c', 'exit 255']);
    expect(result.status).toBe(255);
    expect(result.failure).toBeUndefined();
  });

  it('SEC5 output is cut at the cap, a flood too', async () => {
    const options = { deadlineMs: 60_000, outputBytesMax: 10_000 };
    const result = await executor().run(['sh', '-c', 'yes garbage'], options);
    expect(result).toMatchObject({ truncated: true, status: null });
    expect(result.stdout.length).toBe(10_000);
  });

  it('a deadline ends it and the connection stays usable', async () => {
    const machine = executor();
    expect((await run(machine, ['true'])).status).toBe(0);
    const [pid] = machine.masterPids();
    expect(await run(machine, ['sleep', '60'], { deadlineMs: 300 })).toMatchObject({ timedOut: true, status: null });
    expect((await run(machine, ['true'])).status).toBe(0);
    expect(machine.masterPids()).toEqual([pid]);
  });

  it('what a deadline has ended does not live on over there, and what ended by itself leaves nothing', async () => {
    const machine = executor();
    expect((await run(machine, ['sh', '-c', 'exit 3'], { deadlineMs: 500_000 })).status).toBe(3);
    const asks = ['sleep', '98765.4321'];
    expect(await run(machine, asks, { deadlineMs: 1_000 })).toMatchObject({ timedOut: true });
    const isRunning = async (argv: readonly string[]): Promise<boolean> => {
      const lines = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      const all = await Promise.all(lines.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
      return all.includes(`${argv.join('\0')}\0`);
    };
    await until(async () => !(await isRunning(asks)));
    await until(async () => !(await isRunning(['sleep', '501'])));
  });

  it('the shared connection is faster than a fresh one', async () => {
    const shared = executor();
    await shared.connect();
    const timed = async (work: () => Promise<unknown>): Promise<number> => {
      const from = performance.now();
      await work();
      return performance.now() - from;
    };
    const fresh: number[] = [];
    const over: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const single = sshTo('vm1', sshd.configFile, await temporary('fresh'));
      fresh.push(await timed(() => run(single, ['true'])));
      await single.close();
      over.push(await timed(() => run(shared, ['true'])));
    }
    const median = (values: number[]): number => values.sort((a, b) => a - b)[2] ?? 0;
    expect(median(over)).toBeLessThan(median(fresh));
  });
});

describe('channels over ssh', () => {
  it('what is written before the connection stands arrives first and in order', async () => {
    const { channel, heard } = listen(executor(), ['cat']);
    for (const word of ['one ', 'two ', 'three\n']) channel.write(new TextEncoder().encode(word));
    expect(channel.writeBacklog).toBe(14);
    await until(() => heard.output === 'one two three\n');
    expect(channel.writeBacklog).toBe(0);
    channel.end();
    await until(() => heard.end !== null);
    expect(heard.end?.failure).toBeUndefined();
  });

  it('more programs than one connection has sessions run at once, over further connections', async () => {
    const machine = executor();
    const all = Array.from({ length: 12 }, () => listen(machine, ['sh', '-c', 'echo up; exec cat']));
    await until(() => all.every(({ heard }) => heard.output === 'up\n'));
    expect(machine.masterPids().length).toBe(2);
  });

  it('a server that allows fewer sessions than usual is enough', async () => {
    const narrow = await startSshd({ lines: ['MaxSessions 2'] });
    const machine = sshTo('vm1', narrow.configFile, await temporary('narrow'));
    try {
      const all = Array.from({ length: 4 }, () => listen(machine, ['sh', '-c', 'echo up; exec cat']));
      await until(() => all.every(({ heard }) => heard.output === 'up\n'));
    } finally {
      await machine.close();
      await narrow.close();
    }
  });

  it('a flood is slowed down to the budget of its machine and does not slow another', async () => {
    const bytesPerSecondMax = 2_000_000;
    const flood = listen(executor('vm1', { bytesPerSecondMax }), ['sh', '-c', 'exec cat /dev/zero']);
    await until(() => flood.heard.bytes > bytesPerSecondMax);
    const [fromMs, fromBytes] = [performance.now(), flood.heard.bytes];
    // Another machine: its own connection.
    const other = sshTo('vm1', sshd.configFile, await temporary('other'));
    executors.push(other);
    expect((await run(other, ['true'])).status).toBe(0);
    await until(() => performance.now() - fromMs > 1_500);
    const rate = ((flood.heard.bytes - fromBytes) / (performance.now() - fromMs)) * 1_000;
    // One window may pass the mark before its sender has to wait.
    expect(rate).toBeLessThan(bytesPerSecondMax * 1.5);
  });

  it('a program that stops reading is ended before its backlog grows without bound', async () => {
    const { channel, heard } = listen(executor(), ['sleep', '60']);
    const chunk = new Uint8Array(1_048_576);
    for (let count = 0; count < 10; count += 1) channel.write(chunk);
    await until(() => heard.end !== null);
    expect(heard.end?.failure?.message).toContain('stopped reading');
  });
});

describe('a connection that is lost', () => {
  it('kill -9 of the session on the far side ends channels with the reason; only `connect` dials again', async () => {
    const machine = executor();
    const { heard } = listen(machine, ['sh', '-c', 'echo up; exec cat']);
    await until(() => heard.output === 'up\n');
    for (const pid of await sshd.sessionPids()) process.kill(pid, 'SIGKILL');
    await until(() => heard.end !== null);
    expect(heard.end).toMatchObject({ status: null, failure: { code: 'E_TARGET_DOWN' } });
    expect((await run(machine, ['true'])).failure?.code).toBe('E_TARGET_DOWN');
    expect((await machine.connect()).ok).toBe(true);
    expect((await run(machine, ['true'])).status).toBe(0);
  });

  it('kill -9 of the client that holds the connection is survived the same way', async () => {
    const machine = executor();
    const { heard } = listen(machine, ['sh', '-c', 'echo up; exec cat']);
    await until(() => heard.output === 'up\n');
    for (const pid of machine.masterPids()) process.kill(pid, 'SIGKILL');
    await until(() => heard.end !== null);
    expect(heard.end?.failure?.code).toBe('E_TARGET_DOWN');
    expect((await machine.connect()).ok).toBe(true);
    expect((await run(machine, ['true'])).status).toBe(0);
  });

  it('FED4 a half-open connection is noticed by the deadline and delays no other machine', async () => {
    const relay = await relayed('frozen');
    const frozen = executor('frozen');
    const other = executor();
    expect((await run(frozen, ['true'])).status).toBe(0);
    expect((await run(other, ['true'])).status).toBe(0);
    relay.freeze();
    const from = performance.now();
    const stuck = run(frozen, ['true'], { deadlineMs: 3_000 });
    let isStuck = true;
    void stuck.then(() => {
      isStuck = false;
    });
    expect((await run(other, ['true'])).status).toBe(0);
    expect(isStuck).toBe(true);
    expect(await stuck).toMatchObject({ timedOut: true, status: null });
    expect(performance.now() - from).toBeLessThan(20_000);
    // A dropped connection is made anew as soon as the way is open.
    frozen.drop({ code: 'E_TARGET_DOWN', message: 'no sign of life', next: '' });
    relay.thaw();
    expect((await frozen.connect()).ok).toBe(true);
    expect((await run(frozen, ['true'])).status).toBe(0);
  });

  it('a first connection that never gets an answer is given up after its time', async () => {
    const relay = await relayed('silent');
    relay.freeze();
    const result = await executor('silent', { connectMs: 500 }).connect();
    expect(result).toMatchObject({ ok: false, failure: { code: 'E_TARGET_DOWN' } });
    expect(result.ok ? '' : result.failure.message).toContain('did not answer in time');
  });

  it('a sign of life takes one round trip, and stays out while the way is frozen', async () => {
    const relay = await relayed('slow', 50);
    const machine = executor('slow');
    await machine.connect();
    const from = performance.now();
    expect(await machine.ping()).toEqual({ ok: true, value: null });
    expect(performance.now() - from).toBeGreaterThanOrEqual(49);
    relay.freeze();
    const ping = machine.ping();
    machine.drop({ code: 'E_TARGET_DOWN', message: 'no sign of life', next: '' });
    expect(await ping).toMatchObject({ ok: false, failure: { message: 'no sign of life' } });
  });
});

describe('what goes wrong is told with a code and what to do', () => {
  const failureOf = async (alias: string): Promise<string> => {
    const result = await run(executor(alias), ['true']);
    expect(result).toMatchObject({ status: null, failure: { code: 'E_TARGET_DOWN' } });
    expect(result.failure?.next).not.toBe('');
    return result.failure?.message ?? '';
  };

  it('a name nobody knows', async () => {
    expect(await failureOf('no-such-machine.invalid')).toContain('the host name is unknown');
  });

  it('nobody listens', async () => {
    await sshd.addAlias('refusing', 1);
    expect(await failureOf('refusing')).toContain('refused');
  });

  it('a host key that is not the known one, and one that is not known at all', async () => {
    const other = (await readFile(`${sshd.directory}/other_key.pub`, 'utf8')).split(' ').slice(0, 2).join(' ');
    await ports.files.writeAtomic(`${sshd.directory}/wrong_hosts`, new TextEncoder().encode(`agtmux-test ${other}\n`));
    await sshd.addAlias('changed', sshd.port, [`UserKnownHostsFile ${sshd.directory}/wrong_hosts`]);
    await sshd.addAlias('stranger', sshd.port, ['UserKnownHostsFile /dev/null', 'StrictHostKeyChecking ask']);
    expect(await failureOf('changed')).toContain('its host key has changed');
    expect(await failureOf('stranger')).toContain('not known yet');
  });

  it('a key that is not accepted', async () => {
    // A second IdentityFile would be tried too, so the good key is put out of reach another way.
    await sshd.addAlias('keyless', sshd.port, ['PubkeyAuthentication no']);
    expect(await failureOf('keyless')).toContain('did not accept your key');
  });

  it('a configuration that cannot be read', async () => {
    const path = `${sshd.directory}/bad_config`;
    await ports.files.writeAtomic(path, new TextEncoder().encode('NoSuchOption yes\n'));
    const machine = sshTo('vm1', path, runtimeDir);
    executors.push(machine);
    expect((await run(machine, ['true'])).failure?.message).toContain('configuration has a mistake');
  });

  it('SEC5 an alias that ssh could read as an option is refused before ssh sees it', () => {
    for (const alias of ['-oProxyCommand=id', '--', '-', 'user@-x', 'a b', 'a;id', '$(id)', '']) {
      expect(checkHostAlias(alias)).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    }
  });

  it('SEC1 the sockets of shared connections stand in a private directory, or there is no connection', async () => {
    const open = await temporary('open');
    await ports.exec.run({
      program: 'chmod',
      args: ['755', open],
      env: { PATH: '/bin' },
      deadlineMs: 9_000,
      outputBytesMax: 9,
    });
    const machine = sshTo('vm1', sshd.configFile, open);
    executors.push(machine);
    expect((await run(machine, ['true'])).failure?.code).toBe('E_UNSAFE_DIR');
    const good = executor();
    await good.connect();
    const names = (await readdir(runtimeDir)).filter((name) => /^s[0-9a-f]{12}\.0$/.test(name));
    expect(names.length).toBe(1);
    expect((await stat(`${runtimeDir}/${names[0]}`)).mode & 0o077).toBe(0);
  });
});

const programsOf = (pids: readonly number[]): Promise<string[]> =>
  Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));

describe('nothing is left behind', () => {
  it('after close no ssh process and no socket is left', async () => {
    const machine = executor();
    const { heard } = listen(machine, ['sh', '-c', 'echo up; exec cat']);
    await until(() => heard.output === 'up\n');
    const pids = machine.masterPids();
    expect(pids.length).toBe(1);
    await machine.close();
    await until(async () => !(await Promise.all(pids.map(isAlive))).includes(true));
    await until(() => heard.end !== null);
    expect(await readdir(runtimeDir)).toEqual([]);
    expect((await run(machine, ['true'])).failure?.code).toBe('E_TARGET_DOWN');
  });

  it.each([
    ['closed', (machine: SshExecutor) => machine.close()],
    ['given up', (machine: SshExecutor) => machine.drop({ code: 'E_TARGET_DOWN', message: 'no answer', next: '' })],
  ])('of a machine that let us in and never answers no ssh process is left when it is %s', async (_, end) => {
    const silent = await startSshd({ lines: ['ForceCommand sleep 1000'] });
    const machine = sshTo('vm1', silent.configFile, await temporary('silent'), { connectMs: 100_000 });
    try {
      const { heard } = listen(machine, ['cat']);
      const ran = run(machine, ['true'], { deadlineMs: 100_000 });
      await until(async () => (await programsOf(await silent.sessionPids())).includes('sleep\u00001000\u0000'));
      const pids = machine.masterPids();
      expect(await Promise.all(pids.map(isAlive))).toEqual([true]);
      await end(machine);
      await until(async () => !(await Promise.all(pids.map(isAlive))).includes(true));
      await until(() => heard.end !== null);
      expect(heard.end?.failure?.code).toBe('E_TARGET_DOWN');
      expect((await ran).failure?.code).toBe('E_TARGET_DOWN');
    } finally {
      await machine.close();
      await silent.close();
    }
  });

  // Without a guard the end of their input must be enough, for programs that read it.
  it.each([
    ['with the guard of this system', 'sleep', 'guard'],
    ['and programs that read, without', 'cat', 'bare'],
  ])('kill -9 of the daemon takes its connections along, %s', async (_, program, mode) => {
    const own = await temporary('orphan');
    const holder = fileURLToPath(new URL('./ssh-holder.ts', import.meta.url));
    const args = [...typeFlags, holder, sshd.configFile, own, program, mode];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (chunk: Uint8Array) => {
      said += text(chunk);
    });
    await until(() => said.includes('\n'));
    const pids = JSON.parse(said) as number[];
    expect(await Promise.all(pids.map(isAlive))).toEqual([true]);
    child.kill('SIGKILL');
    await until(async () => !(await Promise.all(pids.map(isAlive))).includes(true));
  });

  it('SEC6 what is sent over a channel stands in no argument on either side', async () => {
    const machine = executor();
    const secret = 'do-not-show-this-word';
    const { channel, heard } = listen(machine, ['cat']);
    channel.write(new TextEncoder().encode(secret));
    await until(() => heard.output === secret);
    const lines = await programsOf((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number));
    expect(lines.some((line) => line.includes('vm1'))).toBe(true);
    expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  });
});
