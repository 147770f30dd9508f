// Reads the words of the common commands without a library: loading one would double the time of `agtmux list`. It takes
// only what is plainly right; everything else, help and mistakes too, is left to program.ts, which reads the same table.

import { AgtmuxError } from '../model/errors.ts';
import type { StateName } from '../model/states.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { parseState } from '../view/words.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

/** What was said on the command line, by long names. */
export class Parsed {
  readonly args: readonly string[];
  readonly #options: ReadonlyMap<string, readonly string[]>;

  constructor(args: readonly string[], options: ReadonlyMap<string, readonly string[]>) {
    this.args = args;
    this.#options = options;
  }

  has(name: string): boolean {
    return this.#options.has(name);
  }

  /** The last one wins when an option that takes one value is given twice. */
  value(name: string): string | undefined {
    return this.#options.get(name)?.at(-1);
  }

  values(name: string): readonly string[] {
    return this.#options.get(name) ?? [];
  }
}

export interface Request {
  readonly command: CommandSpec;
  readonly parsed: Parsed;
}

/** Null: not for this reader. */
export function parseQuickly(commands: readonly CommandSpec[], words: readonly string[]): Request | null {
  const [said, ...rest] = words;
  const name = said === '--version' || said === '-V' ? 'version' : said;
  const found = find(commands, name);
  if (found === undefined) return null;
  if (found.commands === undefined) return parseOptions(found, rest);
  const [next] = rest;
  const below = find(found.commands, next);
  if (below !== undefined) return parseOptions(below, rest.slice(1));
  const fallback = find(found.commands, found.fallback);
  return fallback === undefined ? null : parseOptions(fallback, rest);
}

const find = (among: readonly CommandSpec[], name: string | undefined): CommandSpec | undefined =>
  among.find((command) => name !== undefined && (command.name === name || command.alias === name));

function parseOptions(command: CommandSpec, words: readonly string[]): Request | null {
  const options = new Map<string, string[]>();
  const args: string[] = [];
  const wanted = command.arguments ?? [];
  const takesMany = wanted.some(({ isMany }) => isMany === true);
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place] ?? '';
    if (word === '--' && takesMany) {
      args.push(...words.slice(place + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      args.push(word);
      continue;
    }
    const equals = word.startsWith('--') ? word.indexOf('=') : -1;
    const said = equals < 0 ? word : word.slice(0, equals);
    const option = optionOf(command, said);
    if (option === undefined) return null;
    let value = '';
    const isBare = option.isValueOptional === true && equals < 0 && (words[place + 1] ?? '-').startsWith('-');
    if (option.value === undefined) {
      if (equals >= 0) return null;
    } else if (!isBare) {
      if (equals < 0) place += 1;
      value = equals < 0 ? (words[place] ?? '-') : word.slice(equals + 1);
      // A value that looks like an option is more often a forgotten value.
      if (equals < 0 && value.startsWith('-')) return null;
      if (option.choices?.includes(value) === false) return null;
    }
    options.set(option.name, [...(options.get(option.name) ?? []), value]);
  }
  // Whose words those are is told by the library.
  if (wanted.some(({ isRest }) => isRest === true)) return null;
  const needed = wanted.filter(({ isOptional }) => isOptional !== true).length;
  if (args.length < needed || (args.length > wanted.length && !takesMany)) return null;
  if (wanted.some(({ choices }, place) => args[place] !== undefined && choices?.includes(args[place]) === false))
    return null;
  return { command, parsed: new Parsed(args, options) };
}

function optionOf(command: CommandSpec, said: string): OptionSpec | undefined {
  return command.options?.find(
    ({ name, short }) => said === `--${name}` || (short !== undefined && said === `-${short}`),
  );
}

/** States, separated by commas or said several times. */
export function statesOf(option: string, parsed: Parsed): readonly StateName[] {
  return parsed
    .values(option)
    .flatMap((text) => text.split(','))
    .map((text) => {
      const state = parseState(sanitizeLine(foreign(text)));
      if (state.ok) return state.value;
      throw new AgtmuxError(state.failure.code, state.failure.message);
    });
}
