// The acting commands as a person or a script uses them: what is asked of the daemon, what is printed, and how it ends.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errors, failure } from '../../src/model/errors.ts';
import { askId, runtimeId, scopeId } from '../../src/model/ids.ts';
import { limits } from '../../src/model/limits.ts';
import { until } from '../kit/tmux-server.ts';
import { auditRecord, queuedMessage } from '../system/api/kit-act.ts';
import { createStage, type RunOptions, type Stage } from './kit-act.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await createStage();
  stage.world.tmux('new-session', '-d', '-s', 'ask', '-x', '140', '-y', '50', '/bin/sh');
});
afterAll(() => stage.end());

const ref = 'runtime:host-work-1';
/** As receipts name it. */
const whom = `claude, host/work:1.0 (${ref})`;
const ask = {
  ask_id: askId('ask-7'),
  kind: 'command',
  scope: scopeId('main'),
  text: 'rm -r build\u202e',
  options: [{ id: '1', label: 'Yes' }],
} as const;

beforeEach(() => {
  for (const row of stage.daemon.rows()) stage.daemon.drop(row);
  stage.daemon.put({ id: 1, state: 'idle' });
  stage.acting.asked.length = 0;
  stage.acting.told = {};
});

const run = (line: string, options?: RunOptions) => stage.run(line.split(' '), options);
const lastAsked = () => stage.acting.asked.at(-1);

