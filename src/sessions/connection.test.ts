// What a line says and when: in its order, and each only once its own record is on disk.

import { describe, expect, it } from 'vitest';
import { settled } from '../../test/kit/managed-session.ts';
import type { Outgoing, Turn } from '../agents/protocol/adapter.ts';
import { AgentConnection, type ConnectionHandlers, type RunningSessionOptions } from './connection.ts';
import type { Runner } from './runner.ts';

function openLine(): { readonly line: AgentConnection; readonly said: Outgoing[]; readonly troubles: string[] } {
  const said: Outgoing[] = [];
  const troubles: string[] = [];
  const parts = {
    adapter: { asksBytes: () => 0 },
    asks: { change: () => undefined },
    ports: { clock: { after: () => () => undefined } },
  } as unknown as RunningSessionOptions;
  const handlers = { onTrouble: (words: string) => troubles.push(words) } as unknown as ConnectionHandlers;
  const line = new AgentConnection(parts, handlers);
  const runner = {
    say: (one: Outgoing) => {
      said.push(one);
      return true;
    },
    endInput: () => undefined,
    signal: () => undefined,
  };
  line.connect(() => runner as unknown as Runner);
  return { line, said, troubles };
}

const turn = (...said: string[]) => ({ memory: null, said, events: [] }) as unknown as Turn<unknown>;

describe('the line to an agent', () => {
  it('SES5 says nothing before its own record is on disk, also behind another that waits for its own', async () => {
    const { line, said } = openLine();
    const first = Promise.withResolvers<boolean>();
    const second = Promise.withResolvers<boolean>();
    line.take(turn('one'), first.promise);
    line.take(turn('two'), second.promise);
    line.take(turn('three'));
    first.resolve(true);
    await settled();
    expect(said).toEqual(['one']);
    second.resolve(true);
    await settled();
    expect(said).toEqual(['one', 'two', 'three']);
    line.take(turn('four'));
    expect(said.at(-1)).toBe('four');
  });

  it('SES5 says nothing more once something could not be written down', async () => {
    const { line, said, troubles } = openLine();
    const second = Promise.withResolvers<boolean>();
    line.take(turn('one'), Promise.resolve(true));
    line.take(turn('two'), second.promise);
    line.take(turn('three'), Promise.resolve(true));
    second.resolve(false);
    await settled();
    expect(said).toEqual(['one']);
    expect(troubles).toHaveLength(1);
  });
});
