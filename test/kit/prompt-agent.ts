// A program that looks like Claude Code and has a prompt and dialogs that work: what is typed is read in order, drawn a
// moment later as agents do, and submitted a moment after Enter, with whatever came until then, as OpenCode does. It tells
// what was submitted, and which dialog a key came to.

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Live } from './live.ts';
import { until } from './live.ts';
import { LookAlike } from './look-alike.ts';

/**
 * Told in lines of JSON on a file that grows: `prompt`, or `dialog` with a command. It reads its terminal by asking again
 * and again, so that it knows of every moment at which no key had come yet.
 */
const program = `
const fs = require('node:fs');
const { file, idle, asking, drawMs } = JSON.parse(fs.readFileSync(process.env.AGTMUX_PROMPT_AGENT, 'utf8'));
process.stdin.setRawMode(true);
const tty = fs.openSync('/dev/tty', fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
const say = (what) => fs.appendFileSync(file + '.said', JSON.stringify(what) + '\\n');
const now = () => Number(process.hrtime.bigint()) / 1e6;
const bytes = Buffer.alloc(65536);
let text = '', pasted = null, command = null, drawnAt = 0, askedAt = 0, told = 0, dueAt = null, pastes = 0;
fs.writeFileSync(file + '.in', '');
fs.writeSync(1, '\\u001b]0;✳ Claude Code\\u0007\\u001b[?2004h');
const write = (out) => { for (let data = Buffer.from(out); data.length > 0; ) { try { data = data.subarray(fs.writeSync(1, data)); } catch (error) { if (error.code !== 'EAGAIN') throw error; } } };
const shownText = () => {
  const lines = text.split('\\n').flatMap((line) => line.match(/.{1,76}/gu) ?? ['']);
  return lines.map((line, at) => (at === 0 ? '❯ ' : '  ') + line);
};
const draw = () => {
  const rows = command === null
    ? idle.flatMap((line) => (line.startsWith('❯ {}') ? shownText() : [line])).slice(-24)
    : asking.map((line) => line.replaceAll('{}', command));
  write('\\u001b[2J\\u001b[H' + rows.join('\\r\\n'));
  drawnAt = now();
  askedAt = drawnAt;
  dueAt = null;
};
const take = (data) => {
  for (let at = 0; at < data.length; ) {
    if (data.startsWith('\\u001b[200~', at)) { pasted = ''; at += 6; continue; }
    if (data.startsWith('\\u001b[201~', at)) {
      pastes += 1;
      text += pasted.split('\\n').length > 3 ? '[Pasted text #' + pastes + ' +' + pasted.split('\\n').length + ' lines]' : pasted;
      pasted = null;
      at += 6;
      continue;
    }
    const char = data[at];
    at += 1;
    if (pasted !== null) pasted += char;
    else if (command !== null) {
      say({ key: char, command, stoodMs: askedAt - drawnAt, at: Date.now() });
      command = null;
    } else if (char === '\\r') setTimeout(() => { say({ submitted: text }); text = ''; dueAt ??= now(); }, Math.random() * drawMs);
    else if (char === '\\u0015') { text = ''; say({ cleared: true }); }
    else if (char >= ' ') text += char;
  }
  dueAt ??= now() + (command === null ? Math.random() * drawMs : 0);
};
const read = () => {
  try {
    const count = fs.readSync(tty, bytes);
    if (count > 0) take(bytes.toString('utf8', 0, count));
    return count > 0;
  } catch (error) {
    if (error.code !== 'EAGAIN') throw error;
    askedAt = now();
    return false;
  }
};
const obey = () => {
  const lines = fs.readFileSync(file + '.in', 'utf8').split('\\n').slice(0, -1);
  for (const line of lines.slice(told)) {
    const what = JSON.parse(line);
    const apply = () => {
      // What has come before is for what stood there before.
      read();
      if (what.ifCommand !== undefined && command !== what.ifCommand) return say({ done: what.id, swapped: false });
      command = what.command ?? null;
      draw();
      say({ done: what.id, swapped: true });
      // Asked without a pause: for some milliseconds it is known to the microsecond whether a key has come.
      if (what.ifCommand !== undefined) for (const until = now() + 30; now() < until && !read(); );
    };
    if (what.afterMs === undefined) apply();
    else setTimeout(apply, what.afterMs);
  }
  told = lines.length;
};
const turn = () => {
  read();
  obey();
  if (dueAt !== null && now() >= dueAt) draw();
  setTimeout(turn, 1);
};
draw();
turn();
`;

