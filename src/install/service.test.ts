import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../agents/registry.ts';
import type { Result } from '../model/errors.ts';
import { targetId } from '../model/ids.ts';
import { createRealChannels } from '../platform/channel.ts';
import { createRealClock } from '../platform/clock.ts';
import { createRealExec } from '../platform/exec.ts';
import { createRealRandom } from '../platform/random.ts';
import type { HookOutcome, HookPlanRequest } from '../server/service-hooks.ts';
import type { Executor } from '../targets/executor.ts';
import { createLocalExecutor } from '../targets/local.ts';
import { Hooks } from './service.ts';

const clock = createRealClock();
const user =
  '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "say" }] }]\n  }\n}\n';

let home: string;
let hooks: Hooks;
let program: string;
const at = (below: string): string => join(home, below);
const put = (below: string, text: string): void => {
  mkdirSync(dirname(at(below)), { recursive: true });
  writeFileSync(at(below), text);
};
const textOf = (below: string): string => readFileSync(at(below), 'utf8');
/** Every file outside agtmux's own state, with its content. */
const snapshot = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => !`${join(entry.parentPath, entry.name)}/`.startsWith(at('.local/')))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path, entry.isFile() ? readFileSync(path, 'utf8') : 'no file'] as const;
      }),
  );

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "agtmux hook's home-"));
  program = '#!/bin/sh\nexit 0\n';
});
afterEach(() => {
  if (existsSync(at('.claude'))) chmodSync(at('.claude'), 0o700);
  rmSync(home, { recursive: true, force: true });
});

function start(kind: 'local' | 'ssh'): void {
  mkdirSync(at('bin'));
  // Agents of whoever runs this are not to be found.
  const variables = { PATH: `${at('bin')}:/usr/bin:/bin`, HOME: home };
  const parts = { exec: createRealExec(clock), channels: createRealChannels(clock), variables };
  const near = createLocalExecutor({ target: targetId('vm1'), ...parts });
  const executor: Executor = { ...near, kind };
  hooks = new Hooks({
    agents: () => agents,
    here: { home, platform: 'linux', uid: 1000, stateDir: at('.local/state/agtmux') },
    executorOf: (name) => (name === 'vm1' ? executor : null),
    program: async () => program,
    random: createRealRandom(),
    clock,
  });
}

const request = (action: HookPlanRequest['action'], ...names: string[]): HookPlanRequest => ({
  action,
  target: 'vm1',
  agents: names,
  env: {},
  extras: [],
});

function must<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`${result.failure.code}: ${result.failure.message}`);
  return result.value;
}

async function run(action: HookPlanRequest['action'], ...names: string[]): Promise<HookOutcome> {
  const wanted = request(action, ...names);
  const { digest } = must(await hooks.plan(wanted));
  return must(await hooks.apply({ ...wanted, digest, trust: false }));
}

const stateOf = async (name: string) =>
  must(await hooks.status(request('install', name))).agents.map(({ state }) => state)[0];

