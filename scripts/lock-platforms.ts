// Completes package-lock.json for every platform. A registry mirror that carries one platform only makes npm write a
// lockfile without the others, and `npm ci` refuses that everywhere. Run after `npm install`:
// node scripts/lock-platforms.ts. What it adds is pinned by version; npm adds the checksum where it can see one.
import { readFileSync, writeFileSync } from 'node:fs';

export interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

export interface Lockfile {
  readonly packages?: Readonly<Record<string, LockEntry>>;
}

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/** `@x/binding-linux-x64-musl` runs on Linux, x64, musl: such packages carry their platform in their name. */
function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  const musl = words.some((word) => word.startsWith('musl'));
  const glibc = words.some((word) => word.startsWith('gnu'));
  return {
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(musl ? { libc: ['musl'] } : glibc ? { libc: ['glibc'] } : {}),
    ...(os.length > 0 ? { os } : {}),
  };
}

/** The folders a package's requires are looked up in, nearest first. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/'))))
    folders.push(`${at}/node_modules`);
  return [...folders, 'node_modules'];
}

/** Entries that optional dependencies lack. They go beside the package that wants them. */
export function missingPlatforms(lock: Lockfile): Map<string, LockEntry> {
  const packages = lock.packages ?? {};
  const missing = new Map<string, LockEntry>();
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const platform = platformOf(name);
      if (platform.cpu === undefined && platform.os === undefined) continue;
      const nearest = foldersOf(path).find((folder) => packages[`${folder}/${name}`] !== undefined);
      if (nearest !== undefined && packages[`${nearest}/${name}`]?.version === version) continue;
      const folder = path.slice(0, path.lastIndexOf('node_modules/') + 'node_modules'.length);
      // In the order npm writes, so that its next run changes nothing.
      missing.set(`${folder}/${name}`, {
        version,
        ...(platform.cpu === undefined ? {} : { cpu: platform.cpu }),
        ...(entry.dev === true ? { dev: true } : {}),
        ...(platform.libc === undefined ? {} : { libc: platform.libc }),
        optional: true,
        ...(platform.os === undefined ? {} : { os: platform.os }),
        ...(entry.peer === true ? { peer: true } : {}),
      });
    }
  }
  return missing;
}

if (process.argv[1] === import.meta.filename) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lockfile;
  const missing = missingPlatforms(lock);
  const packages = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) });
  packages.sort(([left], [right]) => (left < right ? -1 : 1));
  writeFileSync(
    'package-lock.json',
    `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`,
  );
  console.log(`${missing.size} entries added`);
}
