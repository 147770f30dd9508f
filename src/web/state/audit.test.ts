// The audit in words: names before ids, looks folded, and the filter of the board.

import { describe, expect, it } from 'vitest';
import type { AuditItem } from '../../api/actions.ts';
import type { PaneItem } from '../../api/panes.ts';
import type { AgentItem } from '../../view/board.ts';
import { auditFilter, auditLine, folded } from './audit.ts';

const agent = {
  runtime_id: 'rt-shop',
  agent: 'claude',
  nick: 'shopper',
  cwd: '/home/ada/web-shop',
  state: 'running',
  title: '',
  task: null,
  session: null,
  ask: null,
  detail: null,
  git: null,
  ref: 'host/work:1.2',
  place: 'host/work:1.2',
  identity: { target: 'host', session_name: 'work', window_index: 1, pane_index: 2, pane_id: '%1' },
} as unknown as AgentItem & PaneItem;

const item = (part: Partial<AuditItem>): AuditItem => ({
  at: '2026-11-19T10:00:00Z',
  actor: 'human: ada at pts/4',
  action: 'approve',
  runtime_id: 'rt-shop',
  snapshot_id: 'sn-1',
  result: 'delivered',
  detail: { named: 'runtime:rt-shop', way: 'keys' },
  ...part,
});
const line = (part: Partial<AuditItem> = {}) => auditLine(item(part), (id) => (id === 'rt-shop' ? agent : null));

describe('a line of the audit', () => {
  it('says who did what to whom, and where', () => {
    expect(line()).toMatchObject({
      who: 'ada at pts/4',
      did: 'approved',
      whom: 'shopper (claude) in web-shop',
      place: 'host/work:1.2',
      more: 'by keys',
    });
    expect(line({ actor: 'operator: backup.sh' }).who).toBe('operator backup.sh');
    expect(line({ runtime_id: 'gone', detail: { named: 'runtime:gone' } }).whom).toBe('an agent that is gone');
    expect(line({ runtime_id: null, action: 'hooks', detail: { named: 'claude' } })).toMatchObject({
      did: 'hooks',
      whom: 'claude',
    });
  });

  it('says of what was refused or failed only that somebody tried', () => {
    const detail = { code: 'E_ROLE', message: 'an agent answers nothing' };
    expect(line({ result: 'refused', detail })).toMatchObject({
      did: 'tried to approve',
      result: 'refused',
      more: 'an agent answers nothing [E_ROLE]',
    });
    expect(line({ result: 'E_TIMEOUT', action: 'view' }).did).toBe('tried to look at');
    expect(line({ result: 'refused', action: 'hooks' }).did).toBe('hooks');
    expect(line({ result: 'unconfirmed' }).did).toBe('approved');
    expect(auditFilter('did:approved', 0)(line({ result: 'refused', detail }))).toBe(false);
    expect(auditFilter('did:approve', 0)(line({ result: 'refused', detail }))).toBe(true);
  });

  it('folds looks that follow each other, and no single one', () => {
    const view = line({ action: 'view' });
    const entries = folded([view, view, view, line(), view]);
    expect(entries.map((entry) => (entry.type === 'views' ? entry.lines.length : entry.line.did))).toEqual([
      3,
      'approved',
      'looked at',
    ]);
  });

  it.each([
    ['', true],
    ['agent:claude', true],
    ['agent:codex', false],
    ['in:host/work state:running', true],
    ['in:vm1', false],
    ['who:ada did:appr', true],
    ['who:bob', false],
    ['result:deliv shop', true],
    ['sn-1', true],
    ['nothing', false],
  ])('is found by %j: %s', (typed, isFound) => {
    expect(auditFilter(typed, 0)(line())).toBe(isFound);
  });
});
