// Screens of the TUI without a terminal: a world of made-up rows, keys pressed one after the other, and what was asked for.

import type { ManagedItem, MessageItem } from '../../src/api/sessions.ts';
import type { ShellItem } from '../../src/api/shells.ts';
import type { ShellRecord } from '../../src/model/shells.ts';
import { shownIn, viewOf } from '../../src/sessions/entry.ts';
import type { Command, Key, Message, Place, Screen, World } from '../../src/tui/contract.ts';
import { emptyWorld } from '../../src/tui/world.ts';
import { shellItem } from '../../src/view/lists-items.ts';
import { lineText, type SpanLine } from '../../src/view/shells-spans.ts';

/** The table that the daemon derives its flags from (SES7). */
export { shownIn };

export const size = { columns: 80, lines: 24 } as const;

export const worldOf = (fields: Partial<World> = {}): World => ({
  ...emptyWorld({
    nowMs: 2_000_000,
    offsetMinutes: 0,
    self: {
      cwd: '/home/me/shop',
      home: '/home/me',
      agents: ['claude', 'codex', 'gemini', 'copilot', 'opencode', 'kilo'],
    },
    size,
  }),
  link: { is: 'up' },
  ...fields,
});

export const shellOf = (record: ShellRecord, fields: Partial<ShellItem> = {}): ShellItem => ({
  ...shellItem({ last_log: [], ...record }, (time) => time),
  ...fields,
});

export function managed(fields: Partial<ManagedItem> = {}): ManagedItem {
  const item = {
    id: 's1',
    ref: 'session:s1',
    runtime_id: 'r1',
    agent: 'claude',
    driver: 'claude-stream',
    title: 'fix the test',
    cwd: '/home/me/web-shop',
    model: null,
    auto_approve: false,
    worktree: null,
    created_at: '1970-01-01T00:15:00.000Z',
    updated_at: '1970-01-01T00:16:00.000Z',
    state: 'streaming',
    state_version: 1,
    reason: null,
    words: null,
    confidence: 'high',
    pending_ask: null,
    agent_session: null,
    is_resumable: true,
    pid: 4711,
    asleep_since: null,
    turns: 1,
    tokens: null,
    last_words: null,
    queued: 0,
    ...fields,
  } as const satisfies Partial<ManagedItem>;
  return { view: viewOf(item), ...item } as ManagedItem;
}

export const message = (id: string, text: string, fields: Partial<MessageItem> = {}): MessageItem => ({
  id,
  role: 'agent',
  at: '1970-01-01T00:16:00.000Z',
  text,
  partial: false,
  ...fields,
});

/** One screen with its model, fed with messages; remembers what it asked for. */
export class Played<Model, Own, Where extends Place> {
  readonly screen: Screen<Model, Own, Where>;
  world: World;
  model: Model;
  asked: Command<Own>[] = [];

  constructor(screen: Screen<Model, Own, Where>, place: Where, world: World = worldOf()) {
    this.screen = screen;
    this.world = world;
    const { model, commands = [] } = screen.open(place, world);
    this.model = model;
    this.asked.push(...commands);
  }

  /** False where it means nothing to the screen. */
  tell(told: Message<Own>): boolean {
    const step = this.screen.update(told, this.model, this.world);
    if (step === null) return false;
    this.model = step.model;
    this.asked.push(...(step.commands ?? []));
    return true;
  }

  press(...keys: readonly Key[]): this {
    for (const key of keys) this.tell({ is: 'key', key });
    return this;
  }

  own(...owns: readonly Own[]): this {
    for (const own of owns) this.tell({ is: 'own', own });
    return this;
  }

  becomes(fields: Partial<World>): this {
    this.world = { ...this.world, ...fields };
    this.tell({ is: 'world' });
    return this;
  }

  /** What was asked for since the last time, by kind. */
  took(): readonly Command<Own>[] {
    return this.asked.splice(0);
  }

  lines(at = this.world.size): readonly SpanLine[] {
    return this.screen.view(this.model, this.world, at);
  }

  text(at = this.world.size): string {
    return this.lines(at).map(lineText).join('\n');
  }
}

interface Sent {
  readonly path: string;
  readonly body: unknown;
}

/** Carries a call out against an API that only writes down what it was asked. */
export async function sentBy<Own>(command: Command<Own> | undefined, reply: unknown = {}): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  if (command?.do !== 'call') return sent;
  const note = async (path: string, body: unknown): Promise<unknown> => {
    sent.push({ path, body });
    return reply;
  };
  const api = {
    get: note,
    post: note,
    send: ({ path, body }: Sent) => note(path, body),
  };
  const ports = { api, env: { HOME: '/home/me' }, wallMs: () => 0, sleep: async () => undefined };
  await command.run(ports as unknown as Parameters<typeof command.run>[0]).catch(() => undefined);
  return sent;
}