describe('send', () => {
  it('SEC6 takes the text from standard input, and says who it is', async () => {
    const ran = await run('send %1', { input: 'first\n\n#{x} ;\n', env: { AGTMUX_HOPS: '2' } });
    expect(ran).toMatchObject({ status: 0, stdout: `delivered: send to ${whom}, by keys\n`, stderr: '' });
    expect(lastAsked()).toEqual({
      what: 'send',
      value: {
        action: 'send',
        ref: '%1',
        text: 'first\n\n#{x} ;',
        enter: true,
        when_ready: false,
        strip_control: false,
        conditions: {},
      },
      claim: { pid: ran.pid, hops: 2 },
    });
  });

  it('also from a file, a dash or the command line, whatever it begins with', async () => {
    writeFileSync(join(stage.world.directory, 'plan.md'), '- one\n- two\n');
    const ways: readonly (readonly [readonly string[], string])[] = [
      [['send', 'claude', '--file', 'plan.md'], '- one\n- two'],
      [['send', 'claude', '--file', '-'], 'typed'],
      [['send', 'claude', '-'], 'typed'],
      [['send', 'claude', '--text', '-rf\n'], '-rf\n'],
      [['send', 'claude', '--text=--help'], '--help'],
    ];
    for (const [args, text] of ways) {
      expect(await stage.run(args, { input: 'typed' })).toMatchObject({ status: 0 });
      expect(lastAsked()?.value).toMatchObject({ text });
    }
  });

  it('ACT1 passes conditions and ways on', async () => {
    const options = '--if-runtime runtime:r1 --if-state idle,done --if-state error --if-updated-within 1.5s';
    const ran = await run(`send claude ${options} --force-stale --no-enter --when-ready --strip-control`, {
      input: 'a',
    });
    expect(ran.status).toBe(0);
    expect(lastAsked()?.value).toMatchObject({
      enter: false,
      when_ready: true,
      strip_control: true,
      conditions: {
        if_runtime: 'r1',
        if_state: ['idle', 'completed', 'error'],
        if_updated_within_ms: 1_500,
        force_stale: true,
      },
    });
  });

  it.each<[string, RunOptions, number, RegExp]>([
    ['send', {}, 2, /missing required argument 'agent'.*\[E_USAGE\]/],
    ['send %1', { input: '' }, 2, /there is no text; nothing was sent; .*\[E_INPUT\]/],
    ['send %1', { input: '\n' }, 2, /there is no text.*\[E_INPUT\]/],
    ['send %1 --text=', {}, 2, /there is no text.*\[E_INPUT\]/],
    ['send %1', { input: Buffer.from([0x61, 0xff]) }, 2, /standard input is not UTF-8 text.*\[E_INPUT\]/],
    ['send %1', { input: 'a'.repeat(limits.requestBytesMax + 1) }, 2, /more than \d+ bytes.*\[E_TOO_LARGE\]/],
    ['send %1 --file none', {}, 2, /cannot read none \(ENOENT\); nothing was sent.*\[E_FILE\]/],
    ['send %1 --file .', {}, 2, /cannot read \. \(EISDIR\).*\[E_FILE\]/],
    ['send %1 --file a --text b', {}, 2, /given more than once.*\[E_USAGE\]/],
    ['send %1 - --text b', {}, 2, /given more than once.*\[E_USAGE\]/],
    ['send %1 text', {}, 2, /Allowed choices are -.*\[E_USAGE\]/],
    ['send %1 --if-state asleep', { input: 'a' }, 2, /no state "asleep"; there are approve .*\[E_FILTER\]/],
    ['send %1 --if-updated-within soon', { input: 'a' }, 2, /must be a duration.*\[E_USAGE\]/],
    ['send .', { input: 'a' }, 2, /means the current tmux pane.*\[E_USAGE\]/],
    ['send  --text a', {}, 2, /the name of the agent is empty; .*agtmux tell.*\[E_USAGE\]/],
  ])('`%s` is refused in one line and nothing is sent', async (line, options, status, words) => {
    const ran = await run(line, options);
    expect(ran.stderr).toMatch(words);
    expect(ran).toMatchObject({ status, stdout: '' });
    expect(ran.stderr.split('\n')).toHaveLength(2);
    expect(stage.acting.asked).toEqual([]);
  });

  it('SCR6 --to sends to each as if alone: 20 agents, 20 receipts, and a refusal is named and keeps nothing from the others', async () => {
    const rows = Array.from({ length: 20 }, (_, place) =>
      stage.daemon.put({ id: 100 + place, window: 10 + place, state: 'running' }),
    );
    const refs = rows.map(({ runtime_id }) => `runtime:${runtime_id}`);
    const [asking = ''] = refs.slice(7, 8);
    stage.acting.refuses = new Map([[asking, failure('E_DIALOG', 'it asks for approval', 'answer it first')]]);
    const ran = await run(`send --to ${refs.join(',')} --text hi`);
    expect(ran.stdout.trim().split('\n')).toHaveLength(19);
    expect(ran.stderr).toBe(
      `agtmux: send to claude, host/work:17.0 (${asking}) was refused: it asks for approval; answer it first [E_DIALOG]\n`,
    );
    expect([ran.status, stage.acting.asked.length]).toEqual([errors.E_DIALOG.exit, 20]);
    // Whoever asks something would take the words for an answer.
    const askNothing = ['error', 'running', 'completed', 'idle', 'unknown'];
    const each = refs.map(() => ({ value: { conditions: { if_state: askNothing } } }));
    expect(stage.acting.asked).toMatchObject(each);
    const json = await run(`send --to ${refs.join(',')} --text hi --json`);
    expect(
      json.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).outcome)
        .filter((one) => one === 'delivered'),
    ).toHaveLength(19);
    stage.acting.refuses = new Map();
    for (const row of rows) stage.daemon.drop(row);
  });

  it('ACT4 a refusal says what, why and what next, with its code as exit status; JSON keeps the receipt', async () => {
    const refusal = failure('E_STATE_CHANGED', 'it waits for an approval\u001b[2J', 'approve or reject first');
    stage.acting.told = { outcome: 'refused', failure: refusal, way: null };
    const ran = await run('send %1', { input: 'yes' });
    expect(ran).toMatchObject({ status: 4, stdout: '' });
    expect(ran.stderr).toBe(
      `agtmux: send to ${whom} was refused: it waits for an approval; approve or reject first [E_STATE_CHANGED]\n`,
    );
    const json = await run('send %1 --json', { input: 'yes' });
    expect(json.status).toBe(4);
    expect(JSON.parse(json.stdout)).toMatchObject({ outcome: 'refused', ref, failure: { code: 'E_STATE_CHANGED' } });
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'E_STATE_CHANGED', next: refusal.next } });
    stage.acting.told = {};
    expect(await run('send nobody', { input: 'a' })).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/send was refused: no agent is called nobody; .* \[E_REF_NOT_FOUND\]\n$/),
    });
  });

  it('ACT4 what nobody saw arrive ends with 1, what waits with 0', async () => {
    stage.acting.told = { outcome: 'unconfirmed', words: 'pasted, not submitted' };
    expect(await run('send %1', { input: 'a' })).toMatchObject({
      status: 1,
      stdout: `unconfirmed: send to ${whom}, by keys; pasted, not submitted\n`,
    });
    stage.acting.told = { outcome: 'queued', way: null };
    expect(await run('send %1 --when-ready', { input: 'a' })).toMatchObject({
      status: 0,
      stdout: `queued: send to ${whom}\n`,
    });
  });
});

