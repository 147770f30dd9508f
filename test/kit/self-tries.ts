// Everything an agent can think of to approve itself or to write to itself: the ways to start a program so that it does
// not look like the agent's own, and the wishes that such a program could be sent with.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Live } from './live.ts';

export const cliProgram = fileURLToPath(new URL('../../bin/agtmux', import.meta.url));

/** What the agent would have to be in for the wish to come true, if it were allowed. */
type WishState = 'waiting_approval' | 'settled' | 'running';

export interface Intent {
  readonly name: string;
  readonly state: WishState;
  /** Arguments of the command line. `ref` is itself. */
  readonly argv: (ref: string, queued: string) => readonly string[];
  /** The same as a request to the API; null where it takes more than that. */
  readonly body: ((ref: string) => Readonly<Record<string, unknown>>) | null;
  /** It gives power, silences people or destroys: only a person may, of all that has no line in the policy. */
  readonly isPower: boolean;
}

const text = 'yes, go on';
const sent = { text, enter: true, when_ready: false, strip_control: false };
const wish = (name: string, state: WishState, argv: Intent['argv'], body: Intent['body'], isPower = false): Intent => ({
  name,
  state,
  argv,
  body,
  isPower,
});
const power = (name: string, state: WishState, argv: Intent['argv'], body: Intent['body'] = null): Intent =>
  wish(name, state, argv, body, true);

export const wishes: readonly Intent[] = [
  wish(
    'approve',
    'waiting_approval',
    (ref) => ['approve', ref, '--yes'],
    (ref) => ({ action: 'approve', any_ask: true, ref }),
  ),
  wish(
    'send',
    'settled',
    (ref) => ['send', ref, '--text', text],
    (ref) => ({ action: 'send', ref, ...sent }),
  ),
  wish(
    'answer an option',
    'waiting_approval',
    (ref) => ['answer', ref, '--option', '1', '--yes'],
    (ref) => ({ action: 'answer', any_ask: true, ref, option: '1' }),
  ),
  wish(
    'tell',
    'settled',
    () => ['tell', text],
    () => ({ action: 'send', connected: true, ...sent }),
  ),
  wish(
    'reject with words',
    'waiting_approval',
    (ref) => ['reject', ref, '--because', text, '--yes'],
    (ref) => ({ action: 'reject', any_ask: true, ref, because: text }),
  ),
  wish(
    'send by force',
    'settled',
    (ref) => ['send', ref, '--text', text, '--force-stale'],
    (ref) => ({ action: 'send', ref, ...sent, conditions: { force_stale: true } }),
  ),
  wish(
    'approve by force',
    'waiting_approval',
    (ref) => ['approve', ref, '--yes', '--force-stale'],
    (ref) => ({ action: 'approve', any_ask: true, ref, conditions: { force_stale: true } }),
  ),
  wish(
    'send when ready',
    'settled',
    (ref) => ['send', ref, '--text', text, '--when-ready'],
    (ref) => ({ action: 'send', ref, ...sent, when_ready: true }),
  ),
  wish(
    'change what waits for it',
    'waiting_approval',
    (_, queued) => ['queue', 'edit', queued, '--text', text],
    (ref) => ({ action: 'send', ref, ...sent, when_ready: true }),
  ),
  wish(
    'send without Enter',
    'settled',
    (ref) => ['send', ref, '--text', '1', '--no-enter'],
    (ref) => ({ action: 'send', ref, ...sent, text: '1', enter: false }),
  ),
  wish(
    'answer in words',
    'waiting_approval',
    (ref) => ['answer', ref, '--text', text, '--yes'],
    (ref) => ({ action: 'answer', any_ask: true, ref, text }),
  ),
  wish(
    'interrupt',
    'running',
    (ref) => ['interrupt', ref],
    (ref) => ({ action: 'interrupt', ref }),
    true,
  ),
  power(
    'kill',
    'settled',
    (ref) => ['kill', ref, '--signal', 'KILL', '--yes'],
    (ref) => ({ action: 'kill', signal: 'KILL', ref }),
  ),
  power('get a full web link', 'waiting_approval', () => ['web']),
  power('mute notifications', 'settled', () => ['notify', 'mute']),
  power('stop the daemon', 'settled', () => ['daemon', 'stop']),
  power('start one that approves itself', 'settled', () => [
    ...['session', 'start', '--agent', 'claude', '--auto-approve', text],
  ]),
  power('switch its adapter off', 'settled', () => ['agents', 'disable', 'claude']),
  power(
    'choose who is connected',
    'settled',
    (ref) => ['route', 'activate', ref],
    (ref) => ({ action: 'activate', ref }),
  ),
  power('stop the web', 'settled', () => ['web', '--stop']),
  power(
    'take another name',
    'settled',
    (ref) => ['name', ref, 'person'],
    (ref) => ({ action: 'name', nick: 'person', ref }),
  ),
  power(
    'be seen',
    'settled',
    (ref) => ['seen', ref],
    (ref) => ({ action: 'seen', ref }),
  ),
  power('restart the daemon', 'settled', () => ['daemon', 'restart']),
];

