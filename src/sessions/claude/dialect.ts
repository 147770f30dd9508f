// How Claude Code is led: its stream-json on stdin and stdout, with control requests for leave and questions.

import { fail, ok, type Result } from '../../model/errors.ts';
import { heldBy } from '../asks-room.ts';
import type { Deed, Delivery, Dialect, Heard, Opening, Turn, Wakeful } from '../dialect.ts';
import { draftOf, hearStillborn, hearStray, keep, nextId, sayLine, turnOf, write } from '../draft.ts';
import { isBegun } from '../questions.ts';
import {
  beginTurn,
  deliveryOf,
  type Excuse,
  hearClock,
  hearGone,
  noteAnswer,
  setWatch,
  spokenTo,
  watchSigns,
} from '../watch.ts';
import { goOn, goOnAfterFailure } from '../words.ts';
import { answer } from './asks.ts';
import { hearLine } from './hear.ts';
import { interruptLine, promptLine } from './lines.ts';
import { type ClaudeDraft, type ClaudeMemory, freshMemory } from './memory.ts';
import { endMessages } from './messages.ts';

export const claudeStream: Dialect<ClaudeMemory> = {
  name: 'claude-stream',
  hasNoCreated: false,
  livesOn: false,
  open(opening: Opening, at: number): Turn<ClaudeMemory> {
    const draft = draftOf(freshMemory(opening, at), at);
    say(draft, opening.prompt === '' ? goOn : opening.prompt);
    return turnOf(draft);
  },
  hear(memory: ClaudeMemory, heard: Heard, at: number, asksRoom?: number): Turn<ClaudeMemory> {
    const draft = draftOf(memory, at, asksRoom);
    switch (heard.from) {
      case 'stdout':
        setWatch(draft, { heardAt: at });
        hearLine(draft, heard.line);
        watchSigns(draft);
        break;
      case 'stderr':
        hearStray(draft, heard.line);
        break;
      case 'exit':
        if (memory.turnMark === null && memory.resultMark === null) hearStillborn(draft, heard);
        endMessages(draft, 'failed');
        keep(draft, { asks: [] });
        hearGone(draft);
        break;
      case 'clock':
        hearClock(draft, excuseOf(memory), heard.isAsked);
        break;
      case 'reply':
      case 'stream':
      case 'reconnect':
        break;
    }
    return turnOf(draft);
  },
  do(memory: ClaudeMemory, deed: Deed, at: number): Result<Turn<ClaudeMemory>> {
    const draft = draftOf(memory, at);
    spokenTo(draft);
    const done = act(draft, deed);
    if (done.ok) noteAnswer(draft, deed, isHolding(draft.memory));
    return done.ok ? ok(turnOf(draft)) : done;
  },
  asksBytes: ({ asks }: ClaudeMemory): number => heldBy(asks),
  delivery: (memory: ClaudeMemory): Delivery => deliveryOf(memory.watch, isHolding(memory)),
  wakeful: ({ session, asks, watch, tasks }: ClaudeMemory): Wakeful | null => {
    if (watch.isTurnOpen || asks.length > 0) return 'busy';
    if (tasks > 0) return 'behind';
    return session === null ? 'no_resume' : null;
  },
};

/** Answers that go out together. Prompts are said at once. */
const isHolding = ({ asks }: ClaudeMemory): boolean => asks.some(({ interview }) => isBegun(interview));

function excuseOf({ asks, tools }: ClaudeMemory): Excuse {
  if (asks.length > 0) return 'ask';
  return Object.keys(tools).length > 0 ? 'tool' : null;
}

function act(draft: ClaudeDraft, deed: Deed): Result<null> {
  switch (deed.kind) {
    case 'send':
      if (deed.text.trim() === '') return fail('E_INPUT', 'there is nothing to send');
      return say(draft, deed.text);
    case 'continue':
      return say(draft, deed.text ?? goOn);
    case 'retry':
      return say(draft, goOnAfterFailure);
    case 'cancel':
      setWatch(draft, { isCancelling: draft.memory.watch.isTurnOpen });
      sayLine(draft, interruptLine(nextId(draft, 'interrupt')));
      return ok(null);
    case 'approve':
    case 'reject':
    case 'choose':
    case 'write':
      if (deed.kind === 'write' && deed.ask_id === draft.memory.failedAsk) return say(draft, deed.text);
      return answer(draft, deed);
  }
}

function say(draft: ClaudeDraft, text: string): Result<null> {
  sayLine(draft, promptLine(text));
  write(draft, { id: nextId(draft, 'user'), role: 'user', text });
  beginTurn(draft);
  setWatch(draft, { words: 'said' });
  return ok(null);
}
