// Tells Codex that its user trusts our hooks, by Codex's own app-server: asks which hooks there are, and has the hashes of
// ours, and of no others, written down as trusted. Pure; every line that comes is foreign.

import { folderOf, isOurCommand } from '../config-text/own-file.ts';
import type { HookTrust, InstallContext, TrustTalk } from '../contract.ts';
import { fieldsIn, listOf } from '../fields.ts';
import { initializedLine, requests } from './protocol.ts';

const ids = { hello: 1, list: 2, write: 3 } as const;

export const trust: HookTrust = {
  argv: (context) => ['env', `CODEX_HOME=${folderOf(context, 'CODEX_HOME', '.codex')}`, 'codex', 'app-server'],
  open: (context) => talk(context),
};

function talk(context: InstallContext): TrustTalk {
  let asked = 0;
  return {
    first: [line({ id: ids.hello, ...requests.initialize() })],
    take(text) {
      const { id, result, error } = fieldsIn(parsed(text));
      if (error !== undefined && typeof id === 'number') return { say: [], end: refused(fieldsIn(error).message) };
      if (result === undefined) return { say: [] };
      switch (id) {
        case ids.hello:
          return {
            say: [initializedLine, line({ id: ids.list, method: 'hooks/list', params: { cwds: [context.home] } })],
          };
        case ids.list: {
          const hooks = untrusted(result, context);
          asked = hooks.length;
          if (asked === 0) return { say: [], end: { trusted: 0 } };
          return { say: [line({ id: ids.write, method: 'config/batchWrite', params: editsOf(hooks) })] };
        }
        case ids.write:
          return fieldsIn(result).status === 'ok'
            ? { say: [], end: { trusted: asked } }
            : { say: [], end: refused(fieldsIn(result).status) };
        default:
          return { say: [] };
      }
    },
  };
}

interface Hook {
  readonly key: string;
  readonly hash: string;
}

/** Only what calls our program, and only what Codex does not trust already. */
function untrusted(result: unknown, context: InstallContext): readonly Hook[] {
  const found = new Map<string, Hook>();
  for (const place of listOf(fieldsIn(result).data)) {
    for (const one of listOf(fieldsIn(place).hooks)) {
      const { key, command, currentHash, trustStatus } = fieldsIn(one);
      if (typeof key !== 'string' || typeof command !== 'string' || typeof currentHash !== 'string') continue;
      if (isOurCommand(context, command) && trustStatus !== 'trusted') found.set(key, { key, hash: currentHash });
    }
  }
  return [...found.values()];
}

function editsOf(hooks: readonly Hook[]): object {
  const edits = hooks.map(({ key, hash }) => ({
    keyPath: 'hooks.state',
    value: { [key]: { trusted_hash: hash } },
    mergeStrategy: 'upsert',
  }));
  return { edits, reloadUserConfig: true };
}

const refused = (reason: unknown) => ({
  problem: `Codex did not accept it: ${typeof reason === 'string' ? reason : 'it gave no reason'}`,
  next: 'trust the hooks when Codex asks at its next start',
});

const line = (message: object): string => JSON.stringify(message);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
