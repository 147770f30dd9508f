// How the keeper sees what shells do: with the system's hints and without them, while they print, and on a full disk.

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ShellAnswer } from '../../../src/model/shells.ts';
import { smallDisk } from '../../fault/small-disk.ts';
import {
  eventually,
  type KeepOptions,
  type Kept,
  keep,
  never,
  owner,
  type Place,
  place,
  processesIn,
  realPorts,
  wish,
} from './kit.ts';

let here: Place;
let kept: Kept | null = null;
beforeEach(() => {
  here = place();
});
afterEach(async () => {
  for (const row of kept?.keeper.rows() ?? []) await kept?.keeper.kill(row.shell_id, 'agent');
  await kept?.keeper.close();
  kept = null;
  await eventually(() => processesIn(here.dir).length === 0);
  here.remove();
});

async function opened(options: KeepOptions = {}, root = here.root): Promise<Kept> {
  await kept?.keeper.close();
  kept = await keep(root, options);
  return kept;
}

const run = ({ keeper }: Kept, command: string, isBackground = false): Promise<ShellAnswer> =>
  keeper.run(wish(here.cwd, command, { run_in_background: isBackground }), owner, never);

it('SHL6 an end is seen where the system gives no hints, by looking', async () => {
  const { watch } = await realPorts();
  const blind = await opened({ ports: { watch: { ...watch, hint: () => null } }, bounds: { sweepMs: 50 } });
  expect(await run(blind, 'exit 4')).toMatchObject({ result: 'Failed', shell: { exit_code: 4 } });
  await run(blind, 'sleep 600', true);
  await eventually(() => readdirSync(join(here.root, 'ended')).length === 0);
});

it('SHL6 an end is seen by the hint alone, long before the next look', async () => {
  const one = await opened({ bounds: { sweepMs: 3_600_000 } });
  expect(await run(one, 'exit 4')).toMatchObject({ result: 'Failed', shell: { exit_code: 4 } });
  await eventually(() => readdirSync(join(here.root, 'ended')).length === 0);
});

it('SHL8 what a running one prints is told as it grows', async () => {
  const one = await opened();
  const { shell } = await run(one, 'echo one; until [ -e go ]; do sleep 0.05; done; echo two; sleep 600', true);
  const id = shell?.shell_id ?? 'shell-0';
  expect(await one.until(id, (row) => row.last_log.length > 0)).toMatchObject({ last_log: ['one'], log: { bytes: 4 } });
  writeFileSync(join(here.cwd, 'go'), '');
  expect(await one.until(id, (row) => row.log.bytes > 4)).toMatchObject({ last_log: ['one', 'two'] });
  await one.keeper.kill(id, 'agent');
});

it('SHL5 on a full disk the status is told, and that the log is not whole; nothing new is begun', async () => {
  const disk = smallDisk(here.dir, 600_000);
  // Where nothing may be mounted only the rest of it is shown; the suite of the holder has a way of its own.
  const isReal = disk.kind === 'tmpfs';
  const root = isReal ? disk.dir : here.root;
  try {
    const one = await opened({}, root);
    const answer = await run(one, 'head -c 2000000 /dev/zero; exit 8');
    expect(answer).toMatchObject({ result: 'Failed', shell: { exit_code: 8, log: { is_capped: isReal } } });
    expect([answer.reason.includes('no space left on the disk'), answer.page?.is_capped]).toEqual([isReal, isReal]);
    const next = await run(one, 'true');
    expect([next.result, next.reason.includes('no disk space')]).toEqual(
      isReal ? ['Refused', true] : ['Completed', false],
    );
    const after = await opened({}, root);
    expect(after.keeper.row(answer.shell?.shell_id ?? 'shell-0')).toMatchObject({ exit_code: 8, ended_by: 'system' });
  } finally {
    await kept?.keeper.close();
    kept = null;
    disk.remove();
  }
});
