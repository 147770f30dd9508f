// The file of settings as people keep it: behind a link, out of reach for a while, written by hand and by agtmux.

import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import { createSimulatedClock, type SimulatedClock } from '../../platform/simulated/clock.ts';
import { createSimulatedFiles, type SimulatedFiles } from '../../platform/simulated/files.ts';
import { NoticeSettingsFile } from './settings-file.ts';

const path = '/config/notifications.toml';
let clock: SimulatedClock;
let files: SimulatedFiles;
let file: NoticeSettingsFile;

beforeEach(async () => {
  clock = createSimulatedClock();
  files = createSimulatedFiles({ clock });
  await files.mkdirPrivate('/config');
  await files.mkdirPrivate('/dotfiles');
  file = new NoticeSettingsFile({ files, clock, path, log: { warn: () => undefined }, onChange: () => undefined });
});

const plant = (place: string, text: string): void => files.plant(place, { kind: 'file', bytes: Buffer.from(text) });
const textOf = async (place: string): Promise<string> =>
  Buffer.from((await files.read(place, { bytesMax: 100_000 }))?.bytes ?? []).toString();

describe('the file of settings', () => {
  it('NOT7 what is there and cannot be read changes nothing, is told, and is not written over', async () => {
    plant(path, 'channels = ["desktop"]\non = ["error"]\n');
    await file.start();
    expect(file.current.channels).toEqual(['desktop']);
    plant(path, `# ${'x'.repeat(limits.configBytesMax)}\n`);
    await clock.advanceSettled(limits.configLookMs);
    expect(file.trouble).toContain('EFBIG');
    expect([file.current.channels, file.current.on]).toEqual([['desktop'], ['error']]);
    expect(await file.change({ quiet: '22:00-07:00' })).toMatchObject({ ok: false, failure: { code: 'E_CONFIG' } });
    expect((await files.stat(path))?.sizeBytes).toBeGreaterThan(limits.configBytesMax);
    // Readable again, word for word as before: nothing is wrong any more.
    plant(path, 'channels = ["desktop"]\non = ["error"]\n');
    await clock.advanceSettled(limits.configLookMs);
    expect(file.trouble).toBeNull();
    file.stop();
  });

  it('NOT7 a link is followed and never replaced', async () => {
    plant('/dotfiles/n.toml', 'on = ["error"]\n');
    files.plant(path, { kind: 'link', target: '../dotfiles/n.toml' });
    await file.start();
    expect((await file.change({ channels: ['desktop'] })).ok).toBe(true);
    expect((await files.stat(path))?.kind).toBe('link');
    expect(await textOf('/dotfiles/n.toml')).toContain('channels = [ "desktop" ]');
    expect(file.current).toMatchObject({ on: ['error'], channels: ['desktop'] });
    file.stop();
  });
});