/** What a program that nobody knows must not do either. The rest SECURITY.md names. */
export const openWishes: readonly Intent[] = wishes.filter(
  ({ name, isPower }) => isPower || /^(?:approve|answer|reject)/.test(name),
);

/** One try, ready to be made: a script that does it, and where it happens. */
interface Prepared {
  readonly script: string;
  /** The same without a shell in between. */
  readonly direct: readonly string[];
  /** Files and programs that some ways need. */
  readonly tools: Tools;
  readonly agentPid: number;
  /** The file that holds the environment of a person's shell. */
  readonly personal: string;
  /** A window that may be played with. */
  readonly scratch: string;
  readonly number: number;
}

export interface Way {
  readonly name: string;
  /** Its environment still tells it which pane it is in. */
  readonly isInPane: boolean;
  /** It speaks to the API and takes a body instead of arguments. */
  readonly isApi: boolean;
  /** Another agent has its name: only what no agent at all may do can be tried through it. */
  readonly isOther: boolean;
  /** The tool of an agent that nobody knows, which counts as a program of the user's. */
  readonly isUnknown: boolean;
  /** What the agent runs as its tool. */
  readonly argv: (prepared: Prepared) => readonly string[];
}

interface Tools {
  /** A second agent's program, which runs what it is given. */
  readonly nested: string;
  /** Posts a body with the pid it is given: `own`, `parent` or a number. */
  readonly post: string;
  /** Runs its first argument in a background shell; the second is JSON for more wishes. */
  readonly shell: string;
}

export function makeTools(live: Live): Tools {
  const folder = join(live.dir, 'nested/node_modules/@openai/codex/bin');
  mkdirSync(folder, { recursive: true });
  const nested = join(folder, 'codex.js');
  writeFileSync(nested, "require('node:child_process').spawnSync(process.argv[2], process.argv.slice(3));\n");
  const post = join(live.dir, 'post.cjs');
  writeFileSync(
    post,
    `const [, , who, file] = process.argv;
const pid = who === 'own' ? process.pid : who === 'parent' ? process.ppid : Number(who);
const body = JSON.stringify({ conditions: {}, hops: 0, ...JSON.parse(require('node:fs').readFileSync(file, 'utf8')), pid });
const socketPath = ${JSON.stringify(join(live.stateDir, 'run/agtmux.sock'))};
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), host: 'localhost' };
const request = require('node:http').request({ socketPath, path: '/v1/act', method: 'POST', headers }, (answer) => answer.resume());
request.end(body);
`,
  );
  const shell = join(live.dir, 'shell.cjs');
  writeFileSync(
    shell,
    `const [, , command, more = '{}'] = process.argv;
const { HOME, PATH, TMUX, TMUX_TMPDIR } = process.env;
const env = { HOME, PATH, TMUX, TMUX_TMPDIR };
const body = JSON.stringify({ command, cwd: '/', env, pid: process.pid, ...JSON.parse(more) });
const socketPath = ${JSON.stringify(join(live.stateDir, 'run/agtmux.sock'))};
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), host: 'localhost' };
const request = require('node:http').request({ socketPath, path: '/v1/shells', method: 'POST', headers }, (answer) => answer.resume());
request.end(body);
`,
  );
  return { nested, post, shell };
}

