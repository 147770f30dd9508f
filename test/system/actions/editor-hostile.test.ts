// An agent that has read the code and stolen the key of an editor, the worst that can be, and tries to act with it: 40 ways to start
// a program, to lie and to read. What passes is what SECURITY.md names, and each of those is shown to pass, so that it stays true.

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ActingWorld } from '../../kit/acting.ts';
import { type HostAsk, hostAsking } from '../../kit/editor-host.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import { cliProgram } from '../../kit/self-tries.ts';

let world: ActingWorld;
let agent: LookAlike;
let key: string;

const bare = 'env -i PATH="$PATH" HOME="$HOME"';

/** In a shell of a person's, until it has ended. */
async function typed(line: string): Promise<string> {
  const pane = world.tmux('new-window', '-d', '-t', 'work:', '-c', world.dir, '-P', '-F', '#{pane_id}');
  const out = join(world.dir, `typed-${Math.random().toString(36).slice(2)}`);
  world.tmux('send-keys', '-t', pane, '-l', `${line} >${out} 2>&1; echo "status $?" >>${out}`);
  world.tmux('send-keys', '-t', pane, 'Enter');
  const read = (): string => {
    try {
      return readFileSync(out, 'utf8');
    } catch {
      return '';
    }
  };
  await until(() => /status \d+\n$/.test(read()));
  return read();
}

const codeFor = async (): Promise<string> =>
  /^\w{5}-\w{5}$/m.exec(await typed(`${process.execPath} ${cliProgram} editor pair`))?.[0] ?? '';
const pairing = (code: string): HostAsk => ({ method: 'POST', path: '/v1/editors', body: { code, name: 'VS Code' } });

beforeAll(async () => {
  world = new ActingWorld();
  rmSync(join(world.dir, 'home/.config/agtmux/policy.toml'));
  await world.startDaemon();
  agent = LookAlike.start(world, 'claude', 'work');
  await act(agent, 'waiting_approval');
  await world.becomes(agent, /waiting_approval/);
  const { argv, replies } = hostAsking(world, [pairing(await codeFor())]);
  await typed(`setsid -f sh -c '${argv.join(' ')}; :'`);
  key = String((await replies())[0]?.body.key);
  expect(key).toMatch(/^[0-9a-f]{8}\.[0-9a-f]{64}$/);
});
afterAll(async () => world.close());

const approve = (): HostAsk => ({
  method: 'POST',
  path: '/v1/act',
  body: { action: 'approve', ref: agent.pane, any_ask: true, conditions: { if_state: ['error'] } },
  key,
});

/** How its tool starts a program; what it starts has the stolen key. */
const starts: readonly (readonly [name: string, line: (command: string) => string])[] = [
  ['as it is', (c) => c],
  ['with an empty environment', (c) => `env -i ${c}`],
  ['without its own marks', (c) => `env -u CLAUDECODE -u CLAUDE_CODE_ENTRYPOINT ${c}`],
  ['in a session of its own', (c) => `setsid -w ${c}`],
  ['detached', (c) => `setsid -f ${c}`],
  ['detached, with an empty environment', (c) => `setsid -f env -i ${c}`],
  ['behind nohup', (c) => `nohup ${c}`],
  ['in the background', (c) => `sh -c '${c} & wait'`],
  ['in a subshell that leaves', (c) => `(${bare} setsid ${c} &)`],
  ['by exec', (c) => `exec ${c}`],
  ['under the name of the editor', (c) => `sh -c 'exec -a code ${c}' || bash -c 'exec -a code ${c}'`],
  ['in a terminal of its own', (c) => `script -qfc '${c}' /dev/null`],
  ['in a terminal of its own, detached', (c) => `setsid -f script -qfc '${c}' /dev/null`],
  ['behind timeout', (c) => `timeout 60 ${c}`],
  ['behind nice', (c) => `nice ${c}`],
  ['by xargs', (c) => `echo x | xargs -I{} ${c}`],
  ['by find', (c) => `find / -maxdepth 0 -exec ${c} \\;`],
  ['by make', (c) => `printf 'x:\\n\\t@${c}\\n' | make -sf -`],
  ['by awk', (c) => `awk 'BEGIN { system("${c}") }'`],
  ['by perl', (c) => `perl -e 'system(@ARGV)' ${c}`],
  ['by a tmux command', (c) => `tmux run-shell -b '${c}'`],
  ['in a window of tmux with a command', (c) => `tmux new-window -d '${c}'`],
  ['in a window of tmux with an empty environment', (c) => `tmux new-window -d 'env -i ${c}'`],
  ['in a popup of nobody', (c) => `tmux split-window -d '${bare} ${c}'`],
  ['by a hook of tmux', (c) => `tmux set-hook -g window-renamed 'run-shell -b "${c}"'; tmux rename-window -t work: x`],
  ['by a pane that pipes', (c) => `tmux pipe-pane -t work: '${c}'; tmux display-message -p x; tmux pipe-pane -t work:`],
  ['on a tmux server of its own', (c) => `tmux -L own -f /dev/null new-session -d '${c}'`],
  ['by a background shell of agtmux', (c) => `${process.execPath} ${cliProgram} shell list; ${c}`],
];

