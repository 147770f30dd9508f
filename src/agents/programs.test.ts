import { describe, expect, it } from 'vitest';
import { isAgentProgram } from './programs.ts';

const isAgent = (argv: string, executable: string | null = null): boolean =>
  isAgentProgram({ executable, argv: argv.split(' ') });

describe('the program of an agent', () => {
  it.each([
    ['node /opt/x/node_modules/.bin/cn --config c.yaml', '/usr/bin/node'],
    ['node /opt/x/node_modules/@continuedev/cli/dist/cn.js', '/usr/bin/node'],
    ['node /usr/bin/grok', '/usr/bin/node'],
    ['grok -m mock', '/home/me/.grok/bin/grok'],
    ['node --expose-gc /usr/lib/node_modules/@qwen-code/qwen-code/cli.js', '/usr/bin/node'],
    ['kimi-code   ', '/usr/bin/node'],
    ['pi  ', '/usr/bin/node'],
    ['cline --cline-hub-daemon --cwd /x', '/usr/lib/cline'],
    ['codex app-server', '/usr/bin/codex'],
    ['/usr/bin/python3 /home/me/.local/bin/aider --model x', '/usr/bin/python3.11'],
    ['python3 -m aider', '/usr/bin/python3.11'],
    ['bun /home/me/.bun/bin/omp', '/usr/bin/bun'],
    ...['agy', 'hermes', 'kiro-cli', 'droid', 'devin', 'vibe', 'amp', 'qodercli', 'crush', 'goose', 'openhands'].map(
      (name): [string, string | null] => [`${name} x`, `/usr/local/bin/${name}`],
    ),
  ] as [string, string | null][])('ACT6 is known: %s', (argv, executable) => {
    expect(isAgent(argv, executable)).toBe(true);
  });

  it.each([
    ['-zsh', '/usr/bin/zsh'],
    ['node /usr/bin/agtmux send codex', '/usr/bin/node'],
    ['node /usr/bin/npx agtmux', '/usr/bin/node'],
    ['python3 deploy.py claude', '/usr/bin/python3'],
    ['vim codex', '/usr/bin/vim'],
    ['cursor .', '/usr/share/cursor/cursor'],
    ['make pi', '/usr/bin/make'],
  ])('ACT6 is not everything that names one: %s', (argv, executable) => {
    expect(isAgent(argv, executable)).toBe(false);
  });
});
