// `agtmux shell` as a person or a script uses it: what is asked of the daemon, what is printed, and how it ends.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { failure } from '../../src/model/errors.ts';
import { limits } from '../../src/model/limits.ts';
import { until } from '../kit/tmux-server.ts';
import { finishedRow, type shellPage, shellRow } from '../system/api/kit-shells.ts';
import { createStage, type Stage } from './kit-act.ts';

let stage: Stage;
let log: Stage['shells']['log'];

beforeAll(async () => {
  stage = await createStage();
  log = stage.shells.log;
  stage.world.tmux('new-session', '-d', '-s', 'ask', '-x', '140', '-y', '50', '/bin/sh');
});
afterAll(() => stage.end());

beforeEach(() => {
  for (const { shell_id } of stage.shells.list()) stage.shells.forget(shell_id);
  stage.shells.asked.length = 0;
  stage.shells.told = {};
  stage.shells.page = {};
  stage.shells.log = log;
  stage.shells.put(shellRow({ shell_id: 'shell-1', label: 'build', command: 'make -j8' }));
});

const run = (line: string) => stage.run(line.split(' '));
const lastAsked = () => stage.shells.asked.at(-1);

const screen = (): string => stage.world.tmux('capture-pane', '-p', '-J', '-t', 'ask');

/** A person at a terminal: answers the question when it is there, if there is one. */
async function typed(answer: string | null, ...args: string[]): Promise<string> {
  stage.world.tmux('send-keys', '-t', 'ask', '-R');
  stage.world.tmux('clear-history', '-t', 'ask');
  stage.world.tmux('send-keys', '-t', 'ask', `export PS1= ; ${stage.line(...args)}; echo over-$?`, 'Enter');
  if (answer !== null) {
    await until('it asks', () => screen().includes('[y/N]'));
    stage.world.tmux('send-keys', '-t', 'ask', answer, 'Enter');
  }
  await until('it is over', () => /^over-\d/m.test(screen()));
  return screen();
}

describe('agtmux shell list', () => {
  beforeEach(() => {
    stage.shells.put(finishedRow({ shell_id: 'shell-2', command: 'sleep 1' }));
    stage.shells.put(finishedRow({ shell_id: 'shell-3', status: 'failed', exit_code: 2, command: 'false' }));
  });

  const shown = async (line: string): Promise<readonly string[]> =>
    [...new Set([...(await run(line)).stdout.matchAll(/shell-\d/g)].map(String))].sort();

  it('shows what runs, and the others on request', async () => {
    expect(await shown('shell')).toEqual(['shell-1']);
    expect(await shown('shell list')).toEqual(['shell-1']);
    expect(await shown('shell list --completed')).toEqual(['shell-1', 'shell-2']);
    expect(await shown('shell list --failed')).toEqual(['shell-1', 'shell-3']);
    expect(await shown('shell list --all')).toEqual(['shell-1', 'shell-2', 'shell-3']);
  });

  it('FED3 --json is the document of the daemon', async () => {
    const ran = await run('shell list --all --json');
    expect(ran).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      schema_version: 1,
      filters: { completed: true, failed: true, owner: 'all' },
      summary: { running: 1, completed: 1, failed: 1 },
    });
  });

  it('takes no notices away from an agent that looks', async () => {
    await run('shell list --all --json');
    expect(stage.shells.asked).toEqual([]);
  });

  it('SEC3 what a command is called does nothing to the terminal', async () => {
    stage.shells.put(shellRow({ shell_id: 'shell-4', label: 'a\u001b[2Jb\nshell-9 running' }));
    const { stdout } = await run('shell list');
    expect(stdout).not.toContain('\u001b');
    expect(stdout.split('\n').filter((line) => line.includes('shell-9'))).toHaveLength(1);
    expect((await run('shell list --json')).stdout).not.toContain('\u001b');
  });
});

