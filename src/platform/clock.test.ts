import { spawn } from 'node:child_process';
import { describe, expect, it, vi } from 'vitest';
import { createRealClock } from './clock.ts';
import { clockContract } from './contract/clock.contract.ts';

/** Node before 22.18 runs TypeScript only when asked to. */
const typeFlags = process.features.typescript ? [] : ['--experimental-strip-types'];

clockContract('real', () => {
  const clock = createRealClock();
  return { clock, pass: (elapsedMs) => new Promise((resolve) => void clock.after(elapsedMs, resolve)) };
});

describe('real clock', () => {
  it('tells the time of the machine', () => {
    const before = Date.now();
    const told = createRealClock().wallMs();
    expect(told).toBeGreaterThanOrEqual(before);
    expect(told).toBeLessThanOrEqual(Date.now());
  });

  it('a delay beyond the range of system timers is cut into pieces the system knows', async () => {
    const warnings: string[] = [];
    const heard = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', heard);
    const clock = createRealClock();
    const cancel = clock.after(2 ** 40, () => undefined);
    await new Promise((resolve) => void clock.after(20, () => resolve(undefined)));
    cancel();
    process.off('warning', heard);
    expect(warnings).toEqual([]);
  });

  it('a machine that was busy while a timer was set makes no delay of less than nothing', () => {
    const [times, delays] = [[10, 15], [] as number[]];
    const now = vi.spyOn(performance, 'now').mockImplementation(() => times.shift() ?? 15);
    const set = vi.spyOn(globalThis, 'setTimeout').mockImplementation((_call, delayMs) => {
      delays.push(delayMs ?? 0);
      return {} as NodeJS.Timeout;
    });
    createRealClock().after(0, () => undefined);
    now.mockRestore();
    set.mockRestore();
    expect(delays).toEqual([0]);
  });

  it('what came in while the process stood still is read before a deadline from then counts', async () => {
    const program = `
      import { createRealClock } from ${JSON.stringify(new URL('./clock.ts', import.meta.url).href)};
      const say = (word) => void process.stdout.write(word + '\\n');
      process.stdin.once('data', () => say('answer'));
      const cancels = [100, 110, 120].map((ms) => createRealClock().after(ms, () => say('deadline ' + ms)));
      process.stdin.once('data', () => cancels[1]());
      createRealClock().after(130, () => process.exit(0));
      say('ready');
    `;
    const child = spawn(process.execPath, [...typeFlags, '--input-type=module', '-e', program]);
    let said = '';
    child.stdout.on('data', (data) => {
      said += String(data);
    });
    await vi.waitUntil(() => said !== '', { timeout: 20_000, interval: 1 });
    child.kill('SIGSTOP');
    child.stdin.write('x');
    await new Promise((resolve) => void createRealClock().after(300, () => resolve(undefined)));
    child.kill('SIGCONT');
    await new Promise((resolve) => child.once('close', resolve));
    expect(said.trim().split('\n')).toEqual(['ready', 'answer', 'deadline 100', 'deadline 120']);
  });

  it('slow timers ring on one beat, so that who is idle wakes up once for all of them', () => {
    const dueOf = (atMs: number, delayMs: number): number => {
      const delays: number[] = [];
      const time = (): [number, number] => [Math.floor(atMs / 1_000), (atMs % 1_000) * 1e6];
      const now = vi.spyOn(process, 'hrtime').mockImplementation(time);
      const set = vi.spyOn(globalThis, 'setTimeout').mockImplementation((_call, ms) => {
        delays.push(ms ?? 0);
        return {} as NodeJS.Timeout;
      });
      createRealClock().after(delayMs, () => undefined);
      now.mockRestore();
      set.mockRestore();
      return atMs + (delays[0] ?? 0);
    };
    expect([dueOf(10_030, 2_000), dueOf(10_070, 2_000), dueOf(11_099, 1_000)]).toEqual([12_101, 12_101, 12_101]);
    // Quick ones keep their time to the millisecond, and short ones have none to spare.
    expect([dueOf(10_030, 999), dueOf(10_030, 40)]).toEqual([11_030, 10_070]);
  });

  it('a hundred short timers all keep their time', async () => {
    const clock = createRealClock();
    const early: number[] = [];
    const waits = Array.from({ length: 100 }, (_unused, index) => {
      const delayMs = index / 7;
      const began = clock.monotonicMs();
      return new Promise<void>((resolve) => {
        clock.after(delayMs, () => {
          if (clock.monotonicMs() - began < delayMs) early.push(delayMs);
          resolve();
        });
      });
    });
    await Promise.all(waits);
    expect(early).toEqual([]);
  });
});
