import { describe, expect, it } from 'vitest';
import { targetId } from '../model/ids.ts';
import { createRealChannels } from '../platform/channel.ts';
import { createRealClock } from '../platform/clock.ts';
import { createRealExec } from '../platform/exec.ts';
import { localEnvironment, sshEnvironment } from './environment.ts';
import type { ChannelEnd, RunOptions } from './executor.ts';
import { createLocalExecutor } from './local.ts';

const clock = createRealClock();
const variables = { PATH: '/usr/bin:/bin', HOME: '/home/me', TMUX: '/tmp/x,1,0', TMUX_PANE: '%1', API_KEY: 'secret' };
const local = createLocalExecutor({
  target: targetId('host'),
  exec: createRealExec(clock),
  channels: createRealChannels(clock),
  variables,
});
const options: RunOptions = { deadlineMs: 30_000, outputBytesMax: 100_000 };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('this machine as a target', () => {
  it('programs see a small clean environment, not the pane or the secrets of the daemon', async () => {
    const result = await local.run(['env'], options);
    expect(text(result.stdout).trim().split('\n').sort()).toEqual([
      'HOME=/home/me',
      'LANG=C.UTF-8',
      'PATH=/usr/bin:/bin',
    ]);
  });

  it('the agent of the keys goes to ssh only; a locale that is there stays', () => {
    const given = { SSH_AUTH_SOCK: '/agent', LC_CTYPE: 'de_DE.UTF-8', TMUX: 'x', EMPTY: '' };
    expect(localEnvironment(given)).toEqual({ PATH: '/usr/local/bin:/usr/bin:/bin', LC_CTYPE: 'de_DE.UTF-8' });
    expect(sshEnvironment(given)).toMatchObject({ SSH_AUTH_SOCK: '/agent' });
  });

  it('a missing program looks as a shell tells it', async () => {
    expect(await local.run(['no-such-program'], options)).toMatchObject({ status: 127 });
    const ends: ChannelEnd[] = [];
    local.open(['no-such-program'], { onData: () => undefined, onEnd: (end) => ends.push(end) });
    await until(() => ends.length > 0);
    expect(ends).toEqual([{ status: 127, signal: null, stderr: 'no-such-program: not found' }]);
  });

  it('a channel that is not read is ended before it grows without bound; close ends the others', async () => {
    const ends: string[] = [];
    const open = (name: string) =>
      local.open(['sleep', '60'], { onData: () => undefined, onEnd: () => ends.push(name) });
    const full = open('full');
    open('other');
    for (let count = 0; count < 10; count += 1) full.write(new Uint8Array(1_048_576));
    await until(() => ends.length === 1);
    expect(ends).toEqual(['full']);
    await local.close();
    await until(() => ends.length === 2);
  });
});
