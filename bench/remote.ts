// How soon a change on another machine is listed, with 50 ms of round trip between: a real sshd behind a relay.

import { join } from 'node:path';
import { Live, until } from '../test/kit/live.ts';
import { startRelay } from '../test/kit/relay.ts';
import { startSshd } from '../test/kit/sshd.ts';
import { type BenchRow, percentile } from './row.ts';

const roundTripMs = 50;
const changes = 20;

export async function run(): Promise<readonly BenchRow[]> {
  const far = new Live();
  far.tmux('new-session', '-d', '-s', 'far', '-x', '80', '-y', '24', 'sleep 100000');
  const environment = { HOME: join(far.dir, 'home'), TMUX_TMPDIR: join(far.dir, 'tmux') };
  const sshd = await startSshd({ alias: 'direct', environment });
  const relay = await startRelay(sshd.port, roundTripMs);
  await sshd.addAlias('vm1', relay.port);
  const live = new Live({ AGTMUX_SSH_CONFIG: sshd.configFile });
  const times: number[] = [];
  try {
    live.trustPrograms();
    await live.startDaemon();
    await live.client.post('/v1/targets', { name: 'vm1', kind: 'ssh', connection_ref: 'vm1', pid: process.pid });
    await until(async () => (await live.listed('vm1')).length === 1);
    for (let turn = 0; turn < changes; turn++) {
      const began = performance.now();
      far.tmux('rename-window', '-t', 'far:0', `turn${turn}`);
      await until(async () => (await live.listed('vm1')).some((line) => line.endsWith(`turn${turn}`)), 10_000, 3);
      times.push(performance.now() - began);
    }
  } finally {
    await live.close();
    await relay.close();
    await sshd.close();
    await far.close();
  }
  const note = `${changes} renames, ${roundTripMs} ms round trip, incl. the tmux command itself`;
  return [
    {
      name: 'change on another machine to list, p95',
      value: percentile(times, 0.95),
      unit: 'ms',
      goal: { atMost: 1_000 },
      note,
    },
  ];
}