describe('a dot', () => {
  const here = (socket: string, pane: string) => ({ TMUX: `${socket},123,0`, TMUX_PANE: pane });

  it('IDN2 is the pane one is in, on the server of this terminal and on no other', async () => {
    stage.daemon.put({ id: 4, target: 'host@other', session: 'elsewhere' });
    stage.daemon.put({ id: 4, target: 'vm1', session: 'elsewhere' });
    expect(await run('seen .', { env: here('/tmp/tmux-0/other', '%4') })).toMatchObject({ status: 0 });
    expect(lastAsked()?.value).toMatchObject({ ref: 'runtime:host@other-elsewhere-4' });
    expect(await run('seen .', { env: here('/tmp/tmux-0/default', '%1') })).toMatchObject({ status: 0 });
    expect(lastAsked()?.value).toMatchObject({ ref });
    const ran = await run('seen .', { env: here('/tmp/tmux-0/default', '%4') });
    expect(ran).toMatchObject({ status: 3, stderr: expect.stringContaining('no agent is called %4 of host') });
    expect(lastAsked()?.value).toMatchObject({ ref: '%4 of host' });
  });
});

/** In a window of its own, whose screen nobody has written to before. */
function inWindow(...args: string[]): { type(key: string): void; screen(): string } {
  const line = `${stage.line(...args)}; echo ended with $?; sleep 600`;
  const pane = stage.world.tmux('new-window', '-P', '-F', '#{pane_id}', '-t', 'ask:', line).trim();
  return {
    type: (key) => void stage.world.tmux('send-keys', '-t', pane, key, 'Enter'),
    screen: () => stage.world.tmux('capture-pane', '-p', '-J', '-t', pane).replace(/ +$/gm, ''),
  };
}

async function typedAt(question: string, key: string, ...args: string[]): Promise<string> {
  const { type, screen } = inWindow(...args);
  await until('it asks', () => screen().includes(question));
  type(key);
  return until('it ends', () => /ended with \d/.test(screen()) && screen());
}

