// How any agent is led that speaks the Agent Client Protocol on stdin and stdout: Gemini, Copilot, OpenCode, Kilo, the
// adapters of Claude and Codex, and whatever people name in their settings. What the protocol hides is in profiles.

import { ok, type Result } from '../../model/errors.ts';
import { heldBy } from '../asks-room.ts';
import { carryOut, type Manners } from '../deeds.ts';
import type { Deed, Delivery, Dialect, Heard, Opening, Turn, Wakeful } from '../dialect.ts';
import { draftOf, hearStillborn, hearStray, keep, turnOf } from '../draft.ts';
import { noCalls } from '../json-rpc.ts';
import { isBegun } from '../questions.ts';
import { beginTurn, deliveryOf, type Excuse, hearClock, hearGone, noteAnswer, setWatch, spokenTo } from '../watch.ts';
import { goOn, goOnAfterFailure } from '../words.ts';
import { answer, dropAsks } from './asks.ts';
import { isOpening, sayCancel, sayHello, sayNext, sayPrompt } from './calls.ts';
import { hearLine } from './hear.ts';
import { type AcpDraft, type AcpMemory, freshMemory } from './memory.ts';
import { profileOf } from './profiles.ts';
import { endSpeech } from './speech.ts';
import { endTools } from './tools.ts';

export const acp: Dialect<AcpMemory> = {
  name: 'acp',
  hasNoCreated: false,
  livesOn: false,
  open(opening: Opening, at: number): Turn<AcpMemory> {
    const draft = draftOf(freshMemory(opening, at), at);
    sayHello(draft);
    sayPrompt(draft, opening.prompt === '' ? goOn : opening.prompt);
    return turnOf(draft);
  },
  hear(memory: AcpMemory, heard: Heard, at: number, asksRoom?: number): Turn<AcpMemory> {
    const draft = draftOf(memory, at, asksRoom);
    switch (heard.from) {
      case 'stdout':
        hearStdout(draft, heard.line);
        break;
      case 'stderr':
        hearStray(draft, heard.line);
        break;
      case 'exit':
        if (isOpening(memory)) hearStillborn(draft, heard);
        hearEndOfAll(draft);
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
  do(memory: AcpMemory, deed: Deed, at: number): Result<Turn<AcpMemory>> {
    const draft = draftOf(memory, at);
    spokenTo(draft);
    const done = carryOut(draft, deed, manners);
    if (done.ok) noteAnswer(draft, deed, isHolding(draft.memory));
    return done.ok ? ok(turnOf(draft)) : done;
  },
  asksBytes: ({ asks }: AcpMemory): number => heldBy(asks),
  delivery: (memory: AcpMemory): Delivery => deliveryOf(memory.watch, isHolding(memory)),
  wakeful: ({ session, asks, watch, waiting, prompt, canLoad, canResume }: AcpMemory): Wakeful | null => {
    if (watch.isTurnOpen || asks.length > 0 || waiting !== null || prompt !== null) return 'busy';
    return session !== null && (canLoad || canResume) ? null : 'no_resume';
  },
};

function hearStdout(draft: AcpDraft, line: string): void {
  setWatch(draft, { heardAt: draft.at });
  hearLine(draft, line);
  const { isTurnOpen, due } = draft.memory.watch;
  // It was given up for lost, and is not: it is watched again.
  if (isTurnOpen && due === null) beginTurn(draft);
}

function hearEndOfAll(draft: AcpDraft): void {
  endSpeech(draft);
  endTools(draft, 'failed');
  keep(draft, { asks: [], prompt: null, calls: noCalls });
  hearGone(draft);
}

/** A prompt for which the agent is not ready yet, or answers that go out together. */
const isHolding = ({ waiting, asks }: AcpMemory): boolean =>
  waiting !== null || asks.some(({ about }) => about.kind !== 'leave' && isBegun(about.interview));

function excuseOf({ asks, tools }: AcpMemory): Excuse {
  if (asks.length > 0) return 'ask';
  return Object.values(tools).some(({ status }) => status === 'running') ? 'tool' : null;
}

const manners: Manners<AcpMemory> = {
  say: begin,
  retry,
  cancel: (draft) => {
    sayCancel(draft);
    dropAsks(draft);
  },
  answer,
};

/** A new turn. Whatever was asked before it is no longer wanted. */
function begin(draft: AcpDraft, text: string): void {
  dropAsks(draft);
  sayPrompt(draft, text);
}

/** Where there is no session yet, that is tried again and what was to be said first is still there. */
function retry(draft: AcpDraft): void {
  const { waiting, said, seen, profile } = draft.memory;
  const isForgotten = profileOf(profile).forgetsFailed && !seen.work;
  if (waiting === null) begin(draft, (isForgotten ? said : null) ?? goOnAfterFailure);
  else {
    dropAsks(draft);
    beginTurn(draft);
    sayNext(draft);
  }
}
