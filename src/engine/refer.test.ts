import { describe, expect, it } from 'vitest';
import { paneRow } from '../../test/kit/rows.ts';
import { runtimeId, targetId } from '../model/ids.ts';
import { canonicalRef, referTo, referToConnected } from './refer.ts';

type Row = ReturnType<typeof paneRow>;

const ended = { cause: 'exit', status: 0, signal: null, clean: true, at: 1, listed_until: null } as const;
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
  return result.ok ? canonicalRef(result.value.runtime_id) : result.failure.code;
};

describe('an agent without a pane', () => {
  const outside: Row = {
    ...paneRow({ pane: 8, agent: 'gemini' }),
    identity: { target: targetId('host'), session_name: 'proc:4711', window_id: null, pane_id: null },
    ref: 'proc:4711',
    terminal: 'kitty',
    pid: 4711,
  };
  const of = (text: string): string => {
    const result = referTo(text, [...rows, outside]);
    return result.ok ? result.value.runtime_id : result.failure.code;
  };

  it('IDN10 is called by its process, or by its kind where only one runs, and by no place', () => {
    expect(of('proc:4711')).toBe(outside.runtime_id);
    expect(of('gemini')).toBe(outside.runtime_id);
    expect(of(`runtime:${outside.runtime_id}`)).toBe(outside.runtime_id);
    expect(of('proc:4712')).toBe('E_REF_NOT_FOUND');
    expect(of('host/proc:4711:1.8')).toBe('E_REF_NOT_FOUND');
    expect(referTo('kitty', [outside])).toMatchObject({ ok: false });
  });
});

describe('a session that agtmux leads', () => {
  const { runtime_id } = paneRow({ pane: 9 });
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
  const led: Row = {
    ...paneRow({ pane: 9 }),
    identity: { target: targetId('host'), session_name: 'session:s7', window_id: null, pane_id: null },
    session: { ...glance, view },
  };
  const of = (text: string, among: readonly Row[] = [...rows, led]): string => {
    const result = referTo(text, among);
    return result.ok ? result.value.runtime_id : result.failure.code;
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

  it('IDN9 is told without a place where its name is also the nickname of another', () => {
    const among = referTo('s7', [first, led], new Map([['s7', runtimeId('host-work-11')]]));
    expect(among).toMatchObject({
      failure: { message: `s7 could be host/work:1.1 (runtime:host-work-11) or runtime:${runtime_id}` },
    });
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
    ['host/work:1.1', 'runtime:host-work-11'],
    ['work:1.2', 'runtime:host-work-12'],
    ['work:1.3', 'E_REF_NOT_FOUND'],
    ['ork:1.1', 'E_REF_NOT_FOUND'],
    ['work:1', 'E_REF_INVALID'],
  ])('ACT1 %s is %s', (text, expected) => {
    expect(found(text)).toBe(expected);
  });

  it('ACT1 a pane is named by any session that shows it, and who runs there comes before who has ended', () => {
    const grouped = { ...first, other_sessions: ['twin'] };
    const gone = paneRow({ session: 'twin', pane: 1, fields: { runtime_id: runtimeId('gone'), ended, route: 'NONE' } });
    for (const session of ['work', 'twin']) {
      expect(referTo(`pane:host/${session}/@1/%11`, [gone, grouped])).toMatchObject({
        ok: true,
        value: { runtime_id: 'host-work-11' },
      });
    }
    expect(referTo('pane:host/twi/@1/%11', [gone, grouped])).toMatchObject({ ok: false });
  });

  it('ACT1 a place that two machines have is nobody until the machine is named', () => {
    const far = paneRow({ target: 'vm1', pane: 1 });
    const code = (text: string) => {
      const result = referTo(text, [first, far]);
      return result.ok ? result.value.identity.target : result.failure.code;
    };
    expect(['work:1.1', 'host/work:1.1', 'vm1/work:1.1'].map(code)).toEqual(['E_REF_AMBIGUOUS', 'host', 'vm1']);
  });

  it('ACT1 a place is the agent that runs there, never one of its subagents and never a session without a pane', () => {
    const below = paneRow({ pane: 1, fields: { runtime_id: runtimeId('below'), parent: runtimeId('host-work-11') } });
    expect(referTo('work:1.1', [below, first])).toMatchObject({ value: { runtime_id: 'host-work-11' } });
    expect(referTo('work:1.1', [below])).toMatchObject({ failure: { code: 'E_REF_NOT_FOUND' } });
  });

  it('ACT1 several are told by the places that lists show, and not all of a crowd', () => {
    const third = paneRow({ pane: 4 });
    expect(referTo('claude', [first, third])).toMatchObject({
      failure: {
        message: 'claude could be host/work:1.1 (runtime:host-work-11) or host/work:1.4 (runtime:host-work-14)',
      },
    });
    const crowd = Array.from({ length: 30 }, (_, pane) => paneRow({ pane }));
    expect(referTo('claude', crowd)).toMatchObject({ failure: { message: expect.stringMatching(/ or 22 more$/) } });
  });

  it('ACT1 what is no reference is said back as it was written', () => {
    expect(referTo('host/work:x', rows)).toMatchObject({ failure: { message: '"host/work:x" is not a reference' } });
  });

  it('RTE4 without one it is the CONNECTED agent, or nobody', () => {
    expect(referToConnected(rows)).toMatchObject({ ok: true, value: { agent: 'codex' } });
    expect(referToConnected([old, first])).toMatchObject({ ok: false, failure: { code: 'E_REF_NOT_FOUND' } });
  });
});
