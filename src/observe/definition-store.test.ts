// A user's folder of definitions, as people and others fill it: what is in force afterwards, what is told, and what stays.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentName } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { FileError } from '../platform/files.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { DefinitionStore } from './definition-store.ts';

const qwen = readFileSync(join(import.meta.dirname, '../agents/qwen/qwen.toml'), 'utf8');
/** The same for an agent that nobody knows. */
const mine = qwen
  .replaceAll('"qwen"', '"mine"')
  .replaceAll('@qwen-code/qwen-code', '@mine/mine')
  .replace('qwen-code[@/-]', 'mine[@/-]');
const program = { executable: '/usr/bin/node', argv: ['node', '/opt/bin/mine'] };
const claude = { executable: '/usr/local/bin/claude', argv: ['claude'] };

function room() {
  const files = new Map<string, string>();
  /** What the disk says of a file; where nothing is said, its whole text: no two writes are alike. */
  const stamps = new Map<string, string>();
  const read: string[] = [];
  const warned: string[] = [];
  const gone: AgentName[] = [];
  const clock = createSimulatedClock();
  const store = new DefinitionStore({
    files: {
      list: async () => ({ names: [...files.keys()], isMore: false }) as never,
      stamp: async (path) => {
        const name = path.slice('/agents/'.length);
        return stamps.get(name) ?? files.get(name) ?? null;
      },
      read: async (path: string, { bytesMax }: { bytesMax: number }) => {
        const text = files.get(path.slice('/agents/'.length));
        read.push(path);
        if (text === undefined) return null;
        if (Buffer.byteLength(text) > bytesMax) throw new FileError('read', path, 'EFBIG');
        return { bytes: Buffer.from(text) } as never;
      },
    },
    clock,
    folder: '/agents',
    log: { info: () => undefined, warn: (words, fields) => void warned.push(`${words}: ${String(fields?.message)}`) },
    onChange: (names) => void gone.push(...names),
  });
  return { files, stamps, read, warned, gone, clock, store };
}

