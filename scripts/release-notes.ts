// The notes of a release: its part of the changelog. Refuses when tag, package and changelog do not name the same version, so that
// nothing is published under a wrong name. Usage: node scripts/release-notes.ts v1.2.3

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The part below `## 1.2.3 (date)`, or why there is none. */
export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, the package says ${version}`);
  const parts = changelog.split(/^## /m).slice(1);
  const part = parts.find((text) => new RegExp(`^${version.replace(/[.+]/g, '\\$&')}(?= |\\()`).test(text));
  if (part === undefined) throw new Error(`CHANGELOG.md has no part "## ${version} (date)"`);
  const [head = '', ...lines] = part.split('\n');
  if (!/\(\d{4}-\d{2}-\d{2}\)$/.test(head)) throw new Error(`"## ${head}" in CHANGELOG.md has no date`);
  const notes = lines.join('\n').trim();
  if (notes === '') throw new Error(`the part "## ${head}" in CHANGELOG.md is empty`);
  return `${notes}\n`;
}

const [, script, tag] = process.argv;
if (script === import.meta.filename) {
  const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', name), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  process.stdout.write(releaseNotes(tag ?? '', version, read('CHANGELOG.md')));
}
