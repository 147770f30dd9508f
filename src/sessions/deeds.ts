// What a person does to a session, as dialects carry it out: which deed means which of the few things that an agent can be
// told. Only how it is told differs from dialect to dialect.

import { fail, ok, type Result } from '../model/errors.ts';
import type { Deed } from './dialect.ts';
import type { Draft } from './draft.ts';
import { goOn } from './words.ts';

export type Answering = Extract<Deed, { readonly ask_id: string }>;

export interface Manners<Memory> {
  /** A new turn with these words. */
  readonly say: (draft: Draft<Memory>, text: string) => void;
  readonly retry: (draft: Draft<Memory>) => void;
  readonly cancel: (draft: Draft<Memory>) => void;
  readonly answer: (draft: Draft<Memory>, deed: Answering) => Result<null>;
}

/** `failedAsk`: what was asked after a failure of our own; words for it are a new turn. */
export function carryOut<Memory extends { readonly failedAsk: string | null }>(
  draft: Draft<Memory>,
  deed: Deed,
  { say, retry, cancel, answer }: Manners<Memory>,
): Result<null> {
  switch (deed.kind) {
    case 'send':
      if (deed.text.trim() === '') return fail('E_INPUT', 'there is nothing to send');
      say(draft, deed.text);
      return ok(null);
    case 'continue':
      say(draft, deed.text ?? goOn);
      return ok(null);
    case 'retry':
      retry(draft);
      return ok(null);
    case 'cancel':
      cancel(draft);
      return ok(null);
    case 'approve':
    case 'reject':
    case 'choose':
    case 'write':
      if (deed.kind !== 'write' || deed.ask_id !== draft.memory.failedAsk) return answer(draft, deed);
      say(draft, deed.text);
      return ok(null);
  }
}
