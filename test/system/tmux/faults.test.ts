// What happens to the link, and to the user's tmux, when clients, servers and observers die, hang or are refused.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { paneId } from '../../../src/model/ids.ts';
import { limits } from '../../../src/model/limits.ts';
import { createRealFiles } from '../../../src/platform/files.ts';
import { createClientRecords } from '../../../src/terminals/tmux/client-records.ts';
import { createTmuxServer, type TmuxServerKit, until } from '../../kit/tmux-server.ts';
import { type LinkWitness, watchLink } from './witness.ts';

const count = Number(process.env.COUNT ?? '3');

let kit: TmuxServerKit;
const witnesses: LinkWitness[] = [];

function watch(options: Parameters<typeof watchLink>[1] = {}): LinkWitness {
  const witness = watchLink(kit, options);
  witnesses.push(witness);
  return witness;
}

async function clientPids(): Promise<number[]> {
  return (await kit.tmux('list-clients', '-F', '#{client_pid}')).split('\n').filter(Boolean).map(Number);
}

beforeEach(async () => {
  kit = await createTmuxServer();
  await kit.newSession('main', 'sh');
});

afterEach(async () => {
  for (const witness of witnesses.splice(0)) await witness.link.stop();
  await kit.end();
});

describe('clients', () => {
  it('clients that are killed come back, and the panes agree', async () => {
    const witness = watch();
    await witness.agrees();
    for (let round = 0; round < count; round += 1) {
      await until('two clients', async () => (await clientPids()).length === 2);
      for (const pid of await clientPids()) process.kill(pid, 'SIGKILL');
      await kit.tmux('new-window', '-d', '-t', 'main:', 'cat');
      await witness.agrees();
    }
    expect(witness.gone).toEqual([]);
  });

  it('clients that are detached by the user attach again', async () => {
    const witness = watch();
    await witness.agrees();
    await kit.tmux('detach-client', '-s', 'main');
    const refreshes = witness.refreshes();
    await until('sweeps go on', () => witness.refreshes() > refreshes + 2);
    expect(witness.gone).toEqual([]);
  });

  it('the session it is attached to is killed: another one serves', async () => {
    const witness = watch();
    await witness.agrees();
    const [held = ''] = (await kit.tmux('list-clients', '-F', '#{session_id}')).split('\n');
    await kit.newSession('second', 'cat');
    await kit.tmux('kill-session', '-t', held);
    await witness.agrees();
    expect(witness.gone).toEqual([]);
    expect([...(witness.topology()?.panes.keys() ?? [])]).toEqual(['%1']);
  });

  it('nothing of ours is attached after stop', async () => {
    const witness = watch();
    await witness.agrees();
    await until('two clients', async () => (await clientPids()).length === 2);
    await witness.link.stop();
    await until('no clients', async () => (await clientPids()).length === 0);
  });

  it('attaching leaves the environment of the session alone', async () => {
    await kit.tmux('set-environment', '-t', 'main', 'DISPLAY', ':7');
    const witness = watch();
    await witness.agrees();
    expect(await kit.tmux('show-environment', '-t', 'main', 'DISPLAY')).toBe('DISPLAY=:7');
  });

  it('attaching resizes nothing and takes the size of nobody', async () => {
    const before = await kit.tmux('list-windows', '-a', '-F', '#{window_width}x#{window_height}');
    const witness = watch();
    await witness.agrees();
    expect(await kit.tmux('list-windows', '-a', '-F', '#{window_width}x#{window_height}')).toBe(before);
  });
});

describe('very long words', () => {
  const say = (code: string): string =>
    `process.stdout.write(${code}, () => setInterval(() => {}, 1e9))`.replaceAll('ESC', '\\x1b');
  const program = (code: string): string[] => ['new-window', '-d', '-t', 'main:', process.execPath, '-e', say(code)];
  const megabyte = 1_048_000;

  it('titles and names of a megabyte cost no other pane anything, and control mode stays', async () => {
    const witness = watch();
    await witness.agrees();
    const [before = 0] = await until('two clients', async () => {
      const pids = await clientPids();
      return pids.length === 2 ? pids : null;
    });
    await kit.tmux(...program(`'ESC]2;' + 'x'.repeat(${megabyte}) + 'ESC\\\\'`));
    await kit.tmux('set-option', '-g', 'allow-rename', 'on');
    await kit.tmux(...program(`'ESCk' + 'n'.repeat(${megabyte}) + 'ESC\\\\'`));
    await kit.tmux(...program(`'ESC]2;e' + '\\u0301'.repeat(${megabyte / 2}) + 'ESC\\\\'`));
    await kit.tmux(...program(`'ESC]2;#[' + 'x'.repeat(${megabyte}) + 'ESC\\\\'`));
    await kit.tmux(...program(`'ESC]2;###a, b} #[c] ##{pane_id}ESC\\\\'`.replaceAll('#', '\\x23')));
    const lengths = async (): Promise<string> => kit.tmux('list-panes', '-a', '-F', '#{n:pane_title} #{n:window_name}');
    await until('tmux took them all', async () => ((await lengths()).match(/\d{6,}/g) ?? []).length === 4, 60_000);
    await until('they are told short', () => {
      const panes = ['%1', '%2', '%3', '%4'].map((id) => witness.pane(id));
      const [title, name, narrow, style] = panes;
      return (
        title?.title === 'x'.repeat(limits.tmuxNameColumnsMax) &&
        name?.windowName === 'n'.repeat(limits.tmuxNameColumnsMax) &&
        narrow?.title === '...' &&
        Buffer.byteLength(style?.title ?? '') <= limits.tmuxNameBytesMax
      );
    });
    await until('a short one is told as it is', () => witness.pane('%5')?.title === '###a, b} #[c] ##{pane_id}');
    const refreshes = witness.refreshes();
    await until('sweeps go on', () => witness.refreshes() > refreshes + 2);
    expect(await clientPids()).toContain(before);
    expect(witness.link.isControlled).toBe(true);
    expect(witness.gone).toEqual([]);
  });
});

