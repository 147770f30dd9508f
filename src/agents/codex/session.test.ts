import { describe, expect, it } from 'vitest';
import { sessions } from './session.ts';

const wish = { cwd: '/w', model: 'x', auto_approve: true, resume: null, home: '/home/u', env: {} };

describe('starting Codex as a session', () => {
  const wayOf = (driver: string) => sessions.find((one) => one.driver === driver);

  it('is an app-server of our own first; what is wished is said to it, not passed', () => {
    expect(sessions.map(({ driver }) => driver)).toEqual(['codex-app-server', 'codex-daemon']);
    expect(wayOf('codex-app-server')?.launch(wish)).toEqual({
      command: ['codex', 'app-server'],
      env: {},
      address: null,
    });
  });

  it('or the shared server of the user, wherever Codex lives', () => {
    const socketFor = (env: Readonly<Record<string, string>>) => wayOf('codex-daemon')?.launch({ ...wish, env }).socket;
    expect(socketFor({})).toBe('/home/u/.codex/app-server-control/app-server-control.sock');
    expect(socketFor({ CODEX_HOME: '/c' })).toBe('/c/app-server-control/app-server-control.sock');
    expect(socketFor({ CODEX_HOME: '' })).toBe('/home/u/.codex/app-server-control/app-server-control.sock');
  });

  it('says how it is installed', () => {
    for (const { install } of sessions) expect(install).toContain('npm install -g @openai/codex');
  });
});
