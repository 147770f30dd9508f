// What real hook calls mean, replayed from recorded runs through the reader and the engine: alone, and together with what
// the registry said meanwhile.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { event, oneAgent, type TestWorld, t0 } from '../../../test/kit/engine.ts';
import { runtimeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding, HookCall, RunView } from '../contract.ts';
import { eventsSince21, hookReader, hooks } from './hooks.ts';
import { registryReader } from './registry.ts';

const folder = join(import.meta.dirname, 'fixtures');
const callsOf = (run: string): HookCall[] =>
  readFileSync(join(folder, 'hooks', `${run}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as HookCall);

interface RowSeen {
  readonly time: number;
  readonly status?: string;
  readonly waitingFor?: string;
}
const rowsOf = (run: string): RowSeen[] =>
  JSON.parse(readFileSync(join(folder, 'registry', `${run}.json`), 'utf8')) as RowSeen[];

const call = (name: string, payload: Record<string, unknown> | null, time = t0): HookCall => ({
  event: name,
  payload,
  time,
});

/** Gives findings to the engine, with the moment the run began as the start of time. */
function offer(world: TestWorld, source: string, findings: readonly Finding[], began: number): void {
  for (const { fact, time } of findings) {
    const { kind, ...payload } = fact;
    world.now = Math.max(world.now, t0 + time - began + 10);
    world.take(event('a', source, time - began, kind, payload));
  }
}

/** The state after each call that changed it, as `event state/reason`. */
function replay(run: string, keep: (call: HookCall) => boolean = () => true): readonly string[] {
  const calls = callsOf(run).filter(keep);
  const began = (calls[0]?.time ?? 0) - 1_000;
  const world = oneAgent();
  const reader = hookReader();
  const seen: string[] = [];
  for (const one of calls) {
    offer(world, 'hook', reader.read(one), began);
    seen.push(`${one.event} ${world.word('a')}`);
  }
  return seen;
}

/** Hooks and registry as they came: what is published after each. */
function replayBoth(run: string): readonly string[] {
  const calls = callsOf(run);
  const began = (calls[0]?.time ?? 0) - 5_000;
  const world = oneAgent();
  const reader = hookReader();
  const registry = registryReader();
  const view: RunView = {
    runtime_id: runtimeId('a'),
    version: '2.1.325',
    programs: [{ pid: 7, start: '99', argv: ['claude'] }],
    home: '/home/user',
    cwd: '/',
    env: {},
    openFiles: [],
    title: '',
    startedAt: began,
  };
  const take = ({ time, ...row }: RowSeen): readonly Finding[] => {
    const text =
      row.status === undefined ? null : JSON.stringify({ pid: 7, procStart: '99', ...row, statusUpdatedAt: time });
    return registry.take({ kind: 'file', path: '/c/sessions/7.json', text, changedAt: time }, [view], time).findings;
  };
  const steps = [
    ...calls.map((one) => ({ time: one.time, name: one.event, source: 'hook', read: () => reader.read(one) })),
    ...rowsOf(run).map((row) => ({
      time: row.time,
      name: `[${row.waitingFor ?? row.status ?? 'gone'}]`,
      source: 'native',
      read: () => take(row),
    })),
  ].sort((one, other) => one.time - other.time);
  return steps.map(({ name, source, read }) => {
    offer(world, source, read(), began);
    return `${name} ${world.word('a')}`;
  });
}

describe('a turn', () => {
  it('ASK1 with an approval that is granted: asked until its result, then completed', () => {
    expect(replay('bash').slice(0, 8)).toEqual([
      'SessionStart idle/prompt_ready',
      'UserPromptSubmit running/turn_running',
      'PreToolUse running/tool_running',
      'PermissionRequest waiting_approval/approval_asked',
      'Notification waiting_approval/approval_asked',
      'PostToolUse running/turn_running',
      'Stop completed/turn_completed',
      'UserPromptSubmit running/turn_running',
    ]);
  });

  it('tells what is asked: command, edit, plan, question with its options', () => {
    const asks = ['bash', 'write', 'plan', 'ask'].flatMap((run) => {
      const reader = hookReader();
      return callsOf(run).flatMap((one) =>
        reader.read(one).flatMap(({ fact }) => (fact.kind === 'ask.opened' ? [fact.ask] : [])),
      );
    });
    expect(asks.map(({ kind }) => kind)).toEqual([
      'command',
      'command',
      'edit',
      'edit',
      'plan',
      'question',
      'question',
    ]);
    expect(asks[0]).toMatchObject({
      ask_id: 'toolu_mock000008',
      text: 'touch made-a.txt && sleep 8\n# Run the requested command',
      scope: 'main',
    });
    expect(asks[3]?.text).toMatch(/^Edit .*notes\.txt\n-alpha\n\+omega$/);
    expect(asks[5]).toMatchObject({
      text: 'Which database should the service use?',
      options: [
        { id: '1', label: 'SQLite' },
        { id: '2', label: 'Postgres' },
        { id: '3', label: 'None' },
      ],
    });
    expect(asks[6]?.options).toEqual([]);
  });

  it('with a question is waiting for input, and running while nothing but the dialog was opened', () => {
    expect(replay('ask').slice(1, 6)).toEqual([
      'UserPromptSubmit running/turn_running',
      'PreToolUse running/turn_running',
      'PermissionRequest waiting_input/question_asked',
      'PostToolUse running/turn_running',
      'Stop completed/turn_completed',
    ]);
  });

  it('with a message that waits goes on after its stop: no hook tells of the next one', () => {
    expect(replay('stream').slice(1)).toEqual([
      'UserPromptSubmit running/turn_running',
      'UserPromptSubmit running/turn_running',
      'Stop running/turn_running',
      'Stop completed/turn_completed',
      'SessionEnd completed/turn_completed',
    ]);
  });

  it('that fails is an error with the words of the agent, until the next one', () => {
    const words = replay('errfatal');
    expect(words[2]).toBe('StopFailure error/api_error');
    expect(words[3]).toBe('UserPromptSubmit running/turn_running');
    const failures = callsOf('err500').filter((one) => one.event === 'StopFailure');
    const read = failures.map((one) => hookReader().read(one)[1]?.fact);
    expect(read.every((fact) => fact?.kind === 'state.observed' && fact.state === 'error')).toBe(true);
    expect(read[0]).toMatchObject({ reason: 'api_error', detail: expect.stringMatching(/^API Error: /) });
  });

  it('that ends in a login or a limit says so', () => {
    const failed = (error: string, last_assistant_message: string) =>
      hooks.read(call('StopFailure', { error, last_assistant_message })).at(-1)?.fact;
    expect(failed('authentication_failed', 'Please run /login')).toMatchObject({ reason: 'login_needed' });
    expect(failed('rate_limit', 'Request rejected (429)')).toMatchObject({ reason: 'api_error' });
    expect(failed('rate_limit', "You've hit your session limit · resets 3pm")).toMatchObject({ reason: 'usage_limit' });
    expect(failed('rate_limit', 'Claude AI usage limit reached|1794730000')).toMatchObject({
      until: 1_794_730_000_000,
    });
  });
});

describe('versions before 2.1', () => {
  it('name no prompts and count no background work; asks and turns are told all the same', () => {
    expect(replay('2.0.77-bash').filter((word) => !word.startsWith('Subagent'))).toEqual([
      'SessionStart idle/prompt_ready',
      'UserPromptSubmit running/turn_running',
      'PreToolUse running/tool_running',
      'PermissionRequest waiting_approval/approval_asked',
      'Notification waiting_approval/approval_asked',
      'PostToolUse running/turn_running',
      'Stop completed/turn_completed',
      'UserPromptSubmit running/turn_running',
      'PreToolUse running/tool_running',
      'PermissionRequest waiting_approval/approval_asked',
    ]);
    expect(replay('2.0.77-ask').at(-1)).toBe('PermissionRequest waiting_input/question_asked');
  });

  it('start with subagents that nobody asked for, which change nothing', () => {
    expect(
      replay('2.0.77-bash')
        .slice(0, 7)
        .every((word) => word.endsWith('idle/prompt_ready')),
    ).toBe(true);
  });

  it('are asked for no event that would make them skip the settings of their user', () => {
    const known = [
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'Notification',
      'UserPromptSubmit',
      'SessionStart',
    ];
    known.push('SessionEnd', 'Stop', 'SubagentStart', 'SubagentStop', 'PreCompact', 'PermissionRequest');
    expect(hooks.events.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('subagents', () => {
  it('ASK4 a stop of the main turn neither completes it while they work nor settles what they ask', () => {
    const words = replay('task');
    expect(words.slice(4, 8)).toEqual([
      'PostToolUse running/turn_running',
      'Stop running/turn_running',
      'SubagentStop running/turn_running',
      'UserPromptSubmit running/turn_running',
    ]);
    const asked = words.indexOf('PermissionRequest waiting_approval/approval_asked');
    expect(words.slice(asked, asked + 3)).toEqual([
      'PermissionRequest waiting_approval/approval_asked',
      'Stop waiting_approval/approval_asked',
      'PostToolUse running/turn_running',
    ]);
    expect(words.at(-2)).toBe('Stop completed/turn_completed');
  });

  it('are counted beside the state, without the one that just stopped', () => {
    const counts = callsOf('task').flatMap((one) =>
      hooks.read(one).flatMap(({ fact }) => (fact.kind === 'background.counted' ? [fact.agents] : [])),
    );
    expect(counts).toEqual([1, 0, 0, 1, 0, 0]);
    const shells = callsOf('bg').flatMap((one) =>
      hooks.read(one).flatMap(({ fact }) => (fact.kind === 'background.counted' ? [fact] : [])),
    );
    expect(shells).toEqual([{ kind: 'background.counted', shells: 1, agents: 0 }]);
  });
});

describe('what is no turn', () => {
  it('compacting ends where it began, and /clear is no goodbye', () => {
    const words = replay('dialogs');
    const from = words.findIndex((word) => word.startsWith('PreCompact'));
    expect(words.slice(from)).toEqual([
      'PreCompact running/compacting',
      'SubagentStop running/compacting',
      'SubagentStop running/compacting',
      'SessionStart running/compacting',
      'PostCompact idle/prompt_ready',
      'SessionEnd idle/prompt_ready',
      'SessionStart idle/prompt_ready',
      'SessionEnd idle/prompt_ready',
    ]);
    const ends = callsOf('dialogs').filter((one) => one.event === 'SessionEnd');
    expect(ends.map((one) => hooks.read(one).map(({ fact }) => fact.kind))).toEqual([[], ['runtime.goodbye']]);
  });

  it('notifications that come late add nothing, and those without any other hook do', () => {
    expect(replay('idle70').at(-2)).toBe('Notification completed/turn_completed');
    const read = (payload: Record<string, unknown>) => hooks.read(call('Notification', payload))[0]?.fact;
    expect(read({ notification_type: 'permission_prompt', message: 'Claude needs your permission' })).toBeUndefined();
    expect(read({ notification_type: 'agent_needs_input', message: 'choose' })).toMatchObject({
      state: 'waiting_input',
      reason: 'dialog_open',
      detail: 'choose',
    });
    // 1.0 has no request for approval and does not name the kind of its notifications.
    expect(read({ message: 'Claude needs your permission to use Bash' })).toMatchObject({ state: 'waiting_approval' });
    expect(read({ message: 'Claude is waiting for your input' })).toBeUndefined();
  });
});

describe('a request that does not name its call', () => {
  const payload = { session_id: 's', prompt_id: 'p', tool_name: 'Bash', tool_input: { command: 'make' } };
  const askedId = (findings: readonly Finding[]): string | undefined =>
    findings.flatMap(({ fact }) => (fact.kind === 'ask.opened' ? [fact.ask.ask_id as string] : []))[0];

  it('is told apart from the same request later in the same turn', () => {
    const reader = hookReader();
    reader.read(call('PreToolUse', { ...payload, tool_use_id: 't1' }));
    const first = askedId(reader.read(call('PermissionRequest', payload)));
    reader.read(call('PreToolUse', { ...payload, tool_use_id: 't2' }));
    expect([first, askedId(reader.read(call('PermissionRequest', payload)))]).toEqual(['t1', 't2']);
  });

  it('is settled by its result even where nobody saw the call begin', () => {
    const id = askedId(hookReader().read(call('PermissionRequest', payload)));
    const settled = hookReader()
      .read(call('PostToolUse', { ...payload, tool_use_id: 't1' }))
      .flatMap(({ fact }) => (fact.kind === 'ask.settled' ? [fact.ask_id as string] : []));
    expect(settled).toEqual([id, 't1']);
  });

  it('has the same id after a question was answered', () => {
    const questions = [{ question: 'Which?', options: [{ label: 'A' }] }];
    const asking = { ...payload, tool_name: 'AskUserQuestion', tool_input: { questions } };
    const answered = { ...asking, tool_input: { questions, answers: { 'Which?': 'A' } } };
    const id = askedId(hookReader().read(call('PermissionRequest', asking)));
    const first = hookReader().read(call('PostToolUse', answered))[0]?.fact;
    expect(first).toEqual({ kind: 'ask.settled', ask_id: id, how: 'result' });
  });

  it('memory stays bounded', () => {
    const reader = hookReader();
    for (let at = 0; at <= limits.hookCallsMax; at += 1)
      reader.read(call('PreToolUse', { ...payload, tool_input: { command: `${at}` }, tool_use_id: `t${at}` }));
    const ask = (command: string) =>
      askedId(reader.read(call('PermissionRequest', { ...payload, tool_input: { command } })));
    expect(ask('1')).toBe('t1');
    expect(ask('0')).not.toBe('t0');
  });
});

describe('foreign input', () => {
  it('of the wrong shape means nothing and never throws', () => {
    const odd: unknown[] = [null, 1, 'x', [], {}, { questions: [null, { question: 1 }] }, 'y'.repeat(100_000)];
    const deep = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) as Record<string, unknown>;
    for (const name of [...hooks.events, ...eventsSince21, 'Nope', 'constructor', '__proto__']) {
      expect(hookReader().read(call(name, null))).toEqual([]);
      for (const value of [...odd, deep]) {
        const fields = [
          'session_id',
          'prompt_id',
          'agent_id',
          'tool_name',
          'tool_input',
          'tool_use_id',
          'error',
          'reason',
        ];
        const payload = Object.fromEntries([...fields, 'background_tasks', 'message'].map((field) => [field, value]));
        for (const { fact } of hookReader().read(call(name, payload))) {
          if (fact.kind === 'ask.opened') expect(fact.ask.text.length).toBeLessThanOrEqual(limits.askCharsMax);
        }
      }
      hookReader().read(call(name, { tool_name: 'Bash', tool_input: deep }));
    }
    expect(hooks.session(call('Stop', { session_id: 'abc' }))).toBe('abc');
    expect(hooks.session(call('Stop', { session_id: 7 }))).toBeNull();
    expect(hooks.session(call('Stop', null))).toBeNull();
  });

  it('of the engine takes every finding of every recorded run', () => {
    for (const run of ['ask', 'automode', 'bash', 'bg', 'dialogs', 'err500', 'errfatal', 'plan', 'task', 'write']) {
      const world = oneAgent();
      const reader = hookReader();
      const calls = callsOf(run);
      for (const one of calls) offer(world, 'hook', reader.read(one), (calls[0]?.time ?? 0) - 1_000);
      expect([...world.tally.keys()].filter((name) => name.startsWith('refused'))).toEqual([]);
    }
  });
});

describe('hooks together with the registry', () => {
  it('RSV3 an approval granted at the keyboard is seen at once, one refused too', () => {
    const words = replayBoth('bash');
    const granted = words.indexOf(
      '[busy] running/turn_running',
      words.indexOf('[permission prompt] waiting_approval/approval_asked'),
    );
    expect(granted).toBeGreaterThan(0);
    expect(words.slice(granted + 1, granted + 3)).toEqual([
      'PostToolUse running/turn_running',
      'Stop completed/turn_completed',
    ]);
    expect(words.filter((word) => word.startsWith('[idle]')).at(-1)).toBe('[idle] idle/prompt_ready');
  });

  it('RSV3 Esc fires no hook, and the registry says idle', () => {
    const words = replayBoth('interrupt');
    expect(words).toContain('[idle] idle/prompt_ready');
    expect(words.filter((word) => word.startsWith('[idle]')).every((word) => word === '[idle] idle/prompt_ready')).toBe(
      true,
    );
  });

  it('a finished turn stays completed when the registry says idle', () => {
    const words = replayBoth('ask');
    const stop = words.indexOf('Stop completed/turn_completed');
    expect(words[stop + 1]).toBe('[idle] completed/turn_completed');
  });

  it('a subagent that asks keeps it waiting through the stop of the main turn', () => {
    const words = replayBoth('task');
    expect(words.filter((word) => word.endsWith('waiting_approval/approval_asked'))).toHaveLength(3);
  });

  it('RSV7 an error is not undone by idle, which does not know how the turn ended, but by the next turn', () => {
    const words = replayBoth('errfatal');
    const failed = words.indexOf('StopFailure error/api_error');
    expect(words.slice(failed, failed + 3)).toEqual([
      'StopFailure error/api_error',
      '[idle] error/api_error',
      'UserPromptSubmit running/turn_running',
    ]);
  });
});
