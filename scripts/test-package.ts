// `make test-package`: what users install, as they install it. The npm package in an empty HOME with each supported Node, and the
// Debian package on a system from which Node was taken away: the first list works, and nothing is left once it is uninstalled.
// Usage: node scripts/test-package.ts [22 24 26 deb]

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../', import.meta.url));
const nodes = ['22', '24', '26'];
const [chosen, unknown] = [
  process.argv.slice(2),
  process.argv.slice(2).filter((name) => ![...nodes, 'deb'].includes(name)),
];
if (unknown.length > 0) throw new Error(`not known: ${unknown.join(', ')}`);
const isChosen = (name: string): boolean => chosen.length === 0 || chosen.includes(name);

const folder = mkdtempSync(join(tmpdir(), 'agtmux-test-package-'));
const failures: string[] = [];

function expectThat(what: string, holds: boolean, told: unknown = ''): void {
  process.stdout.write(`${holds ? 'ok     ' : 'FAILED '} ${what}\n`);
  if (!holds) failures.push(`${what}: ${typeof told === 'string' ? told : JSON.stringify(told)}`);
}

/** Every file below, without folders. */
const filesBelow = (path: string): readonly string[] =>
  existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name))
    : [];

/** Node comes as a package of the registry, and is kept for the next time. */
function binOf(version: string): string {
  const place = join(root, '.runtime/versions', version);
  const name = `node-${process.platform}-${process.arch}`;
  const bin = join(place, 'node_modules', name, 'bin');
  if (!existsSync(join(bin, 'node'))) {
    mkdirSync(place, { recursive: true });
    const args = ['install', '--prefix', place, '--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit'];
    execFileSync('npm', [...args, '--no-fund', '--loglevel=error', `${name}@${version}`], { stdio: ['ignore', 2, 2] });
  }
  return bin;
}

interface Ran {
  readonly status: number | null;
  readonly text: string;
}

