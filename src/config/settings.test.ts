import { describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../platform/simulated/files.ts';
import { defaultConfig } from './config.ts';
import { decayLimitsOf, readSettings, Settings } from './settings.ts';

const path = '/home/me/config.toml';

function setUp() {
  const clock = createSimulatedClock();
  const files = createSimulatedFiles({ clock });
  const warned: unknown[] = [];
  const log = { info: () => undefined, warn: (...words: unknown[]) => warned.push(words) };
  const settings = new Settings({ files, clock, path, first: defaultConfig, log });
  let changes = 0;
  settings.follow(() => {
    changes += 1;
  });
  const write = (text: string) => files.plant(path, { bytes: Buffer.from(text), mtimeMs: clock.wallMs() });
  const look = () => clock.advanceSettled(limits.configLookMs);
  return { files, settings, write, look, warned, changes: () => changes };
}

describe('settings', () => {
  it('RSV7 a good change takes effect at once, a bad one changes nothing and is reported', async () => {
    const { settings, write, look, warned, changes } = setUp();
    await look();
    expect(changes()).toBe(0);
    write('[states]\ncompleted_seconds = 5\n');
    await look();
    expect([changes(), decayLimitsOf(settings).completedMs]).toEqual([1, 5_000]);
    write('[states]\ncompleted_seconds = "soon"\n');
    await look();
    expect([changes(), decayLimitsOf(settings).completedMs, warned.length]).toEqual([1, 5_000, 1]);
    await look();
    expect(warned).toHaveLength(1);
    write('[states]\nrunning_stale_seconds = 90\n');
    await look();
    expect([changes(), decayLimitsOf(settings).runningStaleMs]).toEqual([2, 90_000]);
    settings.stop();
    write('');
    await look();
    expect(changes()).toBe(2);
  });

  it('RSV7 without a file everything is as it comes', async () => {
    const { files } = setUp();
    expect(await readSettings(files, path)).toEqual({ ok: true, value: defaultConfig });
  });
});
