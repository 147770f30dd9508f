import { describe, expect, it } from 'vitest';
import { call, envelope2, noCalls, noticeLine, readRpc, refusalLine, replyLine, settle } from './json-rpc.ts';

describe('reading', () => {
  it.each([
    ['{"id":0,"method":"ask","params":{"a":1}}', { kind: 'request', id: 0, method: 'ask', params: { a: 1 } }],
    ['{"id":"x","method":"ask"}', { kind: 'request', id: 'x', method: 'ask', params: {} }],
    ['{"method":"told","params":[1]}', { kind: 'notice', method: 'told', params: {} }],
    ['{"id":null,"method":"told"}', { kind: 'notice', method: 'told', params: {} }],
    ['{"id":3,"result":null}', { kind: 'reply', id: 3, result: null }],
    [
      '{"id":3,"error":{"code":-32600,"message":"no","data":{"why":"x"}}}',
      { kind: 'error', id: 3, error: { code: -32600, message: 'no', data: { why: 'x' } } },
    ],
    [
      '{"error":{}}',
      { kind: 'error', id: null, error: { code: null, message: 'an error without a message', data: {} } },
    ],
  ])('%s', (line, message) => {
    expect(readRpc(line)).toEqual(message);
  });

  it.each(['', 'null', '[]', '{}', '{"id":3}', '{"id":{},"result":1}', '{"id":1,"met', 'Hello'])(
    'makes nothing of %s',
    (line) => {
      expect(readRpc(line)).toBeNull();
    },
  );
});

describe('calls', () => {
  it('a reply is known by what was asked, and only once', () => {
    const first = call(noCalls, 'start', { a: 1 });
    const second = call(first.calls, 'stop', {}, envelope2, 'the end');
    expect(JSON.parse(first.line)).toEqual({ id: 1, method: 'start', params: { a: 1 } });
    expect(JSON.parse(second.line)).toEqual({ jsonrpc: '2.0', id: 2, method: 'stop', params: {} });
    const ended = settle(second.calls, 2);
    expect(ended.purpose).toBe('the end');
    expect(settle(ended.calls, 2).purpose).toBeNull();
    expect(settle(ended.calls, 1).purpose).toBe('start');
  });

  it.each([null, 7, 'constructor', '__proto__'])('nobody asked with the id %s', (id) => {
    const { calls } = call(noCalls, 'start', {});
    expect(settle(calls, id)).toEqual({ calls, purpose: null });
  });
});

it('lines carry what their peer wants to see', () => {
  expect(JSON.parse(noticeLine('initialized', undefined))).toEqual({ method: 'initialized' });
  expect(JSON.parse(replyLine('a', { b: 1 }, envelope2))).toEqual({ jsonrpc: '2.0', id: 'a', result: { b: 1 } });
  expect(JSON.parse(refusalLine(4, -32601, 'no'))).toEqual({ id: 4, error: { code: -32601, message: 'no' } });
});
