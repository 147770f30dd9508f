// What can go wrong between an agent and the daemon: nothing hangs, nothing is lost in silence, and standard output carries
// the protocol and nothing else.

import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ShellRequest } from '../../../src/model/shells.ts';
import { until } from '../../kit/live.ts';
import type { FakeDaemon } from '../api/kit.ts';
import { finishedRow, shellNotice, shellRow } from '../api/kit-shells.ts';
import { Place } from './kit.ts';

let place: Place;
const open: Server[] = [];
const sockets = new Set<Socket>();

/** Stands where the daemon should, and does this to whoever comes. */
async function standIn(treat: (socket: Socket) => void): Promise<void> {
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).once('close', () => sockets.delete(socket)));
    treat(socket);
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(place.socketPath, resolve));
  chmodSync(place.socketPath, 0o600);
}

beforeEach(() => {
  place = new Place();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of open.splice(0)) await new Promise((resolve) => server.close(resolve));
  await place.close();
});

interface Message {
  readonly jsonrpc: string;
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly progressToken?: string };
  readonly result?: { readonly structuredContent?: Readonly<Record<string, unknown>> };
}

/** Every line that comes out, as JSON, for which it must be JSON. */
function talk(child: ReturnType<Place['raw']>) {
  const messages: Message[] = [];
  let rest = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    messages.push(...lines.map((line) => JSON.parse(line) as Message));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', (status) => resolve(status)));
  const say = (message: object): boolean => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const call = (id: number, name: string, args: object = {}): boolean =>
    say({ id, method: 'tools/call', params: { name, arguments: args } });
  const answer = async (id: number): Promise<Message> => {
    await until(() => messages.some((one) => one.id === id));
    const found = messages.find((one) => one.id === id);
    if (found === undefined) throw new Error('it was there');
    return found;
  };
  const greet = async (): Promise<void> => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    say({ id: 0, method: 'initialize', params });
    await answer(0);
    say({ method: 'notifications/initialized' });
  };
  return { messages, say, call, answer, greet, ended, rest: () => rest, said: () => said };
}

const wishOf = (daemon: FakeDaemon): ShellRequest =>
  daemon.shells.asked.find(({ what }) => what === 'run')?.value as ShellRequest;

describe('a client that behaves badly', () => {
  it('gets nothing but the protocol, no progress unasked, and garbage hurts nobody', async () => {
    const { daemon } = await place.serve();
    const child = place.raw('--budget-s', '1');
    const { messages, say, call, answer, greet, ended, rest, said } = talk(child);
    await greet();
    child.stdin.write('this is no JSON\n{"jsonrpc":"2.0"}\n[]\n');
    call(1, 'shell_run', { command: 'slow' });
    await until(() => daemon.shells.isWaiting('slow'));
    const params = { name: 'shell_run', arguments: { command: 'slower' }, _meta: { progressToken: 'wanted' } };
    say({ id: 2, method: 'tools/call', params });
    const signs = () => messages.filter(({ method }) => method === 'notifications/progress');
    await until(() => signs().length >= 3);
    daemon.shells.answer('slow');
    await answer(1);
    daemon.shells.answer('slower');
    await answer(2);
    say({ id: 3, method: 'no/such' });
    await answer(3);
    expect(new Set(signs().map((sign) => sign.params?.progressToken))).toEqual(new Set(['wanted']));
    expect(messages.flatMap(({ id }) => id ?? [])).toEqual([0, 1, 2, 3]);
    child.stdin.end();
    expect(await ended).toBe(0);
    expect(rest()).toBe('');
    expect(said()).toContain('agtmux: ');
  });

  it('and leaves in the middle of a call: the command is given up, and the server ends', async () => {
    const { daemon } = await place.serve();
    const child = place.raw();
    const { call, greet, ended } = talk(child);
    await greet();
    call(1, 'shell_run', { command: 'forever' });
    await until(() => daemon.shells.isWaiting('forever'));
    child.stdin.end();
    expect(await ended).toBe(0);
    await until(() => daemon.shells.cancelled === 1);
  });
});

describe('a daemon that is lost in the middle of a call', () => {
  it('SHL6 took no shell with it: the next one is asked what became of it', async () => {
    const { daemon } = await place.serve();
    const agent = await place.agent();
    for (const [command, row, result] of [
      ['goes on', shellRow({ start_mode: 'background', promoted_by: 'system', words: 'auto background' }), 'Running'],
      ['is done', finishedRow(), 'Completed'],
      ['went wrong', finishedRow({ status: 'failed', exit_code: 3 }), 'Failed'],
    ] as const) {
      const answer = agent.call('shell_run', { command });
      await until(() => daemon.shells.isWaiting(command));
      const wish = daemon.shells.asked.at(-1)?.value as ShellRequest;
      place.holdStarting();
      await place.server?.shut();
      daemon.shells.put({ ...row, call_id: wish.call_id });
      await place.serve(daemon);
      const { data, isError } = await answer;
      expect(data).toMatchObject({ result, shell_id: 'shell-1', status: row.status, log: { lines: ['one', 'two'] } });
      expect([isError, data.reason]).toEqual([false, expect.stringContaining('restarted')]);
    }
  });

  it('is waited for while the shell is still in the foreground', async () => {
    const { daemon } = await place.serve();
    const agent = await place.agent();
    const answer = agent.call('shell_run', { command: 'x' });
    await until(() => daemon.shells.isWaiting('x'));
    const { call_id } = wishOf(daemon);
    place.holdStarting();
    await place.server?.shut();
    daemon.shells.put(shellRow({ call_id }));
    let looks = 0;
    const { list } = daemon.shells;
    daemon.shells.list = () => {
      looks += 1;
      return list();
    };
    await place.serve(daemon);
    await until(() => looks >= 3);
    daemon.shells.put(finishedRow({ call_id }));
    expect((await answer).data).toMatchObject({ result: 'Completed', exit_code: 0 });
  });

  it('and whose successor knows nothing: that is said, and not guessed', async () => {
    const { daemon } = await place.serve();
    const agent = await place.agent();
    const answer = agent.call('shell_run', { command: 'x' });
    await until(() => daemon.shells.isWaiting('x'));
    place.holdStarting();
    await place.server?.shut();
    await place.serve(daemon);
    expect(await answer).toMatchObject({ isError: true, data: { result: 'Unknown', code: 'E_DAEMON_DOWN' } });
  });

  it('does nothing twice: a kill or a message whose end is unknown is not tried again', async () => {
    const { daemon } = await place.serve();
    const agent = await place.agent();
    await agent.call('shell_summary');
    await place.server?.shut();
    await standIn((socket) => void socket.once('data', () => socket.destroy()));
    for (const [tool, args] of [
      ['shell_kill', { shell_id: 'shell-1' }],
      ['agent_send', { agent: '%1', text: 'hello' }],
    ] as const) {
      const { data, isError } = await agent.call(tool, args);
      expect([data.code, isError]).toEqual(['E_DAEMON_DOWN', true]);
      expect(data.reason).toContain('not known');
    }
    expect(daemon.shells.asked.filter(({ what }) => what === 'kill')).toEqual([]);
  });
});

