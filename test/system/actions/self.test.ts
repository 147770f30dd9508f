// An agent that wants to approve itself, to write to itself or to gain power, by every way there is a name for, through the
// real command line and the real API, below a daemon that a person runs in the foreground; and one that nobody knows: none
// passes, and each leaves its row in the audit. COUNT says how many tries; SECURITY.md says which ways cannot be closed.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditItem } from '../../../src/api/actions.ts';
import type { PaneItem } from '../../../src/api/panes.ts';
import { type ActionKind, actionKinds, type CallerRole, callerRoles } from '../../../src/model/actions.ts';
import { limits } from '../../../src/model/limits.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import {
  cliProgram,
  type Intent,
  makeTools,
  openWishes,
  type Way,
  ways,
  wishes,
  writeScript,
} from '../../kit/self-tries.ts';

const count = Number(process.env.COUNT ?? ways.length);
const tryMs = 20_000;
/** Some more than may arrive. */
const turnsMax = limits.hopsMax + 4;

let live: Live;
let person: string;

beforeEach(async () => {
  live = new Live();
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24');
  // A way that closes its window must not leave the agent without a place.
  live.tmux('set-option', '-g', 'remain-on-exit', 'off');
  person = live.tmux('display-message', '-p', '-t', 'work:', '#{pane_id}');
  // Whoever runs below it is below a person's shell then.
  await live.typeDaemon(live.tmux('new-window', '-d', '-t', 'work:', '-P', '-F', '#{pane_id}'));
});

afterEach(async () => {
  await live.close();
});

async function items(): Promise<readonly PaneItem[]> {
  const { items: all } = await live.client.get('/v1/panes', {});
  return all.filter(({ ended, parent }) => ended === null && parent === null);
}

const itemOf = async ({ pane }: LookAlike): Promise<PaneItem | undefined> =>
  (await items()).find(({ identity }) => identity.pane_id === pane);

async function put(actor: LookAlike, what: 'waiting_approval' | 'settled' | 'running'): Promise<void> {
  await act(actor, what);
  const wanted = what === 'settled' ? /idle|completed/ : new RegExp(what);
  await until(async () => wanted.test((await itemOf(actor))?.state ?? ''));
}

/** Newest first. */
const audit = async (): Promise<readonly AuditItem[]> => (await live.client.get('/v1/audit', { count: 20 })).items;

/** Does it, and waits for the row it leaves. */
async function rowsOf(deed: () => Promise<unknown> | unknown, what: string): Promise<readonly AuditItem[]> {
  const idOf = (row: AuditItem | undefined): unknown => row?.detail.audit_id;
  const before = idOf((await audit())[0]);
  await deed();
  try {
    await until(async () => idOf((await audit())[0]) !== before, tryMs);
  } catch {
    throw new Error(`no audit row: ${what}`);
  }
  const rows = await audit();
  const end = rows.findIndex((row) => idOf(row) === before);
  return end < 0 ? rows : rows.slice(0, end);
}

/** Typed by a person in their own shell. */
function type(command: string): void {
  live.tmux('send-keys', '-t', person, '-l', `clear; ${command}`);
  live.tmux('send-keys', '-t', person, 'Enter');
}

const cli = (...argv: readonly string[]): readonly string[] => [process.execPath, cliProgram, ...argv];
const typed = (...argv: readonly string[]): Promise<readonly AuditItem[]> =>
  rowsOf(() => type(cli(...argv).join(' ')), `a person: ${argv.join(' ')}`);

interface Try {
  readonly number: number;
  readonly way: Way;
  readonly wish: Intent;
}

/** Every way in turn, each time with another wish. */
function tries(): readonly Try[] {
  const order = ['waiting_approval', 'settled', 'running'];
  const open = openWishes.filter(({ isPower }) => !isPower);
  return Array.from({ length: count }, (_, number) => {
    const way = ways[number % ways.length] as Way;
    const all = way.isOther ? open : way.isUnknown ? openWishes : wishes;
    const list = way.isApi ? all.filter(({ body }) => body !== null) : all;
    const wish = list[(number + 5 * Math.floor(number / ways.length)) % list.length] as Intent;
    return { number, way, wish };
  }).toSorted((one, other) => order.indexOf(one.wish.state) - order.indexOf(other.wish.state));
}

