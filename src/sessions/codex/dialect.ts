// How Codex is led: the JSON-RPC of its app-server, in a process of our own on stdin and stdout, or as one more client of
// the user's shared server.

import { ok, type Result } from '../../model/errors.ts';
import { heldBy } from '../asks-room.ts';
import { carryOut, type Manners } from '../deeds.ts';
import type { Deed, Delivery, Dialect, Heard, Opening, Turn, Wakeful } from '../dialect.ts';
import { draftOf, hearStillborn, hearStray, keep, turnOf } from '../draft.ts';
import { noCalls } from '../json-rpc.ts';
import { isBegun } from '../questions.ts';
import { deliveryOf, type Excuse, hearClock, hearGone, noteAnswer, setWatch, spokenTo, watchSigns } from '../watch.ts';
import { goOn, goOnAfterFailure } from '../words.ts';
import { answer } from './asks.ts';
import { isOpening, sayHello, sayInterrupt, sayPrompt } from './calls.ts';
import { hearLine } from './hear.ts';
import { endItems } from './items.ts';
import { type CodexDraft, type CodexMemory, freshMemory } from './memory.ts';

const codex = (name: string, livesOn: boolean): Dialect<CodexMemory> => ({
  name,
  hasNoCreated: false,
  livesOn,
  open(opening: Opening, at: number): Turn<CodexMemory> {
    const draft = draftOf(freshMemory(opening, livesOn, at), at);
    sayHello(draft);
    const isJoining = opening.rejoin !== null || (livesOn && opening.prompt === '');
    if (!isJoining) sayPrompt(draft, opening.prompt === '' ? goOn : opening.prompt);
    return turnOf(draft);
  },
  hear(memory: CodexMemory, heard: Heard, at: number, asksRoom?: number): Turn<CodexMemory> {
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
        if (isOpening(memory)) hearStillborn(draft, heard);
        endItems(draft, 'failed');
        keep(draft, { asks: [], running: [], turn: null, isBegun: false });
        hearGone(draft);
        break;
      case 'reconnect':
        hearAgain(draft);
        break;
      case 'clock':
        hearClock(draft, excuseOf(memory), heard.isAsked);
        break;
      case 'reply':
      case 'stream':
        break;
    }
    return turnOf(draft);
  },
  do(memory: CodexMemory, deed: Deed, at: number): Result<Turn<CodexMemory>> {
    const draft = draftOf(memory, at);
    spokenTo(draft);
    const done = carryOut(draft, deed, manners);
    if (done.ok) noteAnswer(draft, deed, isHolding(draft.memory));
    return done.ok ? ok(turnOf(draft)) : done;
  },
  asksBytes: ({ asks }: CodexMemory): number => heldBy(asks),
  delivery: (memory: CodexMemory): Delivery => deliveryOf(memory.watch, isHolding(memory)),
  wakeful: ({ thread, asks, watch, waiting, running }: CodexMemory): Wakeful | null => {
    // It is where its user works as well: what happens there is to be seen.
    if (livesOn) return 'shared';
    if (watch.isTurnOpen || asks.length > 0 || waiting !== null) return 'busy';
    if (running.length > 0) return 'behind';
    return thread === null ? 'no_resume' : null;
  },
});

export const codexAppServer = codex('codex-app-server', false);
export const codexDaemon = codex('codex-daemon', true);

/** Another connection to the same server: what it asked before it asks again, if it still wants to know. */
function hearAgain(draft: CodexDraft): void {
  const { opening, thread } = draft.memory;
  const rejoin = thread === null ? opening.rejoin : { thread };
  keep(draft, { calls: noCalls, asks: [], turn: null, isBegun: false, opening: { ...opening, rejoin } });
  sayHello(draft);
}

/** A prompt without a thread yet, or answers that go out together. */
const isHolding = ({ waiting, asks }: CodexMemory): boolean =>
  waiting !== null || asks.some(({ interview }) => isBegun(interview));

function excuseOf({ asks, items }: CodexMemory): Excuse {
  if (asks.length > 0) return 'ask';
  return Object.values(items).some(({ role }) => role === 'tool') ? 'tool' : null;
}

const manners: Manners<CodexMemory> = {
  say: sayPrompt,
  retry: (draft) => sayPrompt(draft, goOnAfterFailure),
  cancel: sayInterrupt,
  answer,
};
