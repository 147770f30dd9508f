// What the feed tells becomes what the pages know: whole states, changes, losses, and how old knowledge is.

import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../api/client-types.ts';
import type { PaneItem } from '../../api/panes.ts';
import type { ShellEventItem } from '../../api/shells.ts';
import { AgtmuxError, failure } from '../../model/errors.ts';
import { emptyModel, type Model, nowOf, tell } from './model.ts';

const row = (runtime_id: string, state: string): PaneItem =>
  ({ identity: {}, runtime_id, state }) as unknown as PaneItem;
const event = (seq: number): ShellEventItem => ({ seq }) as unknown as ShellEventItem;
const head = { schema_version: 1 as const, generated_at: '2026-01-01T00:00:10.000Z' };
const at = Date.parse('2026-01-01T00:00:07.000Z');

const snapshot = (items: readonly (readonly [string, PaneItem])[], events: ShellEventItem[] = []): FeedEvent => ({
  type: 'snapshot',
  cursor: 'e:1',
  data: { ...head, epoch: 'e', version: 1, items: items.map(([key, value]) => ({ key, value })), events },
});

const changes = (list: readonly (readonly [string, PaneItem | null])[], events: ShellEventItem[] = []): FeedEvent => ({
  type: 'changes',
  cursor: 'e:2',
  data: { ...head, from: 1, to: 2, changes: list.map(([key, value]) => ({ version: 2, key, value })), events },
});

const after = (...told: readonly FeedEvent[]): Model => told.reduce((model, one) => tell(model, one, at), emptyModel);

describe('the model of the pages', () => {
  it('is filled by a snapshot, which replaces everything', () => {
    const model = after(snapshot([['row:a', row('a', 'idle')]]), snapshot([['row:b', row('b', 'running')]]));
    expect([...model.rows.keys()]).toEqual(['row:b']);
    expect(model.isFilled).toBe(true);
    expect(model.link).toBe('live');
  });

  it('takes changes and forgets what is gone, and leaves the model before untouched', () => {
    const before = after(
      snapshot([
        ['row:a', row('a', 'idle')],
        ['row:b', row('b', 'idle')],
      ]),
    );
    const model = tell(
      before,
      changes([
        ['row:a', row('a', 'error')],
        ['row:b', null],
      ]),
      at,
    );
    expect(model.rows.get('row:a')?.state).toBe('error');
    expect(model.rows.has('row:b')).toBe(false);
    expect(before.rows.get('row:a')?.state).toBe('idle');
    expect(before.rows.has('row:b')).toBe(true);
  });

  it('sorts what it is told by the first word of the key, and drops what it does not know', () => {
    const of = (fields: object): PaneItem => fields as PaneItem;
    const model = after(
      snapshot([
        ['row:a', row('a', 'idle')],
        ['target:host', of({ target: 'host', health: 'ok' })],
        ['shell:shell-1', of({ shell_id: 'shell-1', last_log: [] })],
        ['notice:n', of({ notice_id: 'n' })],
        ['notice:of-another-kind', row('a', 'idle')],
        ['newer:x', row('a', 'idle')],
      ]),
    );
    expect([model.rows.size, model.targets.length, model.shells.length, model.notices.size]).toEqual([1, 1, 1, 1]);
  });

  it('keeps events of shells once each, the last fifty', () => {
    const many = Array.from({ length: 60 }, (_, seq) => event(seq));
    const model = after(snapshot([], many), changes([], [event(59), event(60)]));
    expect(model.shellEvents).toHaveLength(50);
    expect(model.shellEvents.at(-1)?.seq).toBe(60);
    expect(model.shellEvents.filter(({ seq }) => seq === 59)).toHaveLength(1);
  });

  it('keeps what it knows when the daemon is lost, and says that it is old', () => {
    const error = new AgtmuxError('E_DAEMON_DOWN', 'gone');
    const model = tell(after(snapshot([['row:a', row('a', 'idle')]])), { type: 'lost', error }, at + 9_000);
    expect(model.link).toBe('lost');
    expect(model.rows.size).toBe(1);
    expect(model.heardAt).toBe(at);
    expect(tell(model, { type: 'connected' }, at + 10_000).link).toBe('live');
  });

  it('does not call itself live before it knows anything', () => {
    expect(tell(emptyModel, { type: 'connected' }, at).link).toBe('connecting');
    const failed = tell(emptyModel, { type: 'failed', failure: failure('E_DAEMON_DOWN', 'nobody') }, at);
    expect(failed.link).toBe('connecting');
    expect(failed.trouble?.code).toBe('E_DAEMON_DOWN');
    expect(tell(emptyModel, { type: 'shut', failure: failure('E_ROLE', 'out') }, at).link).toBe('shut');
  });

  it('SEC2 once shut out shows nothing until the feed is open again, whatever else fails meanwhile', () => {
    const shut = tell(
      after(snapshot([['row:a', row('a', 'idle')]])),
      { type: 'shut', failure: failure('E_ROLE', 'out') },
      at,
    );
    const later = [
      tell(shut, { type: 'failed', failure: failure('E_ROLE', 'not signed in') }, at),
      tell(shut, { type: 'lost', error: new AgtmuxError('E_DAEMON_DOWN', 'gone') }, at),
    ];
    expect(later.map(({ link, trouble }) => [link, trouble?.message])).toEqual([
      ['shut', 'out'],
      ['shut', 'out'],
    ]);
    expect(tell(shut, { type: 'connected' }, at).link).toBe('live');
  });

  it('tells ages in the time of the daemon', () => {
    const model = after(snapshot([]));
    expect(model.aheadMs).toBe(3_000);
    expect(nowOf(model, at + 500)).toBe(at + 3_500);
  });
});
