// The installers on generated homes, on a real disk: settings files of every agent as people and programs leave them, with
// comments, entries of every kind, links, owners and modes. Put in, renewed and taken out, each is what it was; what cannot
// be merged is refused before the first write. COUNT homes, of which SEED is the first.

import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from '../agents/registry.ts';
import type { Result } from '../model/errors.ts';
import { targetId } from '../model/ids.ts';
import { createRealChannels } from '../platform/channel.ts';
import { createRealClock } from '../platform/clock.ts';
import { createRealExec } from '../platform/exec.ts';
import { createRealRandom } from '../platform/random.ts';
import { createSimulatedRandom, type SimulatedRandom } from '../platform/simulated/random.ts';
import { createLocalExecutor } from '../targets/local.ts';
import { createMcpRegistration } from './mcp-launcher.ts';
import { Hooks } from './service.ts';

const count = Number(process.env.COUNT ?? 40);
const seed = Number(process.env.SEED ?? 1);
/** On a machine with other work on it a home takes a quarter of a second. */
const timeoutMs = 60_000 + count * 1_000;
const isRoot = process.getuid?.() === 0;
const clock = createRealClock();

/** A draw from a list, or a number below one. */
class Draw {
  readonly #random: SimulatedRandom;

  constructor(from: number) {
    this.#random = createSimulatedRandom(from);
  }

