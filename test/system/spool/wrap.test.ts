// agtmux-wrap in a real terminal, in every shell: the agent has the keys, stops and comes back as if nothing stood above
// it, and its exact end is in the spool.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSpoolFile } from '../../../src/sources/spool/call.ts';
import { readWrap, type WrapWord } from '../../../src/sources/spool/wrap.ts';
import { createTmuxServer, type TmuxServerKit, until } from '../../kit/tmux-server.ts';
import { type Place, place, runIn, shells, wrap } from './kit.ts';

/** Says who it is, then does what it is told, a line at a time. */
const agent = `trap 'echo got-int' INT
echo "ready $$"
while read -r word rest; do
  case $word in
    quit) exit "$rest" ;;
    die) kill -9 $$ ;;
    pause) kill -s STOP $$; echo resumed ;;
    ?*) echo "said $word $(stty size)" ;;
  esac
done
`;

let here: Place;
let server: TmuxServerKit;
beforeEach(async () => {
  here = place();
  writeFileSync(join(here.dir, 'agent'), agent);
  server = await createTmuxServer();
});
afterEach(async () => {
  await server.end();
  here.remove();
});

/** Its group has the terminal: fields 5 and 8 of its stat. */
function isInFront(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  return fields[2] === fields[5];
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[1]);
}

/** Processes that look after this one. */
function watchers(pid: number): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(`\0---watch\0${pid}\0`);
    } catch {
      return false;
    }
  });
}

function words(): WrapWord[] {
  return readdirSync(here.spool)
    .map((name) => {
      const path = join(here.spool, name);
      const reading = readSpoolFile(name, readFileSync(path), statSync(path).mtimeMs);
      // Its file may still be on the way.
      if (reading.kind !== 'call') return null;
      expect(['sh', 'bash']).toContain(reading.call.agent);
      return readWrap(reading.call);
    })
    .flatMap((word) => (word === null ? [] : [word]))
    .sort((left, right) => (left.kind < right.kind ? 1 : -1));
}

const facts = (): unknown => {
  const word = words().find((one) => one.kind === 'ended');
  return word?.kind === 'ended' ? word.facts : null;
};

/** A shell in a pane, the agent started in it; keys go in, the screen is asked for. */
async function terminal(shell: readonly string[]) {
  await server.newSession('main', `PS1='$ ' exec bash --norc`);
  const screen = async (): Promise<string> => server.tmux('capture-pane', '-p', '-S', '-100', '-t', 'main');
  const seen = (text: string | RegExp): Promise<string> =>
    until(`${text} on the screen`, async () => {
      const now = await screen();
      return (typeof text === 'string' ? now.includes(text) : text.test(now)) && now;
    });
  const keys = async (...all: string[]): Promise<void> => void (await server.tmux('send-keys', '-t', 'main', ...all));
  const line = (text: string): Promise<void> => keys(text, 'Enter');
  await seen('$');
  await line(`export AGTMUX_SPOOL=${here.spool}`);
  await line(`${[...shell, wrap].join(' ')} -- bash ${join(here.dir, 'agent')}`);
  const pid = Number(/^ready (\d+)/m.exec(await seen(/^ready \d+/m))?.[1]);
  // It may speak a moment before the terminal is its own; keys of before that are the shell's.
  await until('the terminal is the agent’s', () => isInFront(pid));
  return { seen, keys, line, pid };
}

