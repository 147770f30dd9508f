// Makes the package that users install: the bundle, its programs and a manifest without anything they do not need. Everything
// it runs is in the bundle, so it asks npm for no other package. Usage: node scripts/pack.ts FOLDER; prints the tarball.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const target = resolve(process.argv[2] ?? '.');

/** The checkout is private, so that nobody publishes it by mistake; what is made here is not. */
function manifestOf(text: string): string {
  const { private: _, scripts: __, devDependencies: ___, dependencies: ____, ...rest } = JSON.parse(text);
  return `${JSON.stringify(rest, null, 2)}\n`;
}

const stage = mkdtempSync(join(tmpdir(), 'agtmux-pack-'));
try {
  const filter = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('/.built');
  for (const name of ['bin', 'dist', 'README.md', 'LICENSE', 'CHANGELOG.md']) {
    cpSync(join(root, name), join(stage, name), { recursive: true, filter });
  }
  writeFileSync(join(stage, 'package.json'), manifestOf(readFileSync(join(root, 'package.json'), 'utf8')));
  mkdirSync(target, { recursive: true });
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
  process.stdout.write(`${join(target, made?.filename ?? '')}\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
}
