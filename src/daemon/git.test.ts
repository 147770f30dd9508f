// A folder of another machine is not looked into, also where one of the same path is here.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { targetId } from '../model/ids.ts';
import { createRealClock } from '../platform/clock.ts';
import { createRealExec } from '../platform/exec.ts';
import { createRealFiles } from '../platform/files.ts';
import { openGit } from './git.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'agtmux-git-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

it('GIT2b of an agent on another machine no diff of a folder here is told', async () => {
  const cwd = join(base, 'shop');
  execFileSync('git', ['init', '-q', cwd], { stdio: 'ignore' });
  writeFileSync(join(cwd, 'secret'), 'of this machine\n');
  const runs: string[] = [];
  const clock = createRealClock();
  const real = createRealExec(clock);
  const git = openGit({
    ...{ clock, files: createRealFiles(), variables: { PATH: process.env.PATH, HOME: base }, stateDir: base },
    exec: {
      run: (command) => {
        runs.push(command.program);
        return real.run(command);
      },
    },
    isHere: (target) => target === targetId('local'),
    onChange: () => undefined,
  });
  try {
    const told = await git.diff({ runtime_id: 'r', cwd, identity: { target: targetId('build') } });
    expect(told).toMatchObject({
      failure: {
        code: 'E_UNSUPPORTED',
        message: expect.stringContaining('build'),
        next: expect.stringContaining('there'),
      },
    });
    expect(runs).toEqual([]);
  } finally {
    git.stop();
  }
});
