import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventsSince21, hooks } from './claude/hooks.ts';
import { install } from './claude/install.ts';
import type { Agent, InstallContext, InstallFile } from './contract.ts';
import { agents } from './registry.ts';

const contextOf =
  (env: Record<string, string> = {}, spoolDir = '/state/spool') =>
  (agent: Agent): InstallContext => ({
    home: '/home/u',
    env,
    hookPath: '/state/bin/agtmux-hook',
    spoolDir,
    command: (event) => `'/state/bin/agtmux-hook' ${agent.name} ${event}`,
  });

const pathsOf = (context: (agent: Agent) => InstallContext): Record<string, readonly string[]> =>
  Object.fromEntries(
    agents.flatMap((agent) =>
      agent.install === null ? [] : [[agent.name, agent.install.files(context(agent)).map((file) => file.path)]],
    ),
  );

describe('where hooks are put', () => {
  it('is the usual place of each agent', () => {
    expect(pathsOf(contextOf())).toMatchObject({
      claude: ['/home/u/.claude/settings.json'],
      codex: ['/home/u/.codex/hooks.json', '/home/u/.codex/config.toml'],
      copilot: ['/home/u/.copilot/hooks/agtmux.json'],
      cursor: ['/home/u/.cursor/hooks.json'],
      gemini: [
        '/home/u/.gemini/extensions/agtmux/gemini-extension.json',
        '/home/u/.gemini/extensions/agtmux/hooks/hooks.json',
      ],
      kilo: ['/home/u/.config/kilo/plugin/agtmux.js'],
      opencode: ['/home/u/.config/opencode/plugin/agtmux.js'],
    });
  });

  it('is another one where a variable says so, and not for a relative path', () => {
    const moved = { CLAUDE_CONFIG_DIR: '/c/', CODEX_HOME: '/x', COPILOT_HOME: '/p', XDG_CONFIG_HOME: '/g' };
    expect(pathsOf(contextOf({ ...moved, GEMINI_CLI_HOME: '/m' }))).toMatchObject({
      claude: ['/c/settings.json'],
      codex: ['/x/hooks.json', '/x/config.toml'],
      copilot: ['/p/hooks/agtmux.json'],
      gemini: ['/m/.gemini/extensions/agtmux/gemini-extension.json', expect.any(String)],
      kilo: ['/g/kilo/plugin/agtmux.js'],
      opencode: ['/g/opencode/plugin/agtmux.js'],
    });
    expect(pathsOf(contextOf({ CLAUDE_CONFIG_DIR: 'here' })).claude).toEqual(['/home/u/.claude/settings.json']);
  });
});

