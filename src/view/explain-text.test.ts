import { describe, expect, it } from 'vitest';
import type { AdapterItem, AgentList } from '../api/explain.ts';
import { agentsLines } from './explain-text.ts';

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

describe('the table of agents', () => {
  it('names each source once, with the sum of what came from it', () => {
    const sources = [source('registry', 2), source('hook', 3), source('registry', 5), source('transcript')];
    const text = agentsLines(list([agent({ sources })]), options).join('\n');
    expect(text).toContain('12 rules, registry 7, hook 3, transcript');
  });

  it('RSV10 ends with the rule files that nobody uses', () => {
    const lines = agentsLines(list([agent({})], ['nobody.toml is not used\u001b[2J']), options);
    expect(lines.at(-1)).toBe('nobody.toml is not used');
  });
});
