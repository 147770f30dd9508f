// Waiting for an agent, going to its pane in a real tmux, and what happens when the daemon falls silent in between.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PaneRow } from '../../src/api/panes.ts';
import { runtimeId, targetId } from '../../src/model/ids.ts';
import { until } from '../kit/tmux-server.ts';
import { startServer } from '../system/api/kit.ts';
import type { Running } from './kit.ts';
import { createStage, type Stage } from './kit-act.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await createStage();
});
afterAll(() => stage.end());

const ref = 'runtime:host-work-1';

beforeEach(() => {
  for (const row of stage.daemon.rows()) stage.daemon.drop(row);
  stage.daemon.put({ id: 1, state: 'running' });
  stage.acting.plan = {};
});

const run = (line: string) => stage.run(line.split(' '));

describe('wait', () => {
  const end = { cause: 'replaced', status: null, signal: null, clean: false } as const;
  const ended: PaneRow['ended'] = { ...end, at: 1, listed_until: null };

  async function waiting(line: string): Promise<Running> {
    await until('those before it have left', () => stage.daemon.feed.stats().subscribers === 0);
    const running = stage.world.start(...line.split(' '));
    await until('it listens', () => stage.daemon.feed.stats().subscribers === 1);
    return running;
  }

  it('ends at once when it is there already', async () => {
    expect(await run('wait claude --for running,idle')).toMatchObject({ status: 0, stdout: `running: ${ref}\n` });
    const { reached, item } = JSON.parse((await run(`wait ${ref} --for running --json`)).stdout);
    expect([reached, item.ref]).toEqual(['running', ref]);
  });

  it('ends with 0 when it comes, and not before', async () => {
    const running = await waiting('wait claude --for completed --for waiting_approval');
    stage.daemon.put({ id: 1, state: 'waiting_input' });
    stage.daemon.put({ id: 2, state: 'completed', agent: 'codex' });
    stage.daemon.put({ id: 1, state: 'completed' });
    expect(await running.ended).toMatchObject({ status: 0, stdout: `completed: ${ref}\n`, stderr: '' });
  });

  it('IDN5 another agent in the same pane is not the one that was waited for', async () => {
    const running = await waiting('wait claude --for completed');
    stage.daemon.put({
      id: 1,
      state: 'completed',
      fields: { runtime_id: runtimeId('another'), ref: 'runtime:another' },
    });
    stage.daemon.put({ id: 1, state: 'running', fields: { ended } });
    const ran = await running.ended;
    expect(ran).toMatchObject({ status: 4, stdout: '' });
    expect(ran.stderr).toMatch(/host-work-1 ended before it was completed.*\[E_ENDED\]\n$/);
  });

  it('the end can be what is waited for; forgotten is ended too', async () => {
    const running = await waiting('wait claude --for ended');
    stage.daemon.drop(stage.daemon.put({ id: 1 }));
    expect(await running.ended).toMatchObject({ status: 0, stdout: `ended: ${ref}\n` });
  });

  it('RSV6 a machine that does not answer is told apart', async () => {
    const running = await waiting('wait claude --for completed');
    stage.daemon.put({ id: 1, state: 'unknown', fields: { reason_code: 'target_unreachable', confidence: 'low' } });
    expect(await running.ended).toMatchObject({
      status: 5,
      stderr: expect.stringMatching(/host does not respond.*\[E_TARGET_DOWN\]\n$/),
    });
  });

  it('ends with 10 when it takes too long', async () => {
    const ran = await run('wait claude --for completed --timeout 50ms');
    expect(ran).toMatchObject({ status: 10, stdout: '' });
    expect(ran.stderr).toMatch(/was not completed within 50ms; .*\[E_TIMEOUT\]\n$/);
  });

  it('FED2 a daemon that comes back is waited for', async () => {
    const own = mkdtempSync(join(tmpdir(), 'agt-wait-'));
    mkdirSync(join(own, 'run'), { mode: 0o700 });
    const path = join(own, 'run/agtmux.sock');
    const first = await startServer({ daemon: stage.daemon, path });
    await until('those before it have left', () => stage.daemon.feed.stats().subscribers === 0);
    const ran = stage.run(['wait', 'claude', '--for', 'idle'], { env: { AGTMUX_STATE_DIR: own } });
    await until('it listens', () => stage.daemon.feed.stats().subscribers === 1);
    await first.shut();
    stage.daemon.put({ id: 1, state: 'idle' });
    const again = await startServer({ daemon: stage.daemon, path });
    expect(await ran).toMatchObject({ status: 0, stdout: `idle: ${ref}\n` });
    await again.shut();
    rmSync(own, { recursive: true });
  });

  it.each([
    ['wait claude', 2, 'needs a state to wait for'],
    ['wait claude --for flying', 2, 'no state "flying"'],
    ['wait claude --for idle --timeout 0', 2, 'must be a duration'],
    ['wait nobody --for idle', 3, 'nobody'],
  ])('`%s` is refused', async (line, status, words) => {
    expect(await run(line)).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(words) });
  });
});

