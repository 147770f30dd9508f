// Whatever stands in Kilo's lines, in whatever order and however it is cut: the adapter does not throw, keeps its bounds, and
// never waits for ever.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changes, mangled } from '../../../../test/kit/mangled.ts';
import { between, personDeeds, played } from '../../../../test/kit/played-adapter.ts';
import { kiloRecording } from '../../../../test/kit/recorded-kilo.ts';
import { recordingsOf } from '../../../../test/kit/recorded-sessions.ts';
import { replaySession, type Scene } from '../../../../test/kit/replay-session.ts';
import type { Incoming } from '../../protocol/adapter.ts';
import { kiloLines } from './adapter.ts';

const numRuns = Number(process.env.COUNT ?? 300);

const recorded: ReadonlyMap<string, readonly string[]> = new Map(
  recordingsOf('kilo').map((name) => [
    name,
    kiloRecording(name).scenes.flatMap((scene) =>
      'heard' in scene && scene.heard.from === 'stdout' ? [scene.heard.line] : [],
    ),
  ]),
);
const names = fc.constantFrom(...recorded.keys());
const heardOf = (lines: readonly string[]): readonly Incoming[] => lines.map((line) => ({ from: 'stdout', line }));

describe('Kilo’s lines', () => {
  it('never throws, whatever becomes of the lines', () => {
    fc.assert(
      fc.property(names, changes, fc.boolean(), between, (name, all, auto, extras) => {
        played(kiloLines, heardOf(mangled(recorded.get(name) ?? [], all)), auto, extras);
      }),
      { numRuns },
    );
  });

  it('SES6 is not busy for ever, whatever becomes of the lines and whatever a person does', () => {
    fc.assert(
      fc.property(names, changes, personDeeds, (name, all, deeds) => {
        const { startWall } = kiloRecording(name);
        const scenes = mangled(recorded.get(name) ?? [], all).flatMap((line, place): readonly Scene[] => {
          const at = 20_000 + place * 100;
          const done = deeds.filter(([after]) => after === place).map(([, deed]) => ({ at, deed }));
          return [{ at, heard: { from: 'stdout', line } }, ...done];
        });
        const opening = { spawned_at: startWall };
        const { final } = replaySession(kiloLines, scenes, { startWall, opening, settleMs: 24 * 3_600_000 });
        expect(['creating', 'streaming']).not.toContain(final.state);
      }),
      { numRuns },
    );
  });

  it('never throws on lines that were never seen', () => {
    const lines = fc.array(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), { maxLength: 20 });
    fc.assert(
      fc.property(lines, (foreign) => {
        played(kiloLines, heardOf(foreign), false, []);
      }),
      { numRuns },
    );
  });

  it('keeps what it remembers small, however long the conversation', () => {
    const [lines = []] = recorded.values();
    const long = Array.from({ length: 400 }, (_, round) =>
      lines.map((line) => line.replaceAll('17947', String(18_000 + round))),
    ).flat();
    const { memory } = played(kiloLines, heardOf(long), true, []);
    expect(JSON.stringify(memory).length).toBeLessThan(100_000);
  });
});