describe('answers', () => {
  beforeEach(() => {
    stage.daemon.put({ id: 1, state: 'waiting_approval', fields: { ask, asks_open: 1 } });
  });

  it('ASK3 approve names the ask that is open, and shows it with nothing hidden', async () => {
    const ran = await run('approve claude --yes');
    expect(ran.status).toBe(0);
    expect(ran.stdout).toMatch(
      /^delivered: approve claude, host\/work:1\.0 \(runtime:host-work-1\), by keys\nthe request \(command\):\n {2}rm -r build/,
    );
    expect(ran.stdout).not.toContain('\u202e');
    expect(lastAsked()?.value).toEqual({ action: 'approve', ref: 'claude', ask_id: 'ask-7', conditions: {} });
  });

  it('ASK3 an ask that was named is passed on as it is', async () => {
    expect((await run('reject claude --ask ask-6 --because no')).stdout).toBe(`delivered: reject ${whom}, by keys\n`);
    expect(lastAsked()?.value).toMatchObject({ action: 'reject', ask_id: 'ask-6', because: 'no' });
  });

  it('ASK3 without a terminal it needs the ask or --yes', async () => {
    for (const line of ['approve claude', 'reject claude', 'answer claude --option 2']) {
      expect(await run(line)).toMatchObject({ status: 2, stderr: expect.stringMatching(/--ask ID.*--yes.*E_USAGE/) });
    }
    expect(stage.acting.asked).toEqual([]);
  });

  it('ASK3 at a terminal the ask is shown first, and sent to only after a y', async () => {
    const shown = await typedAt('[y/N]', 'n', 'approve', 'claude');
    expect(shown).toMatch(/rm -r build.*nothing was sent/s);
    // Whoever says yes says it to the dialog, whatever the agent's hook told.
    expect(shown).toMatch(/on its screen:\n {2}rm -r build\/\*\n {2}Do you want to proceed\?/);
    expect(stage.acting.asked).toEqual([]);
    await typedAt('[y/N]', 'y', 'approve', 'claude');
    expect(lastAsked()?.value).toMatchObject({ action: 'approve', ask_id: 'ask-7' });
  });

  it('ASK3 of several that are open none is chosen for the person', async () => {
    stage.daemon.put({ id: 1, state: 'waiting_approval', fields: { ask, asks_open: 2 } });
    await run('approve claude --yes');
    expect(lastAsked()?.value).toEqual({ action: 'approve', any_ask: true, ref: 'claude', conditions: {} });
  });

  it('an option or a text', async () => {
    await run('answer claude --option 2 --yes');
    expect(lastAsked()?.value).toMatchObject({ action: 'answer', ask_id: 'ask-7', option: '2' });
    await stage.run(['answer', 'claude', '--text', 'the second one', '--yes', '--json']);
    expect(lastAsked()?.value).toMatchObject({ text: 'the second one' });
    stage.acting.asked.length = 0;
    for (const line of ['answer claude', 'answer claude --option 2 --text a', 'answer claude --text=']) {
      expect(await run(line)).toMatchObject({ status: 2, stderr: expect.stringContaining('[E_USAGE]') });
    }
    expect(stage.acting.asked).toEqual([]);
  });

  it('nobody to answer is told by the daemon, which keeps its audit', async () => {
    expect(await run('approve nobody --yes')).toMatchObject({ status: 3 });
    expect(lastAsked()?.value).toEqual({ action: 'approve', any_ask: true, ref: 'nobody', conditions: {} });
  });

  it('ASK3 at a terminal nothing is answered that was not shown, even if something is asked a moment later', async () => {
    stage.acting.told = { outcome: 'refused', failure: failure('E_STATE_CHANGED', 'it asks nothing'), way: null };
    for (const asks_open of [0, 2]) {
      stage.daemon.put({ id: 1, state: 'running', fields: { ask: asks_open === 0 ? null : ask, asks_open } });
      await typedAt('E_STATE_CHANGED', '', 'approve', 'claude');
      // Neither an ask nor a word that any would do: the daemon refuses it.
      expect(lastAsked()?.value).toEqual({ action: 'approve', ref: 'claude', conditions: {} });
    }
  });
});

