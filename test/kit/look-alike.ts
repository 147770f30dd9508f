// Programs that look like agents to whoever asks their process, and draw the screens they are told to: what the daemon
// makes of a screen can be tried without the real program. They draw at once and say when they did.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Live } from './live.ts';
import { until } from './live.ts';

const agentsRoom = fileURLToPath(new URL('../../src/agents/', import.meta.url));

const scripts = {
  claude: '@anthropic-ai/claude-code/cli.js',
  codex: '@openai/codex/bin/codex.js',
  gemini: '@google/gemini-cli/dist/index.js',
} as const;

export type LookAlikeKind = keyof typeof scripts;

/**
 * Draws what stands in the file named by AGTMUX_LOOK_ALIKE whenever it changes, and notes the time in `<file>.drawn`. What is
 * typed stands behind it until Enter. AGTMUX_LOOK_MS is how often it reads the file: many for a long time should do so rarely.
 */
const program = `
const fs = process.getBuiltinModule('node:fs');
const file = process.env.AGTMUX_LOOK_ALIKE;
fs.writeFileSync(file + '.pid', String(process.pid));
let seen = '';
let spinning, turn = 3, hushed = null, picture = '';
const look = () => {
  let text = '';
  try { text = fs.readFileSync(file, 'utf8'); } catch { return; }
  if (text === seen) return;
  seen = text;
  const { screen, title, mark, bytes, calls, spinMs, hush } = JSON.parse(text);
  hushed = hush ?? hushed;
  clearInterval(spinning);
  if (spinMs) spinning = setInterval(() => process.stdout.write('\\u001b[H' + screen.split('\\n').join('\\r\\n').replaceAll('(3s', '(' + (turn += 1) + 's')), spinMs);
  const env = { ...process.env, TMUX_PANE: calls?.pane ?? process.env.TMUX_PANE };
  for (const { argv, input } of (calls?.list ?? []).filter(({ waits }) => waits)) {
    const call = process.getBuiltinModule('node:child_process').spawn(argv[0], argv.slice(1), { env });
    call.stdin.end(input);
    call.stdout.on('data', (data) => fs.appendFileSync(file + '.answers', data));
    call.on('close', () => fs.appendFileSync(file + '.answers', 'END\\n'));
  }
  for (const { argv, input } of (calls?.list ?? []).filter(({ waits }) => !waits)) process.getBuiltinModule('node:child_process').spawnSync(argv[0], argv.slice(1), { input, env });
  if (screen === null) return fs.appendFileSync(file + '.drawn', mark + ' ' + Date.now() + '\\n');
  picture = '\\u001b[2J\\u001b[H' + screen.split('\\n').join('\\r\\n');
  process.stdout.write((title === null ? '' : '\\u001b]0;' + title + '\\u0007') + picture + bytes, () => {
    fs.appendFileSync(file + '.drawn', mark + ' ' + Date.now() + '\\n');
  });
};
process.stdin.setRawMode?.(true);
process.stdin.on('data', (data) => {
  fs.appendFileSync(file + '.typed', data);
  if (process.env.AGTMUX_LOOK_ECHO && !(hushed && data.toString().includes(hushed))) process.stdout.write(data.toString().replaceAll('\\r', picture));
  if (data.toString() === 'q') { process.stdout.write('\\u001b]0;\\u0007\\u001b[2J\\u001b[H', () => process.exit(0)); } });
setInterval(look, Number(process.env.AGTMUX_LOOK_MS ?? 8));
look();
`;

export class LookAlike {
  readonly kind: LookAlikeKind;
  readonly pane: string;
  readonly #file: string;
  #marks = 0;

  private constructor(kind: LookAlikeKind, pane: string, file: string) {
    this.kind = kind;
    this.pane = pane;
    this.#file = file;
  }

  /** In a new window of the session; `through` is a program that starts it elsewhere, `server` names another server. */
  static start(
    live: Live,
    kind: LookAlikeKind,
    session: string,
    through = '',
    cwd: string = live.dir,
    server: readonly string[] = [],
  ): LookAlike {
    const { file, own } = LookAlike.#prepare(live, kind);
    const command = through === '' ? own : `${through} '${own}'`;
    const pane = live.tmux(...server, 'new-window', '-t', `${session}:`, '-c', cwd, '-P', '-F', '#{pane_id}', command);
    return new LookAlike(kind, pane, file);
  }

  /** In a terminal of its own, without tmux: `script` gives it one. Nobody it belongs to is above it. Ends with `end`. */
  static startOutside(live: Live, kind: LookAlikeKind, variables: Readonly<Record<string, string>> = {}): LookAlike {
    const { file, own } = LookAlike.#prepare(live, kind);
    execFileSync('setsid', ['--fork', 'script', '-qfc', `exec env ${own}`, '/dev/null'], {
      env: { ...live.env, ...variables },
      stdio: 'ignore',
      cwd: live.dir,
    });
    return new LookAlike(kind, '', file);
  }

  /** By whatever starts programs: it is given the command. */
  static startBy(live: Live, kind: LookAlikeKind, start: (own: string) => void): LookAlike {
    const { file, own } = LookAlike.#prepare(live, kind);
    start(own);
    return new LookAlike(kind, '', file);
  }

  /** The process of the program, once it has drawn something. */
  get pid(): number {
    return Number(readFileSync(`${this.#file}.pid`, 'utf8'));
  }

  end(signal: NodeJS.Signals = 'SIGKILL'): void {
    process.kill(this.pid, signal);
  }