describe('agtmux shell kill, background and resume', () => {
  it('SHL7 say who asks and where, and print what became of it', async () => {
    for (const what of ['kill', 'background', 'resume']) {
      const ran = await run(`shell ${what} build${what === 'kill' ? ' --yes' : ''}`);
      expect(ran).toMatchObject({ status: 0, stdout: 'shell-1 it is\n', stderr: '' });
      expect(lastAsked()).toEqual({
        what,
        value: 'build',
        claim: { pid: ran.pid, client: null, thread: null, via: 'command line' },
      });
    }
  });

  it('--json is the answer of the daemon, refusals too', async () => {
    expect(JSON.parse((await run('shell kill shell-1 -y --json')).stdout)).toMatchObject({ result: 'Killed' });
    const ran = await run('shell kill shell-9 -y --json');
    expect(ran.status).toBe(3);
    expect(JSON.parse(ran.stdout)).toMatchObject({ result: 'NotFound', failure: { code: 'E_REF_NOT_FOUND' } });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'E_REF_NOT_FOUND' } });
  });

  it.each([
    ['E_REF_NOT_FOUND', 3],
    ['E_REF_AMBIGUOUS', 3],
    ['E_ENDED', 4],
    ['E_UNSUPPORTED', 11],
    ['E_ROLE', 12],
  ] as const)('a refusal ends with its code: %s is %i', async (code, status) => {
    stage.shells.told = { result: 'Refused', failure: failure(code, 'because\u001b[31m of that', 'do this') };
    const ran = await run('shell kill shell-1 --yes');
    expect(ran).toMatchObject({ status, stdout: '' });
    expect(ran.stderr).toMatch(new RegExp(`^agtmux: because.* of that; do this \\[${code}\\]\\n$`));
    expect(ran.stderr).not.toContain('\u001b');
  });

  it('SHL3 a kill that cannot be done says why', async () => {
    const reason = 'shell-1 runs on: not killed by user: its processes belong to another user (EPERM)';
    stage.shells.told = {
      result: 'KillFailed',
      reason,
      failure: failure('E_UNSUPPORTED', reason, 'end them yourself'),
    };
    const ran = await run('shell kill shell-1 --yes --json');
    expect(ran.status).toBe(11);
    expect(JSON.parse(ran.stdout)).toMatchObject({ result: 'KillFailed', reason });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'E_UNSUPPORTED', message: reason } });
  });

  it('SHL3 one that has not ended yet is told, with another status', async () => {
    stage.shells.told = { result: 'KillPending', reason: 'shell-1 has not ended yet' };
    expect(await run('shell kill shell-1 --yes')).toMatchObject({ status: 1, stdout: 'shell-1 has not ended yet\n' });
  });

  it('ACT5 without a terminal a kill needs --yes, and nothing is done', async () => {
    const ran = await run('shell kill shell-1');
    expect(ran).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/needs confirmation.*use --yes \[E_USAGE\]\n$/),
    });
    expect(stage.shells.asked).toEqual([]);
  });

  it('ACT5 at a terminal it shows what it would end and wants a y', async () => {
    const refused = await typed('n', 'shell', 'kill', 'build');
    expect(refused).toContain('Kill shell-1, build: make -j8 in /repo? [y/N]');
    expect(refused).toContain('it was not killed');
    expect(stage.shells.asked).toEqual([]);
    expect(await typed('y', 'shell', 'kill', 'build')).toContain('over-0');
    // The one that was shown, whoever has its label by then.
    expect(lastAsked()).toMatchObject({ what: 'kill', value: 'shell-1' });
  });
});

describe('agtmux shell log', () => {
  it('SHL5 prints a page: its end by default, or what is asked for', async () => {
    expect(await run('shell log build')).toMatchObject({ status: 0, stdout: 'one\ntwo\n', stderr: '' });
    expect(lastAsked()?.value).toEqual({ ref: 'build', mode: 'tail', cursor: null, lines: null });
    await run('shell log shell-1 --mode body --cursor 1:4096 -n 7');
    expect(lastAsked()?.value).toEqual({ ref: 'shell-1', mode: 'body', cursor: '1:4096', lines: 7 });
  });

  it('SHL5 says where the next page begins, what is missing, and how it ended', async () => {
    stage.shells.page = { has_more: true, truncated: true, cursor: '1:99' };
    const ran = await run('shell log shell-1 --mode body');
    expect(ran.stdout).toBe('one\ntwo\n');
    expect(ran.stderr).toContain('was dropped');
    expect(ran.stderr).toContain('--mode body --cursor 1:99');
    stage.shells.page = { is_capped: true, diagnosis: 'shell-1 failed (code 2)' };
    const diagnostic = await run('shell log shell-1 --mode diagnostic');
    expect(diagnostic.stdout).toBe('shell-1 failed (code 2)\none\ntwo\n');
    expect(diagnostic.stderr).toContain('its log is full');
  });

  it('marks it as seen when a person looks at it, and not when a program reads it', async () => {
    await run('shell log shell-1');
    expect(stage.shells.asked.map(({ what }) => what)).toEqual(['log']);
    expect(await typed(null, 'shell', 'log', 'shell-1')).toContain('two');
    expect(stage.shells.asked.map(({ what }) => what)).toEqual(['log', 'log', 'seen']);
  });

  it('SEC3 what it printed passes the gate', async () => {
    stage.shells.page = { lines: ['a\u001b]0;title\u0007b', 'c\u202ed'] };
    const { stdout } = await run('shell log shell-1');
    for (const bad of ['\u001b', '\u0007', '\u202e']) expect(stdout).not.toContain(bad);
    expect((await run('shell log shell-1 --json')).stdout).not.toContain('\u202e');
  });

  it.each([
    ['shell log shell-9', 3, 'E_REF_NOT_FOUND'],
    ['shell log shell-1 --cursor here', 2, 'E_INPUT'],
    ['shell log shell-1 --lines 0', 2, 'E_USAGE'],
    [`shell log shell-1 --lines ${limits.shellPageLinesMax + 1}`, 2, 'E_USAGE'],
    ['shell log shell-1 --mode all', 2, 'E_USAGE'],
    ['shell log', 2, 'E_USAGE'],
    ['shell fly', 2, 'E_USAGE'],
  ])('%s ends with %i %s', async (line, status, code) => {
    expect(await run(line)).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(`[${code}]`) });
  });

  /** What the small daemon answers, page after page; the last one again and again. */
  function pages(...told: Parameters<typeof shellPage>[0][]): void {
    stage.shells.log = async (ref, wish) => {
      stage.shells.page = (told.length > 1 ? told.shift() : told[0]) ?? {};
      return log(ref, wish);
    };
  }

  it('SHL5 --follow prints whole lines as they come, reads on from its place, and ends when it has ended', async () => {
    pages(
      { lines: ['a', 'half'], partial_line: true, cursor: '1:2' },
      { lines: ['half'], partial_line: true, cursor: '1:2' },
      { lines: ['half a line', 'b'], cursor: '1:16', has_more: true },
      { lines: ['c'], cursor: '1:18' },
      { lines: ['no newline'], partial_line: false, cursor: '1:28' },
      { lines: [], cursor: '1:28' },
    );
    const ran = run('shell log build --follow');
    await until('it is at the end', () =>
      stage.shells.asked.some(({ value }) => JSON.stringify(value).includes('1:18')),
    );
    stage.shells.put(finishedRow({ shell_id: 'shell-1', label: 'build', exit_code: 0 }));
    expect(await ran).toMatchObject({
      status: 0,
      stdout: 'a\nhalf a line\nb\nc\nno newline\n',
      stderr: 'agtmux: shell-1 completed with status 0\n',
    });
    const cursors = stage.shells.asked.map(({ value }) => (value as { cursor: string | null }).cursor);
    expect(cursors.slice(0, 4)).toEqual([null, '1:2', '1:2', '1:16']);
  });
});

