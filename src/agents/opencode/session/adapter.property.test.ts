// Whatever a server of OpenCode or Kilo says, in whatever order: the adapter does not throw, keeps its bounds, and never
// waits for ever.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changes, mangled } from '../../../../test/kit/mangled.ts';
import { between, personDeeds, played } from '../../../../test/kit/played-adapter.ts';
import { serverRecording } from '../../../../test/kit/recorded-servers.ts';
import { recordingsOf } from '../../../../test/kit/recorded-sessions.ts';
import { replaySession, type Scene } from '../../../../test/kit/replay-session.ts';
import type { Incoming } from '../../protocol/adapter.ts';
import { opencodeHttp } from './adapter.ts';

const numRuns = Number(process.env.COUNT ?? 300);

interface Recorded {
  readonly created: Incoming;
  readonly events: readonly string[];
}

function recordedOf(name: string): Recorded {
  const heards = serverRecording(name).scenes.flatMap((scene) => ('heard' in scene ? [scene.heard] : []));
  const created = heards.find(({ from }) => from === 'reply');
  if (created === undefined) throw new Error(`${name} has no conversation`);
  return { created, events: heards.flatMap((heard) => (heard.from === 'stream' ? [heard.data] : [])) };
}

const recorded: ReadonlyMap<string, Recorded> = new Map(
  recordingsOf('kilo-serve').map((name) => [name, recordedOf(name)]),
);
const names = fc.constantFrom(...recorded.keys());

function heardOf(name: string, all: Parameters<typeof mangled>[1]): readonly Incoming[] {
  const { created, events } = recordedOf(name);
  return [created, ...mangled(events, all).map((data): Incoming => ({ from: 'stream', data }))];
}

describe('the servers of OpenCode and Kilo', () => {
  it('never throws, whatever becomes of the events', () => {
    fc.assert(
      fc.property(names, changes, fc.boolean(), between, (name, all, auto, extras) => {
        played(opencodeHttp, heardOf(name, all), auto, extras);
      }),
      { numRuns },
    );
  });

  it('SES6 is not busy for ever, whatever becomes of the events and whatever a person does', () => {
    fc.assert(
      fc.property(names, changes, personDeeds, (name, all, deeds) => {
        const scenes = heardOf(name, all).flatMap((heard, place): readonly Scene[] => {
          const at = place * 20;
          const done = deeds.filter(([after]) => after === place).map(([, deed]) => ({ at, deed }));
          return [{ at, heard }, ...done];
        });
        const { final } = replaySession(opencodeHttp, scenes, { settleMs: 24 * 3_600_000 });
        expect(['creating', 'streaming']).not.toContain(final.state);
      }),
      { numRuns },
    );
  });

  it('never throws on events that were never seen', () => {
    const lines = fc.array(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), { maxLength: 20 });
    fc.assert(
      fc.property(lines, (foreign) => {
        played(
          opencodeHttp,
          foreign.map((data): Incoming => ({ from: 'stream', data })),
          false,
          [],
        );
      }),
      { numRuns },
    );
  });

  it('keeps what it remembers small, however long the conversation', () => {
    const { created, events } = recordedOf('kilo-command');
    const long = Array.from({ length: 300 }, (_, round) =>
      events.map(
        (data): Incoming => ({ from: 'stream', data: data.replaceAll(/(msg|prt|per|call)_(\w+)/g, `$1_${round}_$2`) }),
      ),
    ).flat();
    const { memory } = played(opencodeHttp, [created, ...long], true, []);
    expect(JSON.stringify(memory).length).toBeLessThan(100_000);
  });
});
