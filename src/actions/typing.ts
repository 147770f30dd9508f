// A person types at a pane through a page: one stretch of it is one action, judged and recorded when it begins; every
// burst of keys is guarded anew, and what was typed is counted, not kept (ACT1, ACT6).

import type { Principal } from '../auth/principal.ts';
import type { Receipt } from '../model/actions.ts';
import { AgtmuxError, type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { ActionAudit } from './action-audit.ts';
import { type ActionContext, type Attempt, type Ending, ended, refused, refusedWrite } from './action-context.ts';
import type { Lanes } from './lanes.ts';

export interface Typing {
  /** Null when tmux took the keys for this very agent. */
  type(data: string): Promise<Failure | null>;
  /** The same for a text that was pasted: it goes out as one paste. Line ends are Enters to whoever does not read it so. */
  paste(text: string): Promise<Failure | null>;
  /** Leaves the second row: how much it was. */
  end(): Promise<void>;
}

export interface TypingParts {
  readonly context: ActionContext;
  readonly lanes: Lanes;
  /** As every action on an agent is begun, judged and recorded. */
  readonly record: (effect: (attempt: Attempt) => Promise<Ending>) => Promise<Receipt>;
  readonly deeds: ActionAudit;
}

export async function startTyping(
  { context, lanes, deeds, record }: TypingParts,
  ref: string,
  caller: Principal,
): Promise<Result<Typing>> {
  let begun: Attempt | null = null;
  const receipt = await record(async (attempt) => {
    const handle = await context.handle(attempt);
    if (!handle.ok) return refused(handle.failure);
    begun = attempt;
    return ended('delivered', { way: 'keys', words: 'typing was turned on', detail: { typing: 'on' } });
  });
  // Set inside of the deed, which the compiler does not see.
  const attempt = begun as Attempt | null;
  if (attempt === null) {
    return receipt.failure === null
      ? fail('E_INTERNAL', 'typing was not turned on, and no reason was given')
      : { ok: false, failure: receipt.failure };
  }
  let bytes = 0;
  const run = async (data: string, how: 'keys' | 'pasteKeys'): Promise<Failure | null> => {
    const done = await lanes.run(attempt.identity.runtime_id, () => typed(context, attempt, data, how));
    const problem = done.ok ? done.value : done.failure;
    if (problem === null) bytes += Buffer.byteLength(data);
    return problem;
  };
  return ok({
    type: (data) => run(data, 'keys'),
    paste: async (text) => pasteProblem(text) ?? (await run(terminalLines(text), 'pasteKeys')),
    end: async () => {
      const { identity, state } = attempt;
      const last = { ...deeds.begin('type', ref, caller), runtime_id: identity.runtime_id, state };
      await deeds.finish(last, ended('delivered', { way: 'keys', detail: { typing: 'off', bytes } }));
    },
  });
}

/** A terminal sends carriage returns, whatever ends a line where the text was copied. */
const terminalLines = (text: string): string => text.replaceAll(/\r?\n/g, '\r');

/** Text copied from a page may hide a character that ends the paste, or is a command to the program. */
function pasteProblem(text: string): Failure | null {
  if (text.length > limits.webPasteCharsMax)
    return failure('E_TOO_LARGE', 'the text is too long for one paste', 'send long texts as a message');
  return !text.isWellFormed() || /[^\P{Cc}\t\r\n]/u.test(text)
    ? failure('E_INPUT', 'the text contains control characters; nothing was pasted', 'copy it as plain text')
    : null;
}

/** Who is in the foreground of the pane is asked for each time: a shell must not get what was meant for an agent. */
async function typed(
  context: ActionContext,
  attempt: Attempt,
  data: string,
  how: 'keys' | 'pasteKeys',
): Promise<Failure | null> {
  if (how === 'keys' && data.length > limits.webKeysCharsMax)
    return failure('E_TOO_LARGE', 'the input is too long for one key');
  // What it is doing may change with every key; who it is may not.
  const problem = context.check({ ...attempt, conditions: { force_stale: true } });
  if (problem !== null) return problem;
  try {
    const handle = await context.handle(attempt);
    if (!handle.ok) return handle.failure;
    const touch = await handle.value.writer[how](handle.value.place, data);
    if (touch.kind === 'done') return null;
    if (touch.kind === 'refused') return refusedWrite(touch.why).failure;
    return failure('E_TARGET_DOWN', touch.words, 'check the pane before you type it again');
  } catch (trouble) {
    if (!(trouble instanceof AgtmuxError)) throw trouble;
    return failure(trouble.code, trouble.message, trouble.next);
  }
}