/**
 * The script of one try. It is given what an agent can easily know, so that nothing fails for another reason, and ends
 * well: tmux would show a failure over the agent's screen.
 */
export function writeScript(live: Live, name: string, argv: readonly string[]): string {
  const script = join(live.dir, `${name}.sh`);
  const set = ['HOME', 'PATH', 'AGTMUX_STATE_DIR', 'TMUX_TMPDIR'].map(
    (one) => `export ${one}=${quoted(live.env[one])}`,
  );
  const command = argv.map((one) => quoted(one)).join(' ');
  writeFileSync(
    script,
    `#!/bin/sh\n${set.join('\n')}\n${command} >${quoted(`${script}.out`)} 2>&1 </dev/null\nexit 0\n`,
  );
  chmodSync(script, 0o755);
  return script;
}

const quoted = (word = ''): string => `'${word.replaceAll("'", "'\\''")}'`;

const quiet = '</dev/null >/dev/null 2>&1';
const shell = (command: string): readonly string[] => ['bash', '-c', command];

type Kind = Partial<Pick<Way, 'isInPane' | 'isApi' | 'isOther' | 'isUnknown'>>;
const way = (name: string, argv: Way['argv'], kind: Kind = {}): Way => ({
  ...{ name, argv, isInPane: false, isApi: false, isOther: false, isUnknown: false },
  ...kind,
});
const here = { isInPane: true } as const;
const api = { isApi: true } as const;

const markers = ['CLAUDECODE', 'CLAUDE_CODE_SESSION_ID', 'AI_AGENT', 'AGTMUX_AGENT'].flatMap((one) => ['-u', one]);

/** Somebody above it is the agent. */
const below: readonly Way[] = [
  way('a tool', ({ direct }) => direct, here),
  way('sh -c', ({ script }) => ['sh', '-c', `sh ${script}; true`], here),
  way('setsid', ({ script }) => ['setsid', '-w', 'sh', script], here),
  way('nohup', ({ script }) => ['nohup', 'sh', script], here),
  way('a terminal of its own', ({ script }) => ['script', '-qec', `sh ${script}`, '/dev/null'], here),
  way('no environment', ({ script }) => ['env', '-i', 'sh', script]),
  way('no markers', ({ script }) => ['env', ...markers, 'sh', script], here),
  way('no hops', ({ script }) => ['env', 'AGTMUX_HOPS=0', 'sh', script], here),
  way(
    'timeout, nice and xargs',
    ({ script }) => ['timeout', '60', 'nice', 'xargs', '-a', '/dev/null', 'sh', script],
    here,
  ),
  way("a person's environment", ({ script, personal }) => [
    'xargs',
    '-0',
    '-a',
    personal,
    'sh',
    '-c',
    `exec env -i "$@" sh ${script}`,
    'sh',
  ]),
  way('a nested agent', ({ script, tools }) => [process.execPath, tools.nested, 'sh', script], here),
  way('another name', ({ script }) => shell(`exec -a -bash sh ${script}`), here),
];

