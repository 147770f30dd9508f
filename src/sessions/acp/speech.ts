// What the agent says, as messages that grow. The protocol marks no end of a message: it is over when something else is
// said or done. Words of the program itself are told apart from the model's, since only they tell of failed requests.

import { type Fields, fieldsIn, idOf, textOf } from '../../agents/fields.ts';
import { clip, keep, nextId, tell, write } from '../draft.ts';
import type { AcpDraft, Seen, Speech } from './memory.ts';
import { profileOf, type Voice } from './profiles.ts';

/** One more piece of what is said. */
export function hearPiece(draft: AcpDraft, role: Speech['role'], update: Fields): void {
  const text = wordsIn(fieldsIn(update.content));
  if (text === '') return;
  const message = idOf(update.messageId);
  const { speech } = draft.memory;
  const isSame = speech !== null && speech.role === role && speech.message === message;
  const isMore = isSame && !profileOf(draft.memory.profile).beginsAnew(text);
  if (!isMore) endSpeech(draft);
  const before = isMore ? speech : { id: nextId(draft, role), role, message, text: '', pieces: 0 };
  const grown = { ...before, text: clip(before.text + text), pieces: before.pieces + 1 };
  keep(draft, { speech: grown });
  const isOpen = draft.memory.watch.isTurnOpen;
  writeSpeech(draft, grown, isOpen);
  if (!isMore && isOpen) {
    if (voiceOf(draft, grown) === 'retry') hearRetry(draft);
    else tell(draft, 'say:text');
  }
  // After the end of a turn nothing tells when a message is over.
  if (!isOpen) endSpeech(draft);
}

function wordsIn(content: Fields): string {
  if (content.type === 'text') return typeof content.text === 'string' ? content.text : '';
  const name = textOf(content.uri) ?? textOf(fieldsIn(content.resource).uri) ?? textOf(content.name);
  const kind = textOf(content.type);
  return kind === null ? '' : `[${kind}${name === null ? '' : ` ${name}`}]`;
}

const voiceOf = (draft: AcpDraft, { role, text, pieces, message }: Speech): Voice =>
  role === 'thought' ? 'model' : profileOf(draft.memory.profile).voiceOf({ text, pieces, hasId: message !== null });

function writeSpeech(draft: AcpDraft, speech: Speech, partial: boolean): void {
  const voice = voiceOf(draft, speech);
  const role = voice === 'model' || voice === 'suspect' ? speech.role : 'notice';
  write(draft, { id: speech.id, role, text: speech.text, partial });
}

/** Something else begins: what was said is whole, and it counts. */
export function endSpeech(draft: AcpDraft): void {
  const { speech } = draft.memory;
  if (speech === null) return;
  writeSpeech(draft, speech, false);
  keep(draft, { speech: null });
  if (speech.role === 'agent' && speech.text.trim() !== '') see(draft, seenIn(voiceOf(draft, speech), speech.text));
}

function seenIn(voice: Voice, text: string): Partial<Seen> {
  switch (voice) {
    case 'model':
      return { work: true, workSinceNo: true, failure: null, suspicion: null };
    case 'suspect':
      return { work: true, workSinceNo: true, suspicion: text };
    case 'failure':
      return { failure: text };
    case 'program':
    case 'retry':
      return { notice: text };
  }
}

/** A request has failed and is tried again. */
function hearRetry(draft: AcpDraft): void {
  const count = draft.memory.seen.retries + 1;
  see(draft, { retries: count });
  tell(draft, 'api_retry_scheduled', { retry: { count, status: null, until: null } });
}

export function see(draft: AcpDraft, seen: Partial<Seen>): void {
  keep(draft, { seen: { ...draft.memory.seen, ...seen } });
}