describe.each(['local', 'ssh'] as const)('hooks on a machine that is %s', (kind) => {
  beforeEach(() => start(kind));

  it('are put in, seen, and taken out again without a trace in what the user has', async () => {
    put('.claude/settings.json', user);
    chmodSync(at('.claude/settings.json'), 0o644);
    for (const folder of ['.gemini', '.copilot', '.codex', '.config/opencode'])
      mkdirSync(at(folder), { recursive: true });
    const before = snapshot();
    const { written } = await run('install');
    expect(written).toContain(at('.claude/settings.json'));
    expect(textOf('.claude/settings.json.agtmux-backup')).toBe(user);
    expect(statSync(at('.claude/settings.json')).mode & 0o777).toBe(0o644);
    expect(textOf('.local/state/agtmux/bin/agtmux-hook')).toBe(program);
    expect(statSync(at('.local/state/agtmux/bin/agtmux-hook')).mode & 0o777).toBe(0o755);
    expect(statSync(at('.local/state/agtmux/spool')).mode & 0o777).toBe(0o700);
    const status = must(await hooks.status(request('install')));
    expect(status.program.state).toBe('current');
    expect(Object.fromEntries(status.agents.map((one) => [one.agent, one.state]))).toMatchObject({
      claude: 'installed',
      codex: 'installed',
      copilot: 'installed',
      gemini: 'installed',
      opencode: 'installed',
      kilo: 'absent',
    });
    // A quote in the path of the home directory is one for sh, too.
    expect(textOf('.claude/settings.json')).toContain(`"'${home.replaceAll("'", "'\\\\''")}/.local/state`);
    const during = snapshot();
    expect(must(await hooks.plan(request('install'))).edits).toEqual([]);
    expect(await run('install')).toMatchObject({ written: [], removed: [] });
    expect(snapshot()).toEqual(during);
    await run('remove');
    expect(snapshot()).toEqual(before);
    expect(must(await hooks.plan(request('remove'))).edits).toEqual([]);
  });

  it('an agent that is not used there is left out unless it is named', async () => {
    put('.claude/settings.json', user);
    const plan = must(await hooks.plan(request('install')));
    expect(plan.agents).toEqual(['claude']);
    expect(plan.unused).toContain('gemini');
    await run('install', 'gemini');
    expect(await stateOf('gemini')).toBe('installed');
    expect(readdirSync(home)).toContain('.gemini');
    await run('remove', 'gemini');
    // The folder came with us and goes with us.
    expect(readdirSync(home)).not.toContain('.gemini');
  });

  it('a file that was changed after the plan is not touched', async () => {
    put('.claude/settings.json', user);
    const wanted = request('install', 'claude');
    const { digest } = must(await hooks.plan(wanted));
    const other = user.replace('opus', 'other');
    put('.claude/settings.json', other);
    const refused = await hooks.apply({ ...wanted, digest, trust: false });
    expect(refused).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
    expect(textOf('.claude/settings.json')).toBe(other);
    expect(existsSync(at('.local/state/agtmux/bin/agtmux-hook'))).toBe(false);
  });

  it('two at once do it once', async () => {
    put('.claude/settings.json', user);
    const wanted = request('install', 'claude');
    const { digest } = must(await hooks.plan(wanted));
    const both = await Promise.all([1, 2].map(() => hooks.apply({ ...wanted, digest, trust: false })));
    expect(both.map((one) => must(one).written.length > 0)).toEqual([true, false]);
    const { hooks: held } = JSON.parse(textOf('.claude/settings.json')) as { hooks: Record<string, unknown[]> };
    expect(held.Stop).toHaveLength(2);
    expect(held.SessionStart).toHaveLength(1);
    await run('remove', 'claude');
    expect(textOf('.claude/settings.json')).toBe(user);
  });

  it('a dotfile that is a link stays one, and its real file is changed', async () => {
    put('dotfiles/claude.json', user);
    mkdirSync(at('.claude'));
    symlinkSync('../dotfiles/claude.json', at('.claude/settings.json'));
    await run('install', 'claude');
    expect(lstatSync(at('.claude/settings.json')).isSymbolicLink()).toBe(true);
    expect(textOf('dotfiles/claude.json')).toContain('agtmux-hook');
    // A copy in the user's repository would be in the way.
    expect(readdirSync(at('dotfiles'))).toEqual(['claude.json']);
    await run('remove', 'claude');
    expect(textOf('dotfiles/claude.json')).toBe(user);
    expect(readdirSync(at('.claude'))).toEqual(['settings.json']);
    unlinkSync(at('dotfiles/claude.json'));
    expect(await hooks.plan(request('install', 'claude'))).toMatchObject({ ok: false, failure: { code: 'E_HOOKS' } });
  });

  it('a broken file is refused with its line, and nothing is written anywhere', async () => {
    put('.claude/settings.json', '{\n  "hooks": {,}\n}\n');
    mkdirSync(at('.codex'));
    const before = snapshot();
    const refused = await hooks.plan(request('install'));
    expect(refused).toMatchObject({ ok: false, failure: { code: 'E_HOOKS' } });
    expect(refused).toMatchObject({ failure: { message: expect.stringContaining('settings.json, line 2: ') } });
    expect(snapshot()).toEqual(before);
    const status = must(await hooks.status(request('install', 'claude')));
    expect(status.agents[0]).toMatchObject({
      state: 'broken',
      files: [{ problem: expect.stringContaining('line 2') }],
    });
  });

  it('a read-only file or folder is refused before anything is written', async () => {
    put('.claude/settings.json', user);
    chmodSync(at('.claude/settings.json'), 0o444);
    expect(await hooks.plan(request('install'))).toMatchObject({ ok: false, failure: { code: 'E_FILE' } });
    chmodSync(at('.claude/settings.json'), 0o644);
    chmodSync(at('.claude'), 0o555);
    expect(await hooks.plan(request('install'))).toMatchObject({ ok: false, failure: { code: 'E_FILE' } });
    expect(textOf('.claude/settings.json')).toBe(user);
  });

  it('what the user changed since stays, and so does the copy from before', async () => {
    put('.claude/settings.json', user);
    await run('install', 'claude');
    put('.claude/settings.json', textOf('.claude/settings.json').replace('opus', 'other'));
    const { notes } = await run('remove', 'claude');
    expect(notes.join()).toContain('was changed since');
    expect(textOf('.claude/settings.json')).toBe(user.replace('opus', 'other'));
    expect(textOf('.claude/settings.json.agtmux-backup')).toBe(user);
    // The next install keeps the newest file without our entries.
    await run('install', 'claude');
    expect(textOf('.claude/settings.json.agtmux-backup')).toBe(user.replace('opus', 'other'));
  });

  it('a program of another version is told and renewed', async () => {
    mkdirSync(at('.copilot'));
    await run('install');
    program = '#!/bin/sh\n# newer\n';
    expect(must(await hooks.status(request('install'))).program.state).toBe('other');
    expect((await run('install')).written).toEqual([at('.local/state/agtmux/bin/agtmux-hook')]);
    expect(must(await hooks.status(request('install'))).program.state).toBe('current');
  });

  it('notify is installed front of the user only when it is named, and goes without being named', async () => {
    const config = '# mine\nnotify = ["say", "done"]\n\n[tui]\ntheme = "x"\n';
    put('.codex/config.toml', config);
    await run('install', 'codex');
    expect(textOf('.codex/config.toml')).toBe(config);
    const wanted = { ...request('install', 'codex'), extras: ['notify'] };
    const { digest } = must(await hooks.plan(wanted));
    must(await hooks.apply({ ...wanted, digest, trust: false }));
    expect(textOf('.codex/config.toml')).toContain('"agtmux-notify", "say", "done"]');
    expect(must(await hooks.status(request('install', 'codex'))).agents[0]?.notes).toEqual(['notify is installed']);
    await run('remove', 'codex');
    expect(textOf('.codex/config.toml')).toBe(config);
    expect(readdirSync(at('.codex'))).toEqual(['config.toml']);
  });

  it('trust is told to the program of the agent, and one that fails is no disaster', async () => {
    mkdirSync(at('.codex'));
    const wanted = request('install', 'codex');
    const apply = async (script: string): Promise<HookOutcome['trust']> => {
      writeFileSync(at('bin/codex'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const { digest } = must(await hooks.plan(wanted));
      return must(await hooks.apply({ ...wanted, digest, trust: true })).trust;
    };
    const told = { agent: 'codex', trusted: 0, problem: expect.stringContaining('could not be reached') };
    expect(await apply('exit 3')).toEqual([told]);
    expect(await stateOf('codex')).toBe('installed');
    const listed = { key: 'k', command: `${home}/.local/state/agtmux/bin/agtmux-hook codex Stop`, currentHash: 'h' };
    writeFileSync(at('listed'), `${JSON.stringify({ id: 2, result: { data: [{ hooks: [listed] }] } })}\n`);
    const talk = `echo "$CODEX_HOME $*" >"$HOME/said"; read -r one; echo '{"id":1,"result":{}}'
read -r two; read -r three; cat "$HOME/listed"; read -r four; echo "$four" >>"$HOME/said"
echo '{"id":3,"result":{"status":"ok"}}'; read -r never`;
    expect(await apply(talk)).toEqual([{ agent: 'codex', trusted: 1, problem: null }]);
    expect(textOf('said')).toContain(`${at('.codex')} app-server\n`);
    expect(textOf('said')).toContain('"k":{"trusted_hash":"h"}');
  });

  it('an agent gets what its installed version understands, and an upgrade is noticed', async () => {
    put('.claude/settings.json', user);
    const say = (script: string): void => writeFileSync(at('bin/claude'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const events = () => Object.keys((JSON.parse(textOf('.claude/settings.json')) as { hooks: object }).hooks);
    const status = async () => must(await hooks.status(request('install', 'claude'))).agents[0];
    say(`[ "$1" = --version ] && [ ! -t 0 ] && [ -z "$(cat)" ] && echo "2.0.77 (Claude Code)"`);
    const { notes } = await run('install', 'claude');
    expect(notes[0]).toMatch(/^claude: version 2\.0\.77 was found.*StopFailure/);
    expect(events()).toContain('PermissionRequest');
    expect(events()).not.toContain('StopFailure');
    expect(await status()).toMatchObject({ state: 'installed', notes: [] });
    say('echo "2.1.325 (Claude Code)"');
    expect(await status()).toMatchObject({ state: 'partial', notes: [expect.stringContaining('2.1.325')] });
    await run('install', 'claude');
    expect(events()).toContain('StopFailure');
    expect(await status()).toMatchObject({ state: 'installed', notes: [] });
    expect(await run('install', 'claude')).toMatchObject({ written: [], removed: [] });
    // A downgrade would cost the user all settings.
    say('echo "1.0.128 (Claude Code)"');
    expect((await status())?.state).toBe('partial');
    await run('install', 'claude');
    expect(events()).not.toContain('PermissionRequest');
    await run('remove', 'claude');
    expect(textOf('.claude/settings.json')).toBe(user);
  });

  it.each([
    ['is not there', 'exit 127'],
    ['fails', 'echo "2.1.325 (Claude Code)"; exit 1'],
    ['says something else', 'echo "2.1.325"'],
    ['talks without end', 'while :; do echo "2.1.325 (Claude Code)"; done'],
  ])('from a program that %s no version is learned, and only what is safe is put in', async (_, script) => {
    put('.claude/settings.json', user);
    writeFileSync(at('bin/claude'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const { notes } = await run('install', 'claude');
    expect(notes[0]).toMatch(/^claude: its version is not known.*PermissionRequest/);
    expect(textOf('.claude/settings.json')).not.toContain('PermissionRequest');
    const [claude] = must(await hooks.status(request('install', 'claude'))).agents;
    expect(claude).toMatchObject({ state: 'installed', notes: ['its version is not known'] });
  });

  it('is found where its own installer puts it, and nothing is started to take hooks out', async () => {
    put('.local/bin/claude', '#!/bin/sh\necho "2.0.50 (Claude Code)"; echo x >>"$HOME/starts"\n');
    chmodSync(at('.local/bin/claude'), 0o755);
    mkdirSync(at('.claude'));
    expect((await run('install', 'claude')).notes[0]).toContain('2.0.50');
    const starts = textOf('starts');
    await run('remove', 'claude');
    expect(textOf('starts')).toBe(starts);
  });

  it('names that are not known are refused', async () => {
    expect(await hooks.plan(request('install', 'nobody'))).toMatchObject({ failure: { code: 'E_FILTER' } });
    expect(await hooks.status({ ...request('install'), target: 'vm2' })).toMatchObject({
      failure: { code: 'E_REF_NOT_FOUND' },
    });
  });
});

describe('where agents keep their files', () => {
  it('is said by the request on this machine, and only by variables that mean something', async () => {
    start('local');
    const env = { CLAUDE_CONFIG_DIR: at('elsewhere'), PATH: '/nowhere' };
    const wanted = { ...request('install', 'claude'), env };
    expect(must(await hooks.plan(wanted)).edits.map(({ path }) => path)).toContain(at('elsewhere/settings.json'));
    expect(must(await hooks.status(wanted)).environment).toContain('CLAUDE_CONFIG_DIR');
    const strange = { ...wanted, env: { CLAUDE_CONFIG_DIR: '/a\nb' } };
    expect(await hooks.plan(strange)).toMatchObject({ ok: false, failure: { code: 'E_HOOKS' } });
  });
});
