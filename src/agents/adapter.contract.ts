// The suite that every adapter passes, whoever wrote it: it keeps to the contract, promises what it can do, and neither
// foreign payloads nor foreign files bring it down or make it say what the engine would refuse.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admit } from '../engine/admit.ts';
import { stateOfAsk } from '../model/asks.ts';
import { runtimeId } from '../model/ids.ts';
import { type SourceName, sources } from '../model/sources.ts';
import {
  type Agent,
  contractVersion,
  type Finding,
  type InstallContext,
  type NativeInput,
  type RunView,
  type Watch,
} from './contract.ts';
import { keysSuite } from './keys/keys.contract.ts';
import { usableAgents } from './registry.ts';
import { classify } from './screen/classify.ts';
import { readRuleFile } from './screen/rule-file.ts';

const now = 1_800_000_000_000;

export function adapterSuite(agent: Agent): void {
  describe(`the ${agent.name} adapter`, () => {
    it('speaks this contract', () => {
      expect(agent.contract).toBe(contractVersion);
      expect(usableAgents([agent])).toEqual({ usable: [agent], refused: [] });
    });

    it('has rules that can be read, under its own name, and says what a title can prove', () => {
      const rules = readRuleFile(agent.screen);
      expect(rules.agent).toBe(agent.name);
      const ids = rules.rules.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(agent.screen).toHaveProperty('title', expect.stringMatching(/\S{3}/));
    });

    it('ASK2 an ask leads to the state that its rule proves', () => {
      const odd = readRuleFile(agent.screen).rules.filter(
        ({ ask, state }) => ask !== null && stateOfAsk(ask.kind) !== state,
      );
      expect(odd.map(({ id, state, ask }) => `${id}: ${state}, but asks for ${ask?.kind}`)).toEqual([]);
    });

    it('promises what it can do, and no less', () => promises(agent));
    it('RSV4 reads no state into an empty screen, a shell or noise', () => screens(agent));
    it('hooks: whatever a payload holds, it is read or passed over, never refused later', () => hookPayloads(agent));
    it('natives: whatever a file or a socket holds, it is read or passed over', () => nativeInputs(agent));
    it('install: put in twice is put in once, and taken out leaves what was there', () => installs(agent));
    if (agent.keys !== null) keysSuite(agent.keys);
  });
}

function promises({ capabilities, screen, hooks, natives }: Agent): void {
  const proofs = readRuleFile(screen).rules;
  const shows = (word: string): boolean => proofs.some(({ state, reason }) => state === word || reason === word);
  const listens = hooks !== null || natives.length > 0;
  for (const [promise, word] of [
    [capabilities.supports_waiting_approval, 'waiting_approval'],
    [capabilities.supports_waiting_input, 'waiting_input'],
    [capabilities.supports_completed, 'completed'],
    [capabilities.supports_interrupted, 'interrupted'],
  ] as const) {
    if (promise) expect(shows(word) || listens, word).toBe(true);
    else expect(shows(word), word).toBe(false);
  }
  expect(capabilities.event_driven).toBe(listens);
  // Without a screen to look at there is nothing to poll, and the other way round.
  if (proofs.length > 0) expect(capabilities.polling_required).toBe(true);
  if (capabilities.measured.length === 0) expect(capabilities.limits).not.toEqual([]);
}

function screens({ screen }: Agent): void {
  const rules = readRuleFile(screen);
  const read = (lines: readonly string[], command: string | null) =>
    classify(rules, { lines, title: '', command }, null);
  expect(read(['', ''], null)).toMatchObject({ state: 'unknown' });
  expect(read(['$ make', 'ok', '$ '], 'bash')).toMatchObject({ state: 'unknown', reason: 'agent_not_running' });
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { maxLength: 30 }), (lines) => {
      expect(read(lines, null).state).toBe('unknown');
    }),
    { numRuns: 300 },
  );
}

