// Plays a new user's first minute and writes it down in docs/first-minute.md: git clone, `make start` on a terminal of tmux in
// an empty home without any agent, and the keys until the first simulated agent is answered on the board. Ends with status 1
// where a step does not come, or where more than three keys are needed. Usage: make first-minute
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { terminalPicture } from './terminal-picture.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const size = { columns: 120, lines: 30 };
const keysMax = 3;
const lookMs = 50;
/** npm fetches the packages of the build; everything after that is agtmux itself. */
const startMs = 600_000;
const stepMs = 30_000;

interface Step {
  /** What is typed or pressed. */
  readonly keys: readonly string[];
  readonly words: string;
  /** What is on the screen then. */
  readonly until: RegExp;
  readonly patienceMs: number;
}

const steps: readonly Step[] = [
  {
    keys: [],
    words: 'The board is open, with simulated agents. The first that waits is selected: what it asks stands beside it.',
    until: /> ▲ claude .* (?:[1-9]|\d\d)s /,
    patienceMs: startMs,
  },
  {
    keys: ['a'],
    words: 'What is asked, in full, and which of its options will be chosen. Nothing was sent yet.',
    until: /Approve for claude/,
    patienceMs: stepMs,
  },
  {
    keys: ['a'],
    words: 'It was sent, and seen to arrive: the agent goes on, and the next one that waits is selected.',
    until: /delivered: approve to claude/,
    patienceMs: stepMs,
  },
];

const directory = mkdtempSync(join(tmpdir(), 'agt-first-'));
const home = join(directory, 'home');
mkdirSync(home);
const npmrc = process.env.npm_config_userconfig ?? join(homedir(), '.npmrc');
/** From where packages come, and who vouches for it, is a matter of the machine and not of the user. */
const ofMachine = /^(?:npm_config_.*|node_extra_ca_certs|ssl_cert_(?:file|dir)|https?_proxy|no_proxy)$/i;
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => ofMachine.test(name))),
  PATH: process.env.PATH ?? '',
  HOME: home,
  TMUX_TMPDIR: directory,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  ...(existsSync(npmrc) ? { npm_config_userconfig: npmrc } : {}),
};

function tmux(...words: readonly string[]): string {
  const ran = spawnSync('tmux', ['-u', '-f', '/dev/null', '-L', 'first', ...words], { env, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`tmux ${words.join(' ')}: ${ran.stderr}`);
  return ran.stdout;
}

const screen = (): string => tmux('capture-pane', '-p', '-t', 'me');

async function seen(words: string, until: RegExp, patienceMs: number): Promise<number> {
  const began = performance.now();
  while (!until.test(screen())) {
    if (/^make: \*\*\* /m.test(screen())) throw new Error(`make start failed\n${screen()}`);
    if (performance.now() - began > patienceMs) throw new Error(`did not come: ${words}\n${screen()}`);
    await rest(lookMs);
  }
  return (performance.now() - began) / 1_000;
}

const picturePath = (place: number): string => fileURLToPath(new URL(`../docs/first-${place}.svg`, import.meta.url));

async function play(): Promise<void> {
  tmux('new-session', '-d', '-s', 'me', '-x', String(size.columns), '-y', String(size.lines), '-c', directory, 'sh');
  tmux('set-option', '-g', 'status', 'off');
  tmux('resize-window', '-t', 'me', '-x', String(size.columns), '-y', String(size.lines));
  const typed = `git clone --quiet ${root} agtmux && cd agtmux && clear && make start`;
  tmux('send-keys', '-t', 'me', '-l', typed);
  tmux('send-keys', '-t', 'me', 'Enter');
  const parts: string[] = [];
  let keys = 0;
  for (const [place, { keys: pressed, words, until, patienceMs }] of steps.entries()) {
    for (const key of pressed) tmux('send-keys', '-t', 'me', key);
    keys += pressed.length;
    const tookSeconds = await seen(words, until, patienceMs);
    const label = pressed.length === 0 ? 'make start' : `key ${keys}: ${pressed.join(' ')}`;
    console.log(`${label}: ${tookSeconds.toFixed(1)} s`);
    writeFileSync(picturePath(place + 1), terminalPicture(tmux('capture-pane', '-p', '-e', '-t', 'me'), size, label));
    parts.push(`## ${place + 1}. \`${pressed.length === 0 ? 'make start' : pressed.join(' ')}\``, '', words, '');
    parts.push(`![${label}](first-${place + 1}.svg)`, '');
  }
  if (keys > keysMax) throw new Error(`${keys} keys were needed, more than ${keysMax}`);
  tmux('send-keys', '-t', 'me', 'q');
  await seen('its last words', /The demo has ended/, stepMs);
  const lines = [
    '# The first minute',
    '',
    '<!-- Written by scripts/first-minute.ts: run `make first-minute` to renew it. -->',
    '',
    `What is seen where no agent runs yet, ${keys} keys from \`make start\` to an answered request. \`q\` ends it, and its tmux server, daemon and`,
    'files are gone. Where agents run in your tmux, `make start` lists those instead. `make first-minute` plays all of it on a terminal of',
    'tmux, from `git clone` on, in an empty home, checks each step, and renews these pictures.',
    '',
    '```sh',
    'git clone <this repository> && cd agtmux',
    'make start',
    '```',
    '',
    ...parts,
    'Next: `./agtmux setup` asks before each change what it may add for your own agents. [The tour](tour.md) goes on from here.',
    '',
  ];
  writeFileSync(join(root, 'docs/first-minute.md'), lines.join('\n'));
}

try {
  await play();
} finally {
  spawnSync('tmux', ['-L', 'first', 'kill-server'], { env });
  rmSync(directory, { recursive: true, force: true });
}
