// `agtmux completions`: scripts for bash, zsh and fish, made from the table of commands. They hold all they offer, so a
// press of Tab starts no program.

import { join } from 'node:path';
import { quoteSh } from '../text/quote.ts';
import { type CommandSpec, commands, type OptionSpec } from './commands.ts';
import { type Action, places as appPlaces, must } from './context.ts';
import { print } from './output.ts';

export const completions: Action = async (parsed) => {
  switch (parsed.args[0]) {
    case 'bash':
      return print(bash());
    case 'zsh':
      return print(zsh());
    default:
      return print(fish());
  }
};

interface Place {
  /** `list panes`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly (readonly [word: string, about: string])[];
  readonly options: readonly OptionSpec[];
  /** What its argument names: agents, sessions, shells or targets; null: something else. */
  readonly names: NameKind | null;
}

/** As the daemon's file of names calls them. */
type NameKind = 'agent' | 'session' | 'shell' | 'target' | 'preset';

/** Options whose value is such a name. */
const nameOptions: readonly (readonly [option: string, kind: NameKind])[] = [
  ['to', 'agent'],
  ['target', 'target'],
  ['preset', 'preset'],
];

function namesIn(path: string, { arguments: all = [] }: CommandSpec): NameKind | null {
  const [first] = all;
  if (first === undefined || first.choices !== undefined) return null;
  if (first.name === 'agent') return /^agents /.test(path) ? null : 'agent';
  if (first.name === 'session' || first.name === 'shell') return first.name;
  return /^target (connect|remove)$/.test(path) ? 'target' : null;
}

const namesFile = (): string => must(quoteSh(join(appPlaces().stateDir, 'names')));

function places(): readonly Place[] {
  const found: Place[] = [{ path: '', words: namesOf([...commands, helpCommand]), options: [], names: null }];
  for (const command of commands) {
    const names = command.alias === undefined ? [command.name] : [command.name, command.alias];
    for (const name of names) {
      const fallback = command.commands?.find((below) => below.name === command.fallback);
      found.push({
        path: name,
        words: [...namesOf(command.commands ?? []), ...choicesOf(command)],
        options: [...(command.options ?? []), ...(fallback?.options ?? [])],
        names: namesIn(name, command),
      });
      for (const below of command.commands ?? []) {
        const path = `${name} ${below.name}`;
        found.push({ path, words: choicesOf(below), options: below.options ?? [], names: namesIn(path, below) });
      }
    }
  }
  return found;
}

const helpCommand: CommandSpec = { name: 'help', words: 'help on a command' };
const namesOf = (specs: readonly CommandSpec[]): (readonly [string, string])[] =>
  specs.flatMap(({ name, alias, words }) => [
    [name, words] as const,
    ...(alias === undefined ? [] : [[alias, words] as const]),
  ]);
const choicesOf = (command: CommandSpec): (readonly [string, string])[] =>
  (command.arguments ?? []).flatMap(({ choices }) => (choices ?? []).map((choice) => [choice, ''] as const));
const valuesOf = ({ choices, suggestions }: OptionSpec): readonly string[] => choices ?? suggestions ?? [];
const flagsOf = ({ name, short }: OptionSpec): readonly string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
];

/** Every value that is offered after an option, by the option. */
function valueCases(): readonly (readonly [flags: string, values: string])[] {
  const cases = new Map<string, string>();
  for (const { options } of places()) {
    for (const option of options) {
      if (option.value !== undefined) cases.set(flagsOf(option).join('|'), valuesOf(option).join(' '));
    }
  }
  return [...cases];
}