describe('what else tells of shells', () => {
  it('status shows what runs, and how long agents waited', async () => {
    const { stdout } = await run('status');
    expect(stdout).toMatch(/^shells +1 running, answered in 13 ms \(p50\), 900 ms at most, of 3$/m);
    const { daemon } = JSON.parse((await run('status --json')).stdout);
    expect(daemon.shells).toEqual({ running: 1, run_to_answer: { count: 3, p50_ms: 12.5, max_ms: 900 } });
  });

  it('watch --scope shells tells rows and what happened, in order and once', async () => {
    const watching = stage.world.start('watch', '--scope', 'shells', '--format', 'jsonl');
    const lines = () => watching.lines.map((line) => JSON.parse(line));
    await until('it has begun', () => watching.lines.length === 1);
    expect(lines()[0]).toMatchObject({ type: 'present', key: 'shell:shell-1', item: { status: 'running' } });
    stage.shells.happen('terminate', finishedRow({ ended_by: 'user', exit_code: 143, status: 'failed' }));
    stage.shells.forget('shell-1');
    await until('it is told', () => watching.lines.length === 4);
    expect(lines().slice(1)).toMatchObject([
      { type: 'changed', key: 'shell:shell-1', item: { status: 'failed' } },
      { type: 'event', key: 'shell:shell-1', item: { kind: 'terminate', ended_by: 'user', exit_code: 143 } },
      { type: 'gone', key: 'shell:shell-1', item: null },
    ]);
    const versions = lines().map(({ version }) => version);
    expect(versions).toEqual([...versions].sort((one, other) => one - other));
    watching.signal('SIGINT');
    expect(await watching.ended).toMatchObject({ status: 0, stderr: '' });
  });

  it('watch shows what happened below its table', async () => {
    stage.daemon.put({ id: 1, state: 'idle' });
    const watching = stage.world.start('watch');
    await until('it has begun', () => watching.lines.some((line) => line.includes('claude')));
    stage.shells.happen('terminate', finishedRow({ ended_by: 'user', exit_code: 143, status: 'failed' }));
    await until('it is told', () => watching.lines.some((line) => line.includes('shell-1 ended with status 143')));
    expect(watching.lines.join('\n')).toContain('killed by the user');
    watching.signal('SIGINT');
    await watching.ended;
  });

  it('watch --scope shells shows the table, and takes no filters of agents', async () => {
    const table = await run('watch --scope shells --once');
    expect(table.stdout).toContain('shell-1');
    const wrong = await run('watch --scope shells --once --agent claude');
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('--agent filters agents') });
  });

  it('help has examples, and completions know the commands', async () => {
    const help = (await run('help shell')).stdout;
    for (const word of ['list', 'log', 'kill', 'background', 'resume', 'Examples:']) expect(help).toContain(word);
    expect((await run('shell log --help')).stdout).toContain('--cursor <attempt:offset>');
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await run(`completions ${shell}`);
      expect(stdout).toContain('diagnostic');
      expect(stdout).toContain('shell background');
    }
  });
});
