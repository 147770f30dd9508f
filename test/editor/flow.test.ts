// The extension against a real daemon and look-alike agents, with an editor around it that only writes down: pairing, the tree, a
// selection sent byte for byte, an ask answered from its notification and one that is taken back, a daemon killed and back.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatPage } from '../../src/view/editor-chat.ts';
import { placeOf } from '../../src/view/pane-words.ts';
import { ActingWorld } from '../kit/acting.ts';
import { until } from '../kit/live.ts';
import { LookAlike } from '../kit/look-alike.ts';
import { act } from '../kit/scenes.ts';
import { cliProgram } from '../kit/self-tries.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Seen {
  readonly labels: readonly string[];
  readonly badge: number;
  readonly status: string;
  readonly notices: readonly string[];
  readonly messages: readonly string[];
  readonly asked: readonly string[];
  readonly shown: readonly string[];
  readonly chat: ChatPage | null;
}

let world: ActingWorld;
let claude: LookAlike;
let project: string;
let port = '';
let line = '';

const does = async (deed: object = {}): Promise<Seen> =>
  (await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(deed) })).json()) as Seen;
const shows = (holds: (seen: Seen) => boolean): Promise<void> => until(async () => holds(await does()), 60_000);
const file = (): string => join(project, 'a.ts');

/** In a terminal of a person's. */
function type(line: string): void {
  const pane = world.tmux('new-window', '-d', '-t', 'work:', '-c', world.dir, '-P', '-F', '#{pane_id}');
  world.tmux('send-keys', '-t', pane, '-l', line);
  world.tmux('send-keys', '-t', pane, 'Enter');
}

/** What a command of agtmux printed there. */
async function said(words: string): Promise<string> {
  const out = join(world.dir, `said-${Math.random().toString(36).slice(2)}`);
  type(`${process.execPath} ${cliProgram} ${words} >${out}.part 2>&1; mv ${out}.part ${out}`);
  await until(() => existsSync(out), 60_000);
  return readFileSync(out, 'utf8');
}

beforeAll(async () => {
  world = new ActingWorld();
  rmSync(join(world.dir, 'home/.config/agtmux/policy.toml'));
  project = join(world.dir, 'web-shop');
  mkdirSync(project);
  writeFileSync(file(), 'const a = 1;\nconst b = 2;\nconst c = 3;\n');
  await world.startDaemon();
  claude = LookAlike.start(world, 'claude', 'work', '', project);
  await act(claude, 'settled');
  await world.becomes(claude, /idle|completed/);
  execFileSync(process.execPath, [join(root, 'scripts/editor.ts'), world.dir], { stdio: 'ignore' });
  const portFile = join(world.dir, 'port');
  const bin = join(world.dir, 'bin');
  mkdirSync(bin);
  const script = join(root, 'test/system/sessions/fake-agent.ts');
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
  type(
    `PATH=${bin}:$PATH ${process.execPath} ${join(root, 'test/editor/hosted.cjs')} ${join(root, 'editors/vscode/dist/extension.cjs')} ${portFile} >${portFile}.out 2>&1`,
  );
  await until(() => existsSync(portFile), 60_000);
  port = readFileSync(portFile, 'utf8');
});
afterAll(async () => world.close());