describe('kill', () => {
  it('ACT5 needs a yes, and without a terminal --yes', async () => {
    const ran = await run('kill %1');
    expect(ran).toMatchObject({ status: 2, stdout: '' });
    expect(ran.stderr).toMatch(/needs confirmation, and there is no terminal to ask on; use --yes \[E_USAGE\]/);
    expect(await run('kill %1 --signal HUP --yes')).toMatchObject({ status: 2 });
    expect(stage.acting.asked).toEqual([]);
    expect((await run('kill %1 --yes --signal TERM')).stdout).toBe(`delivered: kill ${whom}, by keys\n`);
    expect(lastAsked()?.value).toMatchObject({ action: 'kill', signal: 'TERM' });
    await run('kill %1 -y');
    expect(lastAsked()?.value).toMatchObject({ signal: 'INT' });
  });

  it('ACT5 asks at a terminal, and offers to interrupt where INT was meant as a stop', async () => {
    const question = `Send INT to claude in host/work (idle, ${ref})? [y/N/i]`;
    expect(await typedAt(question, 'n', 'kill', 'claude')).toContain('no signal was sent');
    expect(stage.acting.asked).toEqual([]);
    await typedAt(question, 'i', 'kill', 'claude');
    expect(lastAsked()?.value).toMatchObject({ action: 'interrupt', ref });
    await typedAt('Send KILL to', 'y', 'kill', 'claude', '--signal', 'KILL');
    expect(lastAsked()?.value).toMatchObject({ action: 'kill', ref, signal: 'KILL' });
  });

  it('ACT1 nobody of that name is refused by the daemon, with its row, and nobody who comes meanwhile is meant', async () => {
    await typedAt('E_REF_NOT_FOUND', '', 'kill', 'nobody');
    expect(lastAsked()?.value).toEqual({
      action: 'kill',
      ref: 'nobody',
      signal: 'INT',
      conditions: { if_runtime: 'nobody' },
    });
  });

  it('ACT1 the pane one is in is refused by the daemon too when no agent is there', async () => {
    const env = { TMUX: '/nowhere/default,1,0', TMUX_PANE: '%77' };
    stage.daemon.put({ id: 77, agent: null });
    const ran = await stage.run(['send', '.', '--text', 'a'], { env });
    expect(ran).toMatchObject({ status: 3, stderr: expect.stringContaining('E_REF_NOT_FOUND') });
    expect(lastAsked()?.value).toMatchObject({ action: 'send', ref: 'pane:host/work/@1/%77' });
    await stage.run(['send', '.', '--text', 'a'], { env: { ...env, TMUX_PANE: '%78' } });
    expect(lastAsked()?.value).toMatchObject({ action: 'send', ref: '%78 of host' });
  });

  it('send does not wait for somebody to type at a terminal', async () => {
    const { screen } = inWindow('send', '%1');
    await until('it ends', () => screen().includes('ended with 2'));
    expect(screen()).toMatch(/standard input, which is a terminal.*\[E_USAGE\]/s);
    expect(stage.acting.asked).toEqual([]);
  });
});

describe('small actions', () => {
  it.each([
    ['interrupt %1', { action: 'interrupt' }],
    ['resume %1 --if-state unknown', { action: 'resume', conditions: { if_state: ['unknown'] } }],
    ['seen %1', { action: 'seen' }],
    ['route activate %1', { action: 'activate' }],
    ['name %1 reviewer', { action: 'name', nick: 'reviewer' }],
    ['name %1 --remove', { action: 'name', nick: null }],
  ])('%s', async (line, wanted) => {
    const ran = await run(line);
    expect(ran).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(ref) });
    expect(lastAsked()?.value).toMatchObject({ ref: '%1', ...wanted });
    expect(JSON.parse((await run(`${line} --json`)).stdout)).toMatchObject({ outcome: 'delivered', ref });
  });

  it('name wants a name or --remove', async () => {
    for (const line of ['name %1', 'name %1 a --remove'])
      expect(await run(line)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('either a name or --remove'),
      });
  });

  it('new starts an agent here, with its own options behind --', async () => {
    const ran = await run('new codex --session work --cwd sub -- --search -c x=1');
    expect(ran).toMatchObject({ status: 0, stdout: 'delivered: new as codex, host/work:3.0 (runtime:new-1)\n' });
    const wanted = { agent: 'codex', session: 'work', target: null, args: ['--search', '-c', 'x=1'] };
    expect(lastAsked()?.value).toEqual({ ...wanted, cwd: join(stage.world.directory, 'sub') });
    await run('new codex');
    expect(lastAsked()?.value).toMatchObject({ cwd: stage.world.directory, args: [] });
    await run('new codex --target vm1');
    expect(lastAsked()?.value).toMatchObject({ cwd: null, target: 'vm1' });
  });
});

