// Editors as programs of this machine pair, list and revoke them.

import type { EditorService } from '../model/editors.ts';
import { AgtmuxError } from '../model/errors.ts';
import { isoTime } from '../view/lists-items.ts';
import type { Handlers } from './dispatch.ts';
import { unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

type Names = 'editors' | 'openEditorCode' | 'pairEditor' | 'reportTerminals' | 'revokeEditor';

/** Null where it cannot be reached from. */
export function editorHandlers(service: DaemonService, editors: EditorService | null): Pick<Handlers, Names> {
  const here = (): EditorService => {
    if (editors === null) throw new AgtmuxError('E_ROUTE', 'this daemon pairs no editors');
    return editors;
  };
  const iso = (time: number): string => isoTime(service.toWall(time));
  return {
    editors: () => ({
      items: here()
        .list()
        .map(({ paired_at, used_at, ...entry }) => ({
          ...entry,
          paired_at: iso(paired_at),
          used_at: used_at === null ? null : iso(used_at),
        })),
    }),
    async openEditorCode({ body: { scopes }, caller }) {
      const { expires_at, ...code } = unwrap(await here().createCode(scopes, caller));
      return { ...code, expires_at: iso(expires_at) };
    },
    pairEditor: async ({ body: { code, name }, caller }) => unwrap(await here().pair(code, name, caller)),
    async reportTerminals({ body, caller }) {
      unwrap(await here().report(body, caller));
      return { done: true };
    },
    async revokeEditor({ params, caller }) {
      unwrap(await here().revoke(params.id, caller));
      return { done: true };
    },
  };
}
