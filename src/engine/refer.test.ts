import { describe, expect, it } from 'vitest';
import { paneRow } from '../../test/kit/rows.ts';
import { paneId, runtimeId, targetId } from '../model/ids.ts';
import type { PaneRow } from '../model/rows.ts';
import { canonicalRef, referTo, referToConnected } from './refer.ts';

const ended = { cause: 'exit', status: 0, signal: null, clean: true, time: 1 } as const;
const first = paneRow({ pane: 1, fields: { route: 'DISCONNECTED' } });
const second = paneRow({ pane: 2, agent: 'codex', fields: { route: 'CONNECTED' } });
const old = paneRow({ pane: 1, fields: { runtime_id: runtimeId('old'), ended, route: 'NONE' } });
const rows = [old, first, second, paneRow({ pane: 3, agent: null })];
const nicks = new Map([
  ['front', runtimeId('host-work-11')],
  ['codex', runtimeId('host-work-11')],
]);

const found = (text: string): string => {
  const result = referTo(text, rows, nicks);
  return result.ok ? canonicalRef(result.value.agent.runtime_id) : result.failure.code;
};

describe('a session that agtmux leads', () => {
  const { runtime_id } = paneRow({ pane: 9 }).agent ?? { runtime_id: runtimeId('') };
  const shown = ['showSpinner', 'showCancelButton', 'showResumeButton', 'showAutoModeWarning', 'inputEnabled'] as const;
  const view = Object.fromEntries(shown.map((name) => [name, false])) as never;
  const glance = {
    id: 's7',
    driver: 'd',
    title: 't',
    model: null,
    state: 'paused',
    auto_approve: false,
    is_resumable: true,
  } as const;
  const led: PaneRow = {
    ...paneRow({ pane: 9 }),
    identity: { target: targetId('host'), session_name: 'session:s7', window_id: '', pane_id: paneId('') },
    session: { ...glance, view },
  };
  const of = (text: string, among: readonly PaneRow[] = [...rows, led]): string => {
    const result = referTo(text, among);
    return result.ok ? result.value.agent.runtime_id : result.failure.code;
  };

  it.each(['session:s7', 's7', `runtime:${runtime_id}`])('IDN9 is called %s', (text) => {
    expect(of(text)).toBe(runtime_id);
  });

  it('IDN9 is not meant by the name of its agent, nor by a place that it does not have', () => {
    expect(of('claude')).toBe('host-work-11');
    expect(of('claude', [led])).toBe('E_REF_NOT_FOUND');
    expect(of('session:s8')).toBe('E_REF_NOT_FOUND');
    expect(of('', [led])).toBe('E_REF_NOT_FOUND');
  });
});

describe('a name', () => {
  it.each([
    ['runtime:host-work-11', 'runtime:host-work-11'],
    ['host-work-12', 'runtime:host-work-12'],
    ['%11', 'runtime:host-work-11'],
    ['pane:host/work/@1/%12', 'runtime:host-work-12'],
    ['claude', 'runtime:host-work-11'],
    ['front', 'runtime:host-work-11'],
    ['runtime:old', 'runtime:old'],
    ['codex', 'E_REF_AMBIGUOUS'],
    ['fron', 'E_REF_NOT_FOUND'],
    ['%13', 'E_REF_NOT_FOUND'],
    ['pane:x', 'E_REF_INVALID'],
  ])('ACT1 %s is %s', (text, expected) => {
    expect(found(text)).toBe(expected);
  });

  it('ACT1 a pane is named by any session that shows it, and who runs there comes before who has ended', () => {
    const grouped = { ...first, other_sessions: ['twin'] };
    const gone = paneRow({ session: 'twin', pane: 1, fields: { runtime_id: runtimeId('gone'), ended, route: 'NONE' } });
    for (const session of ['work', 'twin']) {
      expect(referTo(`pane:host/${session}/@1/%11`, [gone, grouped])).toMatchObject({
        ok: true,
        value: { agent: { runtime_id: 'host-work-11' } },
      });
    }
    expect(referTo('pane:host/twi/@1/%11', [gone, grouped])).toMatchObject({ ok: false });
  });

  it('RTE4 without one it is the CONNECTED agent, or nobody', () => {
    expect(referToConnected(rows)).toMatchObject({ ok: true, value: { agent: { agent: 'codex' } } });
    expect(referToConnected([old, first])).toMatchObject({ ok: false, failure: { code: 'E_REF_NOT_FOUND' } });
  });
});
