// The spool and small files of another machine: through the collector, on this machine and over a real sshd, with names
// and contents that try to be something else.

import { chmodSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/model/limits.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealRandom } from '../../../src/platform/random.ts';
import { RemoteSpool } from '../../../src/sources/spool/remote-spool.ts';
import { Collector } from '../../../src/targets/collector.ts';
import type { Executor } from '../../../src/targets/executor.ts';
import { createLocalExecutor } from '../../kit/local-executor.ts';
import { startSshd } from '../../kit/sshd.ts';
import { until } from '../../kit/tmux-server.ts';
import { sshTo } from '../targets/bench.ts';
import { hook, type Place, place, runIn } from './kit.ts';

let here: Place;
const ends: (() => Promise<void> | void)[] = [];
beforeEach(() => {
  here = place();
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  here.remove();
});

function collectorOf(executor: Executor): Collector {
  const collector = new Collector({ executor, clock: createRealClock(), random: createRealRandom() });
  ends.push(() => collector.close());
  ends.push(() => executor.close());
  return collector;
}

const local = (): Collector => collectorOf(createLocalExecutor(here.env));
const text = (bytes: Uint8Array | null | undefined): string => new TextDecoder().decode(bytes ?? undefined);

function put(name: string, content: string | Uint8Array, seconds: number): void {
  writeFileSync(join(here.spool, name), content);
  utimesSync(join(here.spool, name), seconds, seconds);
}

describe('the collector', () => {
  it('tells spool files, oldest first, byte for byte, and removes what it is told to', async () => {
    const collector = local();
    const binary = new Uint8Array([0, 10, 64, 13, 255, 10, 61, 10, 10]);
    put('7-1-0', binary, 1_000.25);
    put('7-3-0', '{"three":3}\n\n', 900);
    put('7-2-0', '', 950);
    writeFileSync(join(here.spool, 'other'), 'x');
    symlinkSync('/etc/passwd', join(here.spool, '7-9-0'));
    mkdirSync(join(here.spool, '7-8-0'));
    const files = await collector.spool(10);
    expect(files).toEqual({
      ok: true,
      value: [
        { name: '7-3-0', sizeBytes: 13, mtimeMs: 900_000, bytes: new TextEncoder().encode('{"three":3}\n\n') },
        { name: '7-2-0', sizeBytes: 0, mtimeMs: 950_000, bytes: new Uint8Array(0) },
        { name: '7-1-0', sizeBytes: 9, mtimeMs: 1_000_250, bytes: binary },
      ],
    });
    expect((await collector.spool(1)).ok && (await collector.spool(1))).toMatchObject({ value: [{ name: '7-3-0' }] });
    await collector.spoolDone(['7-3-0', 'other', '../spool/other', '$(touch x)', '7-2-0 other'], ['7-1-0']);
    expect(readdirSync(here.spool).sort()).toEqual(['7-2-0', '7-8-0', '7-9-0', 'other', 'refused']);
    expect(readdirSync(join(here.spool, 'refused'))).toEqual(['7-1-0']);
  });

  it('a spool that is not there is empty; a giant is named without its content', async () => {
    const collector = local();
    put('7-1-0', new Uint8Array(limits.spoolFileBytesMax + 1), 1_000);
    expect(await collector.spool(10)).toMatchObject({ ok: true, value: [{ name: '7-1-0', bytes: null }] });
    chmodSync(here.spool, 0o700);
    const elsewhere = collectorOf(createLocalExecutor({ ...here.env, XDG_STATE_HOME: '/nowhere', HOME: '/nowhere' }));
    expect(await elsewhere.spool(10)).toEqual({ ok: true, value: [] });
  });

  it('tells hooks over there when it is full, and when it no longer is', async () => {
    writeFileSync(join(here.spool, 'full'), '');
    await local().spool(10);
    expect(readdirSync(here.spool)).toEqual([]);
  });

  it('SEC5 reads small files by any path; no path is ever run', async () => {
    const collector = local();
    const strange = [
      'plain',
      'two words',
      "it's",
      '$(touch injected)',
      '`touch injected`',
      '*',
      'a\nb',
      'é漢',
      '\\0101',
    ];
    const paths = strange.map((name) => join(here.dir, name));
    for (const [at, path] of paths.entries()) writeFileSync(path, `content ${at}`);
    const large = join(here.dir, 'large');
    writeFileSync(large, 'x'.repeat(limits.remoteFileBytesMax + 1));
    const files = await collector.readFiles([...paths, '/nowhere/x', here.dir, 'relative', large]);
    expect(files.ok && files.value.map((file) => [file.name, file.bytes === null ? null : text(file.bytes)])).toEqual([
      ...paths.map((path, at) => [path, `content ${at}`]),
      [large, null],
    ]);
    expect(readdirSync(here.dir).includes('injected')).toBe(false);
    expect((await collector.readFiles([])).ok).toBe(true);
    expect((await collector.ping()).ok).toBe(true);
  });
});

describe('the spool of another machine', () => {
  async function follows(collector: Collector): Promise<void> {
    const taken: string[] = [];
    const spool = new RemoteSpool({
      collector,
      clock: createRealClock(),
      take: async (call) => {
        taken.push(call.event);
        return 'done';
      },
    });
    for (let at = 0; at < 100; at += 1) {
      const head = `agtmux1 agent=x event=e${at} pane= socket= pid=${at + 1} ppid=1 up= body=stdin\n`;
      put(`7-${at + 1}-0`, `${head}{"at":${at}}`, 1_000 + at);
    }
    spool.start();
    await until('all are taken', () => taken.length >= 100 && readdirSync(here.spool).length === 0);
    expect(taken).toEqual(Array.from({ length: 100 }, (_, at) => `e${at}`));
    runIn(['/bin/sh'], [hook, 'x', 'live'], here.env, '{}');
    await until('the live one is taken', () => taken.includes('live'));
    await spool.stop();
    expect(taken.length).toBe(101);
  }

  it('is followed through a collector', () => follows(local()));

  it('is followed over ssh', async () => {
    const sshd = await startSshd({ environment: { HOME: here.dir, XDG_STATE_HOME: join(here.dir, 'state') } });
    ends.push(() => sshd.close());
    await follows(collectorOf(sshTo('vm1', sshd.configFile, here.dir)));
  });
});
