import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keys as claude } from '../claude/keys.ts';
import { keys as codex } from '../codex/keys.ts';
import { keys as copilot } from '../copilot/keys.ts';
import { keys as cursor } from '../cursor/keys.ts';
import { keys as gemini } from '../gemini/keys.ts';
import { keys as opencode } from '../opencode/keys.ts';

const agents = { claude, codex, copilot, gemini, opencode };
type Name = keyof typeof agents;

const folder = (agent: Name): URL => new URL(`../${agent}/fixtures/prompts/`, import.meta.url);
const recorded = (agent: Name, screen: string): readonly string[] =>
  readFileSync(new URL(`${screen}.ansi`, folder(agent)), 'utf8').split('\n');
const promptIn = (agent: Name, lines: readonly string[]) => agents[agent].prompt?.(lines);
const unsentIn = (agent: Name, screen: string): string | undefined => promptIn(agent, recorded(agent, screen))?.unsent;

describe.each(Object.keys(agents) as Name[])('the prompt of %s', (agent) => {
  it('ACT3 is empty when only its hint stands there, also while it works', () => {
    const empty = readdirSync(folder(agent)).filter((name) => /^(?:empty|hint|queued|running)\.ansi$/.test(name));
    expect(empty.length).toBeGreaterThan(1);
    for (const name of empty) expect([name, unsentIn(agent, name.replace('.ansi', ''))]).toEqual([name, '']);
  });

  it('ACT3 holds what somebody has begun to write, on one line or several', () => {
    expect(unsentIn(agent, 'draft')).toMatch(/^(?:hello|half typed prom)$/);
    expect(unsentIn(agent, 'lines')).toMatch(
      /^first line\n\s*second line$|^\[Pasted ~3 lines\]\n+after two blank lines$/,
    );
  });

  it('ACT3 is not free where what is typed would be run', () => {
    expect(unsentIn(agent, 'shell')).toMatch(/^!/);
  });

  it('ACT3 is not there on a blank screen, and its sign stands on its own one', () => {
    expect(promptIn(agent, ['', ''])).toBeNull();
    const sign = promptIn(agent, recorded(agent, 'empty'))?.sign ?? '';
    expect(sign).not.toBe('');
    const plain = recorded(agent, 'empty').map((line) => line.replace(/\u001b\[[\d;:]*m/gu, ''));
    expect(plain.some((line) => line.includes(sign))).toBe(true);
  });
});

describe('prompts', () => {
  it('ACT3 what an agent puts back after an interruption is unsent text', () => {
    expect(unsentIn('claude', 'restored')).toBe('mock:http 429 2 limited');
  });

  it('ACT3 what stands beside the field of OpenCode is none of it', () => {
    const wide = recorded('opencode', 'empty').map((line) => `${line}   a sidebar`);
    expect(promptIn('opencode', wide)?.unsent).toBe('');
  });

  it('ACT3 a draft is seen beside the sidebar of Copilot, and nothing of the sidebar is taken for one', () => {
    const lines = recorded('copilot', 'sidebar');
    expect(promptIn('copilot', lines)?.unsent).toBe('lo');
    const emptied = lines.map((line) => line.replace(/❯(.*) lo/u, '❯$1'));
    expect(promptIn('copilot', emptied)?.unsent).toBe('');
  });

  it('ACT3 nobody knows what the prompt of Cursor looks like', () => {
    expect(cursor.prompt).toBeUndefined();
  });
});
