// Agents that nobody has recorded: they are found by their processes and listed, and nothing else is claimed for them.

import { describe, expect, it } from 'vitest';
import { agents, identifyAgent } from './registry.ts';
import { readRuleFile } from './screen/rule-file.ts';

const python = '/usr/bin/python3.12';
const started = {
  antigravity: { executable: '/home/me/.local/bin/agy', argv: ['agy'] },
  hermes: { executable: python, argv: ['/usr/bin/python3', '/home/me/.local/bin/hermes'] },
  kiro: { executable: '/home/me/.local/bin/kiro-cli', argv: ['kiro-cli', 'chat'] },
  omp: { executable: '/usr/bin/bun', argv: ['bun', '/opt/node_modules/@oh-my-pi/pi-coding-agent/dist/cli.js'] },
  droid: { executable: '/home/me/.local/bin/droid', argv: ['droid'] },
  devin: { executable: '/usr/local/bin/devin', argv: ['devin'] },
  vibe: { executable: python, argv: ['python', '/home/me/.local/share/uv/tools/mistral-vibe/bin/vibe'] },
  amp: { executable: '/usr/bin/node', argv: ['node', '/usr/lib/node_modules/@sourcegraph/amp/dist/main.js'] },
  qoder: { executable: '/home/me/.local/bin/qodercli', argv: ['qodercli'] },
  crush: { executable: '/usr/local/bin/crush', argv: ['crush'] },
  auggie: { executable: '/usr/bin/node', argv: ['node', '/usr/lib/node_modules/@augmentcode/auggie/augment.mjs'] },
  aider: { executable: python, argv: ['python3', '-m', 'aider', '--model', 'x'] },
  goose: { executable: '/home/me/.local/bin/goose', argv: ['goose', 'session'] },
} as const;

describe('agents that were not measured', () => {
  it.each(Object.entries(started))('%s is found by its process', (name, program) => {
    expect(identifyAgent(program)).toMatchObject({ agent: name, mode: 'interactive' });
  });

  it('no other is without a measured version', () => {
    const unmeasured = agents.filter(({ capabilities }) => capabilities.measured.length === 0);
    expect(unmeasured.map(({ name }) => name).filter((name) => name !== 'cursor')).toEqual(Object.keys(started).sort());
  });

  it.each(Object.keys(started))('no key is pressed for %s, and its screen is not read', (name) => {
    const agent = agents.find((one) => one.name === name);
    const ask = { kind: 'command', text: 'rm -r build', options: [{ id: '1', label: 'Yes' }] } as const;
    expect(agent?.capabilities.limits[0]).toMatch(/^It was not run: /);
    expect(agent?.keys?.approve(ask)).toBeNull();
    expect(agent?.keys?.reject(ask, null)).toBeNull();
    expect(agent?.keys?.choose(ask, '1')).toBeNull();
    expect(agent?.keys?.interrupt).toEqual([]);
    expect(readRuleFile(agent?.screen).rules).toEqual([]);
  });

  it('what only bears such a name is not one of them', () => {
    const others = [
      { executable: python, argv: ['python3', '-c', 'print()', 'aider'] },
      { executable: python, argv: ['python3', '/home/me/scripts/report.py', 'aider'] },
      { executable: '/usr/bin/goose', argv: ['goose', 'postgres', 'x', 'up'] },
      { executable: '/usr/bin/vim', argv: ['vim', 'crush'] },
    ];
    for (const program of others)
      expect(identifyAgent(program)?.confidence ?? 'low', program.argv.join(' ')).toBe('low');
  });
});
