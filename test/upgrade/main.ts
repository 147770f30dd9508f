// `make upgrades`: earlier states of this program are built beside it, and each is brought to the state of today and back
// with everything alive: agents, a name, a message that waits, a shell and a session. Nothing may be lost on the way, and each
// change has to say in one sentence what happened. An older program that cannot read the newer log is given the copy that the
// upgrade made, as `doctor` says. Arguments are commits.

import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { until } from '../kit/live.ts';
import { LookAlike } from '../kit/look-alike.ts';
import { act } from '../kit/scenes.ts';
import { LedWorld, type Said } from '../system/sessions/kit.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const patienceMs = 60_000;

/** One state of the program, built. */
interface Build {
  readonly name: string;
  readonly program: string;
}

/** Only what the command line and the daemon need, with the packages of today. */
function build(commit: string, place: string): Build {
  const name = execFileSync('git', ['rev-parse', '--short=12', commit], { cwd: root, encoding: 'utf8' }).trim();
  const folder = join(place, name);
  if (existsSync(folder)) return { name, program: join(folder, 'bin/agtmux') };
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', name], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  // No checkout of its own: its version says which commit it was.
  const packageFile = join(folder, 'package.json');
  writeFileSync(packageFile, JSON.stringify({ ...JSON.parse(readFileSync(packageFile, 'utf8')), gitHead: name }));
  const rolldown = join(root, 'node_modules/.bin/rolldown');
  execFileSync(rolldown, ['--config', 'rolldown.config.ts', '--dir', 'dist'], { cwd: folder, stdio: 'pipe' });
  return { name, program: join(folder, 'bin/agtmux') };
}

function say(world: LedWorld, { program }: Build, ...args: string[]): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { env: world.env, cwd: world.project });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (data: string) => {
        said[name] += data;
      });
    }
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...said }));
    child.stdin.end();
  });
}

async function well(world: LedWorld, build: Build, ...args: string[]): Promise<string> {
  const said = await say(world, build, ...args);
  if (said.status !== 0) throw new Error(`agtmux ${args.join(' ')}: ${said.stdout}${said.stderr}`);
  return said.stdout;
}

/** Everything that must be the same before and after, by one program. */
async function picture(world: LedWorld, build: Build): Promise<string> {
  const json = async (...args: string[]) => JSON.parse(await well(world, build, ...args, '--json'));
  const { items: agents } = await json('list');
  const living = agents.filter(({ ended }: { ended: unknown }) => ended === null);
  const { items: queue } = await json('queue');
  const { items: shells } = await json('shell', 'list', '--all');
  const sessions = await json('session', 'list');
  const led = (sessions.items ?? sessions.sessions).map((one: { id: string; state: string; turns: number }) =>
    [one.id, one.turns].join(' '),
  );
  const words = await well(world, build, 'session', 'show', 's1');
  return [
    ...living
      .map(
        ({ agent, nick, ref, identity }: { agent: string; nick: string; ref: string; identity: { pane_id: string } }) =>
          ['agent', agent, nick, ref, identity.pane_id].join(' '),
      )
      .sort(),
    ...queue.map(({ text }: { text: string }) => `waits: ${text}`),
    ...shells.map(({ shell_id, label, status }: Record<string, string>) => `${shell_id} ${label} ${status}`),
    ...led.map((one: string) => `session ${one}`),
    `said: ${words.includes('hello') ? 'hello' : words}`,
  ].join('\n');
}

/** As an agent's MCP client asks for it: an earlier daemon takes who asks from the body. */
async function startShell(world: LedWorld, agent: LookAlike): Promise<void> {
  const pid = agent.pid;
  const env = { PATH: process.env.PATH ?? '' };
  const command = 'while sleep 1; do echo tick; done';
  const body = { command, label: 'ticker', cwd: world.project, env, run_in_background: true, pid, client: 'test 1' };
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), host: 'localhost' };
  const socketPath = join(world.stateDir, 'run/agtmux.sock');
  await new Promise<void>((resolve, reject) => {
    const asked = request({ socketPath, path: '/v1/shells', method: 'POST', headers }, (answer) => {
      let told = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        told += part;
      });
      answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(told))));
    });
    asked.once('error', reject);
    asked.end(text);
  });
}

/** What is there becomes the same as before, and what was said on the way; null when nothing was wrong. */
async function same(world: LedWorld, build: Build, before: string): Promise<string | null> {
  let seen = '';
  const isSame = async (): Promise<boolean> => {
    seen = await picture(world, build).catch(String);
    return seen === before;
  };
  return until(isSame, patienceMs, 500).then(
    () => null,
    () => `not as before:\n${before}\n-- but --\n${seen}`,
  );
}

