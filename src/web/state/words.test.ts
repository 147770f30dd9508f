// Addresses, conversations, notices and outcomes: the small pure parts of the pages.

import { describe, expect, it } from 'vitest';
import type { ReceiptReply } from '../../api/actions.ts';
import type { SessionEvent } from '../../api/client-types.ts';
import type { NoticeItem } from '../../api/notices.ts';
import type { MessageItem } from '../../api/sessions.ts';
import { AgtmuxError, failure } from '../../model/errors.ts';
import { emptyChat, heard } from './chat.ts';
import { whyIdle } from './entrance.ts';
import { planNotices } from './notices.ts';
import { receiptOutcome } from './outcomes.ts';
import { pathOf, placeAt } from './route.ts';

describe('addresses', () => {
  it.each([
    ['/', { page: 'overview', id: null, tab: null }],
    ['/agents', { page: 'agents', id: null, tab: null }],
    ['/agents/a%2Fb%20c/explain', { page: 'agents', id: 'a/b c', tab: 'explain' }],
    ['/nothing', { page: 'nowhere', id: null, tab: null }],
    ['/agents/%E0%A4%A', { page: 'nowhere', id: null, tab: null }],
    ['/agents/a/b/c', { page: 'nowhere', id: null, tab: null }],
  ])('reads %s', (path, place) => {
    expect(placeAt(path)).toEqual(place);
  });

  it('writes what it reads', () => {
    expect(placeAt(pathOf('sessions', 'x/y', 'z'))).toEqual({ page: 'sessions', id: 'x/y', tab: 'z' });
    expect(pathOf('overview')).toBe('/');
  });
});

describe('a conversation', () => {
  const message = (id: string, text: string): MessageItem => ({
    id,
    role: 'agent',
    at: '2026-01-01T00:00:00Z',
    text,
    partial: true,
  });
  const messages = (...list: MessageItem[]): SessionEvent => ({
    type: 'messages',
    data: { schema_version: 1, generated_at: '', id: 's1', messages: list, cursor: 1, truncated: false },
  });

  it('replaces what grows, in its place', () => {
    const chat = [messages(message('1', 'a'), message('2', 'b')), messages(message('1', 'ab'))].reduce(
      heard,
      emptyChat,
    );
    expect(chat.messages.map(({ text }) => text)).toEqual(['ab', 'b']);
  });

  it('keeps the last thousand and says that there were more', () => {
    const many = Array.from({ length: 1_100 }, (_, place) => message(String(place), 'x'));
    const chat = heard(emptyChat, messages(...many));
    expect(chat.messages).toHaveLength(1_000);
    expect(chat.messages.at(-1)?.id).toBe('1099');
    expect(chat.isTruncated).toBe(true);
  });

  it('knows when it is lost and when it is gone', () => {
    const lost = heard(emptyChat, { type: 'lost', error: new AgtmuxError('E_DAEMON_DOWN', 'x') });
    expect(lost.isLost).toBe(true);
    expect(heard(lost, messages()).isLost).toBe(false);
    expect(heard(lost, { type: 'gone' }).isGone).toBe(true);
  });
});

describe('notices', () => {
  const notice = (notice_id: string, part: Partial<NoticeItem> = {}): NoticeItem => ({
    notice_id,
    event: 'waiting_approval',
    ref: 'runtime:r',
    runtime_id: 'r',
    agent: 'claude',
    project: 'shop',
    place: 'host/work:1.0',
    title: 't',
    body: '',
    ask_id: 'q',
    ask_kind: 'command',
    at: '',
    over_at: null,
    told: [],
    is_quiet: false,
    channels: ['browser'],
    ...part,
  });
  const open = (...list: readonly NoticeItem[]) => new Map(list.map((one) => [`notice:${one.notice_id}`, one]));

  it('are shown once, not while it is quiet, and only by this way', () => {
    const all = open(notice('a'), notice('b'), notice('c', { is_quiet: true }), notice('d', { channels: ['desktop'] }));
    expect(planNotices(all, new Set(['a']), new Set()).show.map(({ notice_id }) => notice_id)).toEqual(['b']);
  });

  it('are taken back when they are over', () => {
    expect(planNotices(open(notice('a')), new Set(['a', 'b']), new Set(['a', 'b'])).close).toEqual(['b']);
  });
});

describe('outcomes', () => {
  const receipt = (part: Partial<ReceiptReply>): ReceiptReply =>
    ({ outcome: 'delivered', failure: null, words: null, ...part }) as ReceiptReply;

  it('ACT4 are told in the words of the receipt', () => {
    expect(receiptOutcome(receipt({}))).toEqual({ tone: 'good', words: 'Delivered' });
    expect(receiptOutcome(receipt({ outcome: 'unconfirmed', words: 'pasted, not submitted' }))).toEqual({
      tone: 'doubt',
      words: 'Unconfirmed: pasted, not submitted',
    });
    expect(receiptOutcome(receipt({ outcome: 'queued' })).tone).toBe('good');
    const who = 'reviewer (claude), host/work:1.2';
    expect(receiptOutcome(receipt({ who })).words).toBe(`Delivered to ${who}`);
    expect(receiptOutcome(receipt({ who, outcome: 'queued' })).words).toBe(`Queued for ${who}, until it is ready`);
    expect(receiptOutcome(receipt({ who, outcome: 'refused' })).words).toBe(`Refused for ${who}`);
    expect(
      receiptOutcome(
        receipt({
          outcome: 'refused',
          failure: failure('E_STATE_CHANGED', 'the pending request is another one now', 'look again'),
        }),
      ),
    ).toEqual({
      tone: 'bad',
      words: 'Refused: The pending request is another one now; look again [E_STATE_CHANGED]',
    });
  });

  it('say why nothing can be done from here', () => {
    expect(whyIdle({ role: 'human', read_only: false, version: '' })).toBeNull();
    expect(whyIdle({ role: 'human', read_only: true, version: '' })).toMatch(/read-only/);
    expect(whyIdle({ role: 'observer', read_only: false, version: '' })).toMatch(/belongs to an agent/);
  });
});
