// The same table through commander: help, mistakes with a suggestion, and every spelling of options that it allows. Loaded
// only when the quick reader gave up.

import { Command, CommanderError, Option } from 'commander';
import { AgtmuxError } from '../model/errors.ts';
import { foreign, gateLine } from '../text/gate.ts';
import { type CommandSpec, commands, type OptionSpec } from './commands.ts';
import { print } from './output.ts';
import { Parsed, type Request } from './parse.ts';

const about = 'the true state of every coding agent in tmux, or honestly unknown';

/** Null when help or the version was all that was asked for; it is printed then. */
export function parseFully(words: readonly string[], version: string): Request | null {
  let request: Request | null = null;
  const program = plain(new Command('agtmux'))
    .description(`agtmux ${version}: ${about}`)
    .usage('<command> [options]')
    // Options behind the name of a command are the command's own: `wrap` hands them on.
    .enablePositionalOptions()
    .version(version, '-V, --version', 'the version')
    .addHelpText('after', overview);
  for (const spec of commands) {
    add(program, spec, (found) => {
      request = found;
    });
  }
  if (words.length === 0) {
    program.outputHelp();
    print(
      '\nHere is no terminal for the board: `agtmux list` prints the agents, `agtmux watch --format jsonl` follows them.',
    );
    return null;
  }
  try {
    program.parse([...words], { from: 'user' });
    return request;
  } catch (problem) {
    if (!(problem instanceof CommanderError)) throw problem;
    if (problem.exitCode === 0) return null;
    throw new AgtmuxError('E_USAGE', mistakeOf(problem, words));
  }
}

function mistakeOf(problem: CommanderError, words: readonly string[]): string {
  if (problem.code === 'commander.help') {
    const group = commands.find((spec) => spec.name === words[0]);
    const names = group?.commands?.map((spec) => spec.name).join(', ') ?? 'a command';
    return `${gateLine(foreign(words[0] ?? 'agtmux'))} needs one of: ${names}`;
  }
  // The suggestion stands on a line of its own.
  const text = problem.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
  return gateLine(foreign(text));
}

function add(parent: Command, spec: CommandSpec, onRequest: (request: Request) => void, isDefault = false): void {
  const command = plain(new Command(spec.name)).description(spec.words);
  if (spec.alias !== undefined) command.alias(spec.alias);
  for (const { name, choices, isOptional, isRest, isMany } of spec.arguments ?? []) {
    if (isRest === true) command.passThroughOptions().allowUnknownOption();
    const word = isRest === true || isMany === true ? `${name}...` : name;
    const argument = command.createArgument(isOptional === true ? `[${word}]` : `<${word}>`);
    command.addArgument(choices === undefined ? argument : argument.choices([...choices]));
  }
  for (const option of spec.options ?? []) command.addOption(optionOf(option));
  const examples = spec.examples ?? [];
  if (examples.length > 0) command.addHelpText('after', `\nExamples:\n${exampleLines(examples)}`);
  for (const below of spec.commands ?? []) add(command, below, onRequest, below.name === spec.fallback);
  if (spec.action !== undefined) {
    command.allowExcessArguments(false).action(() => onRequest({ command: spec, parsed: readOptions(command, spec) }));
  }
  parent.addCommand(command, { isDefault });
}

function plain(command: Command): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ writeOut: print, writeErr: () => undefined, outputError: () => undefined })
    .helpOption('-h, --help', 'what it does and takes');
}

function optionOf({ name, short, value, isValueOptional, isRepeatable, choices, words }: OptionSpec): Option {
  const place = isValueOptional === true ? ` [${value}]` : ` <${value}>`;
  const flags = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : place}`;
  const option = new Option(flags, words);
  if (choices !== undefined) option.choices([...choices]);
  // Not with `variadic`: that would take what follows as further values.
  if (isRepeatable === true) option.argParser((one: string, all: string[] | undefined) => [...(all ?? []), one]);
  return option;
}

function readOptions(command: Command, spec: CommandSpec): Parsed {
  const options = new Map<string, readonly string[]>();
  for (const { name } of spec.options ?? []) {
    const option = command.options.find((one) => one.long === `--${name}`);
    const attribute = option?.attributeName() ?? name;
    if (command.getOptionValueSource(attribute) !== 'cli') continue;
    const value: unknown = command.getOptionValue(attribute);
    options.set(name, Array.isArray(value) ? value.map(String) : [typeof value === 'boolean' ? '' : String(value)]);
  }
  return new Parsed(command.args, options);
}

function exampleLines(examples: readonly (readonly [string, string])[]): string {
  return examples.map(([line, words]) => (words === '' ? `  ${line}` : `  ${line}\n      ${words}`)).join('\n');
}

const overview = `
Examples:
${exampleLines([
  ['agtmux setup', 'the first time: shows each change and asks'],
  ['agtmux', 'the board: every agent, live, with keys to answer them'],
  ['agtmux list', 'the same once, as a table'],
  ['agtmux next', 'go to the agent that has waited longest for you'],
  ['agtmux doctor', 'when something looks wrong'],
])}

Exit status: 0 done, 2 wrong input, 3 no such thing, 4 it changed meanwhile, 5 not reachable, 6 files or rights,
7 too busy, 8 versions, 9 tmux or a missing program, 10 too late, 11 cannot be done there, 12 not allowed, 70 a defect.
\`agtmux help <command>\` tells more about a command.`;