  below(max: number): number {
    return Number.parseInt(this.#random.hex(4), 16) % max;
  }

  of<Value>(...values: readonly [Value, ...Value[]]): Value {
    return values[this.below(values.length)] ?? values[0];
  }

  some<Value>(values: readonly Value[]): readonly Value[] {
    return values
      .filter(() => this.below(2) === 0)
      .map((value) => ({ value, key: this.below(1_000) }))
      .sort((one, other) => one.key - other.key)
      .map(({ value }) => value);
  }
}

/** Handlers as the agents know them, and commands that only look like ours. */
const handlers: readonly unknown[] = [
  { type: 'command', command: 'say done', timeout: 9 },
  { type: 'prompt', prompt: 'is "it" done?' },
  { type: 'http', url: 'http://127.0.0.1:1/x', headers: { a: 'b' } },
  { type: 'agent', prompt: 'look\n\t' },
  { type: 'mcp_tool', server: 's', tool: 't' },
  { command: '/home/me/bin/agtmux-hook-mine claude Stop' },
  { bash: 'echo $HOME/.local/state/agtmux/bin/agtmux-hook' },
  { type: 'command', bash: './x.sh', powershell: './x.ps1', cwd: '.', timeoutSec: 3 },
  { matcher: 'Bash', hooks: [] },
  {
    matcher: '*',
    hooks: [
      { type: 'http', url: 'x' },
      { type: 'prompt', prompt: 'ü😀' },
    ],
  },
  'a word',
  null,
  7,
  [],
  {},
];
const events = ['Stop', 'PreToolUse', 'stop', 'sessionStart', 'AfterAgent', 'agentStop', 'Unheard', 'SessionStart'];
const servers: Readonly<Record<string, unknown>> = {
  one: { command: 'x', args: ['y'], env: { A: '1' } },
  'two words': { type: 'http', url: 'http://127.0.0.1:2' },
  'agtmux-mine': { command: '/opt/agtmux-mcp', timeout: 5 },
  four: { type: 'local', command: ['a', 'b'], enabled: false },
};

function jsonText(draw: Draw): string {
  const some = <Value>(table: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(draw.some(Object.entries(table)));
  const hooks = Object.fromEntries(draw.some(events).map((event) => [event, draw.some(handlers)]));
  const value = some<unknown>({
    hooks,
    mcpServers: some(servers),
    mcp: some(servers),
    model: 'o',
    a: [1, {}],
    version: 1,
  });
  const plain = JSON.stringify(value, null, draw.of<string | number>(2, 0, 4, '\t', 1));
  return commented(plain, draw);
}

/** Comments at the ends of lines, where no string can hold a line end; and a comma behind the last member. */
function commented(text: string, draw: Draw): string {
  if (draw.below(2) === 0) return text;
  const noted = text
    .split('\n')
    .map((line) => (draw.below(3) === 0 ? `${line}${draw.of(' // mine, "x"', ' /* { */', '   ')}` : line));
  return `${draw.of('', '// first\n')}${noted.join('\n')}${draw.of('', '\n// last')}`;
}

function tomlText(draw: Draw): string {
  const lines = [
    'model = "x"',
    '# [mcp_servers.agtmux]',
    'notify = ["say", "[x]"] # mine',
    "path = 'C:\\x'",
    'a.b = 1',
  ];
  const tables = [
    '[profiles.x]\nmodel = "y"',
    '[mcp_servers.z]\ncommand = "c" # [mcp_servers.agtmux]\nargs = [\n  "a", # one\n]',
    '[mcp_servers.agtmux-mine]\ncommand = "/opt/agtmux-mcp"\nenv = { A = "b" }',
    '[mcp_servers.y.env]\nTEXT = """\n[mcp_servers.agtmux]\n"""',
    '[[skills]]\nname = "n"',
    '[projects."/home/a.b"]\ntrust_level = "trusted"',
  ];
  return [...draw.some(lines), ...draw.some(tables)].join(draw.of('\n', '\n\n'));
}

function textFor(path: string, draw: Draw): string {
  const text = path.endsWith('.toml')
    ? tomlText(draw)
    : draw.below(12) === 0
      ? draw.of('', '\n', '{}', '{ }')
      : jsonText(draw);
  const ended = `${text}${draw.of('\n', '', '\n\n')}`;
  const lined = draw.below(4) === 0 ? ended.replaceAll('\n', '\r\n') : ended;
  return draw.below(6) === 0 ? `\ufeff${lined}` : lined;
}

/** A file as it stands in somebody's home: behind a link, under several names, with its own owner and mode. */
function plant(home: string, path: string, text: string, draw: Draw): void {
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(join(home, 'dotfiles'), { recursive: true });
  const isLinked = draw.below(4) === 0;
  const real = isLinked ? join(home, 'dotfiles', `${draw.below(1_000_000)}-${basename(path)}`) : path;
  writeFileSync(real, text);
  if (isLinked) symlinkSync(real, path);
  if (draw.below(4) === 0) linkSync(real, join(home, 'dotfiles', `name-${draw.below(1_000_000)}`));
  if (isRoot && draw.below(3) === 0) chownSync(real, 4_321, 1_234);
  chmodSync(real, draw.of(0o600, 0o644, 0o640, 0o664, 0o755));
}

/** Everything about every file outside agtmux's own state. */
function picture(home: string): Record<string, unknown> {
  const seen = readdirSync(home, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !`${path}/`.startsWith(join(home, '.local/')));
  return Object.fromEntries(
    seen.sort().map((path) => {
      const { mode, uid, gid, nlink, ino } = lstatSync(path);
      const kind = lstatSync(path);
      const held = kind.isSymbolicLink() ? readlinkSync(path) : kind.isFile() ? readFileSync(path, 'latin1') : null;
      // One with several names stays the same file; one with a single name may be another that looks the same.
      return [path, { mode, uid, gid, held, ...(kind.isFile() ? { nlink, file: nlink > 1 ? ino : 0 } : {}) }] as const;
    }),
  );
}

/** What an older version would have put in: another time for hooks, another place of the server. */
function age(home: string): void {
  for (const [path, { mode }] of Object.entries(picture(home) as Record<string, { mode: number }>)) {
    const isFile = lstatSync(path).isFile() && !path.endsWith('-backup');
    const text = isFile ? readFileSync(path, 'utf8') : '';
    const older = text
      .replaceAll(/(agtmux-hook' \w+ [\w.]+", "timeout(?:Sec)?": )\d+/g, (_all, head: string) => `${head}77`)
      .replaceAll('/state/agtmux/bin/agtmux-mcp', '/older/bin/agtmux-mcp');
    if (older === text) continue;
    writeFileSync(path, older);
    expect(lstatSync(path).mode).toBe(mode);
  }
}

type Installer = Pick<Hooks, 'plan' | 'apply'>;

function installers(home: string, stateDir: string): readonly Installer[] {
  const variables = { PATH: '/nowhere', HOME: home };
  const executor = createLocalExecutor({
    target: targetId('host'),
    exec: createRealExec(clock),
    channels: createRealChannels(clock),
    variables,
  });
  const parts = {
    agents: () => agents,
    here: { home, platform: 'linux', uid: 1000, stateDir },
    executorOf: () => executor,
    program: async () => '#!/bin/sh\n',
    random: createRealRandom(),
    clock,
  };
  return [new Hooks(parts), createMcpRegistration(parts)];
}

async function run(installer: Installer, action: 'install' | 'remove', agent: string): Promise<Result<unknown>> {
  const request = { action, target: 'host', agents: [agent], env: {}, extras: ['notify'] };
  const plan = await installer.plan(request);
  return plan.ok ? installer.apply({ ...request, digest: plan.value.digest, trust: false }) : plan;
}

function filesOf(agent: (typeof agents)[number], home: string): readonly string[] {
  const place = { home, env: {} };
  const context = { ...place, hookPath: '/h', spoolDir: '/s', command: () => '/h a b', programPath: '/p' };
  const files = [...(agent.install?.files(context) ?? []), ...(agent.mcp?.files(context) ?? [])];
  // What is ours alone has nothing of the user's in it.
  return [...new Set(files.filter(({ isOwn }) => !isOwn).map(({ path }) => path))];
}

describe.each(agents.filter(({ install }) => install !== null).map((agent) => [agent.name, agent] as const))(
  'INS4 installers on generated homes of %s',
  (name, agent) => {
    it(
      `put in, renewed and taken out, every file is as it was (COUNT=${count} SEED=${seed})`,
      async () => {
        let refusals = 0;
        for (let place = 0; place < count; place += 1) {
          const draw = new Draw(seed + place);
          const home = mkdtempSync(join(tmpdir(), 'agtmux-installer-'));
          try {
            for (const path of filesOf(agent, home))
              if (draw.below(5) > 0) plant(home, path, textFor(path, draw), draw);
            const before = picture(home);
            for (const one of installers(home, join(home, '.local/state/agtmux'))) {
              const told = `SEED=${seed + place} COUNT=1`;
              const put = await run(one, 'install', name);
              if (!put.ok) {
                refusals += 1;
                expect([told, put.failure.code, put.failure.next === '']).toEqual([told, 'E_HOOKS', false]);
                expect([told, picture(home)]).toEqual([told, before]);
                continue;
              }
              const during = picture(home);
              expect([told, await run(one, 'install', name), picture(home)]).toMatchObject([
                told,
                { ok: true },
                during,
              ]);
              age(home);
              expect([told, await run(one, 'install', name), picture(home)]).toMatchObject([
                told,
                { ok: true },
                during,
              ]);
              expect([told, await run(one, 'remove', name)]).toMatchObject([told, { ok: true }]);
              expect([told, picture(home)]).toEqual([told, before]);
            }
          } finally {
            rmSync(home, { recursive: true, force: true });
          }
          expect(existsSync(home)).toBe(false);
        }
        // An agent that the MCP server cannot be registered with refuses that each time.
        expect(refusals).toBeLessThan(agent.mcp ? count : 2 * count);
      },
      timeoutMs,
    );
  },
);