  /** All in one command of tmux: as close to the same moment as a machine comes. */
  static startTogether(live: Live, kinds: readonly LookAlikeKind[], session: string): readonly LookAlike[] {
    const made = kinds.map((kind) => ({ kind, ...LookAlike.#prepare(live, kind) }));
    const args = made.flatMap(({ own }) => [
      ...['new-window', '-t', `${session}:`, '-P', '-F', '#{pane_id}', `exec env ${own}`, ';'],
    ]);
    const panes = live.tmux(...args.slice(0, -1)).split('\n');
    return made.map(({ kind, file }, index) => new LookAlike(kind, panes[index] ?? '', file));
  }

  /** Typed at the shell that a terminal already has, as a person would. */
  static startInside(live: Live, kind: LookAlikeKind, pane: string): LookAlike {
    const { file, own } = LookAlike.#prepare(live, kind);
    live.tmux('send-keys', '-t', pane, '-l', own);
    live.tmux('send-keys', '-t', pane, 'Enter');
    return new LookAlike(kind, pane, file);
  }

  /** The same program by a name that belongs to no agent: one that nobody knows. */
  static startUnknown(live: Live, pane: string, place = 'thing/main.js'): LookAlike {
    const { file, own } = LookAlike.#prepare(live, 'claude', place);
    live.tmux('send-keys', '-t', pane, '-l', own);
    live.tmux('send-keys', '-t', pane, 'Enter');
    return new LookAlike('claude', pane, file);
  }

  /** In place of whatever runs in the pane. */
  static startInstead(live: Live, kind: LookAlikeKind, pane: string): LookAlike {
    const { file, own } = LookAlike.#prepare(live, kind);
    live.tmux('respawn-pane', '-k', '-t', pane, `exec env ${own}`);
    return new LookAlike(kind, pane, file);
  }

  /** A program of the agent's name in this directory, for whoever looks it up in the PATH; its pane is not known here. */
  static putOnPath(live: Live, kind: LookAlikeKind, directory: string): LookAlike {
    const { file, own } = LookAlike.#prepare(live, kind);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, kind), `#!/bin/sh\nexec env ${own} "$@"\n`, { mode: 0o755 });
    return new LookAlike(kind, '', file);
  }

  static #prepare(
    live: Live,
    kind: LookAlikeKind,
    path: string = scripts[kind],
  ): { readonly file: string; readonly own: string } {
    const script = join(live.dir, 'node_modules', path);
    mkdirSync(join(script, '..'), { recursive: true });
    // Written once: another may be starting from it at this moment.
    if (!existsSync(script)) writeFileSync(script, program);
    const file = join(live.dir, `look-${Math.random().toString(36).slice(2)}`);
    return { file, own: `AGTMUX_LOOK_ECHO=1 AGTMUX_LOOK_ALIKE=${file} ${process.execPath} ${script}` };
  }

  /** Everything that was typed at it, without the marks of a paste. */
  typed(): string {
    return this.typedBytes().replaceAll('\u001b[200~', '').replaceAll('\u001b[201~', '');
  }

  /** The same with the marks. */
  typedBytes(): string {
    return existsSync(`${this.#file}.typed`) ? readFileSync(`${this.#file}.typed`, 'utf8') : '';
  }

  /** A recorded screen of the real program. */
  static recorded(kind: LookAlikeKind, name: string): string {
    // A last newline would scroll the first line away.
    return readFileSync(join(agentsRoom, kind, 'fixtures/screens', name), 'utf8').replace(/\n$/, '');
  }

  /** What the calls that it waits for have printed; END where one has ended. */
  answers(): string {
    return existsSync(`${this.#file}.answers`) ? readFileSync(`${this.#file}.answers`, 'utf8') : '';
  }

  /**
   * Calls programs as an agent calls its hooks: as its own children. `pane` lies about where it is. Those that may take
   * their time come first, and it does something else meanwhile.
   */
  async call(
    list: readonly { readonly argv: readonly string[]; readonly input: string; readonly waits?: boolean }[],
    pane?: string,
  ): Promise<number> {
    return this.#act({ screen: null, title: null, bytes: '', calls: { list, pane } });
  }

  /** From now on it does not show what is typed with these words in it, as an agent that hangs. */
  async hush(words: string): Promise<number> {
    return this.#act({ screen: null, title: null, bytes: '', hush: words });
  }

  /** Draws a screen; resolves with the time at which it was written to the terminal. */
  async show(screen: string, title: string | null = null, bytes = ''): Promise<number> {
    return this.#act({ screen, title, bytes });
  }

  /** Draws again and again, with another number each time. */
  async spin(screen: string, spinMs: number): Promise<number> {
    return this.#act({ screen, title: null, bytes: '', spinMs });
  }

  async #act(what: Readonly<Record<string, unknown>>): Promise<number> {
    this.#marks += 1;
    const mark = String(this.#marks);
    writeFileSync(`${this.#file}.next`, JSON.stringify({ ...what, mark }));
    renameSync(`${this.#file}.next`, this.#file);
    let drawn = 0;
    // Where many programs start at once a runtime takes its time.
    await until(() => {
      drawn = this.#drawnAt(mark);
      return drawn > 0;
    }, 60_000);
    return drawn;
  }

  #drawnAt(mark: string): number {
    try {
      const line = readFileSync(`${this.#file}.drawn`, 'utf8')
        .split('\n')
        .find((one) => one.startsWith(`${mark} `));
      return Number(line?.split(' ')[1] ?? 0);
    } catch {
      return 0;
    }
  }
}
