import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The program as a user runs it from a checkout. */
function agtmux(args: readonly string[], stdin = '') {
  const { status, stdout, stderr } = spawnSync(`${root}/agtmux`, args, { cwd: root, input: stdin, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('agtmux replay', () => {
  it('CNV1 shows the states that follow from the example day', () => {
    const { status, stdout } = agtmux(['replay', 'docs/examples/first-day.jsonl']);
    expect(status).toBe(0);
    expect(stdout.split('\n').slice(0, 6)).toEqual([
      'STATE        AGENT   WHAT                          AGE  WHERE    ROUTE',
      '▲ approve    claude  Bash: rm -rf build            3m   host/%1  ·',
      '? answer     codex   Which database should I use?  22s  vm1/%2   ·',
      '✕ error      gemini  usage limit, resets 19:30     8m   vm1/%0   ·',
      '● running    claude  editing guide.md  +1 agent    12s  host/%4  ·',
      '‖ suspended  codex   was idle                      12m  host/%9  →',
    ]);
    expect(stdout).toContain('25 events: 21 applied, 1 duplicate, 1 late, 2 refused');
  });

  it('ADM2 tells what became of every line, bad ones too', () => {
    const { status, stdout } = agtmux(['replay', '-', '--verdicts'], '{"source":\n\n# comment\n{}\n');
    expect(status).toBe(0);
    expect(stdout).toMatch(/ 1 {2}refused {4}malformed/);
    expect(stdout).toMatch(/ 4 {2}refused {4}malformed: source/);
    expect(stdout).toContain('2 events: 2 refused');
  });

  it('SEC3 escape sequences in events reach no terminal', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2Jhello';
    const runtime = {
      runtime_id: 'r',
      target: 'host',
      agent: 'claude',
      server: 's',
      pane: '%1',
      pane_epoch: 0,
      process: null,
      parent: null,
      started_at: 5,
    };
    const lines = [
      { evidence: { target: 'host' }, source: 'process', kind: 'runtime.started', event_time: 5, payload: { runtime } },
      {
        evidence: { target: 'host', runtime_id: 'r' },
        source: 'hook',
        kind: 'state.observed',
        event_time: 6,
        payload: { state: 'running', reason: 'tool_running', confidence: 'high', detail: evil },
      },
    ];
    const { stdout } = agtmux(['replay', '-'], lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(stdout).toContain('hello');
    expect(stdout).not.toContain('\u001b');
  });

  it('FED3 --json is one object with a schema version', () => {
    const { stdout } = agtmux(['replay', '--json', 'docs/examples/first-day.jsonl']);
    const parsed = JSON.parse(stdout);
    expect(parsed).toMatchObject({ schema_version: 1, taken: 25, verdicts: { applied: 21 } });
    expect(parsed.items).toHaveLength(5);
  });
});

describe('what goes wrong', () => {
  it.each([
    [['fly'], 2, 'E_USAGE'],
    [['replay'], 2, 'E_USAGE'],
    [['replay', 'a', 'b'], 2, 'E_USAGE'],
    [['replay', '--wrong'], 2, 'E_USAGE'],
    [['replay', '/no/such/file'], 2, 'E_FILE'],
  ])('%j ends with one line, a code and exit status %i', (args, status, code) => {
    const result = agtmux(args);
    expect(result.status).toBe(status);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
    expect(result.stderr).toContain(`[${code}]`);
    expect(result.stdout).toBe('');
  });

  it('help and version need nothing', () => {
    expect(agtmux(['--help']).stdout).toContain('Usage: agtmux <command>');
    expect(agtmux([]).stdout).toContain('Usage: agtmux <command>');
    expect(agtmux(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+(?:\+[0-9a-f]+(?:\.\w+)?)?\n$/);
  });
});
