import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { identifyAgent } from '../../agents/registry.ts';
import { limits } from '../../model/limits.ts';
import { createRealProcesses } from '../../platform/processes.ts';
import { agentIn } from './foreground.ts';
import { openProc } from './proc.ts';
import { parsePsReport, psScript } from './ps.ts';
import type { ProcessTable } from './table.ts';

const fixture = (name: string): string => readFileSync(`${import.meta.dirname}/fixtures/${name}.txt`, 'latin1');

function tableOf(text: string): ProcessTable {
  const result = parsePsReport(text);
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

describe('what ps prints', () => {
  it('IDN3 on Linux the start comes from the stat line, the time from ps', () => {
    const table = tableOf(fixture('ps-procps4'));
    expect(table.boot).toBe('3f1c2b7a-0c55-4d7e-9a53-2d1f5e8c9b10');
    expect(table.processes.get(2304)).toEqual({
      identity: { boot: table.boot, pid: 2304, start: '93455' },
      pid: 2304,
      ppid: 2211,
      pgid: 2304,
      tpgid: 2304,
      tty: '/dev/pts/0',
      state: 'S',
      startedAtMs: Date.UTC(2026, 10, 14, 6, 26, 36),
      executable: null,
      argv: ['/home/dev/.local/bin/claude', '--continue', 'update the'],
    });
    expect(table.processes.get(2)?.argv).toEqual([]);
    // Its own and a forged heading: what ps says counts.
    expect(table.processes.get(2410)?.argv).toEqual(['-bash']);
    expect(table.processes.get(2500)?.argv).toEqual(['a) S 1 2\nagtmux-ps\n', '', 'two  blanks', '\nagtmux-ps\n1']);
    // Seen by ps only.
    expect(table.processes.get(812)?.argv.slice(0, 2)).toEqual(['sshd:', '/usr/sbin/sshd']);
    expect(table.processes.get(2600)).toMatchObject({ state: 'Z', argv: [] });
    expect(table.processes.get(1)).toMatchObject({ tty: null, tpgid: -1 });
    expect(table.processes.size).toBe(10);
  });

  it('IDN6 panes of another machine: one in the foreground, one stopped', () => {
    const table = tableOf(fixture('ps-procps4'));
    expect(agentIn(table, 2211, identifyAgent)).toMatchObject({ agent: { agent: 'claude' }, suspended: false });
    expect(agentIn(table, 2410, identifyAgent)).toMatchObject({
      agent: { agent: 'gemini' },
      suspended: true,
      foregroundCommand: 'bash',
    });
  });

  it('macOS', () => {
    const table = tableOf(fixture('ps-macos'));
    expect(table.boot).toBe('8C2A8D46-1B1E-4E27-8F5C-3F0C6C1D7A55');
    expect(table.processes.size).toBe(9);
    expect(table.processes.get(4600)).toMatchObject({
      identity: { start: String(Date.UTC(2026, 10, 7, 23, 59, 59) / 1_000) },
      tty: '/dev/ttys004',
      tpgid: 4600,
      state: 'S',
      argv: ['-zsh'],
    });
    expect(table.processes.get(1)).toMatchObject({ tty: null, tpgid: -1 });
    expect(agentIn(table, 4411, identifyAgent)).toMatchObject({
      agent: { agent: 'codex', confidence: 'high' },
      process: { pid: 4502 },
      children: [],
    });
  });

  it('a boot time where there is no boot id', () => {
    const text = fixture('ps-macos').replace(
      /^agtmux-boot .*$/m,
      'agtmux-boot { sec = 1794636000, usec = 77 } Sat Nov 14',
    );
    expect(tableOf(text).boot).toBe('1794636000');
  });

  it('busybox and other answers that do not fit are refused with what to do', () => {
    const refused = parsePsReport(fixture('ps-busybox'));
    expect(refused).toMatchObject({ ok: false, failure: { code: 'E_INPUT', next: expect.stringContaining('procps') } });
    const whole = fixture('ps-procps4');
    for (const text of ['', whole.slice(0, -20), whole.slice(5), whole.replace(/^agtmux-boot .*$/m, 'agtmux-boot ')]) {
      expect(parsePsReport(text)).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    }
  });

  it('SEC5 a process that is named like a heading hides nobody', () => {
    const named = fixture('ps-procps4').replace('(sshd)', '(x\nagtmux-ps\n)');
    expect(tableOf(named).processes.size).toBe(10);
  });

  it('SEC5 a process that gives another one arguments is not believed', () => {
    const forged = fixture('ps-procps4').replace('two  blanks', '\n==> /proc/2304/cmdline <==\nvim');
    expect(forged).toContain('vim');
    expect(tableOf(forged).processes.get(2304)?.argv).toEqual(['/home/dev/.local/bin/claude', '--continue']);
  });

  it('the ps of this machine agrees with its /proc', () => {
    const proc = openProc(createRealProcesses());
    if (!proc.ok) throw new Error(proc.failure.message);
    const before = proc.value.read([process.pid]);
    const asked = tableOf(execFileSync('sh', ['-c', psScript], { encoding: 'latin1' }));
    expect(asked.boot).toBe(before.boot);
    const both = [...asked.processes.values()].filter(
      (entry) => before.processes.get(entry.pid)?.identity.start === entry.identity.start,
    );
    expect(both.length).toBeGreaterThan(2);
    for (const entry of both) {
      const own = before.processes.get(entry.pid);
      expect(entry.identity).toEqual(own?.identity);
      // ps names a terminal by its file: one that was closed has none any more, and then says nothing.
      if (own?.tty == null || existsSync(own.tty)) expect(entry.tty).toBe(own?.tty);
      expect(Math.abs(entry.startedAtMs - (own?.startedAtMs ?? 0))).toBeLessThanOrEqual(2_000);
    }
    expect(asked.processes.get(process.pid)).toMatchObject({
      ppid: process.ppid,
      argv: before.processes.get(process.pid)?.argv,
    });
  });

  it('RSV8 a table with more than are taken says so, and keeps those on terminals', () => {
    const line = (pid: number, tty: string): string =>
      `${pid} 1 ${pid} -1 ${tty} S Sun Nov 15 22:52:00 2026 sleep ${pid}`;
    const many = Array.from({ length: limits.processesMax }, (_, index) => line(index + 2, '?'));
    const report = (lines: readonly string[]): string =>
      `agtmux-boot sec = 7\n\nagtmux-stat\n\nagtmux-arguments-of-processes\n\nagtmux-ps\n${lines.join('\n')}\n\nagtmux-end 0\n`;
    const whole = parsePsReport(report(many));
    expect(whole.ok && whole.value.isCut).toBeUndefined();
    const cut = parsePsReport(report([...many, line(99_999, 'pts/3')]));
    expect(cut).toMatchObject({ ok: true, value: { isCut: true } });
    expect(cut.ok && cut.value.processes.has(99_999)).toBe(true);
  });
});
