import { describe, expect, it } from 'vitest';
import { agentName } from '../../model/ids.ts';
import type { SpoolCall } from './call.ts';
import { readWrap } from './wrap.ts';

const call = (event: string, payload: Record<string, unknown> | null): SpoolCall => ({
  file: '1-2-0',
  agent: agentName('claude'),
  event,
  pane: null,
  socket: null,
  pid: 2,
  ppid: 1,
  ancestors: [],
  payload,
  text: '',
  sinceMs: null,
  time: 1,
});
const process = { pid: 5, start: '77' };

describe('what wrap says', () => {
  it('a start names the process', () => {
    expect(readWrap(call('wrap.started', process))).toEqual({ kind: 'started', process });
  });

  it('RSV12a status 0 is a goodbye and an end, another status an end, a signal is named', () => {
    const end = (status: number, signal: string | null) => {
      const word = readWrap(call('wrap.ended', { ...process, status, signal }));
      return word?.kind === 'ended' ? word.facts : null;
    };
    expect(end(0, null)).toEqual([{ kind: 'runtime.goodbye' }, { kind: 'runtime.ended', cause: 'exit', status: 0 }]);
    expect(end(7, null)).toEqual([{ kind: 'runtime.ended', cause: 'exit', status: 7 }]);
    const killed = { kind: 'runtime.ended', cause: 'signal', status: 137, signal: 'SIGKILL' };
    expect(end(137, 'KILL')).toEqual([killed]);
    expect(end(137, 'SIGKILL')).toEqual([killed]);
    expect(end(200, null)).toEqual([{ kind: 'runtime.ended', cause: 'exit', status: 200 }]);
  });

  it.each([
    ['another event', call('Stop', process)],
    ['no payload', call('wrap.ended', null)],
    ['no process', call('wrap.ended', { status: 0 })],
    ['a pid that is none', call('wrap.started', { pid: -1, start: '7' })],
    ['a start that is none', call('wrap.started', { pid: 5, start: '\u001b[2J' })],
    ['no status', call('wrap.ended', { ...process })],
    ['a status that is none', call('wrap.ended', { ...process, status: 999 })],
  ])('%s says nothing', (_words, said) => {
    expect(readWrap(said)).toBeNull();
  });
});