describe('route and tell', () => {
  beforeEach(() => {
    stage.daemon.put({ id: 2, agent: 'codex', state: 'running', fields: { route: 'DISCONNECTED' } });
    stage.daemon.put({ id: 3, agent: null });
  });

  it('RTE1 shows where messages go', async () => {
    const { stdout } = await run('route', { env: { COLUMNS: '100' } });
    expect(stdout).toMatch(/^ROUTE +AGENT +STATE +WHERE +REF\nCONNECTED +claude .*\nDISCONNECTED +codex .*\n\n/);
    expect(stdout).toContain(`\`agtmux tell\` writes to ${whom}.\n`);
    const narrow = await run('route --all-panes', { env: { COLUMNS: '40' } });
    expect(narrow.stdout).toMatch(/^NONE +-/m);
    for (const line of narrow.stdout.split('\n').slice(0, 4)) expect(line.length).toBeLessThanOrEqual(40);
    expect(JSON.parse((await run('route --json')).stdout)).toMatchObject({
      active: ref,
      items: [{ route: 'CONNECTED' }, {}],
    });
  });

  it('RTE4 tell goes to the CONNECTED agent, with references to files', async () => {
    mkdirSync(join(stage.world.directory, 'src'), { recursive: true });
    for (const file of ['src/a.ts', 'odd:7-9']) writeFileSync(join(stage.world.directory, file), '');
    const path = (file: string): string => join(stage.world.directory, file);
    const args = ['--file', 'src/a.ts:10-20', '--file', 'src/a.ts:5', '--file', 'src/a.ts', '--file', 'odd:7-9'];
    expect((await stage.run(['tell', ...args, 'why is this slow?'])).stdout).toBe(
      `delivered: send to ${whom}, by keys\n`,
    );
    expect(lastAsked()?.value).toMatchObject({
      action: 'send',
      ref: '',
      connected: true,
      text: 'why is this slow?',
      files: [
        { path: path('src/a.ts'), from: 10, to: 20 },
        { path: path('src/a.ts'), from: 5, to: 5 },
        { path: path('src/a.ts'), from: null, to: null },
        { path: path('odd:7-9'), from: null, to: null },
      ],
    });
    await run('tell --file src/a.ts');
    expect(lastAsked()?.value).toMatchObject({ text: '' });
    await run('tell', { input: 'from a pipe\n' });
    expect(lastAsked()?.value).toMatchObject({ text: 'from a pipe' });
  });

  it('RTE4 nobody CONNECTED is a refusal', async () => {
    for (const row of stage.daemon.rows()) stage.daemon.drop(row);
    expect(await run('tell hello')).toMatchObject({ status: 3, stdout: '' });
    expect((await run('route')).stdout).toBe('No agent is running: `agtmux tell` is refused.\n');
  });

  it.each([
    ['tell', 'there is no text and no file'],
    ['tell --file none.ts', 'there is no file none.ts'],
    ['tell --file src/a.ts:9-3', 'names no lines'],
    ['tell --file src/a.ts:0', 'names no lines'],
  ])('`%s` sends nothing', async (line, words) => {
    expect(await run(line)).toMatchObject({ status: 2, stderr: expect.stringContaining(words) });
    expect(stage.acting.asked).toEqual([]);
  });
});

