// Packs every file of a folder beside itself, as .br and .gz, where that makes it smaller: the daemon serves them as they
// are. Usage: node scripts/compress.ts FOLDER
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const packable = new Set(['.html', '.js', '.css', '.json', '.webmanifest', '.svg', '.txt']);

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/compress.ts FOLDER');

for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isFile() || !packable.has(extname(path))) continue;
  const bytes = readFileSync(path);
  const text = { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT };
  const forms = [
    ['.br', brotliCompressSync(bytes, { params: text })],
    ['.gz', gzipSync(bytes, { level: 9 })],
  ] as const;
  for (const [ending, packed] of forms) if (packed.length < bytes.length) writeFileSync(`${path}${ending}`, packed);
}
