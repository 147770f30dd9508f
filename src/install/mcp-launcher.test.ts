import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launcherText } from './mcp-launcher.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "agtmux launcher's "));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** What stands for Node prints what it was started with. */
function start(env: Record<string, string>, own: Record<string, string>, ...args: string[]): readonly string[] {
  const node = join(dir, 'node');
  const names = 'AGTMUX_STATE_DIR XDG_RUNTIME_DIR TMUX_TMPDIR OTHER'.split(' ');
  const say = names.map((name) => `echo "${name}=\${${name}-}"`).join('\n');
  writeFileSync(node, `#!/bin/sh\nprintf '%s\\n' "$@"\n${say}\n`, { mode: 0o755 });
  const program = join(dir, 'agtmux $(date) "x"');
  writeFileSync(program, '');
  const text = launcherText({ node, program, env });
  if (text === null) throw new Error('no text');
  const path = join(dir, 'launcher');
  writeFileSync(path, text, { mode: 0o755 });
  const ran = spawnSync(path, args, { env: { PATH: '/usr/bin:/bin', ...own }, encoding: 'utf8' });
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  return ran.stdout.trim().split('\n');
}

describe('the program that agents start', () => {
  it('starts agtmux mcp with what it was given, whatever stands in the paths', () => {
    const [program, command, ...args] = start({}, {}, '--budget-s', '7');
    expect([program, command]).toEqual([join(dir, 'agtmux $(date) "x"'), 'mcp']);
    expect(args.slice(0, 2)).toEqual(['--budget-s', '7']);
  });

  it('says where the daemon is, unless the environment says so itself', () => {
    const env = { AGTMUX_STATE_DIR: "/it's here", XDG_RUNTIME_DIR: '/run/user/1', TMUX_TMPDIR: '', OTHER: 'secret' };
    expect(start(env, {}).slice(-4)).toEqual([
      "AGTMUX_STATE_DIR=/it's here",
      'XDG_RUNTIME_DIR=/run/user/1',
      'TMUX_TMPDIR=',
      'OTHER=',
    ]);
    expect(start(env, { AGTMUX_STATE_DIR: '/else' })).toContain('AGTMUX_STATE_DIR=/else');
  });

  it('is not made of paths that cannot be written into a script', () => {
    expect(launcherText({ node: '/a\0b', program: '/x', env: {} })).toBeNull();
  });
});