function bash(): string {
  const cases = places().map(({ path, words, options, names }) => {
    const offered = [...words.map(([word]) => word), ...options.flatMap(flagsOf), '--help'];
    const kind = names === null ? '' : ` kind=${names}`;
    return `    ${path === '' ? "''" : `'${path}'`}) words='${offered.join(' ')}'${kind} ;;`;
  });
  const values = valueCases().map(([flags, offered]) => `    ${flags}) words='${offered}'; isValue=1 ;;`);
  return `# agtmux for bash: source <(agtmux completions bash)
_agtmux() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous='' path='' words='' isValue='' kind='' place name of
  (( COMP_CWORD > 0 )) && previous=\${COMP_WORDS[COMP_CWORD-1]}
  for (( place = 1; place < COMP_CWORD && place < 3; place++ )); do
    [[ \${COMP_WORDS[place]} == -* ]] && break
    path+=\${path:+ }\${COMP_WORDS[place]}
  done
  case $previous in
${values.join('\n')}
  esac
  if [[ -z $isValue ]]; then
    case $path in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
  fi
  case $previous in ${nameOptions.map(([option, kind]) => `--${option}) kind=${kind} words='' ;;`).join(' ')} esac
  if [[ -n $kind && -r ${namesFile()} ]]; then
    while read -r of name; do [[ $of == "$kind" ]] && words+=" $name"; done <${namesFile()}
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _agtmux agtmux
`;
}

const zshText = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(':', '\\:');

function zsh(): string {
  const cases = places().map(({ path, words, options, names }) => {
    const pairs = [
      ...words.map(([word, about]) => [word, about] as const),
      ...options.flatMap((option) => flagsOf(option).map((flag) => [flag, option.words] as const)),
    ];
    const offered = pairs.map(([word, about]) => `'${word}:${zshText(about)}'`);
    const kind = names === null ? '' : ` kind=${names}`;
    return `    '${path}') offered=(${offered.join(' ')})${kind} ;;`;
  });
  const values = valueCases().map(([flags, offered]) => `    ${flags}) offered=(${offered}); isValue=1 ;;`);
  return `#compdef agtmux
# agtmux for zsh: put this file as _agtmux into a directory of fpath
_agtmux() {
  local previous=\${words[CURRENT-1]} path_='' isValue='' kind='' place name of
  local -a offered
  for (( place = 2; place < CURRENT && place < 4; place++ )); do
    [[ \${words[place]} == -* ]] && break
    path_+=\${path_:+ }\${words[place]}
  done
  case $previous in
${values.join('\n')}
  esac
  case $previous in ${nameOptions.map(([option, kind]) => `--${option}) kind=${kind} ;;`).join(' ')} esac
  if [[ -n $isValue && -z $kind ]]; then
    compadd -- $offered
    return
  fi
  if [[ -z $isValue ]]; then
    case $path_ in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
  fi
  if [[ -n $kind && -r ${namesFile()} ]]; then
    while read -r of name; do [[ $of == $kind ]] && offered+=("$name:$kind"); done <${namesFile()}
  fi
  _describe 'agtmux' offered
}
if [[ $funcstack[1] == _agtmux ]]; then _agtmux "$@"; else compdef _agtmux agtmux; fi
`;
}

const fishText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fish(): string {
  const lines = places().flatMap(({ path, words, options, names }) => {
    const when = fishText(`test (__agtmux_path) = "${path}"`);
    return [
      ...(names === null ? [] : [`complete -c agtmux -n ${when} -a '(__agtmux_names ${names})'`]),
      ...words.map(([word, about]) => `complete -c agtmux -n ${when} -a ${word} -d ${fishText(about)}`),
      ...options.map((option) => {
        const short = option.short === undefined ? '' : ` -s ${option.short}`;
        const kind = nameOptions.find(([name]) => name === option.name)?.[1];
        const values = kind === undefined ? valuesOf(option).join(' ') : `(__agtmux_names ${kind})`;
        const takes = option.value === undefined ? '' : ` -x -a ${fishText(values)}`;
        return `complete -c agtmux -n ${when} -l ${option.name}${short}${takes} -d ${fishText(option.words)}`;
      }),
    ];
  });
  return `# agtmux for fish: save as ~/.config/fish/completions/agtmux.fish
function __agtmux_path
    set -l words
    for word in (commandline -opc)[2..3]
        string match -q -- '-*' $word; and break
        set -a words $word
    end
    echo "$words"
end
function __agtmux_names
    test -r ${namesFile()}; and string replace -r -f "^$argv[1] " '' <${namesFile()}
end
complete -c agtmux -f
${lines.join('\n')}
`;
}
