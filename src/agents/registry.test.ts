import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents, identifyAgent } from './registry.ts';

const room = import.meta.dirname;
const having = (file: (name: string) => string): readonly string[] =>
  readdirSync(room, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(room, entry.name, file(entry.name))))
    .map((entry) => entry.name)
    .sort();
const names = having(() => 'agent.ts');
const all = [...new Set([...names, ...having((name) => `${name}.toml`)])].sort();

/** The text of folders.ts as it has to be for the folders that are there. */
function foldersText(): string {
  const imports = names.map((name) => `import { agent as ${name} } from './${name}/agent.ts';`);
  return `// Written by registry.test.ts, one line a folder of this room: the bundle needs every import spelled out. After adding a
// folder run \`npx vitest run src/agents/registry.test.ts -u\`.

${imports.join('\n')}

export const folders = [${names.join(', ')}] as const;
`;
}

describe('the registry', () => {
  it('has every folder of this room', async () => {
    await expect(foldersText()).toMatchFileSnapshot('./folders.ts');
    expect(agents.map((agent) => agent.name)).toEqual(all);
  });

  it('every agent answers with its own name', () => {
    const program = { executable: null, argv: ['claude'] };
    for (const agent of agents) {
      const found = agent.identify(program);
      if (found !== null) expect(found.agent).toBe(agent.name);
    }
    expect(identifyAgent(program)?.agent).toBe('claude');
  });
});
