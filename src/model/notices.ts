// A notice: one event that wants a person, told once on the channels they chose, and taken back when it is over (NOT1).

import type { CallerClaim } from './actions.ts';
import type { AskKind } from './asks.ts';
import type { Result } from './errors.ts';
import type { AgentName, AskId, RuntimeId } from './ids.ts';

/** The states that are worth a notification. */
export const noticeEvents = ['waiting_approval', 'waiting_input', 'error', 'completed'] as const;
export type NoticeEvent = (typeof noticeEvents)[number];

/** How a person can be told. The browser shows what is on the feed, while a page is open; the others are the daemon's own. */
export const noticeChannels = ['desktop', 'terminal', 'browser', 'push', 'command', 'webhook'] as const;
export type NoticeChannel = (typeof noticeChannels)[number];

/** names: who, where and what kind of thing. ask: also what is asked, as far as it fits. */
export const desktopTexts = ['names', 'ask'] as const;
export type DesktopText = (typeof desktopTexts)[number];

export interface NoticeTold {
  readonly channel: NoticeChannel;
  readonly outcome: 'told' | 'failed' | 'summed_up';
  readonly detail: string | null;
}

export interface NoticeRow {
  readonly notice_id: string;
  readonly event: NoticeEvent;
  readonly runtime_id: RuntimeId;
  readonly agent: AgentName;
  /** Name of the folder it works in, and the folder itself. */
  readonly project: string;
  readonly cwd: string;
  /** `host/work:1.2`. */
  readonly place: string;
  readonly title: string;
  /** What is asked or what happened, without what looks like a secret; empty when nobody knows. */
  readonly body: string;
  /** The body is the ask word for word: nothing was redacted, folded or taken away. */
  readonly is_whole: boolean;
  readonly ask_id: AskId | null;
  readonly ask_kind: AskKind | null;
  /** When the state began, and when it was noticed. */
  readonly since: number;
  readonly at: number;
  /** When it was answered, left or ended. */
  readonly over_at: number | null;
  /** Nothing is shown for it at the moment: muted, quiet time, or a person looks at it. */
  readonly is_quiet: boolean;
  readonly channels: readonly NoticeChannel[];
  readonly told: readonly NoticeTold[];
}

/** What a person may say about some agents only; null means any. */
export interface NoticeScope {
  readonly agent: string | null;
  readonly project: string | null;
}

export interface NoticeRule extends NoticeScope {
  readonly on: readonly NoticeEvent[] | null;
  readonly channels: readonly NoticeChannel[] | null;
}

export interface NoticeMute extends NoticeScope {
  /** Wall time; null: until somebody says otherwise. */
  readonly until: number | null;
}

export interface NoticeChange {
  readonly on?: readonly NoticeEvent[] | undefined;
  readonly channels?: readonly NoticeChannel[] | undefined;
  /** On top of the channels that are on when it is made, so that two changes at once are both made. */
  readonly turn_on?: readonly NoticeChannel[] | undefined;
  readonly turn_off?: readonly NoticeChannel[] | undefined;
  readonly quiet?: string | null | undefined;
  readonly skip_looked_at?: boolean | undefined;
  readonly desktop_text?: DesktopText | undefined;
  readonly push_text?: DesktopText | undefined;
}

export interface NoticeSettingsView {
  readonly path: string;
  readonly on: readonly NoticeEvent[];
  readonly channels: readonly NoticeChannel[];
  readonly quiet: string | null;
  readonly skip_looked_at: boolean;
  readonly desktop_text: DesktopText;
  readonly push_text: DesktopText;
  readonly rules: readonly NoticeRule[];
  /** The program's name, and where the webhook goes without its path, which may hold a token. */
  readonly command: string | null;
  readonly webhook: string | null;
  readonly mutes: readonly NoticeMute[];
  readonly is_quiet_now: boolean;
  readonly trouble: string | null;
  readonly status: readonly {
    readonly channel: NoticeChannel;
    readonly is_on: boolean;
    readonly told: number;
    readonly failed: number;
    readonly last_trouble: string | null;
  }[];
}

export interface NoticeTest {
  readonly channel: NoticeChannel;
  readonly outcome: 'told' | 'off' | 'failed';
  readonly detail: string | null;
}

export interface NoticeService {
  /** Newest first. */
  list(countMax: number): readonly NoticeRow[];
  settings(): NoticeSettingsView;
  /** An agent may do none of these: who is not heard cannot be helped (ACT6). */
  change(change: NoticeChange, claim: CallerClaim): Promise<Result<NoticeSettingsView>>;
  mute(scope: NoticeScope, minutes: number | null, claim: CallerClaim): Promise<Result<NoticeSettingsView>>;
  unmute(scope: NoticeScope, claim: CallerClaim): Promise<Result<NoticeSettingsView>>;
  test(channel: NoticeChannel | null, claim: CallerClaim): Promise<Result<readonly NoticeTest[]>>;
}
