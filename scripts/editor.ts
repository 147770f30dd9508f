// Makes the VS Code extension: one file of code beside its manifest and pages, and all of it as a .vsix, which is a zip with two
// lists in front. Usage: node scripts/editor.ts FOLDER; prints the file.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateRawSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import manifest from '../editors/vscode/package.json' with { type: 'json' };
import { buildVersion } from './build-version.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const extension = join(root, 'editors/vscode');

async function bundle(): Promise<void> {
  const dist = join(extension, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const build = await rolldown({
    input: join(extension, 'src/extension.ts'),
    platform: 'node',
    external: ['vscode', /^node:/],
    transform: { define: { AGTMUX_BUILD_VERSION: JSON.stringify(buildVersion(root)) } },
  });
  await build.write({ dir: dist, format: 'cjs', entryFileNames: 'extension.cjs', codeSplitting: false });
  await build.close();
}

interface Entry {
  readonly name: string;
  readonly bytes: Buffer;
}

/** What users need, in one order. */
function entries(): readonly Entry[] {
  const files = [
    'package.json',
    'README.md',
    'dist/extension.cjs',
    ...readdirSync(join(extension, 'media')).map((name) => `media/${name}`),
  ];
  const own = files
    .toSorted()
    .map((name) => ({ name: `extension/${name}`, bytes: readFileSync(join(extension, name)) }));
  const license = { name: 'extension/LICENSE.txt', bytes: readFileSync(join(root, 'LICENSE')) };
  return [
    { name: '[Content_Types].xml', bytes: Buffer.from(contentTypes) },
    { name: 'extension.vsixmanifest', bytes: Buffer.from(vsixManifest()) },
    license,
    ...own,
  ];
}

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${[
  'json',
  'vsixmanifest',
  'cjs',
  'js',
  'css',
  'svg',
  'md',
  'txt',
]
  .map((ending) => `<Default Extension=".${ending}" ContentType="application/octet-stream"/>`)
  .join('')}</Types>
`;

const vsixManifest = (): string => `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata><Identity Language="en-US" Id="${manifest.name}" Version="${manifest.version}" Publisher="${manifest.publisher}"/>
<DisplayName>${manifest.displayName}</DisplayName><Description xml:space="preserve">${manifest.description}</Description>
<Categories>Other</Categories><Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value="${manifest.engines.vscode}"/>
<Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/></Properties>
<License>extension/LICENSE.txt</License></Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation><Dependencies/>
<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets>
</PackageManifest>
`;

/** The same bytes for the same files: every entry has the first time that a zip knows. */
const firstDate = 0x21;

function zipped(all: readonly Entry[]): Buffer {
  const bodies: Buffer[] = [];
  const heads: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of all) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    // Deflated.
    shared.writeUInt16LE(8, 4);
    shared.writeUInt16LE(firstDate, 8);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), shared, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    heads.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), shared, rest, Buffer.from(name)]));
    bodies.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(heads);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(all.length, 4);
  end.writeUInt16LE(all.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, list, Buffer.from('PK\u0005\u0006'), end]);
}

await bundle();
const folder = resolve(process.argv[2] ?? 'coverage');
mkdirSync(folder, { recursive: true });
const file = join(folder, `agtmux-vscode-${manifest.version}.vsix`);
writeFileSync(file, zipped(entries()));
process.stdout.write(`${file}\n`);
