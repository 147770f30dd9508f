// The same for another machine, by POSIX sh over its executor. Contents travel by standard input and output, never among
// the arguments, where every user of that machine could read them.

import { AgtmuxError, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { temporaryName } from '../platform/files.ts';
import type { RandomSource } from '../platform/random.ts';
import type { Executor, RunResult } from '../targets/executor.ts';
import { decode, type FoundFile, fileBytesMax, type HookFiles } from './files.ts';

/** What the scripts say by their status; nothing else uses these. */
const status = { changed: 75, nowhere: 76, large: 77, kind: 78 } as const;

/** Follows the last links by hand: `readlink -f` is not everywhere. */
const followScript = `p=$1 n=0
while [ -L "$p" ]; do
  n=$((n + 1)); [ $n -le 40 ] || exit ${status.nowhere}
  t=$(readlink "$p") || exit 1
  case $t in /*) p=$t ;; *) p=\${p%/*}/$t ;; esac
done
[ ! -L "$1" ] || [ -e "$p" ] || exit ${status.nowhere}
`;

/** By its rights, also for root: whoever took the right to write away meant it. */
const guardScript = `open() { case $(ls -ld "$1") in ??w*) [ -w "$1" ] ;; *) false ;; esac; }
w=1
`;

const findScript = `${followScript}${guardScript}
d=\${p%/*}
if [ -e "$p" ]; then
  [ -f "$p" ] || exit ${status.kind}
  [ "$(wc -c <"$p")" -le ${fileBytesMax} ] || exit ${status.large}
  open "$p" && open "\${d:-/}" || w=0
  printf 'file %s\\n%s\\n' $w "$p"
  exec cat "$p"
fi
while [ -n "$d" ] && [ ! -d "$d" ]; do d=\${d%/*}; done
open "\${d:-/}" || w=0
printf 'none %s\\n%s\\n' $w "$p"
`;

/**
 * Arguments: the file, the temporary one beside it, its mode. Standard input is the new content. Prints new folders. What a
 * write has left that was cut short a day ago nobody writes any more.
 */
const prepareScript = `umask 077
d=\${1%/*} e=$d made=
while [ -n "$e" ] && [ ! -d "$e" ]; do made="$e
$made"; e=\${e%/*}; done
mkdir -p "\${d:-/}" || exit 1
for f in "$d"/.agtmux-????????????????.tmp; do
  [ ! -f "$f" ] || [ -L "$f" ] || [ -z "$(find "$f" -prune -mtime +0)" ] || rm -f "$f"
done
if [ -e "$1" ]; then cp -p "$1" "$2" && cat >"$2"; else cat >"$2" && chmod "$3" "$2"; fi || { rm -f "$2"; exit 1; }
printf %s "$made"
`;

/**
 * Standard input is what must still be there; "none" as third argument: nothing. A file with further names, or one whose
 * owner and mode the new one could not be given, is changed in its place, and put back if that cannot be done whole.
 */
const moveScript = `set -f
facts() { set -- $(ls -ldn "$1"); facts="$1 $3 $4" links=$2; }
inplace() {
  cp "$1" "$2.old" && { cat "$2" >"$1" || { cat "$2.old" >"$1"; false; }; }
}
if [ "$3" = none ]; then
  [ ! -e "$1" ] && ln "$2" "$1" && { rm -f "$2"; exit 0; }
elif cmp -s - "$1"; then
  facts "$2"; new=$facts
  facts "$1"
  if [ "$links" = 1 ] && [ "$new" = "$facts" ] && mv -f "$2" "$1" 2>/dev/null; then exit 0; fi
  inplace "$1" "$2"; s=$?
  rm -f "$2" "$2.old"
  exit $s
fi
[ -e "$2" ] && rm -f "$2"
exit ${status.changed}
`;

const removeScript = `cmp -s - "$1" || exit ${status.changed}
rm -f "$1"
`;

export function createFarHookFiles(executor: Executor, random: RandomSource): HookFiles {
  const run = async (script: string, args: readonly string[], stdin = ''): Promise<Uint8Array> => {
    const ran = await executor.run(['sh', '-c', script, 'agtmux', ...args], {
      stdin: new TextEncoder().encode(stdin),
      deadlineMs: limits.hookFileMs,
      outputBytesMax: fileBytesMax + 8_192,
    });
    if (ran.status === 0 && !ran.truncated) return ran.stdout;
    throw problemOf(ran, args[0] ?? '');
  };
  return {
    find: (path) => told(async () => foundOf(path, await run(findScript, [path]))),
    write: ({ realPath, before, after, mode }) =>
      told(async () => {
        const temporary = `${realPath.slice(0, realPath.lastIndexOf('/'))}/${temporaryName(random.hex(8))}`;
        const made = decode(await run(prepareScript, [realPath, temporary, mode.toString(8)], after)) ?? '';
        await run(moveScript, [realPath, temporary, before === null ? 'none' : 'some'], before ?? '');
        return made.split('\n').filter((folder) => folder !== '');
      }),
    remove: (realPath, before) =>
      told(async () => {
        await run(removeScript, [realPath], before);
        return null;
      }),
    makePrivateFolder: (path) =>
      told(async () => {
        await run('umask 077; mkdir -p "$1"', [path]);
        return null;
      }),
    hasFolder: (path) => told(async () => decode(await run('[ ! -d "$1" ] || printf yes', [path])) === 'yes'),
    removeEmptyFolder: async (path) => {
      await told(() => run('rmdir "$1" 2>/dev/null; :', [path]));
    },
  };
}

function foundOf(path: string, bytes: Uint8Array): FoundFile {
  const firstEnd = bytes.indexOf(0x0a);
  const secondEnd = bytes.indexOf(0x0a, firstEnd + 1);
  const head = decode(bytes.subarray(0, firstEnd)) ?? '';
  const realPath = decode(bytes.subarray(firstEnd + 1, secondEnd)) ?? '';
  const said = /^(file|none) ([01])$/.exec(head);
  if (firstEnd < 0 || secondEnd < 0 || said === null || !realPath.startsWith('/')) {
    throw new AgtmuxError('E_FILE', `${path}: the other machine gave an unreadable answer`);
  }
  const text = decode(bytes.subarray(secondEnd + 1));
  if (text === null) throw new AgtmuxError('E_HOOKS', `${path} is not UTF-8 text`);
  return { path, realPath, text: said[1] === 'file' ? text : null, isWritable: said[2] === '1' };
}

function problemOf(ran: RunResult, path: string): AgtmuxError {
  if (ran.failure !== undefined) {
    return new AgtmuxError(ran.failure.code, ran.failure.message, { next: ran.failure.next });
  }
  if (ran.timedOut) return new AgtmuxError('E_TARGET_DOWN', 'the other machine did not answer in time');
  switch (ran.status) {
    case status.changed:
      return new AgtmuxError('E_STATE_CHANGED', `${path} was changed meanwhile; nothing was written to it`, {
        next: 'check the new difference, then try again',
      });
    case status.nowhere:
      return new AgtmuxError('E_HOOKS', `${path} is a broken link`, { next: 'fix or remove the link' });
    case status.large:
      return new AgtmuxError('E_HOOKS', `${path} is larger than ${fileBytesMax} bytes`);
    case status.kind:
      return new AgtmuxError('E_HOOKS', `${path} is not a file`);
    default: {
      const [words = ''] = new TextDecoder().decode(ran.stderr).trim().split('\n').slice(-1);
      return new AgtmuxError(
        'E_FILE',
        `${path} cannot be read or written: ${words === '' ? 'no reason given' : words}`,
        {
          next: 'check the permissions of that file and its folder, and the free disk space',
        },
      );
    }
  }
}

async function told<Value>(work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work());
  } catch (error) {
    if (!(error instanceof AgtmuxError)) throw error;
    return { ok: false, failure: failure(error.code, error.message, error.next) };
  }
}
