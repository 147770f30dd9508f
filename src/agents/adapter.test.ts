// Every adapter of the registry against the contract, and a toy agent: what one folder has to bring, and that it is enough.

import { afterAll, describe, expect, it, vi } from 'vitest';
import { agentName, agentSessionId, runtimeId } from '../model/ids.ts';
import { adapterSuite } from './adapter.contract.ts';
import { type Agent, contractVersion, type RunView } from './contract.ts';
import { agents, usableAgents } from './registry.ts';
import { classify } from './screen/classify.ts';
import { readRuleFile } from './screen/rule-file.ts';
import { identifyByShape } from './shape.ts';

/** What `src/agents/toy/agent.ts` would export. */
const toy: Agent = {
  name: agentName('toy'),
  contract: contractVersion,
  capabilities: {
    event_driven: true,
    polling_required: true,
    supports_waiting_approval: true,
    supports_waiting_input: false,
    supports_completed: true,
    supports_interrupted: false,
    measured: [],
    limits: ['It is a toy.'],
  },
  identify: identifyByShape({
    name: 'toy',
    commands: ['toy-agent'],
    places: [/\/toy-agent\//],
    versions: [],
    byName: { native: 'high', script: 'medium' },
    headlessCommands: [],
    headlessFlags: [],
    errandCommands: [],
    errandFlags: [],
    valueFlags: [],
  }),
  screen: {
    schema: 1,
    agent: 'toy',
    title: 'proves nothing',
    regions: { box: { after: '^={5,}$' } },
    rules: [
      {
        id: 'asks',
        priority: 2,
        where: [{ in: 'box', all: ['^May I\\?'] }],
        proves: { state: 'waiting_approval', reason: 'approval_asked' },
        ask: { kind: 'tool', text: { in: 'box' } },
      },
    ],
  },
  hooks: {
    events: ['end'],
    stored: [],
    session: ({ payload }) =>
      typeof payload?.talk === 'string' && payload.talk !== '' ? agentSessionId(payload.talk) : null,
    read: ({ event, time }) =>
      event === 'end'
        ? [{ fact: { kind: 'state.observed', state: 'completed', reason: 'turn_completed', confidence: 'high' }, time }]
        : [],
  },
  natives: [
    {
      id: 'state',
      source: 'native',
      environment: ['TOY_HOME'],
      remote: true,
      plan: ({ env, home }) => [{ kind: 'file', path: `${env.TOY_HOME ?? home}/state` }],
      open: () => ({
        take: (input, runs) => {
          const run = runs[0];
          if (input.kind !== 'file' || input.text !== 'busy' || run === undefined) return { findings: [] };
          const fact = {
            kind: 'state.observed',
            state: 'running',
            reason: 'turn_running',
            confidence: 'high',
            dialog: false,
          } as const;
          return { findings: [{ fact, time: input.changedAt, runtime_id: run.runtime_id }] };
        },
      }),
    },
  ],
  install: null,
  keys: null,
};

for (const agent of [...agents, toy]) adapterSuite(agent);

// Whoever comes next in the same process has the registry without the toy.
afterAll(() => {
  vi.resetModules();
});

describe('a new agent is one folder', () => {
  it('the registry needs nothing but its folder: everything is asked through the contract', async () => {
    vi.resetModules();
    vi.doMock('./folders.ts', () => ({ folders: [...agents, toy] }));
    const registry = await import('./registry.ts');
    vi.doUnmock('./folders.ts');

    const program = { executable: '/opt/toy-agent/bin/toy-agent', argv: ['toy-agent'] };
    expect(registry.identifyAgent(program)).toMatchObject({ agent: 'toy', mode: 'interactive', confidence: 'high' });
    expect(registry.identifyAgent({ executable: null, argv: ['claude'] })?.agent).toBe('claude');

    const found = registry.usableAgents(registry.agents).usable.find(({ name }) => name === 'toy');
    if (found === undefined) throw new Error('the toy is not in the registry');
    const lines = ['May I?', '=====', 'May I? rm -r build'];
    expect(classify(readRuleFile(found.screen), { lines, title: '', command: null }, null)).toMatchObject({
      state: 'waiting_approval',
      ask: { text: 'May I? rm -r build' },
    });
    const call = { event: 'end', payload: { talk: 't1' }, time: 5 };
    expect([found.hooks?.session(call), found.hooks?.read(call)]).toMatchObject([
      't1',
      [{ fact: { state: 'completed' } }],
    ]);

    const run: RunView = {
      ...{ runtime_id: runtimeId('r'), version: null, programs: [], home: '/h', cwd: '/h', env: { TOY_HOME: '/t' } },
      ...{ openFiles: [], title: '', startedAt: 1 },
    };
    const [source] = found.natives;
    const [watch] = source?.plan(run) ?? [];
    expect(watch).toEqual({ kind: 'file', path: '/t/state' });
    if (source === undefined || watch === undefined) throw new Error('the toy follows nothing');
    const input = { kind: 'file', path: '/t/state', text: 'busy', changedAt: 7 } as const;
    expect(source.open(watch).take(input, [run], 9).findings).toMatchObject([{ time: 7, runtime_id: 'r' }]);
  });

  it('an adapter of another major is refused with its reason, one of another minor is not', () => {
    const old: Agent = { ...toy, name: agentName('old'), contract: '0.9' };
    const newer: Agent = { ...toy, name: agentName('newer'), contract: `${contractVersion.split('.')[0]}.99` };
    const { usable, refused } = usableAgents([toy, old, newer]);
    expect(usable.map(({ name }) => name)).toEqual(['toy', 'newer']);
    expect(refused).toMatchObject([{ name: 'old', contract: '0.9', failure: { code: 'E_CONTRACT' } }]);
    expect(refused[0]?.failure.message).toContain(contractVersion);
  });
});

describe('what a person asked for', () => {
  const prompt = 'fix the tests';
  it.each([
    ['claude', 'UserPromptSubmit', { prompt }, prompt],
    ['claude', 'UserPromptSubmit', { prompt, agent_id: 'sub' }, null],
    ['claude', 'SessionStart', { source: 'clear' }, ''],
    ['claude', 'PreToolUse', { prompt }, null],
    ['codex', 'UserPromptSubmit', { prompt }, prompt],
    ['codex', 'UserPromptSubmit', { prompt: 'Generate a concise title for this' }, null],
    ['codex', 'UserPromptSubmit', { prompt, agent_id: 'sub' }, null],
    ['copilot', 'userPromptSubmitted', { prompt }, prompt],
    ['copilot', 'userPromptSubmitted', { prompt: '<system_notification>done' }, null],
    ['gemini', 'BeforeAgent', { prompt }, prompt],
    ['gemini', 'SessionStart', { source: 'clear' }, ''],
    ['cursor', 'beforeSubmitPrompt', { prompt }, prompt],
    ['cursor', 'stop', { prompt }, null],
  ] as const)('FED5 is told by the hooks of %s: %s %j', (name, event, payload, told) => {
    const hooks = agents.find((one) => one.name === name)?.hooks;
    expect(hooks?.prompt?.({ event, payload, time: 1 })).toBe(told);
    // Never stored: what people write to their agents is not on the list.
    expect(hooks?.stored).not.toContain('prompt');
  });
});