function tryNpm(version: string, tarball: string): void {
  const place = mkdtempSync(join(folder, `node${version}-`));
  const [home, prefix, tmux, cache] = ['home', 'prefix', 'tmux', 'cache'].map((name) => {
    mkdirSync(join(place, name), { mode: 0o700 });
    return join(place, name);
  }) as [string, string, string, string];
  const env = {
    PATH: `${join(prefix, 'bin')}:${binOf(version)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    TMUX_TMPDIR: tmux,
    npm_config_cache: cache,
    npm_config_update_notifier: 'false',
  };
  const run = (program: string, ...args: readonly string[]): Ran => {
    const { status, stdout, stderr } = spawnSync(program, args, { env, cwd: home, encoding: 'utf8', timeout: 120_000 });
    return { status, text: `${stdout}${stderr}` };
  };
  const label = `Node ${execFileSync(join(binOf(version), 'node'), ['--version'], { encoding: 'utf8' }).trim()}`;
  const npm = ['--offline', '--no-audit', '--no-fund', '--prefix', prefix];
  const installed = run('npm', 'install', '--global', ...npm, tarball);
  expectThat(`${label}: npm install --global`, installed.status === 0, installed);
  try {
    run('tmux', '-f', '/dev/null', 'new-session', '-d', '-s', 'first', 'sleep 1000');
    const said = run('agtmux', 'version');
    expectThat(`${label}: agtmux version`, said.text.includes(manifest.version), said);
    const list = run('agtmux', 'list', 'panes', '--all-panes', '--json');
    expectThat(`${label}: the first list shows the pane`, list.status === 0 && list.text.includes('"first"'), list);
    expectThat(
      `${label}: the manual page`,
      existsSync(join(prefix, 'share/man/man1/agtmux.1')),
      filesBelow(prefix).slice(0, 9),
    );
    const words = run('agtmux', 'completions', 'bash');
    expectThat(`${label}: completions`, words.status === 0 && words.text.includes('complete '), words);
    const once = run('npm', 'exec', '--offline', '--yes', `--package=${tarball}`, '--', 'agtmux', 'version');
    expectThat(`${label}: npx`, once.text.includes(manifest.version), once);
    const gone = run('agtmux', 'uninstall', '--yes');
    expectThat(`${label}: agtmux uninstall`, gone.status === 0, gone);
  } finally {
    run('agtmux', 'daemon', 'stop');
    run('tmux', 'kill-server');
  }
  run('npm', 'uninstall', '--global', ...npm, 'agtmux');
  const left = [...filesBelow(home), ...filesBelow(prefix)].filter(
    (path) => !/\/(?:\.npmrc|\.package-lock\.json)$/.test(path),
  );
  expectThat(`${label}: nothing is left`, left.length === 0, left);
}

/**
 * Everything happens on a layer above the system that is thrown away: Node is hidden there, the package installed, tried, and
 * purged. What the layer holds then is what was left.
 */
const onLayer = `set -eu
mount -t tmpfs layer "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay system -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
cp "$2" "$1/root/agtmux.deb"
mount --rbind /proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs tmp "$1/root/tmp"
mount -t tmpfs opt "$1/root/opt" 2>/dev/null || :
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 chroot "$1/root" sh -c '
set -u
rm -f /usr/bin/node /usr/local/bin/node /usr/bin/nodejs /usr/bin/npm /usr/local/bin/npm
command -v node && echo "TROUBLE node is still there"
mkdir -p /tmp/home /tmp/tmux; chmod 700 /tmp/home /tmp/tmux
export HOME=/tmp/home TMUX_TMPDIR=/tmp/tmux
dpkg -i /agtmux.deb >/tmp/said 2>&1 || { echo "TROUBLE dpkg -i"; cat /tmp/said; }
agtmux version || echo "TROUBLE version"
tmux -f /dev/null new-session -d -s first "sleep 1000"
agtmux list panes --all-panes --json >/tmp/list || echo "TROUBLE list"
grep -q first /tmp/list && echo "FIRST LIST" || cat /tmp/list
test -e /usr/share/man/man1/agtmux.1.gz && echo "MANUAL PAGE"
agtmux uninstall --yes >/tmp/said 2>&1 || { echo "TROUBLE uninstall"; cat /tmp/said; }
agtmux daemon stop >/dev/null 2>&1 || :
tmux kill-server
find /tmp/home -type f | sed "s/^/LEFT /"
dpkg --purge agtmux >/tmp/said 2>&1 || { echo "TROUBLE purge"; cat /tmp/said; }
rm /agtmux.deb
'
cd "$1/up"
find . -type f -path '*agtmux*' | sed 's/^/LEFT /'
find . -type f ! -path '*/var/lib/dpkg/*' ! -path '*/var/log/*' ! -path '*/var/cache/*' ! -path '*/var/lib/systemd/*' | sed 's/^/LEFT /'
`;

function tryDebian(file: string): void {
  const place = mkdtempSync(join(folder, 'layer-'));
  const rights = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const args = [...rights, '--mount', '--propagation', 'private', 'sh', '-c', onLayer, 'sh', place, file];
  const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', timeout: 300_000 });
  const text = `${stdout}${stderr}`;
  expectThat('deb: installed without Node on the machine', status === 0 && !text.includes('TROUBLE'), text);
  expectThat('deb: agtmux version', text.includes(manifest.version), text);
  expectThat('deb: the first list shows the pane', text.includes('FIRST LIST'), text);
  expectThat('deb: the manual page', text.includes('MANUAL PAGE'), text);
  expectThat('deb: nothing is left', !text.includes('LEFT '), text);
}

const pack = (kind: string): string =>
  resolve(execFileSync(process.execPath, [join(root, 'scripts/pack.ts'), kind, folder], { encoding: 'utf8' }).trim());

try {
  const versions = nodes.filter(isChosen);
  if (versions.length > 0) {
    const tarball = pack('npm');
    for (const version of versions) tryNpm(version, tarball);
  }
  if (isChosen('deb')) tryDebian(pack('deb'));
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
for (const words of failures) process.stderr.write(`\n${words}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
