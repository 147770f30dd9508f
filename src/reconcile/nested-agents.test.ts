// Agents behind a door, on screens that were recorded: who is let in, and that a dialog does not put anyone out.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from '../agents/registry.ts';
import { readRuleFile } from '../agents/screen/rule-file.ts';
import { agentName, paneId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { PaneAgents } from '../sources/process/foreground.ts';
import type { TmuxPane } from '../terminals/tmux/view.ts';
import { NestedAgents } from './nested-agents.ts';

const rules = agents.map(({ name, screen }) => [name, readRuleFile(screen)] as const);
const pane = { pane: paneId('%1') } as TmuxPane;
const door = {
  agent: null,
  process: null,
  suspended: false,
  children: [],
  foregroundCommand: 'ssh',
  inside: 'ssh',
  door: null,
} as PaneAgents;

function house(agentsIn: PaneAgents = door, isSeenElsewhere = (): boolean => false) {
  let changes = 0;
  const guests = new NestedAgents({
    rules: () => rules,
    originOf: (agent) => agents.find(({ name }) => name === agent)?.forkOf ?? agent,
    isSeenElsewhere,
    onChange: () => {
      changes += 1;
    },
  });
  let now = 0;
  const at = (): string | null => guests.withGuests(new Map([[pane, agentsIn]]), now).get(pane)?.agent?.agent ?? null;
  at();
  return {
    changes: () => changes,
    in: at,
    look(lines: readonly string[], ms: number): string | null {
      guests.onScreen(pane.pane, lines, '', now);
      for (let passed = 0; passed <= ms; passed += 250) {
        now += 250;
        guests.onRefresh(now);
      }
      return at();
    },
  };
}

const screens = (agent: string): readonly string[] => readdirSync(folderOf(agent)).sort();
const folderOf = (agent: string): string => join(import.meta.dirname, '../agents', agent, 'fixtures/screens');
const screenOf = (agent: string, file: string): readonly string[] =>
  readFileSync(join(folderOf(agent), file), 'utf8').split('\n');

describe('agents behind a door', () => {
  it('IDN7 an interface that stays is let in, one that flashes by is not, and it leaves when it stays away', () => {
    const claude = house();
    const running = screenOf('claude', '2.1.325-running_thinking.80x24.txt');
    expect(claude.look(running, 0)).toBeNull();
    expect(claude.look(running, 1_000)).toBe('claude');
    expect(claude.look(['user@there:~$ '], 2_000)).toBe('claude');
    expect(claude.look(['user@there:~$ '], 6_000)).toBeNull();
    expect(claude.changes()).toBe(2);
  });

  it('IDN7 whoever has a row of its own is no guest, and leaves when that is found out later', () => {
    let isElsewhere = true;
    const claude = house(door, () => isElsewhere);
    const running = screenOf('claude', '2.1.325-running_thinking.80x24.txt');
    expect(claude.look(running, 10_000)).toBeNull();
    isElsewhere = false;
    // It leaves there, and its picture stands for a moment longer.
    expect(claude.look(running, limits.guestElsewhereMs / 2)).toBeNull();
    expect(claude.look(running, limits.guestElsewhereMs)).toBe('claude');
    isElsewhere = true;
    expect(claude.in()).toBeNull();
    const inner = house({ ...door, inside: 'tmux' }, () => isElsewhere);
    expect(inner.look(running, 10_000)).toBeNull();
    isElsewhere = false;
    expect(inner.look(running, 10 * limits.guestElsewhereMs)).toBeNull();
  });

  it('IDN7 a tmux client is held back until its server had time to be found', () => {
    const claude = house({ ...door, inside: 'tmux' });
    const running = screenOf('claude', '2.1.325-running_thinking.80x24.txt');
    expect(claude.look(running, limits.guestInTmuxMs / 2)).toBeNull();
    expect(claude.look(running, limits.guestInTmuxMs)).toBe('claude');
  });

  it('IDN7 whoever was let in is not put out by a dialog of its own', () => {
    const dialogs = screens('claude').filter(
      (file) => /approval|trust_dialog|question/.test(file) && !/interrupted|completed/.test(file),
    );
    expect(dialogs.length).toBeGreaterThan(40);
    const lost = dialogs.filter((file) => {
      const claude = house();
      claude.look(screenOf('claude', '2.1.325-running_thinking.80x24.txt'), 1_000);
      return claude.look(screenOf('claude', file), 10_000) !== 'claude';
    });
    expect(lost).toEqual([]);
  });

  it('RSV4 a fork counts as what it comes from, and a screen that fits two agents as neither', () => {
    const running = screens('opencode').find((file) => /running_text/.test(file)) ?? '';
    expect(house().look(screenOf('opencode', running), 1_000)).toBe(agentName('opencode'));
    expect(house().look(['vim', '~', '~', '-- INSERT --'], 5_000)).toBeNull();
  });
});
