// OpenCode and Kilo over their own server: a process of its own that speaks the recorded protocol on a real port, and
// the channel that has to find out whose it is.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Channel, FreshLook } from '../../../src/agents/contract.ts';
import { agent as kilo } from '../../../src/agents/kilo/agent.ts';
import { agent as opencode } from '../../../src/agents/opencode/agent.ts';
import { EventReader } from '../../../src/agents/opencode/events.ts';
import { createChannels, localServers, type ServerPorts } from '../../../src/daemon/channels.ts';
import type { ActionRequest } from '../../../src/model/actions.ts';
import type { Ask } from '../../../src/model/asks.ts';
import type { RuntimeIdentity } from '../../../src/model/events.ts';
import { agentName, runtimeId, targetId } from '../../../src/model/ids.ts';
import type { StateRecord } from '../../../src/model/records.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealProcesses } from '../../../src/platform/processes.ts';
import type { NativeRun } from '../../../src/sources/native/sources.ts';
import { repetitions } from '../../fault/children.ts';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { randomOf } from '../../security/sanitize-inputs.ts';
import { runOf } from '../native/kit.ts';

const count = repetitions(100);

/** As 1.18.33 answers: lists of what is open, replies that are told as events, 404 for what is gone. */
const program = `
const { createServer } = require('node:http');
const { writeFileSync } = require('node:fs');
let world = { permission: [], question: [], status: {}, sessions: {}, isQuiet: false, isLate: false, isClosed: false, instead: null };
const log = [], streams = new Set();
const tell = (type, properties) => { for (const one of streams) one.write('data: ' + JSON.stringify({ id: 'evt_1', type, properties }) + '\\n\\n'); };
const bodyOf = async (request) => { let text = ''; for await (const piece of request) text += piece; return text; };
const server = createServer(async (request, response) => {
  const json = (status, value) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const { method, url } = request;
  if (url === '/control') { const text = await bodyOf(request); if (text !== '') Object.assign(world, JSON.parse(text)); if (world.tell) tell(...world.tell); world.tell = null; return json(200, log); }
  if (world.isClosed) return json(401, {});
  if (url === '/event') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    streams.add(response);
    response.on('close', () => streams.delete(response));
    return response.write('data: {"id":"evt_0","type":"server.connected","properties":{}}\\n\\n');
  }
  const text = await bodyOf(request);
  log.push({ method, url, body: text === '' ? null : JSON.parse(text) });
  const [, room, id, what] = url.split('/');
  if (method === 'GET' && url === '/session/status') return json(200, world.status);
  if (method === 'GET' && room === 'session') return json(200, { id, ...world.sessions[id] });
  if (method === 'GET') return json(200, world[room]);
  if (room === 'session') { if (!world.isQuiet) { tell('session.status', { sessionID: id, status: { type: 'idle' } }); tell('session.idle', { sessionID: id }); } return json(200, true); }
  const open = world[room].find((one) => one.id === id);
  if (open === undefined || world.isLate) return json(404, { _tag: 'NotFoundError', requestID: id });
  world[room] = world[room].filter((one) => one !== open);
  const told = { sessionID: open.sessionID, requestID: id };
  const said = text === '' ? {} : JSON.parse(text);
  if (!world.isQuiet) tell(room === 'permission' ? 'permission.replied' : what === 'reject' ? 'question.rejected' : 'question.replied', { ...told, ...(said.reply ? { reply: said.reply } : {}), ...(said.answers ? { answers: said.answers } : {}), ...world.instead });
  json(200, true);
});
const at = process.argv.indexOf('--port');
server.listen(at < 0 ? 0 : Number(process.argv[at + 1]), '127.0.0.1', () => { if (at < 0) writeFileSync(process.argv[2], String(server.address().port)); });
`;

interface Logged {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

const clock = createRealClock();
const processes = createRealProcesses();
const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const startOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19] ?? '';

let dir: string;
let children: ChildProcess[];
let port: number;
let server: ChildProcess;

async function serve(env: NodeJS.ProcessEnv = {}): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const [script, told] = [join(dir, 'server.cjs'), join(dir, `port-${children.length}`)];
  writeFileSync(script, program);
  const child = spawn(process.execPath, [script, told], { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  children.push(child);
  const read = (): number => {
    try {
      return Number(readFileSync(told, 'utf8'));
    } catch {
      return 0;
    }
  };
  await until(() => read() > 0);
  return { child, port: read() };
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'agtmux-http-'));
  children = [];
  ({ child: server, port } = await serve());
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