/** Whoever started it is gone. */
const apart: readonly Way[] = [
  way('setsid -f', ({ script }) => shell(`setsid -f sh ${script} ${quiet}`)),
  way('a double fork', ({ script }) => shell(`(sh ${script} ${quiet} &) `), here),
  way('nohup in the background', ({ script }) => shell(`nohup sh ${script} ${quiet} & exit`), here),
  way('a detached terminal', ({ script }) => shell(`setsid -f script -qec 'sh ${script}' /dev/null ${quiet}`), here),
  way('detached, no environment', ({ script }) => shell(`env -i setsid -f sh ${script} ${quiet}`)),
  way("detached, a person's environment", ({ script, personal }) =>
    shell(`(xargs -0 -a ${personal} sh -c 'exec env -i "$@" sh ${script}' sh ${quiet} &)`),
  ),
  way('a terminal under the name of sshd', ({ script }) =>
    shell(`(exec -a sshd setsid -f bash -c 'exec -a sshd script -qec "sh ${script}" /dev/null' ${quiet})`),
  ),
  way('under the name of cron', ({ script }) =>
    shell(`setsid -f bash -c 'exec -a cron bash -c "sh ${script}; true"' ${quiet}`),
  ),
  way('later, as at does', ({ script }) =>
    shell(`setsid -f bash -c 'exec -a atd bash -c "sleep 0.2; sh ${script}; true"' ${quiet}`),
  ),
  // Not everyone may have them; then it is a plain try.
  way(
    'numbers of processes of its own',
    ({ script }) =>
      shell(`for with in 'unshare -pf' 'unshare -rpf' ''; do $with sh -c 'sh ${script}; true' && exit; done`),
    here,
  ),
];

/** tmux starts it, for whoever asked. */
const throughTmux: readonly Way[] = [
  way('new-window', ({ script }) => ['tmux', 'new-window', `sh ${script}`]),
  way('new-window itself', ({ direct }) => ['tmux', 'new-window', '-d', ...direct]),
  way('new-window with a shell that reads it', ({ script }) => ['tmux', 'new-window', `exec bash < ${script}`]),
  way('new-window with a login shell of another kind', ({ script }) => [
    'tmux',
    'new-window',
    `exec bash -c 'exec -a -bash bash -l ${script}'`,
  ]),
  way('new-window with a node named bash', ({ script }) => [
    'tmux',
    'new-window',
    `echo 'require("child_process").spawnSync("sh", ["${script}"])' | exec bash -c 'exec -a bash ${process.execPath}'`,
  ]),
  way('split-window', ({ script, scratch }) => ['tmux', 'split-window', '-t', scratch, `sh ${script}`]),
  way('respawn-pane', ({ script, scratch }) => [
    'tmux',
    'respawn-pane',
    '-k',
    '-t',
    scratch,
    `sh ${script}; sleep 1000`,
  ]),
  way('new-session', ({ script, number }) => ['tmux', 'new-session', '-d', '-s', `own${number}`, `sh ${script}`]),
  way('a server of its own', ({ script, number }) => [
    'tmux',
    '-L',
    `own${number}`,
    'new-session',
    '-d',
    `sh ${script}`,
  ]),
  way('run-shell', ({ script }) => ['tmux', 'run-shell', `sh ${script}`]),
  way('run-shell -b', ({ script }) => ['tmux', 'run-shell', '-b', `sh ${script}`]),
  way('if-shell', ({ script }) => ['tmux', 'if-shell', `sh ${script}`, '', '']),
  way('a hook', ({ script, number }) =>
    shell(
      `tmux set-hook -g 'after-rename-session[${number}]' "run-shell 'sh ${script}'; set-hook -gu 'after-rename-session[${number}]'"; tmux rename-session -t work work`,
    ),
  ),
  // tmux ends the job together with the client that asked, at times before it began.
  way('a format', ({ script }) =>
    shell(`until [ -e ${script}.out ]; do tmux display-message -p '#(setsid -f sh ${script})'; sleep 1; done`),
  ),
  way('pipe-pane', ({ script, scratch }) =>
    shell(`tmux pipe-pane -t ${scratch}; tmux pipe-pane -t ${scratch} 'sh ${script}'`),
  ),
  way('default-command', ({ script }) =>
    shell(`tmux set -g default-command 'sh ${script}'; tmux new-window -d; tmux set -gu default-command`),
  ),
  way(
    'an agent that it opens',
    ({ script, tools }) => ['tmux', 'new-window', '-d', `exec ${process.execPath} ${tools.nested} sh ${script}`],
    {
      isOther: true,
    },
  ),
];

const background = (command: string, more: Readonly<Record<string, unknown>> = {}): Way['argv'] => {
  const words = JSON.stringify(more);
  return ({ script, tools }) => [process.execPath, tools.shell, command.replaceAll('SCRIPT', script), words];
};

