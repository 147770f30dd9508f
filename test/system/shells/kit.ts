// What the suites of shells share: a keeper on a folder of its own with all it tells, wishes, and a look at processes.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ShellId, ShellOwner, ShellRequest, ShellRow } from '../../../src/model/shells.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealExec } from '../../../src/platform/exec.ts';
import { createRealFiles } from '../../../src/platform/files.ts';
import { createRealProcesses } from '../../../src/platform/processes.ts';
import type { UnnumberedShellEvent } from '../../../src/shells/life.ts';
import { openShellPorts } from '../../../src/shells/open-shells.ts';
import { procRow } from '../../../src/shells/reach.ts';
import type { ShellBounds } from '../../../src/shells/running-shell.ts';
import { type ShellPorts, ShellRegistry } from '../../../src/shells/shell-registry.ts';

export const holder = fileURLToPath(new URL('../../../bin/agtmux-shell', import.meta.url));

export const owner: ShellOwner = { key: 'thread-1', runtime_id: null, client: 'codex', thread: 'thread-1' };

export const never: AbortSignal = new AbortController().signal;

export interface Place {
  readonly dir: string;
  /** Where the shells are kept. */
  readonly root: string;
  /** Where commands run. */
  readonly cwd: string;
  remove(): void;
}

export function place(parent = tmpdir()): Place {
  const dir = mkdtempSync(join(parent, 'agt-shells-'));
  const cwd = join(dir, 'cwd');
  mkdirSync(cwd);
  return { dir, root: join(dir, 'shells'), cwd, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

export interface Kept {
  readonly keeper: ShellRegistry;
  readonly events: UnnumberedShellEvent[];
  readonly warnings: string[];
  /** Every row that was told of this shell, oldest first. */
  told(id: ShellId): readonly (ShellRow | null)[];
  /** Resolves with the row when the condition holds; looks whenever something is told. */
  until(id: ShellId, condition: (row: ShellRow) => boolean): Promise<ShellRow>;
}

export async function realPorts(): Promise<ShellPorts> {
  const clock = createRealClock();
  const [files, exec, processes] = [createRealFiles(), createRealExec(clock), createRealProcesses()];
  const ports = await openShellPorts({ clock, files, exec, processes, ownPid: process.pid });
  if (!ports.ok) throw new Error(ports.failure.message);
  return ports.value;
}

export interface KeepOptions {
  readonly bounds?: Partial<ShellBounds>;
  readonly ports?: Partial<ShellPorts>;
  readonly program?: string;
}

export async function keep(root: string, options: KeepOptions = {}): Promise<Kept> {
  const rows: [ShellId, ShellRow | null][] = [];
  const events: UnnumberedShellEvent[] = [];
  const warnings: string[] = [];
  const looks = new Set<() => void>();
  const keeper = await ShellRegistry.open(
    { ...(await realPorts()), ...options.ports },
    {
      root,
      uid: process.getuid?.() ?? 0,
      program: options.program ?? holder,
      now: () => Date.now(),
      fromWall: (wallMs) => wallMs,
      onRow: (id, row) => {
        rows.push([id, row]);
        for (const look of looks) look();
      },
      onEvents: (more) => events.push(...more),
      warn: (words, fields) => warnings.push(`${words} ${JSON.stringify(fields)}`),
      bounds: { sweepMs: 200, ...options.bounds },
    },
  );
  if (!keeper.ok) throw new Error(keeper.failure.message);
  return {
    keeper: keeper.value,
    events,
    warnings,
    told: (id) => rows.filter(([one]) => one === id).map(([, row]) => row),
    until: (id, condition) =>
      new Promise((resolve) => {
        const look = (): void => {
          const row = keeper.value.row(id);
          if (row === null || !condition(row)) return;
          looks.delete(look);
          resolve(row);
        };
        looks.add(look);
        look();
      }),
  };
}

export const wish = (cwd: string, command: string, fields: Partial<ShellRequest> = {}): ShellRequest => ({
  command,
  cwd,
  label: null,
  run_in_background: false,
  expected_duration_s: null,
  timeout_s: null,
  tty: false,
  env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: cwd },
  budget_ms: null,
  call_id: 'call-1',
  ...fields,
});

export const isEnded = (row: ShellRow): boolean => row.status !== 'running';

/** The bytes of a log as they lie on the disk. */
export function logBytes(root: string, id: ShellId, attempt = 1): Buffer {
  const folder = join(root, id, String(attempt));
  const starts = readdirSync(folder)
    .filter((name) => name.startsWith('log.'))
    .map((name) => Number(name.slice('log.'.length)));
  starts.sort((one, other) => one - other);
  return Buffer.concat(starts.map((start) => readFileSync(join(folder, `log.${start}`))));
}

/** Living processes that work in this place: commands, what they left behind, and their holders. */
export function processesIn(dir: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const row = procRow(readFileSync(`/proc/${name}/stat`, 'latin1'));
        const isDead = row === null || row.state === 'Z' || row.state === 'X';
        return !isDead && readlinkSync(`/proc/${name}/cwd`).startsWith(`${dir}/`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Looks until it is so. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
