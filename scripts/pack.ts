// Makes the packages that users install: the bundle, its programs, the manual page, completions for shells, and a manifest without
// anything they do not need. Everything it runs is in the bundle, so it asks npm for no other package.
// Usage: node scripts/pack.ts npm|deb FOLDER; prints the file.

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { manualPage } from './man.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** What runs, and nothing that only a developer reads. */
function copyProgram(stage: string): void {
  const filter = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('/.built');
  for (const name of ['bin', 'dist']) cpSync(join(root, name), join(stage, name), { recursive: true, filter });
}

/** As the built program prints them. */
const completionsOf = (shell: string): string =>
  execFileSync(process.execPath, [join(root, 'bin/agtmux'), 'completions', shell], { encoding: 'utf8' });

/**
 * The checkout is private, so that nobody publishes it by mistake; what is made here is not. REPOSITORY (`owner/name`) says where the
 * release workflow built it: the registry compares that with the statement of where it was built.
 */
function manifestText(): string {
  const { private: _, scripts: __, devDependencies: ___, dependencies: ____, ...rest } = manifest;
  const place = process.env.REPOSITORY;
  const repository = { type: 'git', url: `git+https://github.com/${place}.git` };
  return `${JSON.stringify(place === undefined || place === '' ? rest : { ...rest, repository }, null, 2)}\n`;
}

function packForNpm(stage: string, target: string): string {
  copyProgram(stage);
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(stage, name));
  write(join(stage, 'man/agtmux.1'), manualPage());
  for (const shell of ['bash', 'zsh', 'fish']) write(join(stage, `completions/agtmux.${shell}`), completionsOf(shell));
  write(join(stage, 'package.json'), manifestText());
  const publint = join(root, 'node_modules/publint/src/cli.js');
  execFileSync(process.execPath, [publint, stage, '--strict'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const npm = process.env.NPM ?? 'npm';
  const said = execFileSync(npm, ['pack', '--json', '--ignore-scripts', '--pack-destination', target], {
    cwd: stage,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // npm 12 tells packages by their name, earlier ones as a list.
  const [made] = Object.values(
    JSON.parse(said) as Record<string, { readonly filename: string; readonly size: number }>,
  );
  return join(target, made?.filename ?? '');
}

/** What the Debian package puts on the PATH: our Node runs our program, wherever both were unpacked. */
const launcher = `#!/bin/sh
self=$(readlink -f -- "$0")
here=\${self%/*}
exec "$here/node" "$here/bin/agtmux" "$@"
`;

/**
 * Brings the Node that runs this script, because Debian's own is too old for many a release; programs of the machine are only
 * recommended, as agtmux says itself what is missing.
 */
function packForDebian(stage: string, target: string): string {
  const lib = join(stage, 'usr/lib/agtmux');
  copyProgram(lib);
  cpSync(process.execPath, join(lib, 'node'));
  chmodSync(join(lib, 'node'), 0o755);
  write(join(lib, 'package.json'), manifestText());
  write(join(lib, 'agtmux'), launcher, 0o755);
  mkdirSync(join(stage, 'usr/bin'), { recursive: true });
  symlinkSync('../lib/agtmux/agtmux', join(stage, 'usr/bin/agtmux'));
  write(join(stage, 'usr/share/man/man1/agtmux.1'), manualPage());
  execFileSync('gzip', ['-9n', join(stage, 'usr/share/man/man1/agtmux.1')]);
  write(join(stage, 'usr/share/bash-completion/completions/agtmux'), completionsOf('bash'));
  write(join(stage, 'usr/share/zsh/vendor-completions/_agtmux'), completionsOf('zsh'));
  write(join(stage, 'usr/share/fish/vendor_completions.d/agtmux.fish'), completionsOf('fish'));
  const licences = [join(root, 'LICENSE'), join(dirname(process.execPath), '../LICENSE')].map((path) =>
    readFileSync(path, 'utf8'),
  );
  write(join(stage, 'usr/share/doc/agtmux/copyright'), licences.join('\n--- Node.js, in /usr/lib/agtmux/node ---\n\n'));
  const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
  const kilobytes = execFileSync('du', ['-sk', stage], { encoding: 'utf8' }).split('\t')[0];
  write(
    join(stage, 'DEBIAN/control'),
    `Package: agtmux
Version: ${manifest.version}
Architecture: ${architecture}
Maintainer: agtmux maintainers <maintainers@agtmux.invalid>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28), libstdc++6 (>= 9)
Recommends: tmux (>= 3.2), openssh-client (>= 1:7.4)
Section: utils
Priority: optional
Description: ${manifest.description.split(':')[0] ?? manifest.name}
 ${manifest.description}
`,
  );
  mkdirSync(target, { recursive: true });
  const file = join(target, `agtmux_${manifest.version}_${architecture}.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', stage, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return file;
}

const [, , kind, folder = '.'] = process.argv;
const makers: Readonly<Record<string, (stage: string, target: string) => string>> = {
  npm: packForNpm,
  deb: packForDebian,
};
const make = makers[kind ?? ''];
if (make === undefined) throw new Error('usage: node scripts/pack.ts npm|deb FOLDER');
const target = resolve(folder);
mkdirSync(target, { recursive: true });
const stage = mkdtempSync(join(tmpdir(), 'agtmux-pack-'));
// The folder of a package is everybody's to read, a temporary one is not.
chmodSync(stage, 0o755);
try {
  process.stdout.write(`${make(stage, target)}\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
}