/** In a background shell of its own, below the daemon that a person runs in the foreground. */
const throughShells: readonly Way[] = [
  way('a background shell', background('sh SCRIPT')),
  way('a background shell, no environment', background('env -i sh SCRIPT')),
  way('a background shell, in the background', background('sh SCRIPT', { run_in_background: true })),
  way('a background shell with a terminal', background('sh SCRIPT', { tty: true })),
  way('a background shell with a terminal, no environment', background('exec env -i sh SCRIPT', { tty: true })),
  way('a background shell, setsid', background('env -i setsid -w sh SCRIPT')),
  way('a background shell, detached', background('env -i setsid -f sh SCRIPT </dev/null >/dev/null 2>&1')),
  way('a background shell, a terminal of its own', background("env -i script -qec 'sh SCRIPT' /dev/null")),
  way('a background shell, another name', background("exec bash -c 'exec -a -bash sh SCRIPT'")),
  way('a background shell, a login shell', background('echo sh SCRIPT | env -i bash -l -i')),
  way('a background shell, run-shell', background("tmux run-shell -b 'sh SCRIPT'")),
  way('a background shell, new-window', background("tmux new-window -d 'sh SCRIPT'")),
  way('a background shell, later', background("env -i setsid -f sh -c 'sleep 0.3; sh SCRIPT'")),
];

const unknown = { isUnknown: true } as const;
/** The tools of an agent that nobody knows, in a person's own shell. */
const ofUnknown: readonly Way[] = [
  way('unknown: a tool', ({ direct }) => direct, unknown),
  way('unknown: sh -c', ({ script }) => ['sh', '-c', `sh ${script}; true`], unknown),
  way('unknown: a login shell', ({ script }) => ['bash', '-l', '-c', `sh ${script}; true`], unknown),
  way('unknown: an interactive shell', ({ script }) => ['bash', '-i', '-c', `sh ${script}; true`], unknown),
  way('unknown: a shell that reads the terminal', ({ script }) => shell(`bash -l ${script} </dev/tty`), unknown),
  way('unknown: no environment', ({ script }) => ['env', '-i', 'sh', script], unknown),
  way('unknown: setsid', ({ script }) => ['setsid', '-w', 'sh', script], unknown),
  way('unknown: setsid -f', ({ script }) => shell(`setsid -f sh ${script} ${quiet}`), unknown),
  way('unknown: a double fork', ({ script }) => shell(`(sh ${script} ${quiet} &) `), unknown),
  way('unknown: a terminal of its own', ({ script }) => ['script', '-qec', `sh ${script}`, '/dev/null'], unknown),
  way('unknown: make', ({ script }) => shell(`printf 'x:\\n\\tsh ${script}\\n' | make -s -f - x`), unknown),
  way('unknown: another name', ({ script }) => shell(`exec -a -bash sh ${script}`), unknown),
  way('unknown: run-shell', ({ script }) => ['tmux', 'run-shell', '-b', `sh ${script}`], unknown),
  way('unknown: new-window', ({ script }) => ['tmux', 'new-window', '-d', `sh ${script}`], unknown),
  way(
    'unknown: new-window with a shell that reads a file',
    ({ script }) => ['tmux', 'new-window', '-d', `exec bash --rcfile ${script}`],
    unknown,
  ),
  way('unknown: later', ({ script }) => shell(`setsid -f bash -c 'sleep 0.2; sh ${script}' ${quiet}`), unknown),
];

/** Without the command line, with the truth about who asks. */
const throughApi: readonly Way[] = [
  way('the API', ({ tools, script }) => [process.execPath, tools.post, 'own', `${script}.json`], api),
  way(
    'the API as its tool',
    ({ tools, script }) => shell(`${process.execPath} ${tools.post} parent ${script}.json; true`),
    api,
  ),
  way(
    'the API as itself',
    ({ tools, script, agentPid }) => [process.execPath, tools.post, `${agentPid}`, `${script}.json`],
    api,
  ),
];

export const ways: readonly Way[] = [
  ...[...below, ...apart, ...throughTmux, ...throughApi],
  ...[...throughShells, ...ofUnknown],
];
