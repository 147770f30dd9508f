// Recorded conversations with Kilo before 7 as scenes for the replay: each line with the control bytes that came before it,
// and what the recording's own client said as what a person did.

import { readFileSync } from 'node:fs';
import { type Fields, fieldsIn, parseFields, textOf } from '../../src/agents/fields.ts';
import type { Scene } from './replay-session.ts';

const folder = new URL('../fixtures/sessions/kilo/', import.meta.url).pathname;

export interface RecordedKilo {
  readonly prompt: string;
  /** Wall time of the start, as the lines tell it. */
  readonly startWall: number;
  readonly scenes: readonly Scene[];
  /** Answers of the recording's client, in order. */
  readonly answers: readonly Fields[];
}

const rowsOf = (name: string): readonly Fields[] =>
  readFileSync(`${folder}${name}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => fieldsIn(parseFields(line)));

export function kiloRecording(name: string): RecordedKilo {
  const rows = rowsOf(name);
  const spoken = rows.flatMap(({ ev, t }) => (ev === undefined ? [] : [{ ev: fieldsIn(ev), t: Number(t) }]));
  const startWall = Math.max(...spoken.map(({ ev, t }) => Number(ev.timestamp) - t));
  const answers: Fields[] = [];
  let before = '';
  let asked: Fields = {};
  let prompt = promptOf(rows);
  const scenes = rows.flatMap((row): readonly Scene[] => {
    const at = Number(row.t);
    switch (row.dir) {
      case 'junk':
        before = String(row.text);
        return [];
      case 'out': {
        const ev = fieldsIn(row.ev);
        if (ev.type === 'ask' && ev.ask !== 'command_output') asked = ev;
        const line = `${before}${JSON.stringify(ev)}`;
        before = '';
        return [{ at, heard: { from: 'stdout', line } }];
      }
      case 'raw':
        return [{ at, heard: { from: 'stdout', line: String(row.text) } }];
      case 'exit':
        return [{ at, heard: { from: 'exit', code: row.code as number | null, signal: textOf(row.signal) } }];
      case 'in': {
        const message = fieldsIn(row.msg);
        if (message.type === 'newTask') return [];
        // Its client answered a doubled line twice.
        if (message.type === 'askResponse' && answers.some(({ to }) => to === asked.timestamp)) return [];
        if (message.type === 'askResponse') answers.push({ ...message, to: asked.timestamp });
        if (prompt !== '') return [{ at, ...deedOf(message, asked) }];
        prompt = String(message.text);
        return [];
      }
      default:
        return [];
    }
  });
  return { prompt, startWall, scenes, answers: answers.map(({ to: _ask, ...rest }) => rest) };
}

/** Said first, or passed as an argument; '' where a conversation is gone on with. */
function promptOf(rows: readonly Fields[]): string {
  const task = rows.map(({ msg }) => fieldsIn(msg)).find(({ type }) => type === 'newTask');
  const args = Array.isArray(rows[0]?.args) ? rows[0].args : [];
  return textOf(task?.text) ?? (args.includes('--auto') ? String(args.at(-1)) : '');
}

type Deed = Extract<Scene, { readonly deed: unknown }>['deed'];

function deedOf(message: Fields, asked: Fields): { readonly deed: Deed } {
  if (message.type === 'cancelTask') return { deed: { action: 'stop' } };
  const text = String(message.text);
  switch (message.askResponse) {
    case 'yesButtonClicked':
      return { deed: asked.ask === 'api_req_failed' ? { action: 'retry' } : { action: 'approve' } };
    case 'noButtonClicked':
      return { deed: { action: 'reject' } };
    default:
      return { deed: asked.ask === 'followup' ? { action: 'answer', option: text } : { action: 'send', text } };
  }
}
