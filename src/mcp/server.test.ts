import { describe, expect, it } from 'vitest';
import { z } from '../api/zod.ts';
import { inputs, outputs } from './schemas.ts';
import { shownInput, shownOutput, whoCalls } from './server.ts';

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

const schema = z.object({
  word: z.string().nullable().describe('a word'),
  kind: z.enum(['a', 'b']).nullable(),
  inner: z.object({ list: z.array(z.object({ number: z.number().nullable() })) }).nullable(),
});

describe('schemas as clients see them', () => {
  it('say null beside the type, and no more than has to be said', () => {
    const { jsonSchema } = shownOutput(schema)['~standard'];
    const list = { type: 'array', items: { type: 'object', properties: { number: { type: ['number', 'null'] } } } };
    expect(jsonSchema.output()).toEqual({
      type: 'object',
      properties: {
        word: { type: ['string', 'null'], description: 'a word' },
        kind: { type: ['string', 'null'], enum: ['a', 'b', null] },
        inner: { type: ['object', 'null'], properties: { list } },
      },
    });
  });

  it('of answers are kept to; of arguments they are only shown', () => {
    const { validate } = shownOutput(schema)['~standard'];
    const fine = { word: null, kind: 'a', inner: null };
    expect(validate(fine)).toEqual({ value: fine });
    expect(validate({ word: 1 })).toHaveProperty('issues');
    expect(shownInput(schema)['~standard'].validate('anything')).toEqual({ value: 'anything' });
  });

  it('of arguments are plain enough for every model: no unions, no nulls, no references', () => {
    for (const [name, input] of Object.entries(inputs)) {
      const text = JSON.stringify(shownInput(input)['~standard'].jsonSchema.input());
      expect(text, name).not.toMatch(/anyOf|oneOf|allOf|\$ref|"null"|exclusive/);
    }
  });

  it('are small: every agent reads them at every start', () => {
    const size = (shown: readonly object[]): number => JSON.stringify(shown).length;
    expect(size(Object.values(inputs).map((one) => shownInput(one)['~standard'].jsonSchema.input()))).toBeLessThan(
      6_000,
    );
    expect(size(Object.values(outputs).map((one) => shownOutput(one)['~standard'].jsonSchema.output()))).toBeLessThan(
      12_000,
    );
  });
});