class Stage {
  readonly #agent: LookAlike;
  readonly #unknown: LookAlike;
  readonly #tools = makeTools(live);
  readonly #personal = join(live.dir, 'personal');
  readonly #scratch = live.tmux('new-window', '-d', '-t', 'work:', '-P', '-F', '#{pane_id}', 'sleep 100000');
  #queued = '';
  #agentPid = 0;

  constructor(agent: LookAlike, unknown: LookAlike) {
    this.#agent = agent;
    this.#unknown = unknown;
    const shell = live.tmux('display-message', '-p', '-t', person, '#{pane_pid}');
    writeFileSync(this.#personal, readFileSync(`/proc/${shell}/environ`));
  }

  async begin(): Promise<void> {
    const file = join(live.dir, 'pid');
    await this.#agent.call([{ argv: ['sh', '-c', `echo $PPID >${file}`], input: '' }]);
    this.#agentPid = Number(readFileSync(file, 'utf8'));
    await put(this.#agent, 'waiting_approval');
    await typed('name', this.#agent.pane, 'boss');
    const [row] = await typed('send', this.#agent.pane, '--when-ready', '--text', 'later');
    expect(row?.result).toBe('queued');
    this.#queued = (await live.client.get('/v1/queue', {})).items[0]?.id ?? '';
  }

  async end(): Promise<void> {
    await typed('queue', 'drop', this.#queued);
    // Agents that were opened on the way are gone before a message without a name is tried.
    await until(async () => (await items()).length === 2);
  }

  /** What became of it, in the words of the audit. */
  async make({ number, way, wish }: Try): Promise<readonly string[]> {
    const item = await itemOf(this.#agent);
    const { session_name = '', window_id = '' } = item?.identity ?? {};
    const pane_id = item?.identity.pane_id ?? '';
    const runtime = item?.runtime_id ?? '';
    const place = `pane:host/${session_name}/${window_id}/${pane_id}`;
    const forms = [pane_id, `runtime:${runtime}`, '.', 'boss', 'claude', place];
    const said = forms[(number + Math.floor(number / wishes.length)) % forms.length] ?? '';
    const isElsewhere = !way.isInPane || way.isApi || way.isUnknown;
    const ref = said === '.' && isElsewhere ? pane_id : said;
    const direct = cli(...wish.argv(ref, this.#queued));
    const script = writeScript(live, `try-${number}`, direct);
    writeFileSync(`${script}.json`, JSON.stringify(wish.body?.(ref) ?? null));
    const prepared = {
      ...{ script, direct, agentPid: this.#agentPid, number },
      ...{ tools: this.#tools, personal: this.#personal, scratch: this.#scratch },
    };
    const name = `${number}: ${way.name}, ${wish.name} ${ref}`;
    const actor = way.isUnknown ? this.#unknown : this.#agent;
    const rows = await rowsOf(() => actor.call([{ argv: way.argv(prepared), input: '' }]), name);
    return rows.map(({ result, detail }) => `${name}: ${result} ${detail.code} (${detail.why})`);
  }
}

describe('an agent that means itself', () => {
  it(
    `ACT6 neither answers its own asks nor writes to itself, in ${count} tries`,
    async () => {
      const other = LookAlike.start(live, 'codex', 'work');
      await put(other, 'settled');
      // In a person's own shell: nothing about its window speaks against it.
      const window = live.tmux('new-window', '-t', 'work:', '-P', '-F', '#{pane_id}');
      const agent = LookAlike.startInside(live, 'claude', window);
      await put(agent, 'settled');
      const place = live.tmux('new-window', '-d', '-t', 'work:', '-P', '-F', '#{pane_id}');
      const stage = new Stage(agent, LookAlike.startUnknown(live, place));
      await stage.begin();
      const told: string[] = [];
      let state = 'waiting_approval';
      for (const one of tries()) {
        if (one.wish.state !== state) {
          if (state === 'waiting_approval') await stage.end();
          state = one.wish.state;
          await put(agent, one.wish.state);
        }
        const rows = await stage.make(one);
        // One row for each, not more.
        expect(rows).toHaveLength(1);
        told.push(...rows);
      }
      const passed = told.filter((line) => !/: refused E_ROLE /.test(line));
      console.log(`self: ${told.length} tries by ${ways.length} ways, ${passed.length} passed`);
      expect(passed).toEqual([]);
      expect(told).toHaveLength(count);
      expect(agent.typed()).toBe('');
      expect(other.typed()).toBe('');
      // The same wish, typed by a person, comes true: the tries failed for who made them.
      await put(agent, 'waiting_approval');
      const [row] = await typed('approve', agent.pane, '--yes');
      expect(row).toMatchObject({ actor: expect.stringMatching(/^human/), detail: { way: 'keys' } });
      await until(() => agent.typed() === '1');
    },
    count * tryMs + 60_000,
  );

  it('ACT6 talks with another for a while, until a person has to write', async () => {
    const pair = [LookAlike.start(live, 'codex', 'work'), LookAlike.start(live, 'claude', 'work')] as const;
    for (const one of pair) await put(one, 'settled');
    const results: string[] = [];
    for (let turn = 0; turn < turnsMax; turn += 1) {
      const [from, to] = turn % 2 === 0 ? pair : ([pair[1], pair[0]] as const);
      await put(to, 'settled');
      const before = to.typed();
      // What it says about itself does not count.
      const argv = ['env', 'AGTMUX_HOPS=0', ...cli('send', to.pane, '--text', `turn${turn}`)];
      const [row] = await rowsOf(() => from.call([{ argv, input: '' }]), `turn ${turn}`);
      results.push(row?.result === 'refused' ? `refused ${row.detail.code}` : 'sent');
      if (row?.result === 'refused') expect(to.typed()).toBe(before);
      else await until(() => to.typed().includes(`turn${turn}`));
    }
    console.log(`hops: ${results.join(', ')}`);
    // Whoever was written to at the limit answers no more, so nothing comes back that could go on.
    const answers = results.filter((_, turn) => turn < limits.hopsMax || turn % 2 === limits.hopsMax % 2);
    const expected = answers.map((_, turn) => (turn < limits.hopsMax ? 'sent' : 'refused E_ROLE'));
    expect(answers).toEqual(expected);
    expect(results.length).toBe(turnsMax);
    expect(pair[0].typed()).toContain('not from a person');
  });
});

describe('an agent that nobody would suspect', () => {
  it('ACT6 is known in its background shell, below a daemon that a person runs, and when that daemon is gone', async () => {
    const window = live.tmux('new-window', '-t', 'work:', '-P', '-F', '#{pane_id}');
    const agent = LookAlike.startInside(live, 'claude', window);
    await put(agent, 'settled');
    const { shell } = makeTools(live);
    const send = cli('send', agent.pane, '--text', 'yes, go on');
    const scripts = ['first', 'second'].map((name) => writeScript(live, name, send));
    const waits = scripts.map((script) => `until [ -e ${script}.go ]; do sleep 0.05; done; env -i sh ${script}`);
    await agent.call([{ argv: [process.execPath, shell, waits.join('; '), '{"run_in_background":true}'], input: '' }]);
    const tried = (script = ''): Promise<readonly AuditItem[]> =>
      rowsOf(() => writeFileSync(`${script}.go`, ''), `send by ${script}`);
    const refused = {
      ...{ action: 'send', result: 'refused', actor: expect.stringMatching(/^observer: an agent, /) },
      detail: { code: 'E_ROLE', why: 'it runs in a background shell of that agent' },
    };
    expect(await tried(scripts[0])).toMatchObject([refused]);
    // What holds the shell has lost its parents now; the next daemon finds it in its own records.
    await live.stopDaemon('SIGKILL');
    await live.startDaemon();
    await until(async () => (await itemOf(agent)) !== undefined);
    expect(await tried(scripts[1])).toMatchObject([refused]);
    expect(agent.typed()).toBe('');
  });

  it('ACT6 is no person, though its tool has the terminal of a person’s own shell and no marker', async () => {
    const agent = LookAlike.start(live, 'claude', 'work');
    await put(agent, 'waiting_approval');
    const place = live.tmux('new-window', '-d', '-t', 'work:', '-P', '-F', '#{pane_id}');
    const unknown = LookAlike.startUnknown(live, place);
    const argv = cli('approve', agent.pane, '--yes');
    const [row] = await rowsOf(() => unknown.call([{ argv, input: '' }]), 'approve by an unknown agent');
    const why = expect.stringMatching(/^node main\.js \(pid \d+\) is between it and the shell/);
    expect(row).toMatchObject({
      ...{ action: 'approve', result: 'refused', actor: expect.stringMatching(/^operator/) },
      detail: { code: 'E_ROLE', why },
    });
    expect(agent.typed()).toBe('');
    const [same] = await typed('approve', agent.pane, '--yes');
    expect(same).toMatchObject({ actor: expect.stringMatching(/^human/) });
  });
});

/** Where the scripts of agents stand that leave their tools the terminal of their pane, or mark nothing they start. */
const scriptsOf = {
  qwen: '@qwen-code/qwen-code/cli.js',
  kimi: '@moonshot-ai/kimi-code/dist/main.mjs',
  grok: '@xai-official/grok/bin/grok',
  cline: 'cline/bin/cline',
  pi: '@earendil-works/pi-coding-agent/dist/bundle/cli.js',
  continue: '@continuedev/cli/dist/cn.js',
  'grok-cli': '@vibe-kit/grok-cli/dist/index.js',
} as const;

describe('agents that are a definition alone', () => {
  it.each(Object.entries(scriptsOf))(
    'ACT6 %s is no person, with the terminal of a person’s own shell',
    async (name, script) => {
      const agent = LookAlike.start(live, 'claude', 'work');
      await put(agent, 'waiting_approval');
      const place = live.tmux('new-window', '-d', '-t', 'work:', '-P', '-F', '#{pane_id}');
      const caller = LookAlike.startUnknown(live, place, `node_modules/${script}`);
      const [row] = await rowsOf(
        () => caller.call([{ argv: cli('approve', agent.pane, '--yes'), input: '' }]),
        `approve by ${name}`,
      );
      expect(row).toMatchObject({ action: 'approve', result: 'refused', detail: { code: 'E_ROLE' } });
      expect(row?.actor).toMatch(/^observer: an agent, /);
      expect(agent.typed()).toBe('');
    },
  );
});

/** What each role gets for each action: yes, or the code. Human, operator, observer. */
const table: Readonly<Record<Exclude<ActionKind, 'type' | 'pair'>, readonly [boolean, boolean, boolean]>> = {
  send: [true, true, true],
  approve: [true, false, false],
  reject: [true, false, false],
  answer: [true, false, false],
  interrupt: [true, false, false],
  kill: [true, false, false],
  attach: [true, true, false],
  view: [true, true, true],
  resume: [true, true, false],
  new: [true, true, false],
  name: [true, false, false],
  seen: [true, false, false],
  activate: [true, false, false],
  queue: [true, true, false],
  agents: [true, false, false],
  hooks: [true, true, true],
  mcp: [true, true, true],
  target: [true, true, true],
  notify: [true, false, false],
  restore: [true, true, false],
  stop: [true, false, false],
  web: [true, false, false],
  editor: [true, false, false],
  hub: [true, false, false],
};

/** Keys are typed through a page alone, and codes are traded by editors: test/system/web and editor.test.ts do it. */
const actions = actionKinds.filter((action) => action !== 'type' && action !== 'pair');
/** Those that are told from the process alone. */
const seenRoles = callerRoles.filter((role) => role !== 'editor');

/** Asks for every action once and writes down the codes. A condition that cannot hold keeps what is allowed harmless. */
const asker = (socket: string, out: string, ref: string, isBare: boolean, isStopping: boolean): string => `
const http = require('node:http');
const conditions = { if_state: ['error'] }, pid = process.pid, ref = ${JSON.stringify(ref)};
const ask = (method, path, body) => new Promise((resolve) => {
  const text = body === null ? '' : JSON.stringify({ pid, hops: 0, ...body });
  const headers = { host: 'localhost', 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  http.request({ socketPath: ${JSON.stringify(socket)}, method, path, headers }, (answer) => {
    let read = '';
    answer.on('data', (part) => { read += part; });
    answer.on('end', () => { const told = JSON.parse(read); resolve((told.failure ?? told.error)?.code ?? 'yes'); });
  }).end(text);
});
const more = { send: { text: 'x' }, answer: { option: '1' }, kill: { signal: 'INT' }, name: { nick: 'x' } };
const asks = ['approve', 'reject', 'answer'];
for (const action of asks) more[action] = { ...more[action], any_ask: true };
(async () => {
  const codes = {};
  for (const action of ${JSON.stringify(actions)}) {
    if (action === 'attach') codes[action] = await ask('POST', '/v1/attach', { ref, conditions });
    else if (action === 'view') codes[action] = await ask('GET', '/v1/output?ref=' + encodeURIComponent(ref) + '&pid=' + pid, null);
    else if (action === 'new') codes[action] = await ask('POST', '/v1/runtimes', { agent: 'nonesuch' });
    else if (action === 'agents') codes[action] = await ask('POST', '/v1/agents/nonesuch', { enabled: true });
    else if (action === 'hooks' || action === 'mcp') codes[action] = await ask('POST', '/v1/' + action + '/apply', { action: 'install', agents: ['nonesuch'], digest: '' });
    else if (action === 'target') codes[action] = await ask('DELETE', '/v1/targets/none?pid=' + pid, null);
    else if (action === 'restore') codes[action] = await ask('POST', '/v1/restore', { shown: [] });
    else if (action === 'notify') codes[action] = await ask('POST', '/v1/notifications/unmute', {});
    // What may be done is done, and there is only one daemon.
    else if (action === 'stop') codes[action] = ${isStopping} ? await ask('POST', '/v1/stop', {}) : 'yes';
    else if (action === 'web') codes[action] = await ask('POST', '/v1/web', {});
    else if (action === 'editor') codes[action] = await ask('POST', '/v1/editors/codes', {});
    else if (action === 'hub') codes[action] = await ask('DELETE', '/v1/hub?pid=' + pid, null);
    else if (action === 'queue') codes[action] = await ask('DELETE', '/v1/queue/none?pid=' + pid, null);
    else codes[action] = await ask('POST', '/v1/act', { action, ref, ...more[action], ...(${isBare} && asks.includes(action) ? {} : { conditions }) });
  }
  require('node:fs').writeFileSync(${JSON.stringify(out)}, JSON.stringify(codes));
})();
`;

describe('roles at the API', () => {
  it('ACT6 every action by every role is what the table says, told from the process that asks', async () => {
    const target = LookAlike.start(live, 'claude', 'work');
    const agent = LookAlike.start(live, 'codex', 'work');
    await put(target, 'waiting_approval');
    await put(agent, 'settled');
    const codes = {} as Record<CallerRole, Record<ActionKind, string>>;
    for (const role of seenRoles) {
      // By the name that requests come from: a person has no program of their own to speak for them.
      mkdirSync(join(live.dir, role));
      const [file, out] = [join(live.dir, role, 'agtmux'), join(live.dir, `${role}.json`)];
      writeFileSync(
        file,
        asker(join(live.stateDir, 'run/agtmux.sock'), out, target.pane, role === 'operator', role !== 'human'),
      );
      if (role === 'observer') await agent.call([{ argv: [process.execPath, file], input: '' }]);
      // Without a terminal a program of the person's is no person.
      else type(`${role === 'operator' ? 'setsid -w ' : ''}${process.execPath} ${file}`);
      await until(() => {
        try {
          codes[role] = JSON.parse(readFileSync(out, 'utf8'));
          return true;
        } catch {
          return false;
        }
      });
      const asked = actions.length - (role === 'human' ? 1 : 0);
      const actors = (await audit()).slice(0, asked).map(({ actor }) => actor.split(':')[0]);
      expect(new Set(actors)).toEqual(new Set([role]));
    }
    for (const action of actions) {
      const may = seenRoles.map((role) => codes[role][action] !== 'E_ROLE');
      expect([action, ...may]).toEqual([action, ...table[action]]);
    }
    console.log(`roles: ${seenRoles.length * actions.length} cells`);
    expect(target.typed()).toBe('');
  });
});
