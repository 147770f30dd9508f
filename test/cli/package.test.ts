// The package as a user gets it: packed, installed with npm into a folder of its own, and run where no checkout is near.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { buildVersion } from '../../scripts/build-version.ts';
import { programsMayAll } from '../kit/policy.ts';
import { builtVersion, root } from './kit.ts';

/** `NPMS=npm:/other/npm` for more than one version. */
const npms = (process.env.NPMS ?? 'npm').split(':');
let folder: string;
let tarball: string;

beforeAll(() => {
  execFileSync('sh', [join(root, 'scripts/build.sh')]);
  folder = mkdtempSync(join(tmpdir(), 'agt-pack-'));
  tarball = execFileSync(process.execPath, [join(root, 'scripts/pack.ts'), 'npm', folder], { encoding: 'utf8' }).trim();
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
          !/^package\/(?:bin|dist|man|completions)\/|^package\/(?:README|CHANGELOG)\.md$|^package\/(?:LICENSE|package\.json)$/.test(
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
    expect(run('version').stdout).toMatch(builtVersion);
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

describe('a build', () => {
  /** Sources of their own, in a folder of their own. */
  function sources(manifest: object = {}): string {
    const copy = mkdtempSync(join(folder, 'sources-'));
    mkdirSync(join(copy, 'src'));
    writeFileSync(join(copy, 'src/a.ts'), 'export const one = 1;\n');
    writeFileSync(join(copy, 'package.json'), JSON.stringify({ version: '7.8.9', ...manifest }));
    return copy;
  }
  const git = (where: string, ...args: string[]): string => {
    const user = ['-c', 'user.name=me', '-c', 'user.email=me@localhost', '-c', 'commit.gpgsign=false'];
    return execFileSync('git', [...user, ...args], { cwd: where, encoding: 'utf8' }).trim();
  };

  it('INS5 carries the commit of its checkout, and says when the sources differ from it', () => {
    const copy = sources();
    git(copy, 'init', '-q');
    git(copy, 'add', '.');
    git(copy, 'commit', '-qm', 'first');
    const commit = git(copy, 'rev-parse', 'HEAD').slice(0, 12);
    expect(buildVersion(copy)).toBe(`7.8.9+${commit}`);
    writeFileSync(join(copy, 'notes.txt'), 'no part of a build');
    writeFileSync(join(copy, 'src/a.test.ts'), 'no part of it either');
    expect(buildVersion(copy)).toBe(`7.8.9+${commit}`);
    writeFileSync(join(copy, 'src/b.ts'), 'export const two = 2;\n');
    const changed = buildVersion(copy);
    expect(changed).toMatch(new RegExp(`^7\\.8\\.9\\+${commit}\\.changed\\.[0-9a-f]{8}$`));
    expect(buildVersion(copy)).toBe(changed);
    writeFileSync(join(copy, 'src/b.ts'), 'export const two = 3;\n');
    expect(buildVersion(copy)).not.toBe(changed);
    // A clone of the same commit is the same build.
    const clone = mkdtempSync(join(folder, 'clone-'));
    git(clone, 'clone', '-q', copy, 'it');
    expect(buildVersion(join(clone, 'it'))).toBe(`7.8.9+${commit}`);
  });

  it('INS5 without a checkout carries what its package says, or the hash of its sources; never a commit of others', () => {
    const [one, same] = [sources(), sources()];
    expect(buildVersion(one)).toMatch(/^7\.8\.9\+source\.[0-9a-f]{8}$/);
    expect(buildVersion(same)).toBe(buildVersion(one));
    expect(buildVersion(sources({ gitHead: 'a'.repeat(40) }))).toBe(`7.8.9+${'a'.repeat(12)}`);
    const inside = sources();
    git(inside, 'init', '-q');
    git(inside, 'commit', '-qm', 'of others', '--allow-empty');
    cpSync(one, join(inside, 'vendor'), { recursive: true });
    expect(buildVersion(join(inside, 'vendor'))).toBe(buildVersion(one));
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
