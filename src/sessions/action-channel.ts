// Sessions that agtmux leads as agents among others: what is done to any agent by its reference is done to them over their
// own protocol, under the name `session` in receipts (ACT4). Who may and what is written down is decided before.

import type { Channel, ChannelEnd } from '../agents/contract.ts';
import type { ActionRequest } from '../model/actions.ts';
import { failure, type Result } from '../model/errors.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { SessionEntry } from './entry.ts';
import type { SessionAction } from './machine-memory.ts';
import type { SessionManager } from './manager.ts';

type Intent = Exclude<ActionRequest['action'], 'seen' | 'activate' | 'name'>;
const wishes: readonly string[] = [
  'send',
  'approve',
  'reject',
  'answer',
  'interrupt',
  'kill',
  'resume',
] satisfies Intent[];

const noPrompt: ChannelEnd = {
  kind: 'refused',
  failure: failure('E_UNSUPPORTED', 'a session has no prompt to leave text in', 'send it without --no-enter'),
};

const delivered: ChannelEnd = { kind: 'delivered', words: null };

export function createSessionChannel(book: () => SessionManager | null, clock: Clock): Channel {
  const entryOf = ({ runtime_id }: RuntimeIdentity): SessionEntry | null => book()?.entryOf(runtime_id) ?? null;
  return {
    name: 'session',
    keepsMessages: true,
    can: ({ action }, identity) => wishes.includes(action) && entryOf(identity) !== null,
    run: async (request, identity) => {
      const entry = entryOf(identity);
      const at = book();
      if (entry === null || at === null) return { kind: 'refused', failure: failure('E_ENDED', 'it was removed') };
      return run(at, entry, request, clock);
    },
  };
}

async function run(
  book: SessionManager,
  entry: SessionEntry,
  request: ActionRequest,
  clock: Clock,
): Promise<ChannelEnd> {
  switch (request.action) {
    case 'interrupt':
      return interrupt(entry, clock);
    case 'kill':
      return kill(entry, request.signal, clock);
    case 'send':
    case 'approve':
    case 'reject':
    case 'answer':
    case 'resume':
      if (request.action === 'send' && !request.enter) return noPrompt;
      return endOf(await book.act(entry, deedOf(request)));
    case 'seen':
    case 'activate':
    case 'name':
      return { kind: 'refused', failure: failure('E_UNSUPPORTED', 'this action does not apply to a session') };
  }
}

type Spoken = Extract<ActionRequest, { readonly action: 'send' | 'approve' | 'reject' | 'answer' | 'resume' }>;

function deedOf(request: Spoken): SessionAction {
  switch (request.action) {
    case 'send':
      return { action: 'send', text: request.text, is_plain: request.is_plain === true };
    case 'approve':
      return { action: 'approve', ...named(request) };
    case 'reject':
      return {
        action: 'reject',
        ...named(request),
        ...(request.because === undefined ? {} : { because: request.because }),
      };
    case 'answer': {
      const { option, text } = request;
      return {
        action: 'answer',
        ...named(request),
        ...(option === undefined ? {} : { option }),
        ...(text === undefined ? {} : { text }),
      };
    }
    case 'resume':
      return { action: 'resume' };
  }
}

const named = ({ ask_id }: { readonly ask_id?: string }) => (ask_id === undefined ? {} : { ask_id });

function endOf(done: Result<'done' | 'queued'>): ChannelEnd {
  if (!done.ok) return { kind: 'refused', failure: done.failure };
  return done.value === 'queued' ? { kind: 'queued', words: 'sent when the turn has ended' } : delivered;
}

async function interrupt(entry: SessionEntry, clock: Clock): Promise<ChannelEnd> {
  const { state } = entry.live.record;
  const done = await entry.live.interrupt();
  if (!done.ok) return { kind: 'refused', failure: done.failure };
  const isOver = await comesTrue(clock, () => entry.live.record.state !== state);
  return isOver ? delivered : { kind: 'unconfirmed', words: 'it was interrupted and is still working' };
}

async function kill(entry: SessionEntry, signal: 'INT' | 'TERM' | 'KILL', clock: Clock): Promise<ChannelEnd> {
  if (!entry.live.signal(signal)) {
    return { kind: 'refused', failure: failure('E_STATE_CHANGED', 'it has no process to kill') };
  }
  const isOver = await comesTrue(clock, () => !entry.live.isManagedProcess);
  return isOver ? delivered : { kind: 'unconfirmed', words: `${signal} was sent and it still runs` };
}

async function comesTrue(clock: Clock, holds: () => boolean): Promise<boolean> {
  const deadline = clock.monotonicMs() + limits.effectSeenMs;
  while (!holds() && clock.monotonicMs() < deadline) {
    await new Promise<void>((resolve) => void clock.after(limits.effectLookMs, resolve));
  }
  return holds();
}
