// An agent that has ended goes on in its own pane, by its own resume command: typed at the shell that is in front there,
// or run in place of a dead process. Guarded like everything that is typed (ACT1, ACT2).

import { isSame } from '../engine/canonical.ts';
import { canonicalRef } from '../engine/refer.ts';
import { ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { PaneAddress, PaneContent, PaneWriter, WriteResult } from '../terminals/tmux/pane-writer.ts';
import { quoteSh } from '../text/quote.ts';
import {
  type ActionContext,
  type Attempt,
  type Ending,
  ended,
  leniencies,
  refused,
  refusedFor,
  refusedWrite,
} from './action-context.ts';
import { typeAndSubmit, withoutMarks } from './submitting.ts';

export async function resumeEnded(context: ActionContext, attempt: Attempt): Promise<Ending> {
  const { ground } = context;
  const { agent, runtime_id, target, pane, parent } = attempt.identity;
  if (parent !== null) return refusedFor('E_UNSUPPORTED', `it ran inside ${canonicalRef(parent)}`);
  const session = await ground.lastSessionOf(runtime_id);
  const command = ground.keysOf(agent)?.resume(session) ?? null;
  const line = command === null ? null : lineOf(command);
  if (command === null || line?.ok !== true) {
    return refusedFor('E_UNSUPPORTED', `how to resume this ${agent} is not known`, `start one: agtmux new ${agent}`);
  }
  const writer = ground.handsOf(target);
  if (writer === null) return refusedFor('E_TARGET_DOWN', 'its tmux server is not connected');
  const rest: PaneContent = pane === null ? { kind: 'gone' } : await ground.restOf(runtime_id);
  const words = session === null ? 'its conversation was not known: the last one of its directory is continued' : null;
  switch (rest.kind) {
    case 'gone':
      return refusedFor('E_ENDED', 'it has ended, and its pane is gone', `run \`${line.value}\` where it worked`);
    case 'unclear':
      return refusedFor('E_TARGET_DOWN', 'what is in its pane now is not known');
    case 'other':
      return inFront(rest.command);
    case 'reading':
      return notAtPrompt(line.value);
    case 'shell':
      return typeAtShell(context, attempt, writer, rest, line.value, words);
    case 'dead':
      return respawn(context, attempt, writer, rest.place, command, words);
  }
}

const inFront = (command: string): Ending =>
  refusedFor('E_STATE_CHANGED', `${command} is in the foreground of its pane now, not its shell`);

const notAtPrompt = (command: string): Ending =>
  refusedFor('E_STATE_CHANGED', 'its shell is not at its prompt', `run \`${command}\` there`);

/** As a person would type it: the name of the program stays bare, so that an alias of theirs still counts. */
function lineOf(command: readonly string[]): Result<string> {
  const words: string[] = [];
  for (const word of command) {
    const quoted = /^[\w./=@:-]+$/.test(word) ? ok(word) : quoteSh(word);
    if (!quoted.ok) return quoted;
    words.push(quoted.value);
  }
  return ok(words.join(' '));
}

/** Where it worked, as far as it was seen. */
function cwdOf(context: ActionContext, { identity }: Attempt): string | null {
  const row = context.ground.rows().find(({ runtime_id }) => runtime_id === identity.runtime_id);
  return row === undefined || row.cwd === '' ? null : row.cwd;
}

async function typeAtShell(
  context: ActionContext,
  attempt: Attempt,
  writer: PaneWriter,
  rest: Extract<PaneContent, { kind: 'shell' }>,
  command: string,
  words: string | null,
): Promise<Ending> {
  const cwd = cwdOf(context, attempt);
  const folder = cwd === null || cwd === rest.cwd ? null : quoteSh(cwd);
  // Typed one by one a control character is a key, and shells read backslashes in quotes differently.
  if (folder !== null && (!folder.ok || /[\p{Cc}\\]/u.test(cwd ?? ''))) {
    return refusedFor('E_UNSUPPORTED', 'the name of its directory cannot be typed', `run \`${command}\` there`);
  }
  const line = folder === null ? command : `cd ${folder.value} && ${command}`;
  let shown = '';
  const isStill = async (): Promise<boolean> => {
    const now = await context.ground.restOf(attempt.identity.runtime_id);
    shown = now.kind === 'shell' ? now.line : '';
    const isAsBefore = now.kind === 'shell' && isSame({ ...now, line: '' }, { ...rest, line: '' });
    return isAsBefore && context.check(attempt, leniencies.resume) === null;
  };
  if (!(await isStill())) return refusedAt(context, attempt, 'other_process');
  // What somebody left at the prompt would become a part of it: to its end, and away with it.
  const cleared = await writer.press(rest.place, ['C-e', 'C-u']);
  if (cleared.kind === 'refused') return refusedAt(context, attempt, cleared.why);
  if (cleared.kind === 'lost') return ended('unconfirmed', { way: 'keys', words: cleared.words });
  if (!(await context.comesTrue(async () => !(await isStill()) || isPrompt(shown), limits.pasteShownMs))) {
    return notAtPrompt(command);
  }
  const options = { enter: true, collapsed: null, enterPauseMs: 0, recheck: isStill, clock: context.ground.clock };
  const typed = await typeAndSubmit(withoutMarks(writer), rest.place, line, options);
  if (typed === 'pasted' || typed === 'mixed') {
    const words = 'typed in its shell, not submitted; check the pane before you press Enter there';
    return ended('unconfirmed', { way: 'keys', words });
  }
  if (typed !== 'submitted') {
    if (typed.kind === 'refused') return refusedAt(context, attempt, typed.why);
    return ended('unconfirmed', { way: 'keys', words: typed.kind === 'lost' ? typed.words : null });
  }
  return begun(context, attempt, 'keys', words);
}

/** Of a line begun earlier, or of a word left open: the next line is no command of its own. */
const continued = /^(?:[a-z]+[ -]?)*>\s*$/;
/** What prompts end with; letters and colons are questions of programs. */
const promptEnd = /[$#%>❯➜»›λ▶❱→⟩)\]\p{Co}]\s*$/u;

/** Whether a shell that shows this left of the cursor waits for a command. */
export const isPrompt = (line: string): boolean => promptEnd.test(line) && !continued.test(line.trim());

function refusedAt(
  context: ActionContext,
  attempt: Attempt,
  why: Extract<WriteResult, { kind: 'refused' }>['why'],
): Ending {
  const problem = context.check(attempt, leniencies.resume);
  if (problem !== null) return refused(problem);
  return why === 'other_process'
    ? refusedFor('E_STATE_CHANGED', 'another program is in the foreground of its pane now')
    : refusedWrite(why);
}

async function respawn(
  context: ActionContext,
  attempt: Attempt,
  writer: PaneWriter,
  place: PaneAddress,
  command: readonly string[],
  words: string | null,
): Promise<Ending> {
  const line = lineOf(context.ground.wrapped(attempt.identity.target, command));
  if (!line.ok) return refused(line.failure);
  const touch = await writer.respawn(place, `exec ${line.value}`, cwdOf(context, attempt));
  if (touch.kind === 'refused') return refusedAt(context, attempt, touch.why);
  if (touch.kind === 'lost') return ended('unconfirmed', { way: 'tmux', words: touch.words });
  return begun(context, attempt, 'tmux', words);
}

/** Delivered when it is known again, as another run of the agent. */
async function begun(
  context: ActionContext,
  { identity }: Attempt,
  way: string,
  words: string | null,
): Promise<Ending> {
  const { target, pane } = identity;
  let found: RuntimeId | null = null;
  await context.comesTrue(() => {
    found = pane === null ? null : context.ground.ownerOf(target, pane);
    return found !== null;
  }, limits.agentStartMs);
  return found === null
    ? ended('unconfirmed', { way, words: 'its resume command was run; the agent has not appeared yet' })
    : ended('delivered', { way, words, became: found });
}