describe('the definitions of a user', () => {
  it('DEF4 define an agent while the daemon runs, change it, and take it away again', async () => {
    const { files, gone, store } = room();
    await store.look();
    expect(store.identify(program)).toBeNull();
    files.set('mine.toml', mine);
    await store.look();
    expect(store.identify(program)).toMatchObject({ agent: 'mine', mode: 'interactive' });
    expect(store.agents.map(({ name }) => name)).toContain('mine');
    expect(store.rules.get('mine' as AgentName)?.rules.length).toBe(store.rules.get('qwen' as AgentName)?.rules.length);
    files.set('mine.toml', mine.replace('commands = ["mine"]', 'commands = ["other"]'));
    await store.look();
    expect(store.identify({ ...program, argv: ['node', '/opt/bin/mine'] })).toBeNull();
    expect(store.identify({ ...program, argv: ['node', '/opt/bin/other'] })?.agent).toBe('mine');
    files.delete('mine.toml');
    await store.look();
    expect([store.agents.some(({ name }) => name === 'mine'), gone]).toEqual([false, ['mine']]);
    expect([store.trouble, store.troubles]).toEqual([null, []]);
  });

  it('DEF4 lay over a built-in agent, whose rules stay where the file is silent', async () => {
    const { files, store } = room();
    const before = store.rules.get('qwen' as AgentName)?.rules.map(({ id }) => id) ?? [];
    const over = `schema = 2\nagent = "qwen"\nlimits = ["mine"]\n[run]\nstart = ["npx", "qwen"]\n[screen]\ndisable = ["error"]\n`;
    files.set('qwen.toml', over);
    await store.look();
    expect(store.trouble).toBeNull();
    const now = store.rules.get('qwen' as AgentName)?.rules.map(({ id }) => id);
    expect(now).toEqual(before.filter((id) => id !== 'error'));
    const agent = store.agents.find(({ name }) => name === 'qwen');
    expect(agent?.keys?.start).toEqual(['npx', 'qwen']);
    expect(agent?.keys?.interrupt).toEqual([{ keys: ['Escape'] }]);
  });

  it('DEF4 that are wrong are told by file and line, once, and nothing of them counts', async () => {
    const { files, warned, store } = room();
    files.set('mine.toml', mine.replace('once =', 'onec ='));
    await store.look();
    await store.look();
    expect(warned.length).toBe(1);
    expect(store.trouble).toMatch(/^\/agents\/mine\.toml:\d+: keys\.answer\.1: onec is not a known word/);
    expect(store.troubles).toEqual([store.trouble]);
    expect(store.identify(program)).toBeNull();
    files.set('mine.toml', mine);
    await store.look();
    expect([store.trouble, store.identify(program)?.agent]).toEqual([null, 'mine']);
    files.set('other.toml', mine);
    await store.look();
    expect(store.trouble).toBe('/agents/other.toml:1: it defines mine, and the file is called other.toml');
  });

  it.each([
    ['claude.toml', qwen.replaceAll('"qwen"', '"claude"'), 'claude is built in'],
    ['mine.toml', mine.replace('commands = ["mine"]', 'commands = ["claude"]'), 'claude is the name of an agent'],
    ['mine.toml', mine.replace("'/@mine/mine/'", "'/bin/'"), 'it fits /usr/bin/bash too'],
    ['mine.toml', mine.replace("'^Yes, allow once$'", "'^(?:.|\\n)*'"), 'for a plain yes'],
    ['mine.toml', `${mine}\n# ${'x'.repeat(10 * 1_048_576)}`, 'at most 256 KiB'],
  ])(
    'DEF3 DEF4 that would shadow, approve or swallow everything are refused, and the rest goes on: %s',
    async (name, text, why) => {
      const { files, store } = room();
      files.set('fine.toml', mine.replaceAll('"mine"', '"fine"'));
      files.set(name, text);
      await store.look();
      expect(store.trouble).toContain(why);
      expect(store.identify(claude)).toMatchObject({ agent: 'claude' });
      expect(store.identify({ ...program, argv: ['node', '/opt/bin/fine'] })?.agent).toBe('fine');
      const keys = store.agents.find((one) => one.name === 'claude')?.keys;
      expect(keys?.approve({ kind: 'command', text: 'x', options: [{ id: '1', label: 'Always' }] })).toBeNull();
    },
  );

  it('DEF3 are asked only about processes that no built-in agent claims', async () => {
    const { files, store } = room();
    files.set('mine.toml', mine.replace("'/@mine/mine/'", "'/claude-code/'"));
    await store.look();
    expect(store.trouble).toBeNull();
    const path = '/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js';
    expect(store.identify({ executable: '/usr/bin/node', argv: ['node', path] })?.agent).toBe('claude');
  });

  it('DEF4 are read when they have changed, once more at the next look, and then no more', async () => {
    const { files, stamps, read, store } = room();
    const agentNow = (): string | undefined => store.identify({ ...program, argv: ['node', '/opt/bin/mine'] })?.agent;
    files.set('mine.toml', mine);
    stamps.set('mine.toml', '1');
    await store.look();
    // Written again in the same tick of the disk's clock.
    files.set('mine.toml', mine.replace('commands = ["mine"]', 'commands = ["many"]'));
    await store.look();
    expect([agentNow(), read.length]).toEqual([undefined, 2]);
    for (let looks = 0; looks < 5; looks += 1) await store.look();
    expect(read.length).toBe(2);
    files.set('mine.toml', mine);
    stamps.set('mine.toml', '2');
    await store.look();
    expect([agentNow(), read.length]).toEqual(['mine', 3]);
    files.delete('mine.toml');
    stamps.delete('mine.toml');
    await store.look();
    files.set('mine.toml', mine.replace('once =', 'onec ='));
    stamps.set('mine.toml', '2');
    for (let looks = 0; looks < 5; looks += 1) await store.look();
    expect([store.trouble, read.length]).toEqual([expect.stringContaining('onec is not a known word'), 5]);
  });

  it('DEF4 are looked at again and again, without being asked', async () => {
    const { files, clock, store } = room();
    await store.start();
    files.set('mine.toml', mine);
    clock.advance(limits.configLookMs);
    await expect.poll(() => store.identify(program)?.agent).toBe('mine');
    store.stop();
  });
});
