import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../platform/simulated/files.ts';
import { policyPathOf } from './policy-path.ts';

const own = '/home/me/.local/state/agtmux';

async function place(stateDir: string) {
  const files = createSimulatedFiles({ clock: createSimulatedClock() });
  await files.mkdirPrivate(stateDir);
  return (configPath: string): Promise<string> =>
    policyPathOf({ files, stateDir, home: '/home/me', ownStateDir: own, configPath });
}

describe('the policy', () => {
  it('ACT6 of the user is where it is, whatever the environment says', async () => {
    const at = await place(own);
    expect(await at('/tmp/evil/config.toml')).toBe('/home/me/.config/agtmux/policy.toml');
  });

  it('ACT6 of another state directory is where its first start said', async () => {
    const at = await place('/srv/agtmux');
    expect(await at('/srv/etc/config.toml')).toBe('/srv/etc/policy.toml');
    expect(await at('/tmp/evil/config.toml')).toBe('/srv/etc/policy.toml');
  });
});