describe('lists', () => {
  it('ACT7 the queue is shown, edited and dropped', async () => {
    stage.acting.messages.length = 0;
    expect((await run('queue')).stdout).toBe('No message is queued.\n');
    stage.acting.messages.push(queuedMessage({ text: `go\u001b[2J on ${'x'.repeat(200)}` }));
    const { stdout } = await run('queue list', { env: { COLUMNS: '60' } });
    expect(stdout).toMatch(/^ID +FOR +FROM +WAITS +GOES OUT +EXPIRES IN +TEXT\nq1 .* 1s +when ready +15m +go/);
    expect(stdout).not.toContain('\u001b');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
    expect(await run('queue edit q1', { input: 'stop' })).toMatchObject({
      status: 0,
      stdout: `changed: q1, for ${whom}\n`,
    });
    expect(JSON.parse((await run('queue --json')).stdout)).toMatchObject({ items: [{ text: 'stop' }] });
    expect(await run('queue drop q1')).toMatchObject({ status: 0, stdout: `removed: q1, for ${whom}\n` });
    expect(await run('queue drop q1')).toMatchObject({ status: 3 });
    expect(lastAsked()?.claim.pid).toBeGreaterThan(1);
  });

  it('ACT1 the audit tells who did what, refused actions too', async () => {
    const why = 'an agent started it';
    stage.acting.records.push(auditRecord({ result: 'refused', detail: { code: 'E_STATE_CHANGED', text: null, why } }));
    stage.acting.records.push(auditRecord({ runtime_id: null }));
    const { stdout } = await run('audit', { env: { COLUMNS: '120', TZ: 'UTC' } });
    expect(stdout).toMatch(
      /^WHEN +WHO +WHY +ACTION +RESULT +AGENT +DETAIL\n11-14 22:29:50 +human +an agent started it +send +refused +runtime:host-/,
    );
    expect(stdout).toContain('code=E_STATE_CHANGED');
    expect(JSON.parse((await run('audit --count 1 --json')).stdout).items).toHaveLength(1);
    expect(await run('audit --count 0')).toMatchObject({ status: 2 });
  });

  it('ACT1 the audit tells why something was refused before everything else, however much there is to tell', async () => {
    stage.acting.records.length = 0;
    const detail = { audit_id: 'a'.repeat(16), named: '%1', snapshot: { nonce: 'x'.repeat(300) }, way: 'keys' };
    const why = { code: 'E_ROLE', message: 'kill is not for agents' };
    stage.acting.records.push(auditRecord({ result: 'refused', detail: { ...detail, ...why } }));
    const { stdout } = await run('audit', { env: { COLUMNS: '160', TZ: 'UTC' } });
    expect(stdout).toContain('code=E_ROLE message=kill is not for agents');
  });

  it('SEC3 output is shown without effects, and as much as was wanted', async () => {
    stage.acting.lines = ['one', 'two \u001b[2J\u0007three', 'four'];
    expect((await run('view-output %1')).stdout).toBe('one\ntwo three\nfour\n');
    expect((await run('view-output %1 -n 1')).stdout).toBe('four\n');
    expect(JSON.parse((await run('view-output %1 --json')).stdout)).toMatchObject({ ref, from: 'screen' });
    expect(await run('view-output nobody')).toMatchObject({ status: 3 });
    expect(await run('view-output %1 --lines 0')).toMatchObject({ status: 2 });
  });

  it('--follow goes on with what comes, of this very agent', async () => {
    stage.acting.lines = ['a', 'b'];
    const running = stage.world.start('view-output', '%1', '--follow');
    await until('it has begun', () => running.lines.includes('b'));
    stage.acting.lines = ['b', 'c'];
    await until('it follows', () => running.lines.includes('c'));
    expect(running.lines).toEqual(['a', 'b', 'c']);
    expect(lastAsked()?.value).toMatchObject({ ref });
    running.signal('SIGINT');
    expect(await running.ended).toMatchObject({ status: 0, stderr: '' });
  });

  it('next says so when nobody waits, and finds who has waited longest', async () => {
    expect(await run('next')).toMatchObject({ status: 1, stdout: 'No agent waits for you.\n' });
    expect(JSON.parse((await run('next --json')).stdout)).toMatchObject({ item: null });
    stage.daemon.put({ id: 5, state: 'waiting_input', fields: { since: 800_000 } });
    stage.daemon.put({ id: 6, state: 'waiting_approval', fields: { since: 700_000, runtime_id: runtimeId('oldest') } });
    stage.daemon.put({ id: 7, state: 'error', fields: { since: 100_000 } });
    expect(JSON.parse((await run('next --json')).stdout)).toMatchObject({ item: { runtime_id: 'oldest' } });
  });
});
