// Leads the real agents as managed sessions through every scene and tells what was seen; what was said on the wire is kept
// in .agents/captures.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentsDir } from '../stage.ts';
import { Place } from './place.ts';
import type { Player } from './player.ts';
import { claude } from './players/claude.ts';
import { codex, codexShared } from './players/codex.ts';
import { copilot } from './players/copilot.ts';
import { gemini } from './players/gemini.ts';
import { opencode } from './players/opencode.ts';
import { opencodeServer } from './players/opencode-server.ts';
import { keepSessions, type Played } from './results.ts';
import { type Scene, scenes, Troupe } from './scenes.ts';

/** One line an agent: add yours here. */
const players: readonly Player[] = [claude, codex, codexShared, gemini, copilot, opencode, opencodeServer];

const sequence = (states: readonly string[]): string => states.join(' > ');

async function play(player: Player, place: Place, { name, states, play: act }: Scene): Promise<Played> {
  const began = Date.now();
  const missing = player.cannot[name];
  if (missing !== undefined) return { scene: name, verdict: 'n/a', seen: '', why: missing, tookMs: 0 };
  const troupe = new Troupe(player, place, name.replaceAll(/\W+/g, '-'));
  const other = player.states?.[name];
  const expected = sequence(other?.states ?? states);
  const problem = await act(troupe).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  await troupe.close();
  place.mock.release();
  const seen = troupe.leds.map((led) => sequence(led.states));
  const strange = seen.find((one) => one !== expected);
  keepLogs(player, name, troupe);
  const wrong = problem ?? (strange === undefined ? null : `expected ${expected}`);
  return {
    scene: name,
    verdict: wrong === null ? 'right' : 'wrong',
    seen: strange ?? seen[0] ?? '',
    why: wrong ?? other?.why ?? null,
    tookMs: Date.now() - began,
  };
}

function keepLogs(player: Player, scene: string, { leds }: Troupe): void {
  const folder = join(agentsDir, 'captures', `${player.label.replaceAll(/\W+/g, '-')}-sessions`);
  mkdirSync(folder, { recursive: true });
  const text = leds.map(({ log }) => log.join('\n')).join('\n\n');
  writeFileSync(join(folder, `${scene.replaceAll(/\W+/g, '-')}.log`), `${text}\n`);
}

/** Plays the scenes for the chosen agents, all of them when none is named; whether all went right. */
export async function playSessions(names: readonly string[], only: string | null): Promise<boolean> {
  const chosen = players.filter(
    ({ agent, label }) => names.length === 0 || [agent, label].some((one) => names.includes(one)),
  );
  let isGood = true;
  for (const player of chosen) {
    const { label, version, driver } = player;
    process.stdout.write(`${label} ${version}, led by ${driver}\n`);
    const results: Played[] = [];
    const place = new Place();
    try {
      await place.open(player);
      for (const scene of scenes.filter(({ name }) => only === null || name === only)) {
        const result = await play(player, place, scene);
        results.push(result);
        const words = [result.seen, result.why].filter((one) => one !== null && one !== '').join('; ');
        process.stdout.write(`  ${result.verdict.padEnd(6)} ${scene.name.padEnd(18)} ${result.tookMs} ms  ${words}\n`);
      }
    } finally {
      await place.close();
    }
    if (only === null) keepSessions({ label, version, driver, scenes: results });
    isGood = isGood && results.length > 0 && results.every(({ verdict }) => verdict !== 'wrong');
  }
  return isGood;
}