describe('hooks', () => {
  it('the hooks of the user are the same during and after', async () => {
    await kit.tmux('set-hook', '-g', 'pane-exited[0]', 'set-option -g @mine "a b"');
    await kit.tmux('set-hook', '-g', 'session-created[3]', 'display-message hello');
    const hooks = async (): Promise<string> =>
      `${await kit.tmux('show-hooks', '-g')}\n${await kit.tmux('show-hooks', '-gw')}`;
    const before = await hooks();
    const witness = watch();
    await witness.agrees();
    const during = await until('our hooks', async () => (await hooks()).match(/wait-for -S agtmux-/) && hooks());
    for (const line of before.split('\n').filter((text) => text.includes('['))) expect(during).toContain(line);
    await witness.link.stop();
    expect(await hooks()).toBe(before);
  });

  it('hooks of a daemon that died are removed, those of one that lives are not', async () => {
    const first = watch();
    await first.agrees();
    await until('the bell', async () => (await kit.tmux('show-hooks', '-gw')).includes('wait-for -S agtmux-'));
    const living = (await kit.tmux('show-hooks', '-gw')).split('\n').filter((line) => line.includes('agtmux-'));
    await kit.tmux('set-hook', '-g', 'pane-exited[9137]', 'wait-for -S agtmux-999999999-abcd');
    const second = watch();
    await second.agrees();
    await until('the dead one is gone', async () => !(await kit.tmux('show-hooks', '-gw')).includes('999999999'));
    const after = await kit.tmux('show-hooks', '-gw');
    for (const line of living) expect(after).toContain(line);
  });
});

describe('servers', () => {
  it('IDN2 a server that is killed and started again is another server', async () => {
    const witness = watch();
    await witness.agrees();
    witness.link.wantScreens([paneId('%0')]);
    await until('the first screen', () => witness.screen('%0'));
    for (let round = 1; round <= count; round += 1) {
      const before = witness.topology()?.server;
      const screens = witness.screens.length;
      await kit.tmux('kill-server');
      await until('the end is told', () => witness.gone.length === round);
      await kit.newSession(`again ${round}`, 'sh');
      await witness.agrees();
      expect(witness.topology()?.server).not.toEqual(before);
      // The same pane id with the same words on it is another pane all the same.
      await until('its screen', () => witness.screens.length > screens);
    }
  });

  it('RSV6 a server that hangs is degraded, then down, never gone; it comes back by itself', async () => {
    const witness = watch();
    await witness.agrees();
    const server = Number(await kit.tmux('display-message', '-p', '#{pid}'));
    process.kill(server, 'SIGSTOP');
    await until('down', () => witness.healths.at(-1)?.health === 'down');
    expect(witness.healths.map(({ health }) => health)).toContain('degraded');
    process.kill(server, 'SIGCONT');
    await until('ok', () => witness.healths.at(-1)?.health === 'ok');
    await witness.agrees();
    expect(witness.gone).toEqual([]);
  });

  it('without control mode it still sees panes and screens, and goes back when it can', async () => {
    let isRefusing = true;
    const { executor } = kit;
    const witness = watch({
      executor: {
        ...executor,
        open: (argv, handlers) => executor.open(isRefusing ? ['false'] : argv, handlers),
      },
    });
    await witness.agrees();
    expect(witness.link.isControlled).toBe(false);
    expect(witness.healths.at(-1)?.trouble).toContain('without control mode');
    witness.link.wantScreens([paneId('%0')]);
    await kit.tmux('send-keys', '-t', '%0', 'echo he""llo', 'Enter');
    await until('the screen', () => witness.screen('%0')?.lines.includes('hello'));
    expect(await witness.link.capture(paneId('%0'))).toContain('hello');
    isRefusing = false;
    await until('control mode', () => witness.link.isControlled && witness.healths.at(-1)?.trouble === null);
    await witness.agrees();
  });

  it('no tmux at all is said so', async () => {
    const { executor } = kit;
    const nowhere = {
      ...executor,
      run: (argv: readonly string[], options: Parameters<typeof executor.run>[1]) =>
        executor.run(argv[0] === 'tmux' ? ['/nowhere/tmux', ...argv.slice(1)] : argv, options),
    };
    const witness = watch({ executor: nowhere });
    await until('the trouble', () => witness.healths.at(-1)?.code === 'E_TMUX_MISSING');
    expect(witness.healths.at(-1)?.health).toBe('down');
  });
});