export interface Said {
  readonly submitted?: string;
  readonly key?: string;
  readonly command?: string;
  /** How long the dialog had certainly stood there before the key came, ms. */
  readonly stoodMs?: number;
  readonly at?: number;
  readonly cleared?: true;
  readonly done?: number;
  readonly swapped?: boolean;
}

const idle = LookAlike.recorded('claude', '2.1.325-idle_draft_typed.80x24.txt').split('\n');
const asking = LookAlike.recorded('claude', '2.1.325-approval_bash.80x24.txt').split('\n');
const shownCommand = 'touch made-a.txt && sleep 8';

export class PromptAgent {
  readonly pane: string;
  readonly #file: string;
  #told = 0;

  private constructor(pane: string, file: string) {
    this.pane = pane;
    this.#file = file;
  }

  /** In a new window of the session. It draws what was typed up to `drawMs` later. */
  static async start(live: Live, session: string, drawMs: number): Promise<PromptAgent> {
    const script = join(live.dir, 'node_modules/@anthropic-ai/claude-code/cli.js');
    mkdirSync(join(script, '..'), { recursive: true });
    writeFileSync(script, program);
    const file = join(live.dir, `prompt-${Math.random().toString(36).slice(2)}`);
    const parts = {
      file,
      drawMs,
      idle: idle.map((line) => line.replace(/^❯\shalf typed draft$/u, '❯ {}')),
      // The command above the dialog is another one, so that only the dialog itself tells.
      asking: asking.map((line) => (line === ` ${shownCommand}` ? ' {}' : line.replace(shownCommand, 'earlier'))),
    };
    writeFileSync(`${file}.parts`, JSON.stringify(parts));
    const command = `exec env AGTMUX_PROMPT_AGENT=${file}.parts ${process.execPath} ${script}`;
    const pane = live.tmux('new-window', '-d', '-t', `${session}:`, '-P', '-F', '#{pane_id}', command);
    const agent = new PromptAgent(pane, file);
    await until(() => existsSync(`${file}.in`), 60_000);
    return agent;
  }

  said(): readonly Said[] {
    if (!existsSync(`${this.#file}.said`)) return [];
    const lines = readFileSync(`${this.#file}.said`, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Said);
  }

  submitted(): readonly string[] {
    return this.said().flatMap(({ submitted }) => submitted ?? []);
  }

  /** Shows a dialog that asks for this command; null shows the prompt. Resolves when it was drawn. */
  async show(command: string | null): Promise<void> {
    const id = this.#tell({ command });
    await until(() => this.said().some(({ done }) => done === id), 60_000);
  }

  /** In so many milliseconds another command instead of this one, if that is still asked for. True when it was shown. */
  swap(from: string, to: string, afterMs: number): () => Promise<boolean> {
    const id = this.#tell({ command: to, ifCommand: from, afterMs });
    return async () => {
      await until(() => this.said().some(({ done }) => done === id), 60_000);
      return this.said().find(({ done }) => done === id)?.swapped === true;
    };
  }

  #tell(what: Readonly<Record<string, unknown>>): number {
    this.#told += 1;
    appendFileSync(`${this.#file}.in`, `${JSON.stringify({ ...what, id: this.#told })}\n`);
    return this.#told;
  }
}
