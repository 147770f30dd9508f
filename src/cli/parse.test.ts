import { describe, expect, it } from 'vitest';
import { groupings as apiGroupings, sorts as apiSorts } from '../api/panes.ts';
import { AgtmuxError } from '../model/errors.ts';
import { type CommandSpec, commands, type OptionSpec } from './commands.ts';
import { groupings, sorts } from './commands-list.ts';
import { parseQuickly, type Request } from './parse.ts';
import { parseFully } from './program.ts';

const optionsOf = ({ command, parsed }: Request): object => ({
  command: command.name,
  args: parsed.args,
  options: Object.fromEntries(
    (command.options ?? [])
      .filter(({ name }) => parsed.has(name))
      .map(({ name, isRepeatable }) => [name, isRepeatable === true ? parsed.values(name) : parsed.value(name)]),
  ),
});

const both = (words: readonly string[]): readonly (object | null)[] => {
  const quick = parseQuickly(commands, words);
  const full = parseFully(words, '1.2.3');
  return [quick, full].map((request) => (request === null ? null : optionsOf(request)));
};

describe('the two readers of the command line', () => {
  it.each([
    ['list'],
    ['ls'],
    ['list panes --json'],
    ['list --json'],
    ['list --state running --state idle --needs-action'],
    ['list windows --target=a --target b --with-agent-status'],
    ['list sessions --group-by session-name --agent-summary --no-daemon --tmux-socket x'],
    ['list --sort age --sort name'],
    ['list --session='],
    ['watch --interval 2s --once --scope windows'],
    ['status --json --color never'],
    ['logs -f -n 5'],
    ['target'],
    ['target remove vm1 -y'],
    ['target add vm1 --kind ssh --ssh-target dev@vm1'],
    ['completions bash'],
    ['daemon stop'],
    ['send %5 - --no-enter --if-state idle,completed'],
    ['queue edit q1 -'],
    ['route'],
    ['route activate %5 --json'],
    ['new codex --cwd x -- --search -c y=1'],
    ['new codex plain words --json'],
    ['name %5 --remove'],
  ])('agree on `%s`', (line) => {
    const [quick, full] = both(line.split(' '));
    expect(quick).not.toBeNull();
    expect(quick).toEqual(full);
  });

  it('agree on every option of every command', () => {
    const walk = (spec: CommandSpec, above: readonly string[]): void => {
      const path = [...above, spec.name];
      const args = (spec.arguments ?? []).map(({ choices }) => choices?.[0] ?? 'word');
      for (const option of spec.options ?? []) {
        for (const words of spellings(option)) {
          const [quick, full] = both([...path, ...args, ...words]);
          expect(quick, [...path, ...words].join(' ')).not.toBeNull();
          expect(quick).toEqual(full);
        }
      }
      for (const below of spec.commands ?? []) walk(below, path);
    };
    for (const spec of commands) walk(spec, []);
  });

  const spellings = (option: OptionSpec): readonly (readonly string[])[] => {
    const { name, short, value, choices, isRepeatable, isValueOptional } = option;
    const bare = isValueOptional === true ? [[`--${name}`], [`--${name}`, '--json']] : [];
    const shorts = short === undefined ? [] : [`-${short}`];
    if (value === undefined) return [[`--${name}`], ...shorts.map((one) => [one])];
    const one = choices?.[0] ?? 'a b=c';
    const more = isRepeatable === true ? [[`--${name}`, one, `--${name}=${one}`]] : [];
    return [[`--${name}`, one], [`--${name}=${one}`], ...shorts.map((flag) => [flag, one]), ...more, ...bare];
  };

  it.each([
    'list --wrong',
    'list panes extra',
    'list --state',
    'list --json=yes',
    'list --color pink',
    'list --state --json',
    'fly',
    'replay',
    'replay a b',
    'completions tcsh',
    'daemon',
  ])('the quick one leaves `%s` to the other', (line) => {
    expect(parseQuickly(commands, line.split(' '))).toBeNull();
  });

  it.each([
    ['fly', 'unknown command'],
    ['list --wrong', "unknown option '--wrong'"],
    ['list --jsom', 'Did you mean --json?'],
    ['replay', "missing required argument 'file'"],
    ['completions tcsh', 'Allowed choices are bash, zsh, fish'],
    ['daemon', 'needs one of: run'],
  ])('`%s` is refused in one line', (line, words) => {
    let problem: unknown;
    try {
      parseFully(line.split(' '), '1.2.3');
    } catch (caught) {
      problem = caught;
    }
    expect(problem).toBeInstanceOf(AgtmuxError);
    expect(String(problem)).toContain(words);
    expect(String(problem)).not.toContain('\n');
  });

  it('knows the words of the API', () => {
    expect(sorts).toEqual(apiSorts);
    expect(groupings).toEqual(apiGroupings);
  });
});
