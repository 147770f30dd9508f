import { describe, expect, it } from 'vitest';
import { whoCalls } from './caller.ts';

const info = { name: 'codex-mcp-client', version: '0.166.0' };

describe('who calls a tool', () => {
  it('is the client by its name and version, and the thread it names', () => {
    expect(whoCalls({ meta: { threadId: 't-1' }, clientInfo: info })).toEqual({
      client: 'codex-mcp-client 0.166.0',
      clientName: 'codex-mcp-client',
      thread: 't-1',
    });
    expect(whoCalls({ meta: { 'x-codex-turn-metadata': { thread_id: 't-2' } }, clientInfo: null })).toEqual({
      client: null,
      clientName: null,
      thread: 't-2',
    });
  });

  it('is nobody when the words are none', () => {
    for (const said of [7, null, {}, [], '', '  ', 'x'.repeat(257), 'a\nb']) {
      expect(whoCalls({ meta: { threadId: said }, clientInfo: null }).thread).toBeNull();
      expect(whoCalls({ meta: { 'x-codex-turn-metadata': said }, clientInfo: null }).thread).toBeNull();
    }
    expect(whoCalls({ meta: {}, clientInfo: { name: 'x\u001b[31m', version: '1' } }).client).toBeNull();
  });
});
