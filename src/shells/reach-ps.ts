// The process table for reaching shells where there is no /proc: macOS. It does not tell sessions; groups and parents do.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import { parsePsReport, psScript } from '../sources/process/ps.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import type { ReachRow, ReachTable } from './reach.ts';

const question = {
  program: '/bin/sh',
  args: ['-c', psScript],
  env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
  deadlineMs: limits.shellTableMs,
  outputBytesMax: limits.shellTableBytesMax,
};

/** Every shell is looked at every second; one table does for all of them. */
const freshMs = 500;

export async function openPsTable(exec: Exec, clock: Clock): Promise<Result<ReachTable>> {
  const first = await read(exec);
  if (!first.ok) return first;
  const { boot } = first.value;
  const rows = async (): Promise<readonly ReachRow[]> => {
    const table = await read(exec);
    return table.ok && table.value.boot === boot ? rowsOf(table.value) : [];
  };
  let recent = { rows: rows(), until: clock.monotonicMs() + freshMs };
  const recentRows = (): Promise<readonly ReachRow[]> => {
    if (clock.monotonicMs() >= recent.until) recent = { rows: rows(), until: clock.monotonicMs() + freshMs };
    return recent.rows;
  };
  return ok({
    boot,
    rows,
    row: async (pid) => (await recentRows()).find((row) => row.pid === pid) ?? null,
    start: (text) => secondsOf(text),
  });
}

async function read(exec: Exec): Promise<Result<ProcessTable>> {
  const { status, stdout } = await exec.run(question);
  if (status !== 0) return fail('E_FILE', 'ps did not answer');
  return parsePsReport(Buffer.from(stdout).toString('latin1'));
}

const rowsOf = ({ processes }: ProcessTable): readonly ReachRow[] =>
  [...processes.values()].map(({ pid, ppid, pgid, state, identity }) => ({
    pid,
    ppid,
    pgid,
    session: null,
    state,
    start: identity.start,
  }));

/** `Sun Nov 15 22:52:00 2026` of the holder, who asked for UTC, as the table has it: seconds since 1970. */
function secondsOf(text: string): string {
  const ms = Date.parse(`${text.trim()} UTC`);
  return Number.isNaN(ms) ? text.trim() : String(ms / 1_000);
}
