// Where a file of this machine stands on another one: in the same repository, if both have it and the file is there too.

import { dirname } from 'node:path';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Executor } from '../targets/executor.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';

interface Repository {
  readonly root: string;
  /** Where it came from, without what differs between people and protocols. */
  readonly origins: readonly string[];
  /** Its root has this file. */
  readonly hasFile: boolean;
}

/** Root, whether it has the file, and the addresses of its remotes, each behind a NUL. */
const script = `cd "$1" 2>/dev/null && r=$(git rev-parse --show-toplevel) || exit 1
f=no; [ -e "$r/$2" ] && f=yes
printf '%s\\0%s\\0' "$r" "$f"
git config --get-regexp '^remote\\..*\\.url$' | cut -d ' ' -f 2-`;

export async function fileThere(
  path: string,
  here: Executor,
  there: { readonly executor: Executor; readonly cwd: string },
): Promise<Result<string>> {
  const near = await repositoryAt(here, dirname(path), '');
  const inside = near !== null && path.startsWith(`${near.root}/`) ? path.slice(near.root.length + 1) : null;
  const words = `${sanitizeLine(foreign(path))} is a file of this machine, and the agent is on ${there.executor.target}`;
  const next = 'put what it says into the text, or copy it there and name it in the text by its path there';
  if (near === null || inside === null)
    return fail('E_FILE', `${words}: it is in no repository that could be there too`, next);
  const far = await repositoryAt(there.executor, there.cwd, inside);
  if (far === null || !far.origins.some((one) => near.origins.includes(one))) {
    return fail('E_FILE', `${words}, which does not work in a clone of the same repository`, next);
  }
  if (!far.hasFile) return fail('E_FILE', `${words}, where the repository does not have it`, next);
  return ok(`${far.root}/${inside}`);
}

async function repositoryAt(executor: Executor, directory: string, file: string): Promise<Repository | null> {
  const bounds = { deadlineMs: limits.tmuxRequestMs, outputBytesMax: limits.collectorNoiseBytesMax };
  const ran = await executor.run(['sh', '-c', script, 'sh', directory, file], bounds);
  const [root = '', hasFile, urls = ''] = new TextDecoder().decode(ran.stdout).split('\0');
  if (!root.startsWith('/') || /[\u0000-\u001f\u007f]/.test(root)) return null;
  return { root, hasFile: hasFile === 'yes', origins: urls.split('\n').flatMap(originOf) };
}

/** `git@host:me/x.git`, `ssh://host/me/x` and `https://host/me/x/` are one. */
function originOf(url: string): readonly string[] {
  const plain = url
    .trim()
    .replace(/^[a-z+]+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^/:]+):(?:\d+\/)?/, '$1/');
  const origin = plain.replace(/\/+$/, '').replace(/\.git$/, '');
  return origin === '' ? [] : [origin];
}