/** Looks at the memory of the tmux server, in KiB. */
async function sizeOfServer(): Promise<() => Promise<number>> {
  const server = Number(await kit.tmux('display-message', '-p', '#{pid}'));
  return async () => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${server}/status`, 'utf8'))?.[1]);
}

describe('an observer that hangs or is killed', () => {
  let observer: ChildProcess;

  afterEach(() => {
    if (observer.exitCode === null && observer.signalCode === null) observer.kill('SIGKILL');
  });

  it('with data undelivered does not wedge the server: kill-server returns', async () => {
    await kit.tmux('new-window', '-d', '-t', 'main:', 'exec yes "a long line that fills pipes and buffers"');
    observer = fork(`${import.meta.dirname}/observer.ts`, [kit.socketPath, 'ignore-size'], { env: kit.env });
    await once(observer, 'message');
    const sizeKib = await sizeOfServer();
    const before = await sizeKib();
    observer.kill('SIGSTOP');
    await until('data that tmux cannot deliver', async () => (await sizeKib()) > before + 10_000);
    observer.kill('SIGKILL');
    await once(observer, 'exit');
    await until('its clients are gone', async () => (await clientPids()).length === 0, 5_000);
    await kit.tmux('kill-server');
  });

  it('does not freeze the pane it watches, nor grow tmux', async () => {
    const flags = `ignore-size,pause-after=${limits.streamPauseSeconds}`;
    observer = fork(`${import.meta.dirname}/observer.ts`, [kit.socketPath, flags], { env: kit.env });
    await once(observer, 'message');
    const sizeKib = await sizeOfServer();
    const before = await sizeKib();
    observer.kill('SIGSTOP');
    const progress = `${kit.directory}/progress`;
    const flood = `while :; do yes "a long line of text" | head -n 100000; echo >> ${progress}; done`;
    await kit.tmux('new-window', '-d', '-t', 'main:', flood);
    // 90 MB went through the pane, and tmux holds none of it for the observer.
    const goesOn = async (): Promise<boolean> => {
      const rounds = (await readFile(progress, 'utf8').catch(() => '')).length;
      return rounds >= 40 && (await sizeKib()) - before < 10_000;
    };
    await until('the pane prints on and tmux stays small', goesOn, 60_000);
  });
});

describe('the ledger of clients', () => {
  it('IDN3 leftovers are ended by pid and start time, nothing else is', async () => {
    const path = `${kit.directory}/clients.json`;
    const files = createRealFiles();
    const nothing = { onData: () => undefined, onEnd: () => undefined };
    const left = kit.executor.open(['sleep', '1000'], nothing);
    let otherEnded = false;
    const other = kit.executor.open(['sleep', '1000'], {
      ...nothing,
      onEnd: () => {
        otherEnded = true;
      },
    });
    const ledger = createClientRecords({ files, executor: kit.executor, path });
    await ledger.add(left.pid ?? 0);
    await ledger.add(other.pid ?? 0);
    const entries = JSON.parse(Buffer.from((await files.read(path, { bytesMax: 4_096 }))?.bytes ?? []).toString());
    entries[1].start = '1';
    await files.writeAtomic(path, Buffer.from(JSON.stringify(entries)));
    const next = createClientRecords({ files, executor: kit.executor, path });
    expect(await next.endLeftovers()).toBe(1);
    expect(otherEnded).toBe(false);
    expect(await createClientRecords({ files, executor: kit.executor, path }).endLeftovers()).toBe(0);
  });

  it('knows the clients of a link while they live', async () => {
    const path = `${kit.directory}/clients.json`;
    const files = createRealFiles();
    const witness = watch({ ledger: createClientRecords({ files, executor: kit.executor, path }) });
    await witness.agrees();
    const written = async (): Promise<number[]> => {
      const content = await files.read(path, { bytesMax: 4_096 });
      return content === null
        ? []
        : JSON.parse(Buffer.from(content.bytes).toString()).map((entry: { pid: number }) => entry.pid);
    };
    await until(
      'both are written',
      async () =>
        String((await written()).sort()) === String((await clientPids()).sort()) && (await written()).length === 2,
    );
    await witness.link.stop();
    await until('none is written', async () => (await written()).length === 0);
  });
});
