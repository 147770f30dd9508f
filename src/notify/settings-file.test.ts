// The file of settings as people keep it: behind a link, out of reach for a while, written by hand and by agtmux.

import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../model/limits.ts';
import type { NoticeChange } from '../model/notices.ts';
import { createSimulatedClock, type SimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles, type SimulatedFiles } from '../platform/simulated/files.ts';
import { readNoticeSettings } from './settings.ts';
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

  it('NOT7 changes at once are all made, with the looks of the timer in between', async () => {
    plant(path, 'on = ["error"]\nchannels = ["terminal"]\n');
    await file.start();
    const changes: NoticeChange[] = [
      { quiet: '22:00-07:00' },
      { desktop_text: 'ask' },
      { skip_looked_at: false },
      { turn_on: ['desktop'] },
      { turn_on: ['webhook'], turn_off: ['terminal'] },
      { on: ['error', 'waiting_approval'] },
    ];
    const looking = clock.advanceSettled(limits.configLookMs * 3);
    const made = await Promise.all(changes.map((change) => file.change(change)));
    await looking;
    expect(made.every(({ ok }) => ok)).toBe(true);
    const wanted = {
      quiet: '22:00-07:00',
      desktop_text: 'ask',
      skip_looked_at: false,
      channels: ['desktop', 'webhook'],
      on: ['error', 'waiting_approval'],
    };
    expect(file.current).toMatchObject(wanted);
    expect(readNoticeSettings(await textOf(path), path)).toMatchObject({ ok: true, value: wanted });
    file.stop();
  });

  it('NOT7 the file keeps its mode, and what somebody writes between the look and the change is not lost', async () => {
    files.plant(path, { kind: 'file', bytes: Buffer.from('on = ["error"]\n'), mode: 0o644 });
    await file.start();
    let isWritten = false;
    const edit = files.edit.bind(files);
    files.edit = (place, wanted) => {
      if (!isWritten) files.plant(path, { kind: 'file', bytes: Buffer.from('on = ["completed"]\n'), mode: 0o644 });
      isWritten = true;
      return edit(place, wanted);
    };
    expect((await file.change({ desktop_text: 'ask' })).ok).toBe(true);
    expect(file.current).toMatchObject({ on: ['completed'], desktop_text: 'ask' });
    expect((await files.stat(path))?.mode).toBe(0o644);
    file.stop();
  });
});
