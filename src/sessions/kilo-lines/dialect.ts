// How Kilo was led before 7: lines of JSON on stdin and stdout, in the words that the states of a session were first
// written for.

import { type Fields, idOf, textOf } from '../../agents/fields.ts';
import { lastConversation } from '../../agents/kilo/session.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import { agentSessionId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { weightOf } from '../asks-room.ts';
import type { Deed, Delivery, Dialect, Heard, Opening, Turn, Wakeful } from '../dialect.ts';
import { draftOf, hearGarbage, hearStillborn, hearStray, keep, nextId, note, tell, turnOf } from '../draft.ts';
import { deliveryOf, hearClock, hearGone, noteAnswer, setWatch, spokenTo, watchSigns } from '../watch.ts';
import { goOn } from '../words.ts';
import { answer, hearAsk, sayHeld, sayRetry, sayStop, sayTask, sayWords } from './asks.ts';
import { rowsIn } from './lines.ts';
import { freshMemory, type LinesDraft, type LinesMemory } from './memory.ts';
import { hearSay, type Row } from './says.ts';
import { endItems } from './speech.ts';

export const kiloLines: Dialect<LinesMemory> = {
  name: 'kilo-lines',
  hasNoCreated: true,
  livesOn: false,
  open(opening: Opening, at: number): Turn<LinesMemory> {
    const draft = draftOf(freshMemory(opening, at), at);
    const { prompt, resume } = opening;
    if (resume === null) sayTask(draft, prompt === '' ? goOn : prompt);
    // It shows the whole conversation first, and asks then.
    else sayWords(draft, prompt === '' ? goOn : prompt, null);
    return scheduled(draft);
  },
  hear(memory: LinesMemory, heard: Heard, at: number): Turn<LinesMemory> {
    const draft = draftOf(memory, at);
    switch (heard.from) {
      case 'stdout':
        hearLine(draft, heard.line);
        watchSigns(draft);
        break;
      case 'stderr':
        hearStray(draft, heard.line);
        break;
      case 'exit':
        if (!memory.isHeard) hearStillborn(draft, heard);
        endItems(draft, 'failed');
        keep(draft, { waiting: null, held: null, heldUntil: null, half: '' });
        hearGone(draft);
        break;
      case 'clock':
        hearTime(draft, heard.isAsked);
        break;
      case 'reconnect':
      case 'reply':
      case 'stream':
        break;
    }
    return scheduled(draft);
  },
  do(memory: LinesMemory, deed: Deed, at: number): Result<Turn<LinesMemory>> {
    const draft = draftOf(memory, at);
    spokenTo(draft);
    const done = act(draft, deed);
    if (done.ok) noteAnswer(draft, deed, draft.memory.held !== null);
    return done.ok ? ok(scheduled(draft)) : done;
  },
  // One at a time, and only the words of its options.
  asksBytes: ({ waiting }: LinesMemory): number => weightOf(waiting),
  delivery: ({ watch, held }: LinesMemory): Delivery => deliveryOf(watch, held !== null),
  wakeful: ({ session, watch, waiting, held }: LinesMemory): Wakeful | null => {
    if (watch.isTurnOpen || held !== null || (waiting !== null && waiting.kind !== 'rest')) return 'busy';
    // The last one of its directory may be another one by then.
    return session === null || session === lastConversation ? 'no_resume' : null;
  },
};

function hearLine(draft: LinesDraft, line: string): void {
  setWatch(draft, { heardAt: draft.at });
  const { rows, half, words } = rowsIn(draft.memory.half, line);
  keep(draft, { half });
  for (const row of rows) hearRow(draft, row);
  if (words !== '') hearGarbage(draft, words);
}

function hearRow(draft: LinesDraft, fields: Fields): void {
  if (fields.event === 'session_created') {
    hearNamed(draft, idOf(fields.sessionId));
    return;
  }
  const saidAt = typeof fields.timestamp === 'number' && Number.isFinite(fields.timestamp) ? fields.timestamp : null;
  const row: Row = {
    fields,
    id: saidAt === null ? nextId(draft, 'line') : String(saidAt),
    saidAt,
    isOld: saidAt !== null && saidAt < draft.memory.opening.spawned_at,
    partial: fields.partial === true,
  };
  if (fields.source === 'cli') hearProgram(draft, row);
  else if (fields.type === 'ask') hearAsk(draft, row);
  else if (fields.type === 'say') hearSay(draft, row);
  else return;
  keep(draft, { isHeard: true });
}

/** Only where the task is kept in Kilo's cloud. */
function hearNamed(draft: LinesDraft, id: string | null): void {
  if (id === null) return;
  keep(draft, { isNamed: true, session: id });
  tell(draft, 'session_created', { agent_session: agentSessionId(id) });
}

/** The program itself: greetings and complaints. */
function hearProgram(draft: LinesDraft, { fields, id }: Row): void {
  note(draft, `program-${id}`, textOf(fields.content)?.slice(0, limits.sessionStrayCharsMax) ?? null);
}

/** When to wake next: for what is watched, or for words that it never said it would take. */
function scheduled(draft: LinesDraft): Turn<LinesMemory> {
  const { watch, heldUntil } = draft.memory;
  const dues = [watch.isTurnOpen ? watch.due?.at : null, heldUntil].filter((due) => typeof due === 'number');
  draft.wakeMs = dues.length === 0 ? null : Math.max(1, Math.min(...dues) - draft.at);
  return turnOf(draft);
}

function hearTime(draft: LinesDraft, isSeen: boolean | undefined): void {
  const { held, heldUntil } = draft.memory;
  if (held !== null && heldUntil !== null && heldUntil <= draft.at) sayHeld(draft, held);
  const { waiting, items } = draft.memory;
  const isTool = Object.values(items).some(({ role }) => role === 'tool');
  const isAsked = waiting?.kind === 'leave' || waiting?.kind === 'question';
  hearClock(draft, isAsked ? 'ask' : isTool ? 'tool' : null, isSeen);
}

function act(draft: LinesDraft, deed: Deed): Result<null> {
  switch (deed.kind) {
    case 'send':
      if (deed.text.trim() === '') return fail('E_INPUT', 'there is nothing to send');
      sayWords(draft, deed.text, limits.sessionHeldWordsMs);
      return ok(null);
    case 'continue':
      sayWords(draft, deed.text ?? goOn, limits.sessionHeldWordsMs);
      return ok(null);
    case 'retry':
      sayRetry(draft);
      return ok(null);
    case 'cancel':
      sayStop(draft);
      return ok(null);
    case 'approve':
    case 'reject':
    case 'choose':
    case 'write':
      return answer(draft, deed);
  }
}
