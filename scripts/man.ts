// The manual page agtmux(1), made from the table of commands, so that it says what `--help` says. Usage: node scripts/man.ts FILE
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { type CommandSpec, commands, type OptionSpec } from '../src/cli/commands.ts';
import { exitStatuses } from '../src/cli/program.ts';

/** Dashes, backslashes and lines that begin like a request mean something to roff. */
const escaped = (text: string): string => text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
const bold = (text: string): string => `\\fB${escaped(text)}\\fR`;
const paragraph = (text: string): string => text.split('\n').map(escaped).join('\n');

function argumentsOf(spec: CommandSpec): string {
  const words = (spec.arguments ?? []).map(({ name, isOptional, isRest, isMany }) => {
    const word = `\\fI${escaped(name)}\\fR${isRest === true || isMany === true ? ' ...' : ''}`;
    return isOptional === true ? `[${word}]` : word;
  });
  return [...((spec.options ?? []).length > 0 ? ['[\\fIoptions\\fR]'] : []), ...words].join(' ');
}

function optionText({ name, short, value, isValueOptional, isRepeatable, words }: OptionSpec): string {
  const flags = [...(short === undefined ? [] : [bold(`-${short}`)]), bold(`--${name}`)].join(', ');
  const place =
    value === undefined ? '' : isValueOptional === true ? `[=\\fI${escaped(value)}\\fR]` : ` \\fI${escaped(value)}\\fR`;
  return `.TP\n${flags}${place}\n${paragraph(words)}${isRepeatable === true ? ' (repeatable)' : ''}.`;
}

function commandText(spec: CommandSpec, above: string): readonly string[] {
  const path = `${above} ${spec.name}`;
  const examples = (spec.examples ?? []).flatMap(([line, words]) => [
    '.PP',
    ...(words === '' ? [] : [`${paragraph(words)}:`]),
    '.RS 4',
    '.nf',
    escaped(line),
    '.fi',
    '.RE',
  ]);
  return [
    `.SS ${bold(path)} ${argumentsOf(spec)}`.trimEnd(),
    `${paragraph(spec.words)}.`,
    ...(spec.alias === undefined ? [] : [`Also: ${bold(`${above} ${spec.alias}`)}.`]),
    ...(spec.fallback === undefined ? [] : [`Without a command: ${bold(`${path} ${spec.fallback}`)}.`]),
    ...(spec.options ?? []).map(optionText),
    ...examples,
    ...(spec.commands ?? []).flatMap((below) => commandText(below, path)),
  ];
}

const files: readonly (readonly [name: string, words: string])[] = [
  ['~/.config/agtmux/config.toml', 'the settings; every key is optional'],
  ['~/.config/agtmux/policy.toml', 'who may do what, beside people'],
  ['~/.config/agtmux/agents/*.toml', 'definitions of agents, your own or over the built-in ones'],
  ['~/.local/state/agtmux/', 'the event log, logs of background shells, records of sessions; readable by you alone'],
];

const variables: readonly (readonly [name: string, words: string])[] = [
  ['AGTMUX_CONFIG', 'another settings file'],
  ['AGTMUX_STATE_DIR', 'another state directory, and with it another daemon'],
  ['AGTMUX_RUNTIME_DIR', 'another directory for the socket'],
  ['AGTMUX_TMUX_SOCKETS', 'the tmux sockets to watch, instead of all'],
  ['NO_COLOR', 'if set and not empty, no colours'],
];

const tagged = (rows: readonly (readonly [string, string])[]): readonly string[] =>
  rows.flatMap(([name, words]) => ['.TP', bold(name), `${paragraph(words)}.`]);

export function manualPage(): string {
  const lines = [
    `.TH AGTMUX 1 "" "agtmux ${manifest.version}" "User Commands"`,
    '.SH NAME',
    'agtmux \\- show the true state of every coding agent, and act on the right one',
    '.SH SYNOPSIS',
    `${bold('agtmux')} [\\fIcommand\\fR] [\\fIoptions\\fR]`,
    '.SH DESCRIPTION',
    'One daemon sees every coding agent in tmux, on this machine and over ssh, and knows what each is doing, or says that it is',
    'unknown. Without a command and on a terminal the board opens; every command that needs the daemon starts it.',
    'An agent is named by where a list shows it (\\fIwork:1.0\\fR), by the id of its tmux pane (\\fI%5\\fR), by its kind where only one',
    'runs, or by a name that you gave it.',
    '.SH COMMANDS',
    ...commands.flatMap((spec) => commandText(spec, 'agtmux')),
    '.SH EXIT STATUS',
    ...tagged(exitStatuses.map(([status, words]) => [String(status), words])),
    '.SH ENVIRONMENT',
    ...tagged(variables),
    '.SH FILES',
    ...tagged(files),
    '.SH SEE ALSO',
    '.BR tmux (1),',
    '.BR ssh (1)',
  ];
  return `${lines.join('\n')}\n`;
}

if (process.argv[1] === import.meta.filename) {
  const [, , path] = process.argv;
  if (path === undefined) throw new Error('usage: node scripts/man.ts FILE');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, manualPage());
}