describe('the extension', () => {
  it('EDI4 shows who is CONNECTED and the tree without a key, and asks to be paired before it acts', async () => {
    await shows(({ status }) => status.startsWith('→ claude'));
    expect((await does()).labels).toEqual([expect.stringMatching(/^agent .*claude/)]);
    const selection = { path: file(), from: 0, to: 2, isDirty: false };
    const { messages } = await does({ command: 'agtmux.send', type: ['hello'], selection });
    expect(messages.at(-1)).toContain('not paired');
    expect(claude.typed()).toBe('');
  });

  it('EDI1 EDI4 RTE6 is paired by a code, and sends a selection byte for byte in the syntax of the agent', async () => {
    const code = (await said('editor pair')).split('\n')[0] ?? '';
    const paired = await does({ command: 'agtmux.pair', type: [code] });
    expect(paired.messages.at(-1)).toContain('Paired with agtmux');
    const selection = { path: file(), from: 0, to: 2, isDirty: false };
    const { messages } = await does({ command: 'agtmux.send', type: ['what is "é"?'], selection });
    expect(messages.at(-1)).toContain('Delivered to claude');
    expect(claude.typed()).toBe(`@${file()}#L1-2 what is "é"?\r`);
    expect((await world.audit())[0]?.actor).toMatch(/^editor:VS Code on /);
  });

  it('EDI4 sends what is not saved as text', async () => {
    await act(claude, 'settled');
    const before = claude.typed().length;
    await does({ command: 'agtmux.send', type: [''], selection: { path: file(), from: 1, to: 2, isDirty: true } });
    expect(claude.typed().slice(before)).toContain('a.ts, lines 2-2, not saved:\n```typescript\nconst b = 2;\n```');
  });

  it('EDI5 offers an ask, and what is pressed after it is gone does nothing', async () => {
    await act(claude, 'waiting_approval');
    await shows(({ notices, badge }) => notices.length === 1 && badge === 1);
    const [title = ''] = (await does()).notices;
    expect(title).toMatch(/claude.* asks: /);
    const links = [...title.matchAll(/\]\(command:agtmux\.pressed\?([^)]*)\)/g)];
    const args = JSON.parse(decodeURIComponent(links[0]?.[1] ?? '')) as unknown[];
    await act(claude, 'running');
    await shows(({ notices, badge }) => notices.length === 0 && badge === 0);
    const before = claude.typed().length;
    await does({ command: 'agtmux.pressed', args });
    expect(claude.typed().length).toBe(before);
  });

  it('EDI5 takes an ask back that was settled elsewhere', async () => {
    await act(claude, 'waiting_approval');
    await shows(({ notices }) => notices.length === 1);
    const before = claude.typed().length;
    await act(claude, 'running');
    await shows(({ notices }) => notices.length === 0);
    expect(claude.typed().length).toBe(before);
  });

  it('EDI4 says that the daemon is gone, and goes on when it is back', async () => {
    await world.stopDaemon('SIGKILL');
    await shows(({ status }) => /daemon gone|off/.test(status));
    await world.startDaemon();
    await shows(({ status }) => /^→ claude/.test(status) && !/gone/.test(status));
    await act(claude, 'settled');
    await world.becomes(claude, /idle|completed/);
    const before = claude.typed().length;
    const selection = { path: file(), from: 2, to: 3, isDirty: false };
    await does({ command: 'agtmux.send', type: ['again'], selection });
    expect(claude.typed().slice(before)).toBe(`@${file()}#L3 again\r`);
  });

  it('EDI9 IDN10a ACT9 lists an agent of an integrated terminal, shows it, and types there where it is allowed', async () => {
    const own = LookAlike.startBy(world, 'claude', (command) => {
      line = `env ${command}`;
    });
    await does({ set: { typeIntoTerminals: true }, terminal: { name: 'bash', command: line } });
    await own.show(LookAlike.recorded('claude', '2.1.325-completed_text.80x24.txt'));
    const here = async () => (await world.items()).find(({ pid, ended }) => pid === own.pid && ended === null);
    // No hook and no file of its own has said anything: the terminal alone is known.
    await until(async () => (await here()) !== undefined);
    expect(await here()).toMatchObject({ ref: `proc:${own.pid}`, identity: { pane_id: null } });
    const ref = `proc:${own.pid}`;
    expect(JSON.parse(await said(`attach ${ref} --json`)).terminal).toEqual({ name: 'vscode', command: null });
    expect((await does()).shown).toEqual(['bash']);
    expect(await said(`send ${ref} --text 'not yet'`)).toContain('E_NO_PANE');
    mkdirSync(join(world.dir, 'home/.config/agtmux'), { recursive: true });
    writeFileSync(join(world.dir, 'home/.config/agtmux/config.toml'), '[terminals]\nchecked_sends = true\n');
    // SEC1: nobody else comes to the socket that it answers at.
    const run = join(world.dir, 'state/run');
    for (const name of readdirSync(run)) expect([name, statSync(join(run, name)).mode & 0o077]).toEqual([name, 0]);
    // What it does it says itself: nobody watches that terminal.
    mkdirSync(join(world.dir, 'state/spool'), { recursive: true, mode: 0o700 });
    const session = { session_id: 's1', transcript_path: '/t', cwd: project, permission_mode: 'default' };
    const input = JSON.stringify({ ...session, hook_event_name: 'SessionStart', source: 'startup' });
    await own.call([{ argv: [join(root, 'bin/agtmux-hook'), 'claude', 'SessionStart'], input }]);
    await until(async () => (await here())?.state === 'idle');
    let answer = '';
    await until(async () => {
      answer = await said(`send ${ref} --text 'run the tests' --json`);
      return !answer.includes('E_NO_PANE');
    });
    expect(answer).toMatch(/"outcome":"delivered".*"way":"checked keys","strength":"checked"/);
    expect(own.typed()).toBe('run the tests\r');
    own.end();
    await until(async () => (await here()) === undefined);
  });

  /** Who is CONNECTED as the status bar says it, with the others in the tree; a selection goes there and nowhere else. */
  const goesTo = async (connected: LookAlike, ...others: readonly LookAlike[]): Promise<void> => {
    await shows(({ status }) => status.startsWith('→ claude'));
    await world.routed(`C${'D'.repeat(others.length)}`, connected.pane, ...others.map(({ pane }) => pane));
    const item = await world.itemIn(connected.pane);
    await shows(({ status }) => item !== undefined && status.includes(` ${placeOf(item)} `));
    const marked = (labels: readonly string[], mark: string): number =>
      labels.filter((one) => one.endsWith(mark)).length;
    await shows(({ labels }) => marked(labels, '→') === 1 && marked(labels, '·') === others.length);
    await act(connected, 'settled');
    await world.becomes(connected, /idle|completed/);
    const before = others.map((one) => one.typed());
    const selection = { path: file(), from: 0, to: 1, isDirty: false };
    const { messages } = await does({ command: 'agtmux.send', type: ['look'], selection });
    expect(messages.at(-1)).toContain('Delivered to claude');
    expect(connected.typed()).toMatch(/#L1 look\r$/);
    expect(others.map((one) => one.typed())).toEqual(before);
  };
  const begun = async (): Promise<LookAlike> => {
    const one = LookAlike.start(world, 'claude', 'work', '', project);
    await act(one, 'settled');
    await world.becomes(one, /idle|completed/);
    return one;
  };

  it('EDI4 RTE1 seed 000 scenario 1: no agent, the one that runs, and no agent once it has really ended', async () => {
    claude.end();
    await shows(({ status }) => status.startsWith('no agent'));
    const one = await begun();
    await goesTo(one);
    // What is typed at it ends nothing: its process does.
    world.tmux('send-keys', '-t', one.pane, '-l', '/exit');
    world.tmux('send-keys', '-t', one.pane, 'Enter');
    await until(() => one.typed().endsWith('/exit\r'));
    await goesTo(one);
    one.end();
    await shows(({ status }) => status.startsWith('no agent'));
    const selection = { path: file(), from: 0, to: 1, isDirty: false };
    const { messages } = await does({ command: 'agtmux.send', type: ['nobody'], selection });
    expect(messages.at(-1)).toMatch(/^Refused/);
  });

  it('EDI4 RTE2 seed 000 scenario 2: the one that was started last, and those before it as it ends', async () => {
    const one = await begun();
    const two = await begun();
    await goesTo(two, one);
    const three = await begun();
    await goesTo(three, one, two);
    three.end();
    await goesTo(two, one);
    two.end();
    await goesTo(one);
    one.end();
    await shows(({ status }) => status.startsWith('no agent'));
  });

  it('EDI4 RTE2 seed 000 scenario 3: when the chosen one ends, the one that was started last takes over', async () => {
    const [one, two, three] = [await begun(), await begun(), await begun()];
    await goesTo(three, one, two);
    const chosen = await world.itemIn(one.pane);
    await does({ command: 'agtmux.connect', row: chosen === undefined ? 'nobody' : placeOf(chosen) });
    await goesTo(one, two, three);
    one.end();
    await goesTo(three, two);
  });

  it('EDI7 seed 001 leads a session as a chat: start, an approval, stop, resume', async () => {
    const page = (holds: (chat: ChatPage) => boolean): Promise<void> =>
      shows(({ chat }) => chat !== null && holds(chat));
    const has = ({ lines }: ChatPage, words: string): boolean =>
      lines.some(({ role, text }) => role === 'agent' && text.includes(words));
    await does({ command: 'agtmux.startSession', type: ['claude', 'text hello there'] });
    await page((chat) => has(chat, 'hello there') && chat.inputEnabled && !chat.showStop);
    await does({ press: { type: 'say', text: 'approve touch made.txt' } });
    await page(({ ask }) => ask?.text === 'touch made.txt');
    const ask_id = (await does()).chat?.ask?.ask_id;
    await does({ press: { type: 'approve', ask_id } });
    await page((chat) => has(chat, 'allowed') && chat.ask === null);
    await does({ press: { type: 'say', text: 'hold a word' } });
    await page((chat) => has(chat, 'a word') && chat.showSpinner && chat.showStop);
    await does({ press: { type: 'stop' } });
    await page((chat) => chat.showResume && !chat.showStop);
    await does({ press: { type: 'resume' } });
    await page((chat) => has(chat, 'went on'));
    await until(async () => {
      const done = (await world.audit())
        .filter(({ actor }) => actor.startsWith('editor:VS Code on '))
        .map(({ action }) => action);
      return ['start', 'approve', 'stop', 'resume'].every((name) => done.includes(`session ${name}`));
    });
  });
});