async function control(world: Readonly<Record<string, unknown>> = {}): Promise<readonly Logged[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/control`, { method: 'POST', body: JSON.stringify(world) });
  return (await answer.json()) as readonly Logged[];
}

const changes = async (): Promise<readonly unknown[]> =>
  (await control()).filter(({ method }) => method === 'POST').map(({ url, body }) => [url, body]);

const permission = {
  id: 'per_1de3d4fe00010kjrzZ9Do7X0AF',
  sessionID: 'ses_1',
  permission: 'bash',
  patterns: ['echo started'],
  metadata: { command: 'echo started; sleep 6' },
  always: ['echo *'],
};
const question = {
  id: 'que_1de3df180001vdo6w61uc05l7k',
  sessionID: 'ses_1',
  questions: [{ question: 'Which colour?', header: 'Colour', options: [{ label: 'Red' }, { label: 'Blue' }] }],
};

/** As the stream tells it, read by the adapter. */
function askOf(type: 'permission' | 'question', properties: Readonly<Record<string, unknown>>): Ask {
  const [found] = new EventReader().read({ type: `${type}.asked`, properties }, 0);
  if (found?.fact.kind !== 'ask.opened') throw new Error('it is no ask');
  return found.fact.ask;
}

interface Setting {
  ask: Ask | null;
  sessions: readonly string[];
  look: FreshLook | null;
  runs: NativeRun[];
  heard: StateRecord['decided_by'];
}

interface Scene {
  readonly setting: Setting;
  readonly identity: RuntimeIdentity;
  readonly channel: Channel;
  act(request: Wanted): Promise<unknown>;
  can(request: Wanted): boolean;
}

/** Every request but whom it is for. */
type Wanted = ActionRequest extends infer One
  ? One extends ActionRequest
    ? Omit<One, 'ref' | 'conditions'>
    : never
  : never;

const full = (request: Wanted): ActionRequest => ({ ref: 'runtime:r', conditions: {}, ...request }) as ActionRequest;

/** A runtime whose process is this one, and which says to be served at this port. */
function scene(
  of: { readonly pid?: number; readonly port?: number; readonly agent?: typeof opencode } = {},
  ports: Partial<ServerPorts> = {},
): Scene {
  const adapter = of.agent ?? opencode;
  const pid = of.pid ?? server.pid ?? 0;
  const argv = [adapter.name, '--port', String(of.port ?? port)];
  const start = startOf(pid);
  const run = runOf('r', { version: '1.18.33', programs: [{ pid, start, argv }] });
  const setting: Setting = {
    ask: null,
    sessions: ['ses_1'],
    look: null,
    runs: [{ agent: adapter, run }],
    heard: 'stream',
  };
  const identity: RuntimeIdentity = {
    runtime_id: runtimeId('r'),
    target: targetId('host'),
    agent: agentName(adapter.name),
    server: null,
    pane: null,
    pane_epoch: 0,
    process: { boot, pid, start },
    parent: null,
    started_at: 0,
  };
  const parts = {
    clock,
    stateOf: () => ({ ask: setting.ask, asks_open: 1, decided_by: setting.heard }) as StateRecord,
    wholeAskOf: () => setting.ask,
    sessionsOf: () => setting.sessions,
    freshLook: async () => setting.look,
    runs: () => setting.runs,
    linesOf: () => [],
    waitingCalls: async () => [],
    titleOf: () => null,
    servers: localServers({ clock, processes, ...ports }),
  };
  const channels = createChannels([opencode, kilo], parts);
  const channel = channels.find(({ name }) => name === `${adapter.name}-http`);
  if (channel === undefined) throw new Error('there is no such channel');
  return {
    setting,
    identity,
    channel,
    can: (request) => channels.some((one) => one.can(full(request), identity)),
    act: async (request) => {
      expect(channels.filter((one) => one.can(full(request), identity))).toEqual([channel]);
      return channel.run(full(request), identity);
    },
  };
}

const asking = async (type: 'permission' | 'question', properties: typeof permission | typeof question, of = {}) => {
  await control({ [type]: [properties] });
  const one = scene(of);
  one.setting.ask = askOf(type, properties);
  return one;
};

const delivered = { kind: 'delivered', words: null };
const refusedWith = (code: string) => ({ kind: 'refused', failure: expect.objectContaining({ code }) });

describe('a permission over the server of OpenCode and Kilo', () => {
  it.each([
    ['opencode', opencode],
    ['kilo', kilo],
  ])('ACT4 is granted once, by its id, and known to be taken by its event: %s', async (name, agent) => {
    const one = await asking('permission', permission, { agent });
    expect(one.channel.name).toBe(`${name}-http`);
    expect(await one.act({ action: 'approve' })).toEqual(delivered);
    expect(await changes()).toEqual([[`/permission/${permission.id}/reply`, { reply: 'once' }]]);
  });

  it('ACT4 is refused, with what to do instead', async () => {
    const one = await asking('permission', permission);
    expect(await one.act({ action: 'reject' })).toEqual(delivered);
    await control({ permission: [permission] });
    expect(await one.act({ action: 'reject', because: 'use make; "now"' })).toEqual(delivered);
    expect((await changes()).map((change) => (change as unknown[])[1])).toEqual([
      { reply: 'reject' },
      { reply: 'reject', message: 'use make; "now"' },
    ]);
  });

  it('ASK3 that is gone, or was put in other words, is not answered', async () => {
    const one = await asking('permission', permission);
    await control({ isLate: true });
    expect(await one.act({ action: 'approve' })).toEqual(refusedWith('E_STATE_CHANGED'));
    await control({ isLate: false, permission: [] });
    expect(await one.act({ action: 'approve' })).toEqual(refusedWith('E_STATE_CHANGED'));
    await control({ permission: [{ ...permission, metadata: { command: 'rm -rf /' } }] });
    expect(await one.act({ action: 'approve' })).toEqual(refusedWith('E_STATE_CHANGED'));
    // The first one left and was turned away by the server itself.
    expect((await changes()).length).toBe(1);
  });

  it(`ASK3 ${count} swaps at the moment of the answer: what is asked instead is never answered`, async () => {
    const one = scene();
    const random = randomOf(20_261_120);
    for (let index = 0; index < count; index += 1) {
      const asked = { ...permission, id: `per_a${index}` };
      await control({ permission: [asked] });
      one.setting.ask = askOf('permission', asked);
      const acted = one.act({ action: 'approve' });
      await new Promise((resolve) => setTimeout(resolve, random(8)));
      await control({ permission: [{ ...asked, id: `per_b${index}`, metadata: { command: 'rm -rf build' } }] });
      await acted;
    }
    const answered = (await changes()).map((change) => String((change as unknown[])[0]));
    expect(answered.filter((url) => url.includes('per_b'))).toEqual([]);
    expect(answered.length).toBeGreaterThan(0);
  }, 600_000);

  it('ACT4 without its event is unconfirmed, and with another answer refused', async () => {
    const one = await asking('permission', permission);
    await control({ isQuiet: true });
    expect(await one.act({ action: 'approve' })).toMatchObject({ kind: 'unconfirmed' });
    await control({ isQuiet: false, permission: [permission], instead: { reply: 'reject' } });
    expect(await one.act({ action: 'approve' })).toEqual(refusedWith('E_STATE_CHANGED'));
  });

  it('ASK3 is not for the server when another ask is named, or only the screen told it', async () => {
    const one = await asking('permission', permission);
    const { ask } = one.setting;
    expect(one.can({ action: 'approve', ask_id: 'per_other' as Ask['ask_id'] })).toBe(false);
    one.setting.ask = ask === null ? null : { ...ask, ask_id: 'screen:1' as Ask['ask_id'] };
    expect(one.can({ action: 'approve' })).toBe(false);
    one.setting.ask = null;
    expect(one.can({ action: 'approve' })).toBe(false);
    one.setting.ask = ask;
    // A lasting yes is asked about twice at the keyboard.
    expect(one.can({ action: 'answer', option: 'always' })).toBe(false);
    expect(await changes()).toEqual([]);
  });
});

describe('a question over the server', () => {
  it.each([
    ['an option by its number', { option: '2' }, 'Blue'],
    ['an option by its words', { option: 'Red' }, 'Red'],
    ['own words', { text: 'green as grass' }, 'green as grass'],
  ])('ACT4 is answered with %s', async (_, words, label) => {
    const one = await asking('question', question);
    expect(await one.act({ action: 'answer', ...words })).toEqual(delivered);
    expect(await changes()).toEqual([[`/question/${question.id}/reply`, { answers: [[label]] }]]);
  });

  it('ACT4 is refused as a whole, and says that words are not passed on', async () => {
    const one = await asking('question', question);
    const end = await one.act({ action: 'reject', because: 'not now' });
    expect(end).toMatchObject({ kind: 'delivered', words: expect.stringContaining('not passed on') });
    expect(await changes()).toEqual([[`/question/${question.id}/reject`, null]]);
  });

  it('is left to keys where one answer is not enough, where there is no such option, and never approved', async () => {
    const two = { ...question, questions: [...question.questions, ...question.questions] };
    const several = await asking('question', two);
    expect(several.can({ action: 'answer', text: 'green' })).toBe(false);
    const one = await asking('question', question);
    expect(one.can({ action: 'answer', option: '3' })).toBe(false);
    expect(one.can({ action: 'approve' })).toBe(false);
    const closed = { ...question, questions: question.questions.map((each) => ({ ...each, custom: false })) };
    const strict = await asking('question', closed);
    expect(await strict.act({ action: 'answer', text: 'green' })).toEqual(refusedWith('E_INPUT'));
    expect(await changes()).toEqual([]);
  });
});

describe('interrupting over the server', () => {
  const busy = { type: 'busy' };

  it('ACT5 stops the one conversation that is at work, with its subagents', async () => {
    const one = scene();
    one.setting.look = { state: 'running', ask: null };
    await control({ status: { ses_1: busy, ses_2: busy }, sessions: { ses_2: { parentID: 'ses_1' } } });
    expect(await one.act({ action: 'interrupt' })).toEqual(delivered);
    expect(await changes()).toEqual([['/session/ses_1/abort', null]]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, FreshLook | null, string]>([
    ['several are at work', { ses_1: busy, ses_9: busy }, { state: 'running', ask: null }, 'E_UNSUPPORTED'],
    ['none is', {}, { state: 'running', ask: null }, 'E_STATE_CHANGED'],
    ['only another one is', { ses_9: busy }, { state: 'running', ask: null }, 'E_STATE_CHANGED'],
    ['the screen shows another one', { ses_1: busy }, { state: 'idle', ask: null }, 'E_STATE_CHANGED'],
    ['a dialog is open', { ses_1: busy }, { state: 'waiting_approval', ask: null }, 'E_DIALOG'],
  ])('ACT5 stops nothing when %s', async (_, status, look, code) => {
    const one = scene();
    one.setting.look = look;
    await control({ status });
    expect(await one.act({ action: 'interrupt' })).toEqual(refusedWith(code));
    expect(await changes()).toEqual([]);
  });

  it('ACT5 is left to keys where the runtime had more than one conversation', () => {
    const one = scene();
    one.setting.sessions = ['ses_1', 'ses_2'];
    expect(one.can({ action: 'interrupt' })).toBe(false);
  });
});

describe('whose server it is', () => {
  const send = { action: 'send', text: 'x', enter: true, when_ready: false, strip_control: false } as const;

  it('ACT4 a message is never sent over it: which conversation is shown is not known', async () => {
    expect(scene().can(send)).toBe(false);
    expect((await asking('question', question)).can(send)).toBe(false);
  });

  it('IDN3 a port that another process listens at is not used, nor one of a process that was replaced', async () => {
    const own = await asking('permission', permission);
    expect(own.can({ action: 'approve' })).toBe(true);
    const other = await serve();
    // Its arguments name a port that belongs to somebody else.
    const liar = scene({ pid: other.child.pid ?? 0, port });
    liar.setting.ask = own.setting.ask;
    expect(liar.can({ action: 'approve' })).toBe(false);
    const [first] = own.setting.runs;
    if (first === undefined) throw new Error('there is no run');
    const aged = first.run.programs.map((one) => ({ ...one, start: '1' }));
    own.setting.runs = [{ ...first, run: { ...first.run, programs: aged } }];
    expect(own.can({ action: 'approve' })).toBe(false);
    // The same pid, known again by nothing but its number.
    const stale = scene();
    stale.setting.ask = own.setting.ask;
    stale.setting.runs = own.setting.runs;
    const identity = { ...stale.identity, process: { boot, pid: server.pid ?? 0, start: '1' } };
    expect(stale.channel.can(full({ action: 'approve' }), identity)).toBe(false);
    // The same numbers on another machine.
    const far = await asking('permission', permission);
    const there = {
      ...far.identity,
      process: { boot: 'elsewhere', pid: server.pid ?? 0, start: startOf(server.pid ?? 0) },
    };
    expect(far.channel.can(full({ action: 'approve' }), there)).toBe(false);
    expect(far.can({ action: 'approve' })).toBe(true);
  });

  it('BND1 a port that two runs claim is nobody’s', async () => {
    const one = await asking('permission', permission);
    const [first] = one.setting.runs;
    if (first === undefined) throw new Error('there is no run');
    one.setting.runs.push({ ...first, run: { ...first.run, runtime_id: runtimeId('other') } });
    expect(one.can({ action: 'approve' })).toBe(false);
  });

  it('is left alone with a password, in versions before it had these routes, and where nobody listens', async () => {
    const guarded = await serve({ OPENCODE_SERVER_PASSWORD: 'x' });
    const one = scene({ pid: guarded.child.pid ?? 0, port: guarded.port });
    one.setting.ask = askOf('permission', permission);
    expect(one.can({ action: 'approve' })).toBe(false);
    const old = await asking('permission', permission);
    old.setting.runs = old.setting.runs.map(({ agent, run }) => ({ agent, run: { ...run, version: '1.0.98' } }));
    expect(old.can({ action: 'approve' })).toBe(false);
    const silent = scene({ port: 9 });
    silent.setting.ask = one.setting.ask;
    expect(silent.can({ action: 'approve' })).toBe(false);
  });

  it('wants a password that is not in its environment: refused once, and left to keys from then on', async () => {
    const one = await asking('permission', permission);
    await control({ isClosed: true });
    expect(await one.act({ action: 'approve' })).toEqual(refusedWith('E_UNSUPPORTED'));
    expect(one.can({ action: 'approve' })).toBe(false);
    // Kilo always makes one up: it is not even asked, unless its events are heard.
    const other = await asking('permission', permission, { agent: kilo });
    other.setting.heard = 'hook';
    expect(other.can({ action: 'approve' })).toBe(false);
  });

  it('ACT1 a listener that changes hands after the decision gets not a byte', async () => {
    await control({ permission: [permission] });
    let looks = 0;
    // Twice while it is decided; from then on somebody else holds the port.
    const owns = (): boolean => {
      looks += 1;
      return looks <= 2;
    };
    const one = scene({}, { ownsListener: owns });
    one.setting.ask = askOf('permission', permission);
    expect(await one.act({ action: 'approve' })).toMatchObject({ kind: 'refused' });
    expect(looks).toBe(3);
    expect(await control()).toEqual([]);
  });
});

describe('the daemon', () => {
  let world: ActingWorld;

  beforeEach(() => {
    world = new ActingWorld();
  });

  afterEach(async () => {
    await world.close();
  });

  /** As a person does it, at a shell of their own; what the command printed. */
  async function typed(words: readonly string[]): Promise<string> {
    const agtmux = fileURLToPath(new URL('../../../bin/agtmux', import.meta.url));
    const said = join(world.dir, 'said');
    rmSync(`${said}.done`, { force: true });
    const person = world.tmux('new-window', '-t', 'work:', '-P', '-F', '#{pane_id}');
    const command = [process.execPath, agtmux, ...words, '--json'].join(' ');
    world.tmux('send-keys', '-t', person, '-l', `${command} >${said} 2>&1; touch ${said}.done`);
    world.tmux('send-keys', '-t', person, 'Enter');
    await until(() => existsSync(`${said}.done`));
    return readFileSync(said, 'utf8');
  }

  it('ACT4 answers over the server of the agent in the pane, and types nothing', async () => {
    // The port of a server that has just left: free, and named before the program starts.
    const left = server;
    const gone = new Promise((resolve) => left.once('exit', resolve));
    left.kill('SIGKILL');
    await gone;
    const script = join(world.dir, 'node_modules/opencode-ai/bin/opencode');
    mkdirSync(join(script, '..'), { recursive: true });
    const keyboard =
      "process.stdin.on('data', (data) => log.push({ method: 'TYPED', url: String(data), body: null }));";
    writeFileSync(script, `${program}\n${keyboard}`);
    await world.startDaemon();
    const start = `exec ${process.execPath} ${script} --port ${port}`;
    const pane = world.tmux('new-window', '-t', 'work:', '-P', '-F', '#{pane_id}', start);
    await world.runtimeIn(pane);
    await until(() =>
      control().then(
        () => true,
        () => false,
      ),
    );
    await control({ permission: [permission] });
    // Told again until the daemon listens.
    await until(async () => {
      await control({ tell: ['permission.asked', permission] });
      return (await world.itemIn(pane))?.state === 'waiting_approval';
    });
    const receipt = JSON.parse(await typed(['approve', pane, '--yes'])) as Readonly<Record<string, unknown>>;
    expect(receipt).toMatchObject({ outcome: 'delivered', way: 'opencode-http', failure: null });
    expect(await changes()).toEqual([[`/permission/${permission.id}/reply`, { reply: 'once' }]]);
    expect((await control()).filter(({ method }) => method === 'TYPED')).toEqual([]);
    const [row] = await world.audit();
    expect(row).toMatchObject({ action: 'approve', result: 'delivered' });
    expect(await typed(['approve', pane, '--yes'])).toContain('E_STATE_CHANGED');
    expect((await changes()).length).toBe(1);
  });
});
