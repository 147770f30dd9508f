// Notifications of the small daemon: settings in memory, one notice, and what was asked of it.

import type { CallerClaim, Receipt } from '../../../src/model/actions.ts';
import { fail, ok, type Result } from '../../../src/model/errors.ts';
import { agentName, askId, runtimeId } from '../../../src/model/ids.ts';
import {
  type NoticeRow,
  type NoticeService,
  type NoticeSettingsView,
  noticeChannels,
  noticeEvents,
} from '../../../src/model/notices.ts';
import type { PushAddress, PushAnswer, PushService } from '../../../src/model/push.ts';

export const sampleNotice: NoticeRow = {
  notice_id: 'n1',
  event: 'waiting_approval',
  runtime_id: runtimeId('r1'),
  agent: agentName('claude'),
  project: 'web-shop',
  cwd: '/home/me/web-shop',
  place: 'host/work:1.2',
  title: '▲ claude in web-shop: approve',
  is_whole: true,
  body: 'rm -rf build',
  ask_id: askId('a1'),
  ask_kind: 'command',
  since: 1,
  at: 2,
  over_at: null,
  is_quiet: false,
  channels: ['browser'],
  told: [{ channel: 'desktop', outcome: 'failed', detail: 'notify-send is not installed' }],
};

/** Knows what was asked of it. */
export class FakePush implements PushService {
  readonly publicKey = 'BPublic';
  readonly addresses = new Map<string, PushAddress & { readonly mayAnswer: boolean }>();
  readonly answers: { readonly session: string; readonly answer: PushAnswer; readonly claim: CallerClaim }[] = [];

  has(session: string): boolean {
    return this.addresses.has(session);
  }

  async subscribe(session: string, address: PushAddress, mayAnswer: boolean): Promise<Result<null>> {
    this.addresses.set(session, { ...address, mayAnswer });
    return ok(null);
  }

  async unsubscribe(session: string): Promise<void> {
    this.addresses.delete(session);
  }

  async keepOnly(sessions: ReadonlySet<string>): Promise<void> {
    for (const session of this.addresses.keys()) if (!sessions.has(session)) this.addresses.delete(session);
  }

  async answer(session: string, answer: PushAnswer, claim: CallerClaim): Promise<Result<Receipt>> {
    this.answers.push({ session, answer, claim });
    return fail('E_STATE_CHANGED', 'the request has changed since it was shown');
  }
}

export class FakeNotices implements NoticeService {
  readonly claims: CallerClaim[] = [];
  #settings: NoticeSettingsView = {
    path: '/config/notifications.toml',
    on: [...noticeEvents],
    channels: ['browser'],
    quiet: null,
    skip_looked_at: false,
    desktop_text: 'names',
    push_text: 'names',
    rules: [{ agent: 'codex', project: null, on: [], channels: null }],
    command: null,
    webhook: 'https://example.org',
    mutes: [],
    is_quiet_now: false,
    trouble: null,
    status: noticeChannels.map((channel) => ({ channel, is_on: false, told: 0, failed: 0, last_trouble: null })),
  };

  list = (countMax: number): readonly NoticeRow[] => [sampleNotice].slice(0, countMax);
  settings = (): NoticeSettingsView => this.#settings;

  change: NoticeService['change'] = async (change, claim) => {
    this.claims.push(claim);
    const said = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    this.#settings = { ...this.#settings, ...said };
    return ok(this.#settings);
  };

  mute: NoticeService['mute'] = async (scope, minutes, claim) => {
    this.claims.push(claim);
    const mute = { ...scope, until: minutes === null ? null : 1_700_000_000_000 + minutes * 60_000 };
    this.#settings = { ...this.#settings, mutes: [mute] };
    return ok(this.#settings);
  };

  unmute: NoticeService['unmute'] = async (_scope, claim) => {
    this.claims.push(claim);
    this.#settings = { ...this.#settings, mutes: [] };
    return ok(this.#settings);
  };

  test: NoticeService['test'] = async (channel, claim) => {
    this.claims.push(claim);
    return ok([{ channel: channel ?? 'desktop', outcome: 'told', detail: null }]);
  };
}
