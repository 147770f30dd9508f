// agtmux-hook as agents call it, in every shell: what it writes, that it never fails or holds up its caller, and that the
// reader gets each call once, in order and soon.

import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealFileWatch } from '../../../src/platform/file-watch.ts';
import { createRealFiles } from '../../../src/platform/files.ts';
import { readSpoolFile, type SpoolCall } from '../../../src/sources/spool/call.ts';
import { Spool } from '../../../src/sources/spool/spool.ts';
import { smallDisk } from '../../fault/small-disk.ts';
import { createTmuxServer, until } from '../../kit/tmux-server.ts';
import { filesOf, hook, type Place, place, runIn, shells } from './kit.ts';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.remove());

const payload = JSON.stringify({ session_id: 's', text: 'ä"\\\n%s `x` $HOME', fill: 'x'.repeat(2_000) });

function fill(path: string): void {
  expect(() => {
    for (let round = 0; round < 1_000; round += 1) appendFileSync(path, new Uint8Array(4_096));
  }).toThrow('ENOSPC');
}

function callIn(spool: string): SpoolCall {
  const [name = ''] = readdirSync(spool);
  const path = join(spool, name);
  const reading = readSpoolFile(name, readFileSync(path), statSync(path).mtimeMs);
  if (reading.kind !== 'call') throw new Error(`${name}: ${JSON.stringify(reading)}`);
  return reading.call;
}

