import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createLocalExecutor } from '../../test/kit/local-executor.ts';
import { fileThere } from './far-file.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'agtmux-far-file-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

function repository(name: string, remote: string, files: readonly string[]): string {
  const root = join(base, name);
  mkdirSync(join(root, 'src'), { recursive: true });
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { stdio: 'ignore' });
  git('init', '-q');
  git('remote', 'add', 'origin', remote);
  for (const file of files) writeFileSync(join(root, file), 'x\n');
  return root;
}

it('RTE6 a file is named by its place in the clone over there, and refused where there is none', async () => {
  const executor = createLocalExecutor({ PATH: process.env.PATH ?? '' });
  const near = repository('near', 'git@example.org:me/tool.git', ['src/a.ts', 'src/new.ts']);
  const far = repository('other home/clone', 'https://example.org/me/tool', ['src/a.ts']);
  const stranger = repository('stranger', 'https://example.org/me/else', ['src/a.ts', 'src/new.ts']);
  const there = (path: string, cwd: string) => fileThere(path, executor, { executor, cwd });
  expect(await there(join(near, 'src/a.ts'), join(far, 'src'))).toEqual({ ok: true, value: join(far, 'src/a.ts') });
  const failing: readonly (readonly [string, string, string])[] = [
    [join(near, 'src/new.ts'), far, 'the repository does not have it'],
    [join(near, 'src/a.ts'), stranger, 'the same repository'],
    [join(near, 'src/a.ts'), join(base, 'nowhere'), 'the same repository'],
    ['/etc/hosts', far, 'no repository'],
  ];
  for (const [path, cwd, words] of failing) {
    const told = await there(path, cwd);
    expect(told).toMatchObject({ ok: false, failure: { code: 'E_FILE' } });
    expect(told.ok ? '' : `${told.failure.message} ${told.failure.next}`).toContain(words);
  }
});
