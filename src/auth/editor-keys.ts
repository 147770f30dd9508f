// Editors that may act: codes that wait to be traded, and the keys that were given out for them. Only fingerprints are held and
// stored, and every secret is compared as a whole. Knows no request; who may do it is decided where every action is.

import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import {
  type ActionService,
  type CallerClaim,
  type EditorCaller,
  type EditorScope,
  editorScopes,
} from '../model/actions.ts';
import type {
  EditorCode,
  EditorEntry,
  EditorService,
  EditorTerminals,
  EditorWindows,
  PairedEditor,
} from '../model/editors.ts';
import { AgtmuxError, fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { DocumentChange, DocumentStore } from '../model/records.ts';
import type { RandomSource } from '../platform/random.ts';

export interface EditorKeysDependencies {
  readonly acting: Pick<ActionService, 'who' | 'authorizeAndAudit' | 'dropQueuedOf'>;
  readonly documents: DocumentStore;
  /** Null where no process can be looked at. */
  readonly windows: EditorWindows | null;
  readonly random: Pick<RandomSource, 'hex' | 'bytes'>;
  readonly now: () => number;
  readonly warn: (words: string, fields: Readonly<Record<string, unknown>>) => void;
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const storedSchema = z.strictObject({
  version: z.literal(1),
  name: z.string().max(limits.editorNameCharsMax),
  scopes: z.array(z.enum(editorScopes)),
  key_hash: hash,
  paired_at: z.number(),
  opened_by: z.string(),
  paired_by: z.string(),
});

type Stored = z.infer<typeof storedSchema> & { readonly id: string };

interface Waiting {
  readonly scopes: readonly EditorScope[];
  readonly opened_by: string;
  readonly expires_at: number;
}

/** No letters that look alike: 32 of them, five bits each. */
const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const codeLetters = 10;
const keyForm = /^([0-9a-f]{8})\.([0-9a-f]{64})$/;

export class EditorKeys implements EditorService {
  readonly #parts: EditorKeysDependencies;
  readonly #codes = new Map<string, Waiting>();
  readonly #editors = new Map<string, Stored>();
  readonly #usedAt = new Map<string, number>();
  #triesLeft: number = limits.editorTriesMax;

  private constructor(parts: EditorKeysDependencies) {
    this.#parts = parts;
  }

  static async load(parts: EditorKeysDependencies): Promise<EditorKeys> {
    const keys = new EditorKeys(parts);
    for (const { id, body } of await parts.documents.documents(['editor'])) {
      const read = storedSchema.safeParse(parsed(body));
      if (read.success) keys.#editors.set(id, { id, ...read.data });
      else parts.warn('the key of an editor could not be read', { editor: id, problem: read.error.message });
    }
    return keys;
  }

  async createCode(scopes: readonly EditorScope[], claim: CallerClaim): Promise<Result<EditorCode>> {
    const { acting, now } = this.#parts;
    const opened_by = (await acting.who(claim)).name;
    return acting.authorizeAndAudit(
      { action: 'editor', named: 'code for an editor', detail: { scopes } },
      claim,
      async () => {
        if (this.#editors.size >= limits.editorsMax) {
          return fail('E_INPUT', `there are ${this.#editors.size} paired editors, the most there can be`, 'revoke one');
        }
        const code = this.#newCode();
        const expires_at = now() + limits.editorCodeMs;
        for (const [oldest] of this.#codes) {
          if (this.#codes.size < limits.editorCodesMax) break;
          this.#codes.delete(oldest);
        }
        this.#codes.set(hashOf(plainCode(code)), { scopes, opened_by, expires_at });
        this.#triesLeft = limits.editorTriesMax;
        return ok({ code, scopes, expires_at });
      },
    );
  }

  /** Whoever trades is looked at like whoever uses the key: an agent has no use for a code that it has seen. */
  async pair(code: string, name: string, claim: CallerClaim): Promise<Result<PairedEditor>> {
    const { acting, random, now } = this.#parts;
    const waiting = this.#takeCode(code);
    const editor: EditorCaller = { id: random.hex(4), name, scopes: waiting?.scopes ?? [] };
    const paired_by = (await acting.who(claim)).name;
    return acting.authorizeAndAudit(
      { action: 'pair', named: name, detail: { editor: editor.id, scopes: editor.scopes, program: paired_by } },
      { pid: claim.pid, hops: claim.hops, editor },
      async () => {
        if (waiting === null) {
          return fail('E_SIGNED_OUT', 'this code was already used, has expired or is wrong', pairAgain);
        }
        const secret = random.hex(32);
        const key_hash = hashOf(secret);
        const { opened_by } = waiting;
        const stored: Stored = {
          version: 1,
          ...editor,
          scopes: [...editor.scopes],
          key_hash,
          paired_at: now(),
          opened_by,
          paired_by,
        };
        const { id, ...body } = stored;
        const document = { kind: 'editor', id, number: stored.paired_at, body: JSON.stringify(body) } as const;
        const kept = await this.#put({ put: [document], remove: [] });
        if (!kept.ok) return kept;
        this.#editors.set(id, stored);
        return ok({ ...editor, key: `${id}.${secret}` });
      },
    );
  }

  list(): readonly EditorEntry[] {
    return [...this.#editors.values()].map(({ id, name, scopes, paired_at, opened_by, paired_by }) => {
      return { id, name, scopes, paired_at, opened_by, paired_by, used_at: this.#usedAt.get(id) ?? null };
    });
  }

  revoke(which: string, claim: CallerClaim): Promise<Result<number>> {
    const found = [...this.#editors.values()].filter(({ id, name }) => id === which || name === which);
    const { acting } = this.#parts;
    return acting.authorizeAndAudit(
      { action: 'editor', named: which, detail: { revoked: found.map(({ id }) => id) } },
      claim,
      async () => {
        if (found.length === 0) {
          return fail('E_REF_NOT_FOUND', `no editor is called ${which}`, '`agtmux editor list` shows them');
        }
        const kept = await this.#put({ put: [], remove: found.map(({ id }) => ({ kind: 'editor', id })) });
        if (!kept.ok) return kept;
        for (const { id } of found) this.#editors.delete(id);
        this.#parts.windows?.drop(found.map(({ id }) => id));
        await acting.dropQueuedOf(found.map(({ id }) => id));
        return ok(found.length);
      },
    );
  }

  /** Each window leaves one row, however often its terminals change. */
  async report(told: EditorTerminals, claim: CallerClaim): Promise<Result<null>> {
    const { acting, windows } = this.#parts;
    const who = await acting.who(claim);
    const { editor, pid } = claim;
    if (editor === undefined || pid === null || who.role !== 'editor') {
      return fail('E_ROLE', `only a paired editor tells of its terminals: ${who.why}`, pairAgain);
    }
    if (!editor.scopes.includes('look')) {
      return fail('E_ROLE', 'the key of this editor does not allow view', 'pair it again: `agtmux editor pair`');
    }
    if (windows === null) return fail('E_UNSUPPORTED', 'this machine does not tell of single processes');
    const put = windows.put(editor.id, pid, told);
    if (put === 'gone') return fail('E_INPUT', `no process ${pid} runs here`, 'name the process of the window');
    if (put === 'elsewhere') {
      return fail('E_INPUT', `${told.socket} is not beside the socket of the daemon`, 'make it in that folder');
    }
    if (put === 'known') return ok(null);
    const detail = { editor: editor.id, terminals: told.terminals.length };
    return acting.authorizeAndAudit({ action: 'view', named: 'terminals of a window', detail }, claim, async () =>
      ok(null),
    );
  }

  holderOf(key: string): EditorCaller | null {
    const [, id = '', secret = ''] = keyForm.exec(key) ?? [];
    const stored = this.#editors.get(id);
    if (stored === undefined || !isSame(stored.key_hash, hashOf(secret))) return null;
    this.#usedAt.set(id, this.#parts.now());
    return { id, name: stored.name, scopes: stored.scopes };
  }

  #newCode(): string {
    const text = [...this.#parts.random.bytes(codeLetters)].map((byte) => letters[byte % letters.length]).join('');
    return `${text.slice(0, codeLetters / 2)}-${text.slice(codeLetters / 2)}`;
  }

  #takeCode(code: string): Waiting | null {
    const fingerprint = hashOf(plainCode(code));
    const waiting = this.#codes.get(fingerprint);
    this.#codes.delete(fingerprint);
    if (waiting !== undefined && this.#parts.now() < waiting.expires_at) return waiting;
    this.#triesLeft -= 1;
    if (this.#triesLeft <= 0) this.#codes.clear();
    return null;
  }

  async #put(change: DocumentChange): Promise<Result<null>> {
    try {
      await this.#parts.documents.putDocuments(change);
      return ok(null);
    } catch (problem) {
      if (!(problem instanceof AgtmuxError)) throw problem;
      return fail(problem.code, `the key was not changed: ${problem.message}`, problem.next);
    }
  }
}

/** What the key of this editor is for, as it is stored now; null when it was revoked or never was. */
export async function storedScopes(
  documents: Pick<DocumentStore, 'documents'>,
  editor: string,
): Promise<readonly EditorScope[] | null> {
  const found = (await documents.documents(['editor'])).find(({ id }) => id === editor);
  return found === undefined ? null : (storedSchema.safeParse(parsed(found.body)).data?.scopes ?? null);
}

export const pairAgain = 'run `agtmux editor pair` in a terminal and type the code it prints';

/** As people type it: small letters, blanks, no dash. */
const plainCode = (code: string): string => code.toUpperCase().replace(/[^A-Z0-9]/g, '');

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