describe.each(agents.map((agent) => [agent.name, agent] as const))('hooks of %s', (name, agent) => {
  const files = agent.install?.files(contextOf()(agent)) ?? [];

  it('put in, are whole; taken out, leave nothing', () => {
    for (const file of files) {
      expect(file.status(null)).toBe('absent');
      const done = file.install(null);
      const text = 'text' in done ? done.text : '';
      expect(file.status(text)).toBe('installed');
      expect(file.install(text)).toEqual({ text });
      expect(file.remove(text)).toEqual({ text: null });
      if (file.extra === undefined && !text.includes('"version": "1.0.0"')) expect(text).toContain(name);
    }
  });

  it('a file of our name that we did not write is left alone', () => {
    for (const file of files.filter((one) => one.isOwn)) {
      for (const answer of [file.install('{"mine": 1}'), file.remove('{"mine": 1}'), file.status('{"mine": 1}')])
        expect(answer).toMatchObject({ problem: expect.stringContaining(file.path) });
      const done = file.install(null);
      const text = 'text' in done ? done.text : '';
      for (const theirs of ['agtmux hooks install, agtmux-hook, "agtmux"', `${text}// mine\n`, text.replace('e', 'E')])
        for (const answer of [file.install(theirs), file.remove(theirs), file.status(theirs)])
          expect(answer).toMatchObject({ problem: expect.stringContaining(file.path) });
    }
  });

  it('a file of our own that was put in for another place is known, renewed and removed', () => {
    const moved = agent.install?.files(contextOf({}, "/else where/it's/spool")(agent)) ?? [];
    files.forEach((file, place) => {
      const done = moved[place]?.install(null);
      const text = done !== undefined && 'text' in done ? done.text : '';
      if (!file.isOwn) return;
      expect(['partial', 'installed']).toContain(file.status(text));
      expect(file.install(text)).toEqual(file.install(null));
      expect(file.remove(text)).toEqual({ text: null });
    });
  });

  it('a hook that only looks like ours is its user’s: put in and taken out, it stays', () => {
    const program = "'/state/bin/agtmux-hook'";
    const theirs = [
      '/state/bin/agtmux-hook-mine',
      `/state/bin/agtmux-hook-mine ${name} Stop`,
      "'/state/bin/agtmux-hook-mine' claude Stop",
      `${program} ${name} Stop && say done`,
      `tee /tmp/log | ${program} ${name} Stop`,
      `${program} mine Stop`,
      `echo ${program} ${name} Stop`,
      `AGTMUX_SPOOL='/x' PATH=/y ${program} ${name} Stop`,
      `${program} ${name} Stop; rm -r x`,
      `${program} ${name} $(say)`,
      `/mine${program} ${name} Stop`,
    ];
    for (const file of files.filter(({ path, isOwn }) => path.endsWith('.json') && !isOwn)) {
      const key = name === 'copilot' ? 'bash' : 'command';
      for (const event of ['Stop', 'stop', 'agentStop', 'AfterAgent', 'Elsewhere']) {
        const handlers = theirs.map((command) => ({ type: 'command', [key]: command }));
        for (const list of [handlers, [{ hooks: handlers }]]) {
          const before = JSON.stringify({ hooks: { [event]: list } }, null, 2);
          expect(file.status(before)).toBe('absent');
          const put = file.install(before);
          expect(file.remove('text' in put ? put.text : '')).toEqual({ text: before });
        }
      }
    }
  });
});

describe('what the agents are told', () => {
  const textOf = (name: string, place = 0): string => {
    const agent = agents.find((one) => one.name === name);
    const done = agent?.install?.files(contextOf()(agent))[place]?.install(null);
    return done !== undefined && 'text' in done ? done.text : '';
  };

  it('claude: one entry an event, apart unless its order counts', () => {
    const { hooks } = JSON.parse(textOf('claude')) as { hooks: Record<string, [{ hooks: [Record<string, unknown>] }]> };
    expect(hooks.Stop).toEqual([
      { hooks: [{ type: 'command', command: "'/state/bin/agtmux-hook' claude Stop", timeout: 5, async: true }] },
    ]);
    const apart = Object.entries(hooks).filter(
      ([
        ,
        [
          {
            hooks: [handler],
          },
        ],
      ]) => handler.async === true,
    );
    expect(
      Object.keys(hooks)
        .filter((event) => !apart.some(([one]) => one === event))
        .sort(),
    ).toEqual(['PreToolUse', 'SessionEnd', 'SessionStart']);
  });

  it('copilot: the file of an earlier version is whole, and goes', () => {
    const copilot = agents.find((one) => one.name === 'copilot');
    const [file] = copilot?.install?.files(contextOf()(copilot)) ?? [];
    const { version, hooks } = JSON.parse(textOf('copilot')) as { version: number; hooks: object };
    const old = `${JSON.stringify({ version, hooks }, null, 2)}\n`;
    expect([file?.status(old), file?.install(old), file?.remove(old)]).toEqual([
      'installed',
      { text: old },
      { text: null },
    ]);
  });

  it('codex: notify is no hook', () => {
    expect(Object.keys((JSON.parse(textOf('codex')) as { hooks: object }).hooks)).not.toContain('notify');
  });

  it('gemini and copilot count in their own units', () => {
    expect(textOf('gemini', 1)).toContain('"timeout": 5000');
    expect(JSON.parse(textOf('copilot'))).toMatchObject({ version: 1, hooks: { agentStop: [{ timeoutSec: 5 }] } });
  });

  it('cursor: a new file has a version', () => {
    expect(JSON.parse(textOf('cursor'))).toMatchObject({
      version: 1,
      hooks: { stop: [{ command: expect.any(String) }] },
    });
  });
});