async function tried(line: (command: string) => string, ask: HostAsk): Promise<string> {
  const { argv, replies } = hostAsking(world, [ask]);
  await agent.call([{ argv: ['sh', '-c', line(argv.join(' '))], input: '' }]);
  const [reply] = await replies();
  return reply?.body.error?.code ?? reply?.body.failure?.code ?? String(reply?.body.outcome);
}

describe('an agent with the key of an editor', () => {
  it.each(starts)('EDI3 gains nothing by a program that it starts %s', async (_, line) => {
    expect(await tried(line, approve())).toBe('E_ROLE');
  });

  it('EDI1 EDI3 gains nothing by a code that it reads, asks for or guesses, nor by another header', async () => {
    const plain = (command: string): string => command;
    expect(await tried(plain, pairing(await codeFor()))).toBe('E_ROLE');
    expect(await tried(plain, { method: 'POST', path: '/v1/editors/codes', body: {}, key })).toBe('E_ROLE');
    expect(await tried(plain, { method: 'DELETE', path: '/v1/editors/VS%20Code', key })).toBe('E_ROLE');
    expect(await tried(plain, { ...approve(), key: `${key.slice(0, 9)}${'0'.repeat(64)}` })).toBe('E_SIGNED_OUT');
    expect(await tried(plain, { ...approve(), key: key.toUpperCase() })).toBe('E_SIGNED_OUT');
    // Without a process, and with one that is gone.
    for (const pid of [undefined, '999999', '1', '0']) {
      const headers = [`agtmux-editor-key: ${key}`, ...(pid === undefined ? [] : [`agtmux-caller-pid: ${pid}`])];
      const body = JSON.stringify(approve().body);
      writeFileSync(join(world.dir, 'body.json'), body);
      const said = await typed(
        `curl -s --unix-socket ${world.stateDir}/run/agtmux.sock ${headers.map((one) => `-H '${one}'`).join(' ')} -H 'content-type: application/json' -d @body.json http://localhost/v1/act`,
      );
      expect([pid, /"code":"(E_\w+)"/.exec(said)?.[1]]).toEqual([pid, expect.stringMatching(/^E_(ROLE|INPUT)$/)]);
    }
  });

  it('EDI1 finds the key in no file of agtmux, no list, no log, no row of the audit and no environment', async () => {
    const secret = key.slice(9);
    const files = readdirSync(world.stateDir, { recursive: true, encoding: 'utf8' }).map((name) =>
      join(world.stateDir, name),
    );
    for (const path of files.filter((one) => statSync(one).isFile())) {
      expect([path, readFileSync(path).includes(secret)]).toEqual([path, false]);
    }
    for (const path of ['/v1/editors', '/v1/status', '/v1/audit?count=100', '/v1/panes?all_panes']) {
      expect(await world.client.getText(path as never)).not.toContain(secret);
    }
    const daemon = readFileSync(`/proc/${world.daemonPid}/environ`).toString();
    expect(daemon).not.toContain(secret);
  });

  it('SECURITY.md names what passes: below a program that passes for an editor', async () => {
    const passes = (command: string): string => `setsid -f env -i sh -c '${command}; :'`;
    expect(await tried(passes, approve())).not.toBe('E_ROLE');
    expect(agent.typed()).toBe('');
  });
});
