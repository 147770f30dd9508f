// Recorded conversations over ACP as scenes for the replay. Some hold one prompt of a longer run: how the agent said hello
// stands in a recording of its own then.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fields, fieldsIn, parseFields, rowsOf, textOf } from '../../src/agents/fields.ts';
import type { Label, Recorded } from './recorded-sessions.ts';
import type { Scene } from './replay-session.ts';

const folder = new URL('../fixtures/sessions/acp/', import.meta.url).pathname;

export interface AcpLabel extends Label {
  /** The recording whose end this is: both are played. */
  readonly after?: string;
}

interface Row {
  readonly at: number;
  readonly dir: string;
  readonly message: unknown;
}

function rowsIn(name: string): readonly Row[] {
  const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const { t, dir, msg } = fieldsIn(parseFields(line));
    return { at: Number(t), dir: String(dir), message: msg };
  });
}

/** The recording with what went before it. */
function wholeOf(name: string, label: AcpLabel | undefined): readonly Row[] {
  const rows = [...(label?.after === undefined ? [] : rowsIn(label.after)), ...rowsIn(name)];
  const hasHello = rows.some(({ message }) => fieldsIn(message).method === 'initialize');
  const agent = /^.+?\d+\.\d+\.\d+/.exec(name)?.[0];
  return hasHello ? rows : [...rowsIn(`${agent}-init`), ...rows];
}

/** What a person is asked by; files are not a person's affair. */
const asking = ['session/request_permission', 'elicitation/create'];

const textIn = (parts: unknown): string =>
  rowsOf(parts)
    .flatMap(({ text }) => textOf(text) ?? [])
    .join('\n');

export function acpRecording(name: string, label?: AcpLabel): Recorded {
  const rows = wholeOf(name, label);
  const start = rows[0]?.at ?? 0;
  const teller = new Teller();
  const scenes = rows.flatMap(({ at, dir, message }) => teller.tell(at - start, dir, message));
  const client = rows.filter(({ dir }) => dir === '>').map(({ message }) => fieldsIn(message));
  return { prompt: teller.prompt ?? '', scenes, client };
}

/** Which conversation a recording goes on with. */
export function resumedIn(name: string): string | null {
  const load = rowsIn(name).find(({ message }) => fieldsIn(message).method === 'session/load');
  return name.endsWith('-load') ? textOf(fieldsIn(fieldsIn(load?.message).params).sessionId) : null;
}

/** Follows a recording: which session is ours, which replies are to requests that we would make, how the last turn ended. */
class Teller {
  prompt: string | null = null;
  #session: unknown = null;
  #isFailed = false;
  readonly #ids = new Map<unknown, number>();
  /** What the agent asked and nobody answered yet; a stop answers everything. */
  readonly #asked = new Set<unknown>();

  tell(at: number, dir: string, message: unknown): readonly Scene[] {
    const fields = fieldsIn(message);
    switch (dir) {
      case '<':
        return this.#heard(at, fields);
      case 'stderr':
        return String(message)
          .trim()
          .split('\n')
          .map((line) => ({ at, heard: { from: 'stderr', line } }));
      case 'exit':
        return [{ at, heard: { from: 'exit', code: fields.code as number | null, signal: textOf(fields.signal) } }];
      default:
        return this.#deed(at, fields);
    }
  }

  #heard(at: number, fields: Fields): readonly Scene[] {
    const words = textOf(fieldsIn(fieldsIn(fieldsIn(fields.params).update).content).text);
    if (words !== null) this.#isFailed = words.startsWith('Error: ');
    if (fields.id !== undefined && asking.includes(String(fields.method))) this.#asked.add(fields.id);
    if (fields.method !== undefined) return [{ at, heard: { from: 'stdout', line: JSON.stringify(fields) } }];
    const id = this.#ids.get(fields.id);
    if (id === undefined) return [];
    if (fields.error !== undefined) this.#isFailed = true;
    this.#session ??= fieldsIn(fields.result).sessionId ?? null;
    return [{ at, heard: { from: 'stdout', line: JSON.stringify({ ...fields, id }) } }];
  }

  #deed(at: number, fields: Fields): readonly Scene[] {
    const params = fieldsIn(fields.params);
    const isOurs = this.#session === null || params.sessionId === this.#session;
    switch (fields.method) {
      case 'initialize':
        this.#own(fields.id);
        return [];
      case 'session/new':
      case 'session/load':
        if (this.#session === null) this.#own(fields.id);
        this.#session ??= params.sessionId ?? null;
        return [];
      case 'session/prompt':
        return isOurs ? this.#prompt(at, fields.id, textIn(params.prompt)) : [];
      case 'session/cancel':
        this.#asked.clear();
        return [{ at, deed: { action: 'stop' } }];
      case undefined:
        return this.#asked.delete(fields.id) ? this.#answer(at, fieldsIn(fields.result)) : [];
      default:
        return [];
    }
  }

  /** Replies get the numbers that our own requests have. */
  #own(id: unknown): void {
    this.#ids.set(id, this.#ids.size + 1);
  }

  #prompt(at: number, id: unknown, text: string): readonly Scene[] {
    this.#own(id);
    const isRetry = this.#isFailed;
    this.#isFailed = false;
    if (this.prompt === null) {
      this.prompt = text;
      return [];
    }
    return [{ at, deed: isRetry ? { action: 'retry' } : { action: 'send', text } }];
  }

  #answer(at: number, result: Fields): readonly Scene[] {
    const { outcome, optionId } = fieldsIn(result.outcome);
    // A question is not refused: it is answered, or the turn is stopped.
    if (result.action === 'decline') return [{ at, deed: { action: 'answer', option: '1' } }];
    const isNo = /reject|cancel/.test(`${outcome} ${optionId}`);
    return [{ at, deed: isNo ? { action: 'reject' } : { action: 'approve' } }];
  }
}
