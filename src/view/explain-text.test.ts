import { describe, expect, it } from 'vitest';
import { itemOf } from '../../test/kit/fake-daemon.ts';
import { paneRow } from '../../test/kit/rows.ts';
import type { AdapterItem, AgentList, ExplanationDocument } from '../api/explain.ts';
import { agentsLines, explanationLines } from './explain-text.ts';

const source = (name: string, count = 0): AdapterItem['sources'][number] => ({
  source: name,
  health: 'ok',
  trouble: null,
  count,
  last_at: null,
});

const agent = (fields: Partial<AdapterItem>): AdapterItem => ({
  agent: 'claude',
  contract: '1',
  enabled: true,
  refused: null,
  health: 'ok',
  running: 1,
  capabilities: {
    event_driven: true,
    polling_required: false,
    supports_waiting_approval: true,
    supports_waiting_input: true,
    supports_completed: true,
    supports_interrupted: true,
  },
  measured: [],
  limits: [],
  rules: { count: 12, user_file: null, trouble: null },
  sources: [],
  ...fields,
});

const list = (items: AdapterItem[], rule_troubles: string[] = []): AgentList => ({
  schema_version: 1,
  generated_at: '2026-01-01T00:00:00.000Z',
  items,
  rule_troubles,
});

const options = { columns: 200, colour: false, offsetMinutes: 0, nowMs: 0 };

describe('an explanation', () => {
  const item = itemOf(paneRow({ state: 'waiting_approval', fields: { decided_by: 'hook' } }), {
    detail: 'rm -rf build',
  });
  const tried = [{ rule: 'idle', matched: false, why: 'no prompt' }];
  const screen = { state: 'unknown', reason_code: 'unsupported_signal', rule: null, tried };
  const document = {
    ...{ schema_version: 1, generated_at: new Date().toISOString(), ref: 'runtime:r', item },
    ...{ reason_words: 'it asks for approval', evidence: [], events: [], screen },
  } as unknown as ExplanationDocument;

  it('RSV9 begins with the state, why it is so and what would change it; rules only when they are asked for', () => {
    const lines = explanationLines(document, options);
    expect(lines[0]).toMatch(/^▲ approve {2}claude in host\/work:1\.0, since 4m ago$/);
    expect(lines[1]).toMatch(
      /^ {2}why {7}it asks for approval: rm -rf build \(prompt_ready, told by hook, high confidence\)$/,
    );
    expect(lines[2]).toContain('when it is answered: agtmux approve, reject or answer');
    expect(lines.join('\n')).toContain('1 rules were tried; --rules shows each');
    expect(explanationLines(document, { ...options, hasRules: true }).join('\n')).toMatch(/idle .*no prompt/);
  });
});

describe('the table of agents', () => {
  it('names each source once, with the sum of what came from it', () => {
    const sources = [source('registry', 2), source('hook', 3), source('registry', 5), source('transcript')];
    const text = agentsLines(list([agent({ sources })]), options).join('\n');
    expect(text).toContain('12 rules, registry 7, hook 3, transcript');
  });

  it('RSV10a ends with the rule files that nobody uses', () => {
    const lines = agentsLines(list([agent({})], ['nobody.toml is not used\u001b[2J']), options);
    expect(lines.at(-1)).toBe('nobody.toml is not used');
  });
});