describe.each(shells.map((shell) => [shell.join(' '), shell] as const))('agtmux-hook in %s', (_name, shell) => {
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}, input = payload) =>
    runIn(shell, [hook, ...args], { ...here.env, ...more }, input);
  const silent = { status: 0, output: '' };

  it('ADM3 writes one private file: the line, below it the payload untouched', () => {
    const tmux = { TMUX: '/tmp/a b/s,1,0', TMUX_PANE: '%17' };
    expect(run(['claude', 'Pre Tool\t%\n"', ''], tmux)).toEqual(silent);
    expect(readdirSync(here.spool)).toHaveLength(1);
    const [text = ''] = filesOf(here.spool);
    expect(text.slice(text.indexOf('\n') + 1)).toBe(payload);
    const call = callIn(here.spool);
    expect(call).toMatchObject({ agent: 'claude', event: 'Pre Tool\t%\n"', pane: '%17', socket: '/tmp/a b/s' });
    expect(call.payload).toEqual(JSON.parse(payload));
    expect(Math.abs(call.time - Date.now())).toBeLessThan(5_000);
    expect(statSync(join(here.spool, call.file)).mode & 0o777).toBe(0o600);
  });

  it('SEC1 writes nothing into a folder of another user', () => {
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(here.spool, 65_534, 65_534);
    // Everyone else has a folder of root's that they may write into.
    const spool = isRoot ? here.spool : '/tmp';
    const ofHook = (): readonly string[] => readdirSync(spool).filter((name) => /^\d+-\d+-\d$/.test(name));
    const before = ofHook();
    expect(run(['claude', 'Stop'], { AGTMUX_SPOOL: spool })).toEqual(silent);
    expect(ofHook()).toEqual(before);
  });

  it('IDN3 names its callers with their start times', () => {
    run(['claude', 'Stop']);
    const call = callIn(here.spool);
    expect(call.ppid).toBe(process.pid);
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const start = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[19];
    expect(call.ancestors[0]).toEqual({ pid: process.pid, start });
    expect(call.ancestors.length).toBeGreaterThan(1);
  });

  it('IDN3 callers with misleading names are read right', () => {
    for (const name of ['two words', 'x) S 1 2 3', 'a) R', 'a\nb', '((']) {
      const caller = join(here.dir, name);
      copyFileSync('/bin/sh', caller);
      const script = `${[...shell, hook].join(' ')} x y '{}'; cat /proc/$$/stat`;
      const { stdout, pid } = spawnSync(caller, ['-c', script], { env: here.env });
      const stat = stdout.toString();
      const start = stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[19];
      const call = callIn(here.spool);
      expect([name, call.ancestors.slice(0, 2).map((one) => one.pid)]).toEqual([name, [pid, process.pid]]);
      expect([name, call.ancestors[0]?.start]).toEqual([name, start]);
      rmSync(join(here.spool, call.file));
    }
  });

  it('takes the third argument for the payload, as notify programs get it', () => {
    expect(run(['codex', 'notify', payload], {}, 'not this')).toEqual(silent);
    expect(callIn(here.spool).text).toBe(payload);
  });

  it('an event without a payload is whole at once', () => {
    const [path = '', ...flags] = shell;
    spawnSync(path, [...flags, hook, 'x', 'none'], { env: here.env, stdio: ['ignore', 'ignore', 'ignore'] });
    expect(callIn(here.spool)).toMatchObject({ event: 'none', payload: null, text: '' });
  });

  it('never writes over a file that is there', () => {
    const [path = '', ...flags] = shell;
    // Two calls with one pid and one parent, as when a pid comes back.
    const twice = `set -- x first '{}'; (. ${hook}); set -- x second '{}'; (. ${hook})`;
    runIn([path], [...flags, '-c', twice], here.env);
    const names = readdirSync(here.spool).sort();
    expect(names.map((name) => name.slice(name.lastIndexOf('-')))).toEqual(['-0', '-1']);
    expect(names.map((name) => /event=(\w+)/.exec(readFileSync(join(here.spool, name), 'utf8'))?.[1])).toEqual([
      'first',
      'second',
    ]);
  });

  it('SEC4 is silent and succeeds where nothing can be written', () => {
    const nowhere: NodeJS.ProcessEnv[] = [
      { AGTMUX_SPOOL: join(here.dir, 'missing') },
      { AGTMUX_SPOOL: 'relative' },
      { AGTMUX_SPOOL: '/proc/1' },
      { AGTMUX_SPOOL: hook },
      { AGTMUX_STATE_DIR: '/dev/null' },
      { XDG_STATE_HOME: 'relative', HOME: '/nowhere' },
      { XDG_STATE_HOME: '', HOME: '' },
    ];
    for (const env of nowhere) expect([env, run(['claude', 'Stop'], env)]).toEqual([env, silent]);
    for (const args of [[], ['claude'], ['', ''], ['claude', 'e'.repeat(100_000)]]) expect(run(args)).toEqual(silent);
    expect(filesOf(here.spool)).toEqual([]);
  });

  it('SEC4 is silent and succeeds without an environment, without input and without outputs', () => {
    const [path = '', ...flags] = shell;
    expect(runIn(shell, [hook, 'a', 'b'], {}).status).toBe(0);
    const closed = [...flags, '-c', `"$@" <&- >&- 2>&-`, 'x', path, ...flags, hook, 'a', 'closed'];
    expect(runIn([path], closed, here.env)).toEqual(silent);
    expect(filesOf(here.spool)).toHaveLength(1);
  });

  it('SEC4 a full disk and a limit on file sizes fail nobody', () => {
    const disk = smallDisk(here.dir, 65_536);
    try {
      const spool = disk.kind === 'tmpfs' ? join(disk.dir, '..') : here.spool;
      if (disk.kind === 'tmpfs') fill(join(spool, 'fill'));
      for (let round = 0; round < 3; round += 1) expect(run(['x', 'full'], { AGTMUX_SPOOL: spool })).toEqual(silent);
    } finally {
      disk.remove();
    }
    const [path = '', ...flags] = shell;
    const limited = [...flags, '-c', `ulimit -f 0; "$@"`, 'x', path, ...flags, hook, 'a', 'b'];
    expect(runIn([path], limited, here.env, payload)).toEqual(silent);
  });

  it('writes nothing while the daemon says that the spool is full', () => {
    writeFileSync(join(here.spool, 'full'), '');
    expect(run(['claude', 'Stop'])).toEqual(silent);
    expect(readdirSync(here.spool)).toEqual(['full']);
  });

  it('ACT10 waits for an answer where keys cannot give one, and nowhere else', async () => {
    const [path = '', ...flags] = shell;
    const answers = join(here.spool, '..', 'answers');
    const asks = ['claude', 'PermissionRequest:wait'];
    const outside = { CLAUDE_CODE_ENTRYPOINT: 'cli' };
    // Where no daemon takes answers, in tmux, in a run that shows no dialog, and without the folder being ours.
    expect(run(asks, outside)).toEqual(silent);
    mkdirSync(answers, { mode: 0o700 });
    expect(run(asks, { ...outside, TMUX_PANE: '%1' })).toEqual(silent);
    expect(run(asks, { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' })).toEqual(silent);
    expect(run(asks)).toEqual(silent);
    for (const name of readdirSync(here.spool)) {
      expect(readFileSync(join(here.spool, name), 'utf8')).toContain(' event=PermissionRequest ');
      rmSync(join(here.spool, name));
    }
    const waits = spawn(path, [...flags, hook, ...asks], { env: { ...here.env, ...outside } });
    let said = '';
    waits.stdout.on('data', (data: Buffer) => {
      said += data.toString();
    });
    waits.stdin.end(payload);
    const asked = (): string | undefined => readdirSync(answers).find((name) => name.endsWith('.asked'));
    // It is written where its answer will be looked for, and from there to the others.
    const askedText = (): string => readFileSync(join(answers, asked() ?? ''), 'utf8');
    await until('it waits', () => asked() !== undefined && filesOf(here.spool)[0] === askedText());
    const name = asked() ?? '';
    expect(askedText()).toContain(' event=PermissionRequest ');
    writeFileSync(join(answers, 'half'), '{"yes":true}\n');
    renameSync(join(answers, 'half'), join(answers, name.replace('.asked', '')));
    await until('it has ended', () => waits.exitCode !== null);
    expect([waits.exitCode, said, readdirSync(answers)]).toEqual([0, '{"yes":true}\n', []]);
  });

  it('ACT10 waits no longer than its agent lives, and leaves nothing behind', async () => {
    const answers = join(here.spool, '..', 'answers');
    mkdirSync(answers, { mode: 0o700 });
    const line = `printf %s '${payload}' | CLAUDE_CODE_ENTRYPOINT=cli ${[...shell, hook].join(' ')} claude PermissionRequest:wait; true`;
    const agent = spawn('/bin/sh', ['-c', line], { env: here.env, stdio: 'ignore' });
    await until('it waits', () => readdirSync(answers).length === 1);
    agent.kill('SIGKILL');
    await until('nothing is left', () => readdirSync(answers).length === 0);
  });

  it('SEC4 does not read from a terminal', async () => {
    const server = await createTmuxServer();
    try {
      const status = join(here.dir, 'status');
      const line = `AGTMUX_SPOOL=${here.spool} ${[...shell, hook].join(' ')} x tty; echo $? >${status}; sleep 600`;
      await server.newSession('main', line);
      await until('it has ended', () => existsSync(status) && readFileSync(status, 'utf8') === '0\n');
      expect(callIn(here.spool)).toMatchObject({ event: 'tty', text: '', pane: '%0', socket: server.socketPath });
    } finally {
      await server.end();
    }
  });
});

describe('where the hook writes', () => {
  it('SEC4 finds the folder that the daemon reads, as the environment says', () => {
    const makes = (env: NodeJS.ProcessEnv, folder: string): void => {
      mkdirSync(join(here.dir, folder), { recursive: true });
      runIn(['/bin/sh'], [hook, 'x', 'y', '{}'], { PATH: here.env.PATH, ...env });
      expect([folder, readdirSync(join(here.dir, folder)).length]).toEqual([folder, 1]);
    };
    makes({ HOME: here.dir }, '.local/state/agtmux/spool');
    makes({ HOME: here.dir, XDG_STATE_HOME: join(here.dir, 'xdg') }, 'xdg/agtmux/spool');
    makes({ HOME: here.dir, XDG_STATE_HOME: here.dir, AGTMUX_STATE_DIR: join(here.dir, 'own') }, 'own/spool');
    makes({ AGTMUX_STATE_DIR: '/nowhere', AGTMUX_SPOOL: join(here.dir, 'chosen dir') }, 'chosen dir');
    makes({ HOME: here.dir }, 'Library/Application Support/agtmux/spool');
  });

  it('SEC4 a folder of another user, or one that is closed, is left alone', () => {
    chmodSync(here.spool, 0o500);
    const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    chmodSync(here.dir, 0o755);
    const { status, output } = spawnSync('/bin/sh', [hook, 'x', 'y', '{}'], {
      env: { ...here.env, AGTMUX_SPOOL: here.spool },
      ...asNobody,
    });
    expect([status, output.join('')]).toEqual([0, '']);
    expect(readdirSync(here.spool)).toEqual([]);
  });
});

function reader(take: (call: SpoolCall) => Promise<'done' | 'refused'>, spool = here.spool): Spool {
  return new Spool({
    folder: spool,
    uid: process.getuid?.() ?? 0,
    files: createRealFiles(),
    watch: createRealFileWatch(),
    clock: createRealClock(),
    take,
  });
}

describe('the reader on a real folder', () => {
  it('ADM3 5,000 files that were there before it are handed over once each, in order', async () => {
    const count = 5_000;
    for (let at = 0; at < count; at += 1) {
      const head = `agtmux1 agent=x event=e${at} pane= socket= pid=${at + 1} ppid=1 up= body=stdin\n`;
      writeFileSync(join(here.spool, `7-${at + 1}-0`), `${head}{"at":${at}}`, { mode: 0o600 });
    }
    const taken: string[] = [];
    let longestMs = 0;
    let lastMs = performance.now();
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 5);
    const spool = reader(async (call) => {
      taken.push(call.event);
      return 'done';
    });
    spool.start();
    await until('all are taken', () => taken.length >= count && readdirSync(here.spool).length === 0, 60_000);
    clearInterval(beat);
    await spool.stop();
    expect(taken).toEqual(Array.from({ length: count }, (_, at) => `e${at}`));
    expect(spool.counts()).toMatchObject({ taken: count, waiting: 0 });
    // Loose: the machine may be busy. One uninterrupted pass over the files would take seconds.
    expect(longestMs).toBeLessThan(1_000);
  });

  it("a call is in the reader's hands soon after it was written, and once", async () => {
    const delays: number[] = [];
    const spool = reader(async () => {
      delays.push(performance.now());
      return 'done';
    });
    spool.start();
    await until('it has looked once', () => spool.counts().waiting === 0 && existsSync(here.spool));
    const waits: number[] = [];
    for (let round = 0; round < 60; round += 1) {
      const before = delays.length;
      runIn(['/bin/sh'], [hook, 'claude', 'Stop'], here.env, payload);
      const writtenMs = performance.now();
      await until('it is taken', () => delays.length > before);
      waits.push((delays.at(-1) ?? 0) - writtenMs);
    }
    await spool.stop();
    waits.sort((left, right) => left - right);
    expect(delays.length).toBe(60);
    expect(waits[Math.floor(waits.length * 0.5)]).toBeLessThan(50);
  });

  it('hooks that write while it reads: each once, none lost', async () => {
    const taken: string[] = [];
    const spool = reader(async (call) => {
      taken.push(call.event);
      return 'done';
    });
    spool.start();
    const line = `i=0; while [ $i -lt 50 ]; do printf '{"n":1}' | "$0" "$1" $1-$i; i=$((i + 1)); done`;
    const writers = ['a', 'b', 'c'].map((name) => spawn('/bin/sh', ['-c', line, hook, name], { env: here.env }));
    await Promise.all(writers.map((child) => new Promise((resolve) => child.once('exit', resolve))));
    await until('all are taken', () => taken.length >= 150);
    await spool.stop();
    expect([taken.length, new Set(taken).size]).toEqual([150, 150]);
    for (const name of ['a', 'b', 'c']) {
      const own = taken.filter((event) => event.startsWith(name)).map((event) => Number(event.slice(2)));
      expect(own.length).toBe(50);
    }
  });

  it('a flood is taken in bounded pieces: hooks are told to stop, other work goes on, nothing is lost', async () => {
    const count = Math.max(Number(process.env.COUNT ?? 0), limits.spoolFilesMax + 5_000);
    for (let at = 0; at < count; at += 1) {
      const head = `agtmux1 agent=x event=e${at} pid=${at + 1} ppid=1 body=stdin\n`;
      writeFileSync(join(here.spool, `7-${at + 1}-0`), `${head}{}`, { mode: 0o600 });
    }
    let taken = 0;
    let wasFull = false;
    const names = new Set<string>();
    const spool = reader(async (call) => {
      taken += 1;
      names.add(call.file);
      wasFull ||= existsSync(join(here.spool, 'full'));
      return 'done';
    });
    let longestMs = 0;
    let lastMs = performance.now();
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 5);
    spool.start();
    await until('all are taken', () => taken >= count && readdirSync(here.spool).length === 0, 100_000 + count * 2);
    clearInterval(beat);
    await spool.stop();
    expect([taken, names.size, wasFull]).toEqual([count, count, true]);
    expect(longestMs).toBeLessThan(2_000);
  });

  it('a folder that is removed and comes back is followed again', async () => {
    const taken: string[] = [];
    const spool = reader(async (call) => {
      taken.push(call.event);
      return 'done';
    });
    spool.start();
    await until('it has looked once', () => spool.counts().waiting === 0);
    rmSync(here.spool, { recursive: true });
    await until('it is made anew', () => existsSync(here.spool));
    runIn(['/bin/sh'], [hook, 'x', 'again', '{}'], here.env);
    await until('it is taken', () => taken.includes('again'));
    await spool.stop();
  });
});