describe('a daemon that is not there', () => {
  it('is started, as the command line does it', async () => {
    const agent = await place.agent();
    const { data } = await agent.call('agents_list');
    expect(data).toMatchObject({ result: 'List', agents: [] });
    expect(existsSync(place.socketPath)).toBe(true);
    const { daemon } = JSON.parse((await place.agtmux('status', '--json')).stdout) as { daemon: { pid: number } };
    expect(daemon.pid).toBeGreaterThan(0);
    process.kill(daemon.pid, 'SIGTERM');
    await expect.poll(() => existsSync(place.socketPath), { timeout: 20_000 }).toBe(false);
  });

  it('and cannot be started: every tool says why', async () => {
    chmodSync(place.stateDir, 0o777);
    const agent = await place.agent();
    for (const [tool, args] of [
      ['shell_run', { command: 'true' }],
      ['shell_summary', {}],
      ['agents_list', {}],
    ] as const) {
      const { data, isError } = await agent.call(tool, args);
      expect([data.result, data.code, isError]).toEqual(['Refused', 'E_UNSAFE_DIR', true]);
    }
  });

  it('nor answers: the agent has its answer when its time is over', async () => {
    await standIn((socket) => void socket.resume());
    const child = place.raw('--budget-s', '0.2');
    const { call, greet, answer, ended } = talk(child);
    await greet();
    call(1, 'shell_run', { command: 'true' });
    const { result } = await answer(1);
    expect(result?.structuredContent).toMatchObject({ result: 'Unknown', code: 'E_TIMEOUT' });
    await until(() => sockets.size === 1);
    // What was never answered does not keep the server from leaving.
    child.stdin.end();
    expect(await ended).toBe(0);
  });

  it('an answer that comes too late tells its notices with the next one', async () => {
    const { daemon } = await place.serve();
    const agent = await place.agent({ args: ['--budget-s', '0.2'] });
    const { data } = await agent.call('shell_run', { command: 'late' });
    expect(data).toMatchObject({ result: 'Unknown', notices: [] });
    expect(daemon.shells.cancelled).toBe(0);
    daemon.shells.notices.set(`pid:${agent.pid}`, [shellNotice()]);
    // Its time may be over before the daemon has heard of it.
    await until(() => daemon.shells.isWaiting('late'));
    daemon.shells.answer('late');
    await until(() => !daemon.shells.notices.has(`pid:${agent.pid}`));
    await until(async () => (await agent.call('shell_summary')).data.notices?.toString() !== '');
    expect((await agent.call('shell_summary')).data.notices).toEqual([]);
  });
});

describe('SHL2 how long an agent waits', () => {
  const budgetOf = async (args: readonly string[], config: string | null): Promise<number | null> => {
    const { daemon } = await place.serve();
    if (config !== null) {
      mkdirSync(join(place.dir, '.config/agtmux'), { recursive: true });
      writeFileSync(join(place.dir, '.config/agtmux/config.toml'), config);
    }
    const agent = await place.agent({ args });
    await agent.call('shell_run', { command: 'x', run_in_background: true });
    const seconds = (wishOf(daemon).budget_ms ?? 0) / 1000;
    return Math.ceil(seconds);
  };

  it('is 55 seconds', async () => expect(await budgetOf([], null)).toBe(55));
  it('is what the command line says', async () => expect(await budgetOf(['--budget-s', '12.5'], null)).toBe(13));
  it('is what the settings say', async () => expect(await budgetOf([], '[mcp]\nbudget_seconds = 30\n')).toBe(30));
  it('is what the settings say of this client', async () => {
    const config = '[mcp]\nbudget_seconds = 30\nbudgets = { "test-client" = 40, other = 50 }\n';
    expect(await budgetOf([], config)).toBe(40);
  });
  it('is the usual where the settings are wrong', async () => {
    expect(await budgetOf([], '[mcp]\nbudget_seconds = 61\n')).toBe(55);
  });
  it('is refused where it makes no sense', async () => {
    for (const said of ['0', '61', 'x', '1e1']) {
      const { status, stderr } = await place.agtmux('mcp', '--budget-s', said);
      expect([status, stderr]).toEqual([2, expect.stringContaining('--budget-s')]);
    }
  });
});
