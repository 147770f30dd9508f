import { describe, expect, it } from 'vitest';
import type { StatLine } from '../process/stat.ts';
import { originOf } from './origin.ts';

const me = 1_000;
const at = 100_000_000;

interface Known {
  readonly pid: number;
  readonly ppid: number;
  readonly start: string;
  readonly uid?: number;
  readonly startedAtMs?: number;
}

function look(processes: readonly Known[], call: Partial<Parameters<typeof originOf>[0]>) {
  const of = (pid: number): Known | undefined => processes.find((one) => one.pid === pid);
  const proc = {
    lineage: (pid: number): readonly StatLine[] => {
      const one = of(pid);
      const rest = { name: 'x', state: 'S', pgid: 1, ttyNumber: 0, tpgid: -1, stackStart: '0' };
      return one === undefined ? [] : [{ ...rest, pid, ppid: one.ppid, startTicks: one.start }];
    },
    userOf: (pid: number) => of(pid)?.uid ?? me,
    startedAtMs: ({ startTicks }: Pick<StatLine, 'startTicks'>) =>
      processes.find((one) => one.start === startTicks)?.startedAtMs ?? at,
  };
  return originOf({ pid: 30, ppid: 20, ancestors: [], time: at, ...call }, proc, me);
}

const shell = { pid: 20, ppid: 10, start: '200' };
const agent = { pid: 10, ppid: 1, start: '100' };
const chain = [
  { pid: 20, start: '200' },
  { pid: 10, start: '100' },
];

describe('where a hook call comes from', () => {
  it('IDN11 is believed where its processes started each other, and where they have ended', () => {
    expect(look([agent, shell], { ancestors: chain })).toBe('possible');
    expect(look([agent, shell, { pid: 30, ppid: 20, start: '300' }], { ancestors: chain })).toBe('possible');
    expect(look([], { ancestors: chain })).toBe('possible');
    expect(look([agent], { ancestors: chain })).toBe('possible');
    // Its parent has ended, and init took it in.
    expect(look([{ ...shell, ppid: 1 }], { ancestors: chain })).toBe('possible');
    expect(look([], { ancestors: [] })).toBe('possible');
  });

  it('IDN11 is refused where it names processes that did not start each other', () => {
    expect(look([agent, { ...shell, ppid: 7 }], { ancestors: chain })).toBe('forged');
    expect(look([agent, shell], { ancestors: chain.slice(1) })).toBe('forged');
    // The program that wrote it runs since long, and below another process.
    const forger = { pid: 30, ppid: 99, start: '50', startedAtMs: at - 60_000 };
    expect(look([agent, shell, forger], { ancestors: chain })).toBe('forged');
  });

  it('IDN11 is believed of a plugin, which names the process that it runs in first, unless that is below another one', () => {
    const own = { pid: shell.pid, ppid: agent.pid, ancestors: chain };
    expect(look([agent, shell], own)).toBe('possible');
    expect(look([agent, shell], { ...own, ppid: 7 })).toBe('forged');
    expect(look([agent, { ...shell, ppid: 7 }], own)).toBe('forged');
  });

  it('IDN3 a pid that came back is neither the process that is named nor the one that wrote', () => {
    expect(
      look(
        [
          { ...agent, start: '900' },
          { ...shell, ppid: 7, start: '901' },
        ],
        { ancestors: chain },
      ),
    ).toBe('possible');
    // The call is from before whoever has its pid now began.
    const later = { pid: 30, ppid: 99, start: '950', startedAtMs: at + 500 };
    expect(look([agent, shell, later], { ancestors: chain })).toBe('possible');
  });

  it('IDN11 is refused where it names a process of another user', () => {
    expect(look([{ ...agent, uid: 0 }, shell], { ancestors: chain })).toBe('other_user');
  });
});