describe('what a version of Claude Code is told', () => {
  /** What 1.0.128 understands: no version since then skips a file for one of these. */
  const core = [
    ...['Notification', 'PostToolUse', 'PreCompact', 'PreToolUse', 'SessionEnd', 'SessionStart', 'Stop'],
    ...['SubagentStop', 'UserPromptSubmit'],
  ];
  const fileFor = (version: string | null | undefined): InstallFile => {
    const [claude] = agents.filter(({ name }) => name === 'claude').map(contextOf());
    const [file] =
      claude === undefined ? [] : install.files({ ...claude, ...(version === undefined ? {} : { version }) });
    if (file === undefined) throw new Error('it has no file');
    return file;
  };
  const put = (version: string | null, before: string | null = null): string => {
    const done = fileFor(version).install(before);
    return 'text' in done ? done.text : expect.fail(done.problem);
  };
  const eventsOf = (text: string): readonly string[] =>
    Object.keys((JSON.parse(text) as { hooks: Record<string, unknown> }).hooks).sort();
  const versions = ['1.0.30', '1.0.60', '1.0.128', '2.0.44', '2.0.45', '2.0.77', '2.1.0', '2.1.77', '2.1.325', null];

  it.each([
    ['1.0.40', ['Notification', 'PostToolUse', 'PreToolUse', 'Stop']],
    ['1.0.84', core.filter((event) => event !== 'SessionEnd')],
    ['1.0.85', core],
    ['1.0.128', core],
    ['2.0.44', core],
    ['2.0.45', [...core, 'PermissionRequest'].sort()],
    ['2.0.55', [...core, 'PermissionRequest'].sort()],
    ['2.0.56', [...hooks.events].sort()],
    ['2.0.77', [...hooks.events].sort()],
    ['2.1.0', [...hooks.events].sort()],
    ['2.1.75', [...hooks.events].sort()],
    ['2.1.76', [...hooks.events, 'PostCompact'].sort()],
    ['2.1.78', [...hooks.events, 'PostCompact', 'StopFailure'].sort()],
    ['2.1.87', [...hooks.events, 'PostCompact', 'StopFailure'].sort()],
    ['2.1.88', [...hooks.events, ...eventsSince21].sort()],
    ['2.1.325', [...hooks.events, ...eventsSince21].sort()],
    ['3.0.0', [...hooks.events, ...eventsSince21].sort()],
    [null, core],
  ])('version %s: no event that it does not know', (version, events) => {
    expect(eventsOf(put(version))).toEqual(events);
  });

  it('what was put in for one version is no longer whole for another, and is brought in line', () => {
    const old = put('2.0.77');
    for (const other of ['1.0.128', '2.1.325']) {
      expect(fileFor(other).status(old)).toBe('partial');
      const now = put(other, old);
      expect(fileFor(other).status(now)).toBe('installed');
      expect(now).toBe(put(other));
    }
    expect(fileFor('2.0.56').status(old)).toBe('installed');
  });

  it('ACT10 a request is waited with only where the dialog is known to stand beside it', () => {
    expect(put('2.1.325')).toMatch(/claude PermissionRequest:wait", "timeout": 660 }/);
    expect(put('2.1.324')).toMatch(/claude PermissionRequest", "timeout": 5, "async": true }/);
    expect(fileFor('2.1.325').status(put('2.1.324'))).toBe('partial');
    expect(put('2.1.325', put('2.1.324'))).toBe(put('2.1.325'));
  });

  it('what is whole for some version is not called wrong where the version is not known', () => {
    for (const version of versions) expect(fileFor(null).status(put(version))).toBe('installed');
    const half = put('2.1.325').replace(/^ +"PermissionRequest".*\n/m, '');
    expect(fileFor(null).status(half)).toBe('partial');
    // Put in anew, it is only what every version takes.
    expect(eventsOf(put(null, put('2.1.325')))).toEqual(core);
  });

  it('every set goes without a trace, whichever version is there by then', () => {
    const user = '{\n  "hooks": {\n    "StopFailure": [\n      { "hooks": [] }\n    ]\n  },\n  "model": "opus"\n}\n';
    for (const earlier of versions)
      for (const later of [...versions, undefined]) {
        expect(fileFor(later).remove(put(earlier))).toEqual({ text: null });
        expect(fileFor(later).remove(put(earlier, user))).toEqual({ text: user });
      }
  });

  it('is read from what its program says, and from nothing else', () => {
    const { version } = install;
    expect(version?.read('2.1.325 (Claude Code)\n')).toBe('2.1.325');
    expect(version?.read('a warning\n2.2.0-beta.1 (Claude Code)\r\n')).toBe('2.2.0');
    for (const strange of ['', '2.1', '2.1.325', 'v2.1.325 (Claude Code)', 'claude 2.1.325 (Claude Code)', '\0\n()'])
      expect(version?.read(strange)).toBeNull();
  });

  it('a person is told which version was found and what it does not get', () => {
    const told = (version: string | null): string => install.version?.notes(version).join('\n') ?? '';
    expect(told('2.1.325')).toBe('version 2.1.325 was found, which supports every event');
    expect(told('2.0.77')).toMatch(/^version 2\.0\.77 .* StopFailure, PostCompact, PermissionDenied: omitted/);
    expect(told(null)).toMatch(/is not known.*PermissionRequest, PostToolUseFailure, StopFailure.*install again/);
  });
});

describe('ADM3 the plugin of OpenCode', () => {
  it('writes wanted events once each into the spool, and never fails', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'agtmux-plugin-'));
    try {
      const spool = join(dir, 'the spool');
      const agent = agents.find((one) => one.name === 'opencode');
      const done = agent?.install?.files(contextOf({}, spool)(agent))[0]?.install(null);
      writeFileSync(join(dir, 'plugin.mjs'), done !== undefined && 'text' in done ? done.text : '');
      const { agtmux } = (await import(pathToFileURL(join(dir, 'plugin.mjs')).href)) as {
        agtmux: () => Promise<{ event: (input: unknown) => Promise<void> }>;
      };
      const [one, two] = [await agtmux(), await agtmux()];
      const event = { id: 'evt_1', type: 'session.idle', properties: { sessionID: 's', text: 'ä\n"' } };
      await one.event({ event });
      mkdirSync(spool);
      for (const input of [undefined, {}, { event: null }, { event: { type: 'message.part.delta' } }])
        await one.event(input).catch(() => expect.fail('it failed'));
      for (const plugin of [one, two]) await plugin.event({ event: { ...event, id: 'evt_2' } });
      await two.event({ event: { ...event, id: 'evt_3' } });
      const names = readdirSync(spool);
      expect(names).toHaveLength(2);
      for (const name of names) expect(name).toMatch(/^\d{13}-\d+-\d$/);
      const path = join(spool, names.sort()[0] ?? '');
      const times = names.map((name) => statSync(join(spool, name)).mtimeMs);
      expect(times[1]).toBeGreaterThanOrEqual((times[0] ?? 0) + 1);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const [head = '', ...rest] = readFileSync(path, 'utf8').split('\n');
      expect(head).toMatch(
        new RegExp(`^agtmux1 agent=opencode event=session.idle pane=\\S* socket=\\S* pid=${process.pid} ppid=\\d+ up=`),
      );
      if (process.platform === 'linux') expect(head).toContain(` up=${process.pid}:`);
      expect(JSON.parse(rest.join('\n'))).toEqual({ ...event, id: 'evt_2' });
      writeFileSync(join(spool, 'full'), '');
      await one.event({ event: { ...event, id: 'evt_4' } });
      expect(readdirSync(spool)).toHaveLength(3);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
