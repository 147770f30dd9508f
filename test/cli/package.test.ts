// The package as a user gets it: packed, installed with npm into a folder of its own, and run where no checkout is near.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { programsMayAll } from '../kit/policy.ts';
import { root } from './kit.ts';

/** `NPMS=npm:/other/npm` for more than one version. */
const npms = (process.env.NPMS ?? 'npm').split(':');
let folder: string;
let tarball: string;

beforeAll(() => {
  execFileSync('sh', [join(root, 'scripts/build.sh')]);
  folder = mkdtempSync(join(tmpdir(), 'agt-pack-'));
  tarball = execFileSync(process.execPath, [join(root, 'scripts/pack.ts'), folder], { encoding: 'utf8' }).trim();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function installed(npm: string): { readonly home: string; run(...args: string[]): ReturnType<typeof spawnSync> } {
  const prefix = mkdtempSync(join(folder, 'prefix-'));
  const home = join(prefix, 'home');
  mkdirSync(join(home, '.config/agtmux'), { recursive: true });
  mkdirSync(join(home, '.claude'));
  writeFileSync(join(home, '.config/agtmux/policy.toml'), programsMayAll);
  const env = { PATH: process.env.PATH, HOME: home, TMUX_TMPDIR: prefix, LANG: 'C.UTF-8' };
  // Nothing is fetched: everything is in the package.
  const args = ['install', '--global', '--offline', '--no-audit', '--no-fund', '--prefix', prefix, tarball];
  execFileSync(npm, args, { env, cwd: home, stdio: 'pipe' });
  const program = join(prefix, 'bin/agtmux');
  return { home, run: (...words) => spawnSync(program, words, { env, cwd: home, encoding: 'utf8' }) };
}

describe('the package', () => {
  it('INS3 has a manifest that asks for nothing else, and only what it runs', () => {
    const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
    expect(
      files.filter(
        (name) =>
          !/^package\/(?:bin|dist)\/|^package\/(?:README|CHANGELOG)\.md$|^package\/(?:LICENSE|package\.json)$/.test(
            name,
          ),
      ),
    ).toEqual([]);
    expect(files.filter((name) => /\.map$|\.ts$|\.test\./.test(name))).toEqual([]);
    const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
    const packed = JSON.parse(text) as Record<string, unknown>;
    for (const name of ['private', 'dependencies', 'devDependencies', 'scripts'])
      expect(packed).not.toHaveProperty(name);
    expect(packed).toMatchObject({ name: 'agtmux', version: manifest.version, bin: { agtmux: 'bin/agtmux' } });
  });

  it.each(npms)('INS3 runs after %s install -g, without the checkout: commands, daemon, hooks and menu bar', (npm) => {
    const { home, run } = installed(npm);
    expect(run('version').stdout).toBe(`${manifest.version}\n`);
    expect(run('help').stdout).toContain('agtmux setup');
    const hooks = run('hooks', 'install', '--agent', 'claude', '--yes');
    expect([hooks.status, hooks.stderr]).toEqual([0, '']);
    const hook = readFileSync(join(home, '.local/state/agtmux/bin/agtmux-hook'), 'utf8');
    expect(hook).toBe(readFileSync(join(root, 'bin/agtmux-hook'), 'utf8'));
    expect(run('menubar').stdout).toContain('no agents in tmux');
    const told = JSON.parse(String(run('status', '--json').stdout)) as { readonly daemon: { readonly pid: number } };
    const { pid } = told.daemon;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    expect(command[1]).toContain('/prefix-');
    expect(command.slice(1).join(' ')).not.toContain(root);
    expect(run('daemon', 'stop').stdout).toMatch(/^stopped/);
    const gone = run('uninstall', '--yes');
    expect([gone.status, gone.stderr]).toEqual([0, '']);
  });

  it('INS3 says which Node it needs, whoever runs it', () => {
    const { run } = installed(npms[0] ?? 'npm');
    expect(run('nonsense').status).toBe(2);
    const copy = join(folder, 'old');
    cpSync(join(root, 'bin'), copy, { recursive: true });
    const text = readFileSync(join(copy, 'agtmux'), 'utf8').replace('process.versions.node.split', '"18.0.0".split');
    writeFileSync(join(copy, 'agtmux'), text);
    const old = spawnSync(process.execPath, [join(copy, 'agtmux')], { encoding: 'utf8' });
    expect([old.status, old.stderr]).toEqual([8, expect.stringContaining('E_RUNTIME_OLD')]);
  });
});

describe('a checkout', () => {
  it('is run from where nothing can be written: the choice of a Node is not kept, and made all the same', () => {
    const copy = mkdtempSync(join(folder, 'checkout-'));
    mkdirSync(join(copy, 'scripts'));
    for (const name of ['runtime.sh', 'lock.sh']) {
      cpSync(join(root, 'scripts', name), join(copy, 'scripts', name));
    }
    // What stands in the way of everybody, root too.
    writeFileSync(join(copy, '.runtime'), '');
    const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
    const ran = spawnSync('sh', [join(copy, 'scripts/runtime.sh')], { env, encoding: 'utf8' });
    expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' });
    expect(ran.stdout).toBe(`${join(dirname(process.execPath), 'node')}\n`);
  });
});
