// A private world whose tmux server gets lost: agents that look real in sessions with splits, each with a conversation of
// its own, and who they are told by their processes alone.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RestorePlanReply, RestoreReply } from '../../../src/api/restore.ts';
import { ActingWorld } from '../../kit/acting.ts';
import { until as untilSoon } from '../../kit/live.ts';

const packages = { claude: '@anthropic-ai/claude-code/cli.js', codex: '@openai/codex/bin/codex.js' } as const;
type Kind = keyof typeof packages;

const hookProgram = fileURLToPath(new URL('../../../bin/agtmux-hook', import.meta.url));

/** Notes each start with its arguments, before anything else, and tells its conversation through its hook. */
const program = `
const fs = require('node:fs');
const args = process.argv.slice(2);
const session = args.map((word) => /0190f3a1-[\\w-]{27,}/.exec(word)?.[0]).find(Boolean) ?? process.env.AGTMUX_SESSION;
const input = JSON.stringify({ session_id: session, hook_event_name: 'UserPromptSubmit', prompt: 'x' });
const kind = process.argv[1].includes('codex') ? 'codex' : 'claude';
fs.appendFileSync(process.env.AGTMUX_STARTS, process.pid + ' ' + process.argv.slice(2).join(' ') + '\\n');
if (session) require('node:child_process').spawn(${JSON.stringify(hookProgram)}, [kind, 'UserPromptSubmit'], { stdio: ['pipe', 'ignore', 'ignore'] }).stdin.end(input);
process.stdout.write('ready\\r\\n');
process.stdin.on('data', (data) => fs.appendFileSync(process.env.AGTMUX_STARTS + '.typed', data));
setInterval(() => undefined, 1_000);
`;

/** Where many programs start at once a runtime takes its time. */
export const until = (holds: () => Promise<boolean> | boolean): Promise<void> => untilSoon(holds, 90_000);

export const sessionOf = (number: number): string => `0190f3a1-7c2b-7d4e-8f00-${String(number).padStart(12, '0')}`;

export class RestoreWorld extends ActingWorld {
  readonly starts = join(this.dir, 'starts');
  readonly #bin = join(this.dir, 'bin');

  constructor() {
    super({ SHELL: '/bin/bash' });
    mkdirSync(this.#bin);
    writeFileSync(this.starts, '');
    for (const [name, path] of Object.entries(packages)) {
      const script = join(this.dir, 'node_modules', path);
      mkdirSync(join(script, '..'), { recursive: true });
      writeFileSync(script, program);
      const starter = join(this.#bin, name);
      writeFileSync(
        starter,
        `#!/bin/sh\nAGTMUX_STATE_DIR=${this.stateDir} AGTMUX_STARTS=${this.starts} exec ${process.execPath} ${script} "$@"\n`,
      );
      chmodSync(starter, 0o755);
    }
    // Where a user's programs are found: a login shell knows, whoever starts it.
    writeFileSync(join(this.dir, 'home/.bash_profile'), `export PATH=${this.#bin}:$PATH PS1='$ ' HISTFILE=/dev/null\n`);
    writeFileSync(join(this.dir, 'home/.bashrc'), `export PATH=${this.#bin}:$PATH PS1='$ ' HISTFILE=/dev/null\n`);
  }

  folder(name: string): string {
    const path = join(this.dir, 'work', name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** A pane with a shell, in a window of its own or beside another pane. */
  pane(session: string, cwd: string, beside: string | null = null): string {
    const known = this.sessions();
    const how =
      beside !== null
        ? ['split-window', '-t', beside]
        : known.includes(session)
          ? ['new-window', '-t', `=${session}:`]
          : ['new-session', '-d', '-s', session, '-x', '160', '-y', '50'];
    const format = ['-P', '-F', '#{pane_id}'];
    return this.tmux(...how, ...format, '-c', cwd, 'exec bash -l');
  }

  sessions(): readonly string[] {
    try {
      return this.tmux('list-sessions', '-F', '#{session_name}').split('\n');
    } catch {
      return [];
    }
  }

  /** Typed at the shell of a pane, as a person starts it; in a conversation that its hook tells, not its arguments. */
  start(kind: Kind, pane: string, session: string | null, ...args: string[]): void {
    const known = session === null ? [] : [`AGTMUX_SESSION=${session}`];
    this.tmux('send-keys', '-t', pane, '-l', [...known, kind, ...args].join(' '));
    this.tmux('send-keys', '-t', pane, 'Enter');
  }

  plan(): Promise<RestorePlanReply> {
    return this.client.get('/v1/restore');
  }

  restore(more: object = {}): Promise<RestoreReply> {
    return this.client.post('/v1/restore', more, { silenceMs: 60_000, caller: { pid: process.pid } });
  }

  /** The record of the layout, as it is on disk. */
  record(): string {
    try {
      return readFileSync(join(this.stateDir, 'layouts.json'), 'utf8');
    } catch {
      return '';
    }
  }

  /** Until all of this stands in the record of the server that runs now. */
  async recorded(...words: readonly string[]): Promise<void> {
    const pid = `|${this.serverPid}|`;
    await until(() => {
      const text = this.record();
      const { servers } = (text === '' ? { servers: [] } : JSON.parse(text)) as { servers: { server: string }[] };
      const here = JSON.stringify(servers.find(({ server }) => server.includes(pid)) ?? null);
      return words.every((word) => here.includes(word));
    });
  }

  /** Each start there was, by its arguments. */
  started(): readonly string[] {
    return readFileSync(this.starts, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.slice(line.indexOf(' ') + 1));
  }

  typed(): string {
    try {
      return readFileSync(`${this.starts}.typed`, 'utf8');
    } catch {
      return '';
    }
  }

  /** Processes of the look-alikes that live now, by their arguments. */
  living(): readonly { readonly pid: number; readonly args: string }[] {
    const lines = execFileSync('ps', ['-ww', '-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    return lines.flatMap((line) => {
      const found = /^\s*(\d+) (.*)$/.exec(line);
      const isOurs = found?.[2]?.startsWith(`${process.execPath} ${this.dir}/node_modules/`) === true;
      return isOurs ? [{ pid: Number(found?.[1]), args: found?.[2] ?? '' }] : [];
    });
  }

  /** Which sessions are open, however often. */
  open(): readonly string[] {
    return this.living()
      .flatMap(({ args }) => /0190f3a1-[\w-]{27,}/.exec(args)?.[0] ?? [])
      .sort();
  }

  /** What every window looks like, without the numbers that tmux gives its panes. */
  layouts(): readonly string[] {
    const format = '#{session_name}:#{window_index} #{window_panes} #{window_layout}';
    const lines = this.tmux('list-windows', '-a', '-F', format).split('\n');
    return lines.map((line) =>
      line
        .replace(/ [0-9a-f]{4},/, ' ')
        .replace(/,\d+(?=[,\]}]|$)/g, '')
        .trim(),
    );
  }

  places(): readonly string[] {
    return this.tmux(
      'list-panes',
      '-a',
      '-F',
      '#{session_name}:#{window_index}.#{pane_index} #{pane_current_path}',
    ).split('\n');
  }

  async loseServer(): Promise<void> {
    const pid = this.serverPid;
    this.tmux('kill-server');
    await until(() => !readdirSync('/proc').includes(String(pid)));
    await until(() => this.living().length === 0);
  }

  override async close(): Promise<void> {
    await super.close();
    for (const { pid } of this.living()) process.kill(pid, 'SIGKILL');
  }
}