/** Step by step as `doctor` says it. */
async function goBack(world: LedWorld, today: Build): Promise<void> {
  const told = (await say(world, today, 'doctor')).stdout;
  const [words = '', copy = '', path = '', files = ''] =
    /to go back, stop the daemon, then move (\S+) to ([^\s,]+)(?:, and take .backup from the names of (.+) beside it)?/.exec(
      told,
    ) ?? [];
  process.stdout.write(`  ${words}\n`);
  await well(world, today, 'daemon', 'stop');
  renameSync(copy, path);
  for (const name of files.split(', ').filter(Boolean)) {
    renameSync(join(world.stateDir, name), join(world.stateDir, name.replace(/\.backup$/, '')));
  }
}

const oneLine = ({ status, stdout, stderr }: Said): string =>
  `${status} | ${[stdout, stderr].map((text) => text.trim().replaceAll('\n', ' / ')).join(' | ')}`;

/** What went wrong. */
async function play(earlier: Build, today: Build): Promise<readonly string[]> {
  const world = new LedWorld();
  const wrong: string[] = [];
  const check = async (words: string, build: Build, before: string): Promise<void> => {
    const problem = await same(world, build, before);
    process.stdout.write(`  ${words}: ${problem === null ? 'everything is there' : problem}\n`);
    if (problem !== null) wrong.push(words);
  };
  const tell = (words: string, said: Said): void => void process.stdout.write(`  ${words}: ${oneLine(said)}\n`);
  try {
    world.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
    const [one, two] = [LookAlike.start(world, 'claude', 'work'), LookAlike.start(world, 'codex', 'work')];
    await act(one, 'settled');
    await act(two, 'running');
    await well(world, earlier, 'daemon', 'start');
    await until(async () => (await well(world, earlier, 'list', '--json')).includes('"running"'), patienceMs, 250);
    await well(world, earlier, 'name', one.pane, 'builder');
    await well(world, earlier, 'send', two.pane, '--text', 'then the docs', '--when-ready');
    await well(world, earlier, 'session', 'start', '--agent', 'claude', 'text hello');
    await startShell(world, one);
    await until(async () => (await picture(world, earlier)).includes('said: hello'), patienceMs, 250);
    const before = await picture(world, earlier);
    process.stdout.write(`${before.replaceAll(/^/gm, '    ')}\n`);

    tell('today beside the earlier daemon', await say(world, today, 'status'));
    tell('upgrade', await say(world, today, 'daemon', 'restart'));
    await check('after the upgrade', today, before);

    const down = await say(world, earlier, 'daemon', 'restart');
    tell('downgrade', down);
    if (down.status === 0) await check('after the downgrade', earlier, before);
    else {
      // An older program cannot read a newer log: the newer one goes on, and has everything still.
      if (!/E_STORE_NEWER/.test(down.stderr)) wrong.push('the downgrade is not explained');
      await check('after the refused downgrade', today, before);
      await goBack(world, today);
      tell('downgrade by the copy', await say(world, earlier, 'daemon', 'start'));
      await check('after the downgrade', earlier, before);
    }
    tell('upgrade again', await say(world, today, 'daemon', 'restart'));
    await check('after the second upgrade', today, before);

    await act(two, 'settled');
    await until(() => two.typed().includes('then the docs'), patienceMs).catch(() =>
      wrong.push('the message never went out'),
    );
    process.stdout.write('  the message that waited went out\n');
    await well(world, today, 'shell', 'kill', 'shell-1', '--yes');
    await well(world, today, 'daemon', 'stop');
  } catch (problem) {
    wrong.push(String(problem));
  } finally {
    await say(world, today, 'daemon', 'stop').catch(() => undefined);
    await world.close();
  }
  return wrong;
}

const { positionals } = parseArgs({ allowPositionals: true });
const place = mkdtempSync(join(tmpdir(), 'agtmux-upgrade-'));
let isGood = true;
try {
  const today: Build = { name: 'today', program: join(root, 'bin/agtmux') };
  for (const commit of positionals) {
    const earlier = build(commit, place);
    process.stdout.write(`${earlier.name}\n`);
    const wrong = await play(earlier, today);
    for (const words of wrong) process.stdout.write(`  WRONG ${words}\n`);
    isGood &&= wrong.length === 0;
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);