describe('attach', () => {
  const inner = (...args: string[]): string => stage.world.tmux('-L', 'inner', ...args);
  const outer = (...args: string[]): string => stage.world.tmux('-L', 'outer', ...args);
  const clients = (): string => inner('list-clients', '-F', '#{session_name}:#{window_index}.#{pane_index}').trim();
  const placeOf = (target: string): Record<'session_id' | 'window_id' | 'pane_id' | 'socket_path', string> => {
    const format = '#{session_id} #{window_id} #{pane_id} #{socket_path}';
    const [session_id = '', window_id = '', pane_id = '', socket_path = ''] = inner(
      'display-message',
      '-p',
      '-t',
      target,
      format,
    )
      .trim()
      .split(' ');
    return { session_id, window_id, pane_id, socket_path };
  };

  beforeAll(() => {
    inner('new-session', '-d', '-s', 'one two', '-x', '90', '-y', '20', '/bin/sh');
    inner('new-session', '-d', '-s', 'three', '-x', '90', '-y', '20', '/bin/sh');
    inner('new-window', '-d', '-t', 'three:', '/bin/sh');
    inner('split-window', '-d', '-t', 'three:1', '/bin/sh');
    outer('new-session', '-d', '-s', 'person', '-x', '100', '-y', '30', '/bin/sh');
  });
  afterAll(() => {
    inner('kill-server');
  });

  it('attaches outside of that server, and switches inside of it, to the very pane', async () => {
    stage.acting.plan = placeOf('three:1.1');
    outer('send-keys', '-t', 'person', `export PS1= ; ${stage.line('attach', 'claude')}`, 'Enter');
    await until('a client is there', () => clients() === 'three:1.1');
    expect(inner('show-environment', '-t', 'three')).not.toContain('AGTMUX');
    stage.acting.plan = placeOf('one two:0.0');
    // Typed by the person, whose keys go through the outer tmux into the inner one.
    outer('send-keys', '-t', 'person', stage.line('attach', 'claude'), 'Enter');
    await until('it went to the other session', () => clients() === 'one two:0.0');
    stage.daemon.put({ id: 1, state: 'waiting_approval' });
    stage.acting.plan = placeOf('three:0.0');
    outer('send-keys', '-t', 'person', stage.line('next'), 'Enter');
    await until('next goes there too', () => clients() === 'three:0.0');
  });

  it('SEC5 goes over ssh to another machine, quoted for the shell over there', async () => {
    const bin = join(stage.world.directory, 'fake');
    const told = join(stage.world.directory, 'ssh.txt');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nprintf '%s\\n' "$@" >'${told}.new'; mv '${told}.new' '${told}'\n`);
    chmodSync(join(bin, 'ssh'), 0o755);
    const far = {
      target: targetId('vm1'),
      kind: 'ssh',
      connection_ref: 'dev@vm1',
      socket_path: "/tmp/it's/s",
    } as const;
    stage.acting.plan = { ...far, session_id: '$3', window_id: '@4', pane_id: '%5' };
    outer('new-window', '-t', 'person:', `env PATH='${bin}':"$PATH" ${stage.line('attach', 'claude')}; sleep 600`);
    await until('ssh was called', () => existsSync(told));
    const [remote = '', ...options] = readFileSync(told, 'utf8').trimEnd().split('\n').reverse();
    expect(options.reverse()).toEqual(['-t', '--', 'dev@vm1']);
    // What the shell over there makes of it.
    writeFileSync(join(bin, 'tmux'), `#!/bin/sh\nprintf '%s\\n' "$@"\n`, { mode: 0o755 });
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    const words = execFileSync('/bin/sh', ['-c', remote], { env, encoding: 'utf8' }).trimEnd().split('\n');
    expect(words).toEqual(['-u', '-S', "/tmp/it's/s", 'attach-session', '-E', '-t', '$3:@4.%5']);
  });

  it('needs a terminal; --json only tells where', async () => {
    stage.acting.asked.length = 0;
    const ran = await run('attach claude');
    expect(ran).toMatchObject({ status: 2, stderr: expect.stringMatching(/needs a terminal.*\[E_USAGE\]\n$/) });
    // What is not done does not stand in the audit as done.
    expect(stage.acting.asked).toEqual([]);
    expect(JSON.parse((await run('attach claude --json')).stdout)).toMatchObject({ ref, pane_id: '%1', kind: 'local' });
    expect(await run('attach nobody --json')).toMatchObject({ status: 3 });
  });
});

describe('a daemon that cannot do it', () => {
  /** Answers every request the same way, and counts them. */
  async function strange(
    answer: string,
  ): Promise<{ readonly env: NodeJS.ProcessEnv; count(): number; end(): Promise<void> }> {
    const own = mkdtempSync(join(tmpdir(), 'agt-strange-'));
    mkdirSync(join(own, 'run'), { mode: 0o700 });
    let requests = 0;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        requests += 1;
        if (answer === '') socket.destroy();
        else socket.end(answer);
      });
    });
    await new Promise<void>((resolve) => server.listen(join(own, 'run/agtmux.sock'), resolve));
    chmodSync(join(own, 'run/agtmux.sock'), 0o600);
    return {
      env: { AGTMUX_STATE_DIR: own },
      count: () => requests,
      end: async () => {
        expect(existsSync(join(own, 'daemon.log'))).toBe(false);
        await new Promise((resolve) => server.close(resolve));
        rmSync(own, { recursive: true });
      },
    };
  }

  it('one that falls silent is asked once: nothing is sent twice, and the person is told that nobody knows', async () => {
    const { env, count, end } = await strange('');
    const ran = await stage.run(['send', '%1', '--text', 'rm'], { env });
    expect(ran).toMatchObject({ status: 5, stdout: '' });
    expect(ran.stderr).toMatch(/the result is not known; check the agent and `agtmux audit`/);
    expect(count()).toBe(1);
    await end();
  });

  it('one from before it could act says how to renew it', async () => {
    const body = '{"error":{"code":"E_ROUTE","message":"there is no POST /v1/act","next":"look"}}';
    const { env, end } = await strange(
      `HTTP/1.1 404 Not Found\r\nagtmux-api: 1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const ran = await stage.run(['send', '%1', '--text', 'rm'], { env });
    expect(ran).toMatchObject({ status: 8, stdout: '', stderr: expect.stringContaining('agtmux daemon restart') });
    await end();
  });
});
