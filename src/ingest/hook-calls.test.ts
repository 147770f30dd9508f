// Whose word a hook call is: some agents run the hooks of others, and then the call came from their process.

import { describe, expect, it } from 'vitest';
import { agentOf } from '../agents/definition/load.ts';
import { readDefinition } from '../agents/definition/read.ts';
import { agents, identifierOf, identifyAgent } from '../agents/registry.ts';
import type { EventEnvelope, RuntimeIdentity } from '../model/events.ts';
import { agentName, type ProcessIdentity } from '../model/ids.ts';
import type { Verdict } from '../model/verdicts.ts';
import type { SpoolCall } from '../sources/spool/call.ts';
import { HookCalls } from './hook-calls.ts';

const definition = (runsOthers: string) => {
  const text = `
schema = 2
agent = "grokky"
limits = ["a test"]
[identify]
commands = ["grokky"]
native = "high"
[hooks]
${runsOthers}
map = [{ event = "Stop", state = "completed" }]
`;
  const read = readDefinition(text, { path: 'grokky.toml', taken: new Set(), base: null });
  if (!read.ok) throw new Error(read.failure.message);
  return agentOf(read.value);
};

const boot = 'boot';
const programs = new Map([
  [10, { executable: '/opt/grokky/grokky', argv: ['grokky'] }],
  [20, { executable: '/usr/local/bin/claude', argv: ['claude'] }],
]);

async function tell(runsOthers: string, pids: readonly number[]): Promise<readonly EventEnvelope[]> {
  const own = definition(runsOthers);
  const taken: EventEnvelope[] = [];
  const identifyOwn = identifierOf([own]);
  const calls = new HookCalls({
    targetOf: () => 'host' as never,
    boot: () => boot,
    agentOf: (name) => [...agents, own].find((one) => one.name === name) ?? null,
    identify: (program) => identifyAgent(program) ?? identifyOwn(program),
    programOf: ({ pid }: ProcessIdentity) => programs.get(pid) ?? null,
    runtimesOf: () => [] as RuntimeIdentity[],
    socketOf: () => null,
    timeOf: () => 1,
    take: async (events) => {
      taken.push(...events);
      return [] as Verdict[];
    },
    isOff: () => false,
    isManagedProcess: () => false,
    onPrompt: () => undefined,
    onPending: () => undefined,
    meet: null,
    originOf: () => 'possible',
  });
  const ancestors = pids.map((pid) => ({ pid, start: String(pid) }));
  const call = { file: 'a', agent: agentName('claude'), event: 'UserPromptSubmit', payload: { prompt: 'x' }, time: 1 };
  await calls.take({ ...call, pane: null, socket: null, ancestors } as unknown as SpoolCall);
  return taken;
}

const bookedFor = (events: readonly EventEnvelope[]): readonly unknown[] =>
  events.map(({ evidence }) => [evidence.agent, evidence.ancestry?.map(({ pid }) => pid)]);

describe('a hook call of one agent from the process of another', () => {
  it('DEF5 is booked for the agent that it came from, where that runs the hooks of others', async () => {
    const events = await tell('also_runs_hooks_of = ["claude"]', [15, 10, 5]);
    expect(bookedFor(events)).toEqual([['grokky', [10]]]);
    expect(events[0]).toMatchObject({ kind: 'state.observed', payload: { state: 'running' } });
  });

  it('DEF5 stays with its agent where that is the nearest, or where nothing says that the other runs it', async () => {
    expect(bookedFor(await tell('also_runs_hooks_of = ["claude"]', [15, 20, 10]))).toEqual([['claude', [20]]]);
    expect(bookedFor(await tell('', [15, 10, 20]))).toEqual([['claude', [20]]]);
  });
});