describe.each(shells.map((shell) => [shell.join(' '), shell] as const))('agtmux-wrap in %s', (_name, shell) => {
  const run = (...args: string[]) => runIn(shell, [wrap, ...args], { ...here.env, AGTMUX_SPOOL: here.spool }, 'in');

  it('without a terminal: input, outputs and status pass through, and the end is exact', () => {
    expect(run('--', 'sh', '-c', 'cat; echo err >&2; exit 7')).toEqual({ status: 7, output: 'inerr\n' });
    const [started, ended] = words();
    expect(started).toMatchObject({ kind: 'started', process: ended?.process });
    expect(facts()).toEqual([{ kind: 'runtime.ended', cause: 'exit', status: 7 }]);
  });

  it('status 0 says goodbye, a signal is named', () => {
    expect(run('sh', '-c', ':').status).toBe(0);
    expect(facts()).toEqual([{ kind: 'runtime.goodbye' }, { kind: 'runtime.ended', cause: 'exit', status: 0 }]);
    for (const name of readdirSync(here.spool)) rmSync(join(here.spool, name));
    expect(run('sh', '-c', 'kill -9 $$')).toEqual({ status: 137, output: '' });
    expect(facts()).toEqual([{ kind: 'runtime.ended', cause: 'signal', status: 137, signal: 'SIGKILL' }]);
  });

  it('works without a spool, and says when there is nothing to run', () => {
    const bare = { ...here.env, AGTMUX_SPOOL: '/nowhere' };
    expect(runIn(shell, [wrap, 'sh', '-c', 'echo "$1"; exit 3', 'x', 'a  b'], bare)).toEqual({
      status: 3,
      output: 'a  b\n',
    });
    expect(runIn(shell, [wrap, '/nowhere/agent'], bare).status).toBe(127);
    expect(runIn(shell, [wrap], bare).status).toBe(2);
  });

  it('what is closed does not keep the agent from being started, and is closed for it too', () => {
    const says = join(here.dir, 'says');
    writeFileSync(
      join(here.dir, 'look'),
      `exec 9>${says}; for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && printf $fd >&9; done; exit 7`,
    );
    for (const [closing, open] of [
      ['>&-', '02'],
      ['2>&-', '01'],
      ['<&-', '12'],
      ['>&- 2>&-', '0'],
      ['<&- >&- 2>&-', ''],
      ['', '012'],
    ] as const) {
      for (const name of readdirSync(here.spool)) rmSync(join(here.spool, name));
      const line = `${[...shell, wrap].join(' ')} -- sh ${join(here.dir, 'look')} ${closing}`;
      const ran = runIn(['/bin/sh'], ['-c', line], { ...here.env, AGTMUX_SPOOL: here.spool }, 'in');
      expect([closing, ran.status, readFileSync(says, 'utf8')]).toEqual([closing, 7, open]);
      expect(facts()).toEqual([{ kind: 'runtime.ended', cause: 'exit', status: 7 }]);
    }
  });

  it('without a terminal: TERM reaches the agent, which leaves as it likes, and its end is exact', async () => {
    const polite = join(here.dir, 'polite');
    writeFileSync(
      polite,
      `trap 'echo told; exit 5' TERM\ngrep SigIgn /proc/$$/status\necho "ready $$"\n[ "\${1-}" ] || while :; do sleep 0.05; done\n`,
    );
    const [direct] = runIn(['/bin/bash'], [polite, 'once'], here.env).output.split('\n');
    const [path = '', ...flags] = shell;
    const child = spawn(path, [...flags, wrap, '--', 'bash', polite], {
      env: { ...here.env, AGTMUX_SPOOL: here.spool },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (bytes) => {
      output += String(bytes);
    });
    const ended = once(child, 'close');
    const pid = Number(await until('it is ready', () => /^ready (\d+)/m.exec(output)?.[1]));
    child.kill('SIGTERM');
    await until('the agent has ended', () => !existsSync(`/proc/${pid}`)).catch((problem: unknown) => {
      process.kill(pid, 'SIGKILL');
      throw problem;
    });
    expect(await ended).toEqual([5, null]);
    // What it ignores is what it would ignore without us: Ctrl-C is its own to judge.
    expect(output.split('\n')).toEqual([direct, `ready ${pid}`, 'told', '']);
    expect(facts()).toEqual([{ kind: 'runtime.ended', cause: 'exit', status: 5 }]);
  });

  it('at a terminal: TERM to the wrapper leaves no agent behind, also one that is stopped', async () => {
    for (const isStopped of [false, true]) {
      for (const name of readdirSync(here.spool)) rmSync(join(here.spool, name));
      const { pid, keys, seen, line } = await terminal(shell);
      if (isStopped) {
        await keys('C-z');
        await seen('Stopped');
      }
      process.kill(parentOf(pid), 'SIGTERM');
      if (isStopped) await line('fg');
      await until('the agent has ended', () => !existsSync(`/proc/${pid}`));
      await until('nobody watches any more', () => watchers(pid).length === 0);
      await server.tmux('kill-session', '-t', 'main');
      await server.tmux('new-session', '-d', '-s', `keep${isStopped}`, 'sleep 1000').catch(() => undefined);
    }
  });

  it('IDN6 at a terminal: Ctrl-C, Ctrl-Z, fg and a new size reach the agent; its status comes back', async () => {
    const { seen, keys, line, pid } = await terminal(shell);
    await keys('C-c');
    await seen('got-int');
    await line('one');
    await seen(/^said one \d+ 100/m);
    await keys('C-z');
    await seen('Stopped');
    expect(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0]).toBe('T');
    await line('fg');
    await until('it runs again', () => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0] !== 'T');
    await line('two');
    await seen('said two');
    // Agents stop only themselves, and nobody else is told.
    await line('pause');
    await seen(/pause\n+\[1\]\+ +Stopped/);
    await line('fg');
    await seen('resumed');
    await server.tmux('resize-window', '-t', 'main', '-x', '90', '-y', '20');
    await line('three');
    await seen(/said three \d+ 90/);
    await line('quit 7');
    await until('the end is told', () => facts() !== null);
    await line('echo "status $?"');
    await seen('status 7');
    expect(facts()).toEqual([{ kind: 'runtime.ended', cause: 'exit', status: 7 }]);
    expect(words().map((word) => word.process.pid)).toEqual([pid, pid]);
  });

  it('a closed terminal ends the agent, also where nobody but the wrapper has it', async () => {
    const pidFile = join(here.dir, 'pid');
    // It does not mind that there is nothing more to read.
    writeFileSync(join(here.dir, 'deaf'), `echo $$ >${pidFile}\nexec sleep 100000\n`);
    await server.newSession('main', 'sleep 100000');
    await server.newSession('own', `exec ${[...shell, wrap].join(' ')} -- sh ${join(here.dir, 'deaf')}`);
    const pid = await until('it runs', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim());
    await server.tmux('kill-session', '-t', 'own');
    await until('it has ended', () => !existsSync(`/proc/${pid}`));
  });

  it('at a terminal of its own: the agent is told when that is closed, and its exact end is in the spool', async () => {
    const bin = `exec env AGTMUX_SPOOL=${here.spool} ${[...shell, wrap].join(' ')} -- bash`;
    const ending = 'trap "exit 5" HUP; echo "ready $$"; while :; do sleep 0.1; done';
    writeFileSync(join(here.dir, 'hup'), ending);
    await server.newSession('own', `${bin} ${join(here.dir, 'hup')}`);
    const pid = await until(
      'it is ready',
      async () => Number(/^ready (\d+)/m.exec(await server.tmux('capture-pane', '-p', '-t', 'own'))?.[1] ?? 0) || false,
    );
    await server.tmux('new-session', '-d', '-s', 'other', 'sleep 1000');
    await server.tmux('kill-session', '-t', 'own');
    await until('the end is told', () => facts() !== null);
    expect(facts()).toEqual([{ kind: 'runtime.ended', cause: 'exit', status: 5 }]);
    expect(words().map((word) => word.process.pid)).toEqual([pid, pid]);
  });

  it('at a terminal of its own: an agent that stops itself goes on, since nobody is above to let it', async () => {
    await server.tmux('new-session', '-d', '-s', 'other', 'sleep 1000');
    const line = `exec env AGTMUX_SPOOL=${here.spool} ${[...shell, wrap].join(' ')} bash ${join(here.dir, 'agent')}`;
    await server.newSession('own', line);
    const shows = (text: RegExp): Promise<unknown> =>
      until(`${text}`, async () => text.test(await server.tmux('capture-pane', '-p', '-t', 'own')));
    await shows(/^ready \d+/m);
    await server.tmux('send-keys', '-t', 'own', 'pause', 'Enter');
    await shows(/^resumed/m);
    await server.tmux('send-keys', '-t', 'own', 'C-c');
    await shows(/got-int/);
    await server.tmux('send-keys', '-t', 'own', 'quit 7', 'Enter');
    await until('the end is told', () => facts() !== null);
    expect(facts()).toEqual([{ kind: 'runtime.ended', cause: 'exit', status: 7 }]);
  });

  it('at a terminal: an agent that is killed, and one that leaves by itself', async () => {
    const { seen, line, pid } = await terminal(shell);
    process.kill(pid, 'SIGKILL');
    await until('the end is told', () => facts() !== null);
    expect(facts()).toEqual([{ kind: 'runtime.ended', cause: 'signal', status: 137, signal: 'SIGKILL' }]);
    await line('echo "status $?"');
    await seen('status 137');
    for (const name of readdirSync(here.spool)) rmSync(join(here.spool, name));
    await line(`clear; ${[...shell, wrap].join(' ')} bash ${join(here.dir, 'agent')}`);
    const next = Number(/^ready (\d+)/m.exec(await seen(new RegExp(`^ready (?!${pid}$)\\d+$`, 'm')))?.[1]);
    await until('the terminal is the agent’s', () => isInFront(next));
    await line('quit 0');
    await until('the end is told', () => facts() !== null);
    expect(facts()).toEqual([{ kind: 'runtime.goodbye' }, { kind: 'runtime.ended', cause: 'exit', status: 0 }]);
  });
});
