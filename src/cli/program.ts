// The same table through commander: help, mistakes with a suggestion, and every spelling of options that it allows. Loaded
// only when the quick reader gave up.

import { Command, CommanderError, Option } from 'commander';
import { AgtmuxError } from '../model/errors.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { type CommandSpec, commands, type OptionSpec } from './commands.ts';
import { output, print } from './output.ts';
import { Parsed, type Request } from './parse.ts';

const about = 'shows the true state of every coding agent in tmux, or that it is unknown';

/** Null when help or the version was all that was asked for; it is printed then. */
export function parseFully(said: readonly string[], version: string): Request | null {
  // `help list panes` is `list panes --help`: the library's own way reads one word and passes over the rest.
  const isHelp = said[0] === 'help';
  const asked = said.slice(1);
  const words = isHelp ? (asked.length === 0 || isKnown(asked[0]) ? [...asked, '--help'] : asked) : said;
  let request: Request | null = null;
  const program = plain(new Command('agtmux'))
    .description(`agtmux ${version}: ${about}`)
    .usage('<command> [options]')
    // Options behind the name of a command are the command's own: `wrap` hands them on.
    .enablePositionalOptions()
    .version(version, '-V, --version', 'Print the version')
    .addHelpText('after', overview);
  for (const spec of commands) {
    add(program, spec, (found) => {
      request = found;
    });
  }
  if (words.length === 0) {
    program.outputHelp();
    print('\nThe board needs a terminal. `agtmux list` prints the agents, `agtmux watch --format jsonl` follows them.');
    return null;
  }
  try {
    program.parse([...words], { from: 'user' });
    return request;
  } catch (problem) {
    if (!(problem instanceof CommanderError)) throw problem;
    if (problem.exitCode === 0) return null;
    throw new AgtmuxError('E_USAGE', mistakeOf(problem, words), { next: `run \`${pathOf(words)} --help\`` });
  }
}

const commandOf = (word: string | undefined): CommandSpec | undefined =>
  commands.find(({ name, alias }) => word !== undefined && (word === name || word === alias));

const isKnown = (word: string | undefined): boolean => commandOf(word) !== undefined;

/** As much of it as there is: a mistake behind `list panes` is looked up in the help of that. */
function pathOf(words: readonly string[]): string {
  const [first, second] = words;
  const group = commandOf(first);
  const below = group?.commands?.find(({ name }) => name === second);
  return ['agtmux', group?.name, below?.name].filter((word) => word !== undefined).join(' ');
}

function mistakeOf(problem: CommanderError, words: readonly string[]): string {
  if (problem.code === 'commander.help') {
    const group = commands.find((spec) => spec.name === words[0]);
    const names = group?.commands?.map((spec) => spec.name).join(', ') ?? 'a command';
    return `${sanitizeLine(foreign(words[0] ?? 'agtmux'))} needs one of: ${names}`;
  }
  // A group that means one of its commands when none is named takes a misspelt one for an argument of that.
  const group = commandOf(words[0]);
  const isTakenWrong = problem.code === 'commander.excessArguments' || problem.code === 'commander.unknownOption';
  if (isTakenWrong && group?.fallback !== undefined && isMisspelt(group, words[1])) {
    const names = group.commands?.map(({ name }) => name).join(', ');
    return sanitizeLine(foreign(`${group.name} has no command '${words[1]}'; it has ${names}`));
  }
  // The suggestion stands on a line of its own.
  const text = problem.message
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '');
  return sanitizeLine(foreign(text));
}

const isMisspelt = ({ commands: below }: CommandSpec, word: string | undefined): boolean =>
  word !== undefined && !word.startsWith('-') && below?.every(({ name }) => name !== word) === true;

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
  if (spec.fallback !== undefined) addFallback(command, spec.fallback);
  const examples = spec.examples ?? [];
  if (examples.length > 0) command.addHelpText('after', `\nExamples:\n${exampleLines(examples)}`);
  for (const below of spec.commands ?? []) add(command, below, onRequest, below.name === spec.fallback);
  if (spec.action !== undefined) {
    command.allowExcessArguments(false).action(() => onRequest({ command: spec, parsed: readOptions(command, spec) }));
  }
  parent.addCommand(command, { isDefault });
}

/** Whoever asks what `list` takes wants to read it there, not to be sent on to `list panes`. */
function addFallback(group: Command, name: string): void {
  group.addHelpText('after', () => {
    const meant = group.commands.find((one) => one.name() === name);
    if (meant === undefined) return '';
    const helper = meant.createHelp();
    helper.prepareContext({ helpWidth: output().columns ?? helpColumns });
    const columns = helper.padWidth(meant, helper);
    const lines = helper
      .visibleOptions(meant)
      .map((one) => helper.formatItem(helper.optionTerm(one), columns, helper.optionDescription(one), helper));
    return `\n\`agtmux ${group.name()}\` without a command is \`agtmux ${group.name()} ${name}\`:\n${lines.join('\n')}`;
  });
}

/** The library's own width where there is no terminal. */
const helpColumns = 80;

function plain(command: Command): Command {
  return command
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ writeOut: print, writeErr: () => undefined, outputError: () => undefined })
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command');
}

function optionOf({ name, short, value, isValueOptional, isRepeatable, choices, words }: OptionSpec): Option {
  const place = isValueOptional === true ? ` [${value}]` : ` <${value}>`;
  const flags = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : place}`;
  const option = new Option(flags, isRepeatable === true ? `${words} (repeatable)` : words);
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

/** Every exit status of a command, in words. */
export const exitStatuses: readonly (readonly [status: number, words: string])[] = [
  [0, 'success'],
  [1, 'unconfirmed or problems found'],
  [2, 'invalid input'],
  [3, 'not found'],
  [4, 'state changed'],
  [5, 'unreachable'],
  [6, 'files or permissions'],
  [7, 'busy'],
  [8, 'version mismatch'],
  [9, 'tmux or a program missing'],
  [10, 'timeout'],
  [11, 'unsupported'],
  [12, 'not permitted'],
  [70, 'internal error'],
];
const statusText = ([status, words]: readonly [number, string]): string => `${status} ${words}`;

const overview = `
Examples:
${exampleLines([
  ['agtmux setup', 'first run: shows each change and asks'],
  ['agtmux', 'open the board: every agent, live, with keys to act'],
  ['agtmux list', 'print the agents as a table'],
  ['agtmux next', 'go to the agent that has waited longest for you'],
  ['agtmux doctor', 'find problems'],
])}

Exit status: ${exitStatuses.slice(0, 6).map(statusText).join(', ')},
${exitStatuses.slice(6, 12).map(statusText).join(', ')},
${exitStatuses.slice(12).map(statusText).join(', ')}.
Run \`agtmux help <command>\` for help on a command.`;