/** Names that agents use in payloads; a generated one that nobody looks for would test nothing. */
const names = [
  ...[
    'type',
    'id',
    'properties',
    'info',
    'status',
    'error',
    'sessionID',
    'permission',
    'metadata',
    'requestID',
    'reply',
  ],
  ...['questions', 'part', 'state', 'data', 'message', 'name', 'patterns', 'parentID', 'hook_event_name', 'session_id'],
  ...['tool_name', 'tool_input', 'tool_use_id', 'prompt', 'prompt_id', 'reason', 'source', 'notification_type'],
  ...[
    'transcript_path',
    'cwd',
    'agent_id',
    'agent_type',
    'conversation_id',
    'background_tasks',
    'tool_response',
    'details',
  ],
  ...['turn_id', 'thread_id', 'params', 'method', 'result', 'timestamp', 'event', 'toolName', 'toolArgs', 'sessionId'],
];

/** Words that mean something, an id that may not be one, and anything else. */
const text = fc.oneof(
  fc.constantFrom('busy', 'idle', 'retry', 'completed', 'error', 'bash', 'tool', 'running'),
  fc.constantFrom('x\u0000y', 'x'.repeat(300), ''),
  fc.string(),
);
/** Objects without a prototype stand for those that JSON makes with a `toString` of its own. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    { weight: 5, arbitrary: text },
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    { weight: 2, arbitrary: tie('record') },
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  record: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 8 }),
}));
/** About half of the names each, so that fields which belong together meet; some agents keep theirs one level down. */
const dense = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
const record = fc.oneof(
  dense,
  fc.tuple(dense, dense).map(([outer, properties]) => ({ ...outer, properties })),
);

function hookPayloads({ hooks }: Agent): void {
  if (hooks === null) return;
  const event = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...hooks.events) }, fc.string());
  const payload = fc.oneof({ weight: 9, arbitrary: record }, fc.constant(null));
  fc.assert(
    fc.property(event, payload, (name, data) => {
      const call = { event: name, payload: data as Record<string, unknown> | null, time: now };
      const session = hooks.session(call);
      if (session !== null) expect(session.length).toBeGreaterThan(0);
      for (const finding of hooks.read(call)) accepted(finding, finding.source ?? 'hook');
      expect(['string', 'object', 'undefined']).toContain(typeof hooks.prompt?.(call));
    }),
    { numRuns: 2_000 },
  );
}

function accepted({ fact, time, seq, dedupe, runtime_id, agent_session }: Finding, source: SourceName): void {
  const { kind, ...payload } = fact;
  // A conversation is bound by a source that knows the run, and by no other.
  if (kind === 'runtime.session') expect(runtime_id).toBeDefined();
  if (sources[source].order === 'numbered') expect(seq).toBeDefined();
  const admission = admit(
    {
      evidence: {
        target: 'host',
        runtime_id: runtime_id ?? 'a',
        ...(agent_session === undefined ? {} : { agent_session }),
      },
      source,
      kind,
      event_time: time,
      payload,
      ...(seq === undefined ? {} : { source_seq: seq.number, source_epoch: seq.epoch }),
      ...(dedupe === undefined ? {} : { dedupe_key: dedupe }),
    },
    { now, offsetMs: () => 0, allowed: () => new Set() },
  );
  expect(admission, JSON.stringify(fact)).toMatchObject({ ok: true });
}

const run: RunView = {
  runtime_id: runtimeId('a'),
  version: '1.0.0',
  programs: [{ pid: 10, start: '1', argv: ['agent', '--port', '4096', '--session-id', 'abc', 'resume', 'abc'] }],
  home: '/home/user',
  cwd: '/home/user/work',
  env: {},
  openFiles: [],
  title: 'a title',
  startedAt: now - 60_000,
};

