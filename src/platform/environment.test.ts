import { describe, expect, it } from 'vitest';
import { configPathOf, type Places, placesOf, type SystemFacts } from './environment.ts';

function places(env: SystemFacts['env'], facts: Partial<SystemFacts> = {}): Places {
  const result = placesOf({ env, platform: 'linux', uid: 1_000, home: '/home/me', ...facts });
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

function refusal(env: SystemFacts['env'], facts: Partial<SystemFacts> = {}): string {
  const result = placesOf({ env, platform: 'linux', uid: 1_000, home: '/home/me', ...facts });
  return result.ok ? 'accepted' : `${result.failure.code} ${result.failure.message}`;
}

describe('places', () => {
  it('Linux defaults stand below the home directory', () => {
    expect(places({})).toEqual({
      stateDir: '/home/me/.local/state/agtmux',
      runtimeDir: '/home/me/.local/state/agtmux/run',
      socketPath: '/home/me/.local/state/agtmux/run/agtmux.sock',
    });
  });

  it('macOS defaults stand in its Library, whatever TMPDIR says', () => {
    const env = { TMPDIR: '/var/folders/zz/T/' };
    expect(places(env, { platform: 'darwin', home: '/Users/me' })).toEqual({
      stateDir: '/Users/me/Library/Application Support/agtmux',
      runtimeDir: '/Users/me/Library/Application Support/agtmux/run',
      socketPath: '/Users/me/Library/Application Support/agtmux/run/agtmux.sock',
    });
  });

  it('the XDG variables lead, on both systems', () => {
    const env = { XDG_STATE_HOME: '/data/state', XDG_RUNTIME_DIR: '/run/user/1000' };
    for (const platform of ['linux', 'darwin']) {
      expect(places(env, { platform })).toMatchObject({
        stateDir: '/data/state/agtmux',
        runtimeDir: '/run/user/1000/agtmux',
      });
    }
  });

  it('our own variables win over all', () => {
    const xdg = { XDG_STATE_HOME: '/data/state', XDG_RUNTIME_DIR: '/run/user/1000' };
    const own = { AGTMUX_STATE_DIR: '/mine/state/', AGTMUX_RUNTIME_DIR: '/mine//run' };
    expect(places({ ...xdg, ...own })).toEqual({
      stateDir: '/mine/state',
      runtimeDir: '/mine/run',
      socketPath: '/mine/run/agtmux.sock',
    });
  });

  it('a state directory chosen by hand never shares a socket with the usual one', () => {
    const env = { XDG_RUNTIME_DIR: '/run/user/1000', AGTMUX_STATE_DIR: '/mine' };
    expect(places(env).runtimeDir).toBe('/mine/run');
  });

  it('empty and relative XDG variables count as not set, as their specification says', () => {
    expect(places({ XDG_STATE_HOME: '', XDG_RUNTIME_DIR: 'run' })).toEqual(places({}));
    expect(places({ AGTMUX_STATE_DIR: '', AGTMUX_RUNTIME_DIR: '' })).toEqual(places({}));
  });

  it('ACT6 the settings, and with them the policy, are the user’s own unless a whole path says otherwise', () => {
    const at = (env: Record<string, string>): string => configPathOf({ env, home: '/home/me' });
    expect(at({})).toBe('/home/me/.config/agtmux/config.toml');
    expect(at({ XDG_CONFIG_HOME: '', AGTMUX_CONFIG: '' })).toBe(at({}));
    expect(at({ XDG_CONFIG_HOME: 'etc' })).toBe(at({}));
    expect(at({ XDG_CONFIG_HOME: '/etc/me' })).toBe('/etc/me/agtmux/config.toml');
    expect(at({ AGTMUX_CONFIG: '/srv/a.toml' })).toBe('/srv/a.toml');
  });

  it('a runtime directory left over from another user is not used', () => {
    const env = { XDG_RUNTIME_DIR: '/run/user/1000' };
    expect(places(env, { uid: 0, home: '/root' }).runtimeDir).toBe('/root/.local/state/agtmux/run');
    expect(places(env).runtimeDir).toBe('/run/user/1000/agtmux');
  });

  it('says what is wrong with a bad choice', () => {
    expect(refusal({ AGTMUX_STATE_DIR: 'state' })).toBe('E_USAGE AGTMUX_STATE_DIR must be an absolute path');
    expect(refusal({ AGTMUX_RUNTIME_DIR: './run' })).toContain('AGTMUX_RUNTIME_DIR must be an absolute path');
    expect(refusal({ AGTMUX_STATE_DIR: '/a\nb' })).toContain('control character');
    expect(refusal({}, { home: '' })).toContain('the home directory');
    expect(refusal({}, { platform: 'win32' })).toContain('Linux and macOS');
    expect(refusal({ AGTMUX_STATE_DIR: '/a' }, { home: '' })).toBe('accepted');
  });
});
