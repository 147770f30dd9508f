// The MCP server held against the official client libraries, over the real API with a small daemon behind it. The libraries
// check every answer against the schema that the tool shows.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failure } from '../../../src/model/errors.ts';
import { type ShellNotice, type ShellReceipt, type ShellRequest, shellResults } from '../../../src/model/shells.ts';
import { until } from '../../kit/live.ts';
import type { FakeDaemon } from '../api/kit.ts';
import { finishedRow, shellNotice, shellPage, shellRow } from '../api/kit-shells.ts';
import { type Agent, generations, Place } from './kit.ts';

const toolNames = [
  ...['shell_run', 'shell_summary', 'shell_log', 'shell_kill', 'shell_resume'],
  ...['agents_list', 'agent_explain', 'agent_wait', 'agent_send'],
];

describe.each(generations)('the MCP server and a client of %s', (generation) => {
  let place: Place;
  let daemon: FakeDaemon;
  let agent: Agent;

  beforeEach(async () => {
    place = new Place();
    daemon = (await place.serve()).daemon;
    agent = await place.agent({ generation, args: ['--budget-s', '20'] });
  });
  afterEach(() => place.close());

  const wishes = (): readonly ShellRequest[] =>
    daemon.shells.asked.filter(({ what }) => what === 'run').map(({ value }) => value as ShellRequest);

  /** A foreground command, answered as the test wants. */
  async function run(command: string, told: Partial<ShellReceipt>, args: Record<string, unknown> = {}) {
    const answer = agent.call('shell_run', { command, ...args });
    await until(() => daemon.shells.isWaiting(command));
    daemon.shells.answer(command, told);
    return answer;
  }

  const put = (notice: Partial<ShellNotice> = {}): void => {
    daemon.shells.notices.set(`pid:${agent.pid}`, [shellNotice(notice)]);
  };

  it('SHL2 shows its tools with schemas, and tells models their duties', async () => {
    const tools = await agent.tools();
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
    for (const { name, inputSchema, outputSchema, annotations } of tools) {
      expect(inputSchema, name).toMatchObject({ type: 'object', properties: expect.any(Object) });
      expect(outputSchema, name).toMatchObject({ type: 'object', properties: { result: {}, reason: {}, notices: {} } });
      const isLook = ['shell_summary', 'shell_log', 'agents_list', 'agent_explain', 'agent_wait'].includes(name);
      expect(annotations?.readOnlyHint, name).toBe(isLook);
    }
    const argumentsOf = (name: string): readonly string[] => {
      const { properties = {} } = (tools.find((tool) => tool.name === name)?.inputSchema ?? {}) as {
        properties?: object;
      };
      return Object.keys(properties);
    };
    expect(argumentsOf('shell_run')).toEqual(
      'command cwd label run_in_background expected_duration_s timeout_s tty'.split(' '),
    );
    expect(argumentsOf('shell_summary')).toEqual(['completed', 'failed']);
    expect(argumentsOf('shell_log')).toEqual(['shell_id', 'mode', 'cursor', 'lines']);
    expect([argumentsOf('shell_kill'), argumentsOf('shell_resume')]).toEqual([['shell_id'], ['shell_id']]);
    const words = [agent.instructions(), ...tools.map(({ description }) => description ?? '')].join('\n');
    for (const duty of [
      'run_in_background',
      '60 seconds',
      'tail',
      'diagnostic',
      'AlreadyFinished',
      'do not use that shell again',
    ])
      expect(words).toContain(duty);
  });

  it('SHL7 a command goes to the daemon with everything it needs, and who asks', async () => {
    daemon.shells.page = {};
    const answer = await run(
      'make all',
      {
        result: 'Completed',
        reason: 'it ended with status 0',
        ended_by: 'system',
        shell: finishedRow({ command: 'make all' }),
        page: shellPage({ lines: ['one', 'two'] }),
      },
      { cwd: 'sub', label: 'the build', expected_duration_s: 12, timeout_s: 90, tty: true, run_in_background: false },
    );
    expect(answer.isError).toBe(false);
    expect(answer.data).toMatchObject({
      result: 'Completed',
      ended_by: 'system',
      shell_id: 'shell-1',
      status: 'completed',
      exit_code: 0,
      log: { lines: ['one', 'two'], cursor: '1:8', has_more: false },
      notices: [],
    });
    expect(answer.text).toContain('Completed: it ended with status 0\nshell-1 (make all): completed, exit 0, 5 s');
    expect(answer.text).toContain('\none\ntwo\n');
    const [asked] = daemon.shells.asked;
    const [wish] = wishes();
    expect(asked?.claim).toMatchObject({ pid: agent.pid, client: 'test-client 3.2.1', thread: null });
    expect(wish).toMatchObject({
      command: 'make all',
      cwd: `${place.dir}/sub`,
      label: 'the build',
      run_in_background: false,
      expected_duration_s: 12,
      timeout_s: 90,
      tty: true,
      env: { HOME: place.dir, AGTMUX_AGENT: 'mcp' },
    });
    expect(wish?.budget_ms).toBeGreaterThan(15_000);
    expect(wish?.budget_ms).toBeLessThanOrEqual(20_000);
    await run('make all', {});
    const [first, second] = wishes();
    expect(first?.call_id).toMatch(/^mcp-[0-9a-f]{24}$/);
    expect(second?.call_id).not.toBe(first?.call_id);
    expect(second).toMatchObject({ cwd: place.dir, label: null, timeout_s: null, tty: false });
  });

  it('SHL2 what is expected to outlast every wait is not waited for, unless that is asked for', async () => {
    for (const args of [{ expected_duration_s: 300 }, { expected_duration_s: 5, run_in_background: true }]) {
      const { data } = await agent.call('shell_run', { command: 'make all', ...args });
      expect(data).toMatchObject({ result: 'Started', status: 'running' });
      expect(wishes().at(-1)).toMatchObject({ ...args, run_in_background: true });
    }
    for (const args of [{ expected_duration_s: 60 }, { expected_duration_s: 300, run_in_background: false }]) {
      await run('make all', {}, args);
      expect(wishes().at(-1)).toMatchObject({ ...args, run_in_background: false });
    }
  });

  it('every result there is comes through whole, with its author, and refusals as such', async () => {
    await agent.tools();
    for (const result of shellResults) {
      const isRefusal = ['Refused', 'NotFound', 'KillFailed', 'ResumeUnavailable'].includes(result);
      daemon.shells.told = { result, reason: `because ${result}`, ended_by: 'user', shell: finishedRow() };
      daemon.shells.put(finishedRow());
      for (const tool of ['shell_kill', 'shell_resume']) {
        const answer = await agent.call(tool, { shell_id: 'shell-1' });
        expect(answer.data).toMatchObject({ result, reason: `because ${result}`, ended_by: 'user' });
        expect([answer.isError, answer.text.startsWith(`${result}: because ${result}`)]).toEqual([isRefusal, true]);
        if (result.startsWith('AlreadyFinished'))
          expect(answer.data.next).toContain('shell_summary and forget shell-1');
      }
    }
    daemon.shells.told = { result: 'Refused', failure: failure('E_ROLE', 'not yours'), reason: 'not yours' };
    expect((await agent.call('shell_kill', { shell_id: 'shell-1' })).data).toMatchObject({ code: 'E_ROLE' });
    daemon.shells.told = {};
    const started = await agent.call('shell_run', { command: 'sleep 9', run_in_background: true });
    expect(started.data).toMatchObject({ result: 'Started', status: 'running', shell_id: 'shell-1' });
    expect(started.data.next).toContain('shell_log');
  });

  it('a summary holds what was asked for, the newest first, and not without end', async () => {
    for (let count = 1; count <= 60; count += 1)
      daemon.shells.put(shellRow({ shell_id: `shell-${count}`, owner: mine(), started_at: 900_000 + count }));
    daemon.shells.put(finishedRow({ shell_id: 'shell-61', owner: mine() }));
    daemon.shells.put(shellRow({ shell_id: 'shell-62', label: 'not mine' }));
    const some = await agent.call('shell_summary');
    expect(some.data).toMatchObject({ result: 'Summary', more: 10 });
    expect(idsOf(some.data.shells).slice(0, 2)).toEqual(['shell-60', 'shell-59']);
    expect(idsOf(some.data.shells)).toHaveLength(50);
    const all = await agent.call('shell_summary', { completed: true, failed: true });
    expect(idsOf(all.data.shells)).toContain('shell-61');
    expect(all.text).not.toContain('not mine');
  });

  const mine = () => ({ ...shellRow().owner, key: `pid:${agent.pid}` });
  const idsOf = (shells: unknown): readonly string[] =>
    (shells as readonly { shell_id: string }[]).map(({ shell_id }) => shell_id);

  it('SHL5 a log is asked for as the model says, and bad cursors and unknown shells get a reason', async () => {
    daemon.shells.put(shellRow());
    daemon.shells.page = { lines: ['a'], cursor: '1:2', has_more: true, diagnosis: 'it runs' };
    const page = await agent.call('shell_log', { shell_id: 'shell-1', mode: 'body', cursor: '1:0', lines: 5 });
    expect(page.data).toMatchObject({
      result: 'Page',
      shell_id: 'shell-1',
      diagnosis: 'it runs',
      log: { lines: ['a'], cursor: '1:2', has_more: true },
    });
    expect(daemon.shells.asked.at(-1)?.value).toMatchObject({ mode: 'body', cursor: '1:0', lines: 5 });
    await agent.call('shell_log', { shell_id: 'shell-1' });
    expect(daemon.shells.asked.at(-1)?.value).toMatchObject({ mode: 'tail', cursor: null, lines: null });
    const bad = await agent.call('shell_log', { shell_id: 'shell-1', cursor: 'nonsense' });
    expect(bad).toMatchObject({ isError: true, data: { result: 'Refused', code: 'E_INPUT', log: null } });
    for (const tool of ['shell_log', 'shell_kill', 'shell_resume']) {
      const missing = await agent.call(tool, { shell_id: 'shell-99/../x' });
      expect(missing).toMatchObject({ isError: true, data: { result: 'NotFound', code: 'E_REF_NOT_FOUND' } });
    }
  });

  it('arguments that do not fit are answered with what is wrong; nulls and strangers among them do no harm', async () => {
    const wrong = await agent.call('shell_run', { command: '', lines: 3 });
    expect(wrong).toMatchObject({ isError: true, data: { result: 'Refused', code: 'E_INPUT' } });
    expect(wrong.data.reason).toContain('command');
    expect(wrong.data.next).toContain('run_in_background');
    expect((await agent.call('shell_log', { shell_id: 'shell-1', lines: 121 })).data.reason).toContain('lines');
    expect((await agent.call('shell_kill')).data.reason).toContain('shell_id');
    expect(daemon.shells.asked).toEqual([]);
    const fine = await run('ls', {}, { label: null, cwd: null, timeout_s: null, wait_for_previous: true });
    expect(fine.data.result).toBe('Completed');
    await expect(agent.call('shell_approve')).rejects.toThrow(/shell_approve/);
  });

  it('SHL7 what happened is told once, with whatever tool is called next', async () => {
    daemon.shells.put(shellRow());
    const ref = daemon.put({ pane: 1, agent: 'claude', state: 'idle' }).ref;
    const calls: readonly [string, Record<string, unknown>][] = [
      ['shell_summary', {}],
      ['shell_log', { shell_id: 'shell-1' }],
      ['shell_kill', { shell_id: 'shell-1' }],
      ['shell_resume', { shell_id: 'shell-1' }],
      ['agents_list', {}],
      ['agent_explain', { agent: ref }],
      ['agent_wait', { agent: ref, states: ['idle'] }],
      ['agent_send', { agent: ref, text: 'hello' }],
      ['shell_log', { shell_id: 'nobody' }],
      ['shell_kill', {}],
    ];
    for (const [tool, args] of calls) {
      put({ words: `the user killed it before ${tool}` });
      const { data, text } = await agent.call(tool, args);
      const notice = { shell_id: 'shell-1', kind: 'killed', by: 'user', words: `the user killed it before ${tool}` };
      expect(data.notices, tool).toMatchObject([notice]);
      expect(text).toContain(`Notice: the user killed it before ${tool}`);
      expect((await agent.call('shell_summary')).data.notices, tool).toEqual([]);
    }
    put();
    expect((await run('true', {})).data.notices).toHaveLength(1);
  });

  it('who wants to hear of progress does, in steps that only grow', async () => {
    await agent.close();
    agent = await place.agent({ generation, args: ['--budget-s', '2'] });
    const heard: { progress: number; total?: number | undefined }[] = [];
    const answer = agent.call('shell_run', { command: 'slow' }, { onprogress: (one) => heard.push(one) });
    await until(() => heard.length >= 3);
    daemon.shells.answer('slow');
    await answer;
    const steps = heard.map(({ progress }) => progress);
    expect(steps).toEqual([...new Set(steps)].sort((one, other) => one - other));
    expect(heard[0]?.total).toBe(2);
  });

  it('a cancelled call ends the request, and takes nothing that was to be told', async () => {
    const gone = new AbortController();
    const call = agent.call('shell_run', { command: 'forever' }, { signal: gone.signal });
    const over = expect(call).rejects.toThrow();
    await until(() => daemon.shells.isWaiting('forever'));
    put();
    gone.abort();
    await over;
    await until(() => daemon.shells.cancelled === 1);
    expect((await agent.call('shell_summary')).data.notices).toHaveLength(1);
    expect((await agent.call('shell_summary')).data.notices).toEqual([]);
  });

  it('Codex is known by the thread of each call', async () => {
    await agent.call('shell_summary', {}, { meta: { threadId: 't-1' } });
    await agent.call('shell_kill', { shell_id: 'x' }, { meta: { 'x-codex-turn-metadata': { thread_id: 't-2' } } });
    await agent.call('shell_kill', { shell_id: 'x' }, { meta: { threadId: 'x'.repeat(300) } });
    const threads = daemon.shells.asked.map(({ claim }) => claim.thread);
    expect(threads).toEqual(['t-2', null]);
  });

  it('two clients at once get their own answers', async () => {
    const other = await place.agent({ generation });
    const calls = [agent, other].map((one, number) => one.call('shell_run', { command: `sleep ${number}` }));
    await until(() => daemon.shells.isWaiting('sleep 0') && daemon.shells.isWaiting('sleep 1'));
    daemon.shells.answer('sleep 1', { reason: 'second' });
    daemon.shells.answer('sleep 0', { reason: 'first' });
    expect((await Promise.all(calls)).map(({ data }) => data.reason)).toEqual(['first', 'second']);
    const askers = daemon.shells.asked.map(({ value, claim }) => [(value as ShellRequest).command, claim.pid]);
    expect(Object.fromEntries(askers)).toEqual({ 'sleep 0': agent.pid, 'sleep 1': other.pid });
  });

  it('several commands of one client run side by side', async () => {
    const commands = ['a', 'b', 'c', 'd'];
    const calls = commands.map((command) => agent.call('shell_run', { command }));
    await until(() => commands.every((command) => daemon.shells.isWaiting(command)));
    for (const command of commands.toReversed()) daemon.shells.answer(command, { reason: command });
    expect((await Promise.all(calls)).map(({ data }) => data.reason)).toEqual(commands);
  });
});