const watches: readonly Watch[] = [
  { kind: 'file', path: '/home/user/x.json' },
  { kind: 'journal', path: '/home/user/x.jsonl', tailBytes: 4096 },
  { kind: 'find', folder: '/home/user', name: '.*' },
  { kind: 'sse', port: 4096, path: '/event' },
  { kind: 'websocket', socketPath: '/home/user/x.sock' },
];

function nativeInputs({ natives }: Agent): void {
  const said = fc.oneof(
    fc.string(),
    record.map((one) => JSON.stringify(one)),
  );
  const path = fc.constantFrom('/home/user/x.json', '/home/user/events.jsonl', '');
  const input: fc.Arbitrary<NativeInput> = fc.oneof(
    fc.record({ kind: fc.constant('file' as const), path, text: fc.option(said), changedAt: fc.constant(now) }),
    fc.record({
      kind: fc.constant('lines' as const),
      path,
      lines: fc.array(said, { maxLength: 4 }),
      changedAt: fc.constant(now),
    }),
    fc.record({ kind: fc.constant('found' as const), paths: fc.array(fc.string(), { maxLength: 3 }) }),
    fc.constantFrom<NativeInput>({ kind: 'opened' }, { kind: 'closed' }),
    fc.record({ kind: fc.constant('message' as const), text: said }),
    fc.record({
      kind: fc.constant('look' as const),
      runtime_id: fc.constant(run.runtime_id),
      state: fc.constantFrom('running' as const, 'idle' as const, 'unknown' as const),
    }),
  );
  for (const source of natives) {
    const planned = source.plan(run);
    const property = fc.property(
      fc.array(input, { maxLength: 12 }),
      fc.integer({ min: 0, max: 2 }),
      (inputs, count) => {
        for (const watch of [...planned, ...watches]) {
          const reader = source.open(watch);
          const runs = Array.from({ length: count }, (_, at) => ({ ...run, runtime_id: runtimeId(`a${at}`) }));
          for (const one of inputs)
            for (const finding of reader.take(one, runs, now).findings)
              accepted(finding, finding.source ?? source.source);
        }
      },
    );
    fc.assert(property, { numRuns: 150 });
  }
}

const context: InstallContext = {
  home: '/home/user',
  env: {},
  command: (event) => `/opt/agtmux/bin/agtmux-hook x ${event}`,
  hookPath: '/opt/agtmux/bin/agtmux-hook',
  spoolDir: '/home/user/.local/state/agtmux/spool',
};

/** Texts of a user, as far as the name of the file tells what may stand in it. */
function userTexts(path: string): fc.Arbitrary<string> {
  if (path.endsWith('.json')) {
    const object = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 });
    return fc
      .tuple(object, fc.constantFrom(0, 2, 4, '\t'))
      .map(([one, space]) => `${JSON.stringify(one, null, space)}\n`);
  }
  const line = fc.constantFrom('model = "x"', '# mine', '', 'notify = ["say", "done"]', 'a.b = 1');
  const table = fc.constantFrom('', '[profiles.x]\nmodel = "y"\n', '[mcp_servers.z]\ncommand = "c"\n');
  return fc.tuple(fc.uniqueArray(line, { maxLength: 4 }), table).map(([lines, last]) => `${lines.join('\n')}\n${last}`);
}

function installs({ install }: Agent): void {
  for (const file of install?.files(context) ?? []) {
    const fresh = file.install(null);
    if (!('text' in fresh)) throw new Error(fresh.problem);
    expect(file.install(fresh.text)).toEqual(fresh);
    expect(file.remove(fresh.text)).toEqual({ text: null });
    expect([file.status(null), file.status(fresh.text)]).toEqual(['absent', 'installed']);
    if (file.isOwn) continue;
    fc.assert(
      fc.property(userTexts(file.path), (before) => {
        const first = file.install(before);
        if (!('text' in first)) return;
        expect(file.install(first.text)).toEqual(first);
        expect(file.remove(first.text)).toEqual({ text: before });
      }),
      { numRuns: 200 },
    );
  }
}
