// What the extension costs with 200 agents of which 20 change every second: its share of a core, its memory, and how long it takes
// to be there. In a process of its own, without an editor; COST_S says for how many seconds.
import { execFileSync, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeDaemon, itemOf, startFakeDaemon } from '../../kit/fake-daemon.ts';
import { until } from '../../kit/live.ts';
import { paneRow } from '../../kit/rows.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const agents = 200;
const changesPerS = 20;
const seconds = Number(process.env.COST_S ?? 30);

interface Cost {
  readonly activationMs: number;
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly rows: number;
  readonly status: string;
}

let daemon: FakeDaemon;
let folder: string;
const states = ['running', 'idle', 'completed', 'running', 'waiting_input'] as const;
const rowOf = (index: number, turn: number) =>
  itemOf(paneRow({ window: index, state: states[(index + turn) % states.length] ?? 'idle' }), {
    cwd: `/home/me/project-${index % 12}`,
    detail: `turn ${turn}`,
    route: index === 0 ? 'CONNECTED' : 'DISCONNECTED',
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agt-cost-'));
  daemon = await startFakeDaemon();
  await daemon.put(Array.from({ length: agents }, (_, index) => rowOf(index, 0)));
});
afterAll(async () => {
  await daemon.end();
  rmSync(folder, { recursive: true, force: true });
});

describe('the extension', () => {
  it('EDI4 costs little with 200 agents and 20 changes a second', async () => {
    execFileSync(process.execPath, [join(root, 'scripts/editor.ts'), folder], { stdio: 'ignore' });
    const child = fork(join(root, 'test/editor/hosted.cjs'), [join(root, 'editors/vscode/dist/extension.cjs')], {
      env: { ...daemon.env, PATH: process.env.PATH },
      execArgv: ['--expose-gc'],
    });
    const asked = (): Promise<Cost> =>
      new Promise((resolve) => {
        child.once('message', (cost) => resolve(cost as Cost));
        child.send('cost');
      });
    await until(async () => (await asked()).rows === agents);
    const before = await asked();
    for (let turn = 1; turn <= seconds * changesPerS; turn++) {
      await daemon.put([rowOf(turn % agents, turn)]);
      await new Promise((resolve) => setTimeout(resolve, 1_000 / changesPerS));
    }
    const after = await asked();
    child.kill();
    const core = (after.cpuMs - before.cpuMs) / (seconds * 1_000);
    console.log(
      `activation ${Math.round(before.activationMs)} ms, ${(core * 100).toFixed(1)} % of a core, heap ${Math.round(after.heapBytes / 1e6)} MB`,
    );
    expect(after.status).toContain('→ claude');
    expect(before.activationMs).toBeLessThan(200);
    expect(core).toBeLessThan(0.03);
    expect(after.heapBytes).toBeLessThan(80e6);
  });
});
