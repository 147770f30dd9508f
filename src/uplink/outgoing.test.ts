// What leaves a machine: only rows of agents, only as much of them as the owner lets out.

import { describe, expect, it } from 'vitest';
import { gitFacts, paneRow } from '../../test/kit/rows.ts';
import { batchSchema } from '../api/hub-wire.ts';
import type { PaneRow } from '../api/panes.ts';
import { askId, scopeId } from '../model/ids.ts';
import { batchesOf } from './outgoing.ts';

const row = paneRow({
  state: 'waiting_approval',
  fields: {
    title: 'fix the shop',
    task: 'use TOKEN=abcdefgh12345678 to log in',
    ask: {
      ask_id: askId('a1'),
      kind: 'command',
      scope: scopeId('once'),
      text: 'run: curl -u me:hunter2secret x\u001b[2J',
      options: [{ id: 'y', label: 'Yes' }],
    },
  },
});
const parts = (share: 'states' | 'asks', offset = 0) => ({
  toWall: (time: number) => time,
  share: () => share,
  offset: () => offset,
});
const snapshotOf = (items: readonly { key: string; value: PaneRow }[], version = 7) =>
  ({ type: 'snapshot', epoch: 'e', version, after: null, items }) as const;

describe('what is told to a hub', () => {
  it('HUB9 states are told without any text, asks without credentials and effects', () => {
    const told = (share: 'states' | 'asks') => {
      const [batch] = batchesOf(snapshotOf([{ key: 'row:r', value: row }]), 'e', null, parts(share));
      expect(batchSchema.safeParse(batch).error).toBeUndefined();
      return JSON.stringify(batch);
    };
    const states = told('states');
    expect(states).toContain('waiting_approval');
    for (const secret of ['hunter2', 'curl', 'fix the shop', 'abcdefgh', 'Yes']) expect(states).not.toContain(secret);
    const asks = told('asks');
    for (const shown of ['curl', 'fix the shop', 'Yes']) expect(asks).toContain(shown);
    for (const secret of ['hunter2', 'abcdefgh', '\\u001b']) expect(asks).not.toContain(secret);
  });

  it('HUB9 of states every field is on an allow-list: no branch, path, window name, or field that came later', () => {
    const secret = 'project-nightingale';
    const told = paneRow({
      fields: {
        cwd: `/home/${secret}/web-shop`,
        git: gitFacts({ root: `/home/me/${secret}`, repository: secret, branch: `feature/${secret}` }),
        window_name: secret,
        current_command: secret,
        detail: secret,
        pid: 4_711,
      },
    });
    const later = Object.assign(told, { last_words: secret });
    const [batch] = batchesOf(snapshotOf([{ key: 'row:r', value: later }]), 'e', null, parts('states'));
    expect(batchSchema.safeParse(batch).error).toBeUndefined();
    expect(JSON.stringify(batch)).not.toContain(secret);
    expect(batch?.changes[0]?.value).toMatchObject({
      state: 'idle',
      agent: 'claude',
      cwd: 'web-shop',
      git: null,
      pid: null,
    });
    // Whoever lets out what is asked lets out the branch too, but no credential in its name.
    const branch = 'log-in-with-TOKEN=abcdefgh12345678';
    const asked = paneRow({ fields: { git: gitFacts({ branch }) } });
    const [shown] = batchesOf(snapshotOf([{ key: 'row:r', value: asked }]), 'e', null, parts('asks'));
    expect(shown?.changes[0]?.value).toMatchObject({ git: { repository: 'web-shop' } });
    expect(JSON.stringify(shown)).not.toContain('abcdefgh12345678');
  });

  it('HUB1 only rows with an agent are told; an agent that leaves its pane is taken back', () => {
    const bare = paneRow({ agent: null });
    const changes = [
      { version: 8, key: 'row:r', value: bare },
      { version: 9, key: 'target:host', value: null },
      { version: 10, key: 'row:s', value: row },
    ];
    const [batch] = batchesOf({ type: 'changes', from: 7, to: 10, changes }, 'e', 1_007, parts('asks', 1_000));
    expect(batch).toMatchObject({ kind: 'changes', from: 1_007, to: 1_010 });
    expect(batch?.changes.map(({ key, version, value }) => [key, version, value?.agent ?? null])).toEqual([
      ['row:r', 1_008, null],
      ['row:s', 1_010, 'claude'],
    ]);
    expect(batchesOf({ type: 'changes', from: 7, to: 9, changes: changes.slice(1, 2) }, 'e', 7, parts('asks'))).toEqual(
      [],
    );
    expect(batchesOf(snapshotOf([{ key: 'row:r', value: bare }]), 'e', null, parts('asks'))).toMatchObject([
      { parts: 1, changes: [] },
    ]);
  });

  it('HUB1 a large snapshot goes in parts that fit into messages', () => {
    const items = Array.from({ length: 450 }, (_, index) => ({ key: `row:${index}`, value: row }));
    const batches = batchesOf(snapshotOf(items), 'e', null, parts('asks'));
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.flatMap(({ changes }) => changes)).toHaveLength(450);
    expect(batches.map((batch) => batch.kind === 'snapshot' && [batch.part, batch.parts])).toEqual(
      batches.map((_, part) => [part, batches.length]),
    );
  });
});
