import { describe, expect, it } from 'vitest';
import {
  ActWorld,
  agentClaim,
  commandAsk,
  commandScreen,
  type FakeAgent,
  person,
  program,
} from '../../test/kit/act.ts';
import { keys as codexKeys } from '../agents/codex/keys.ts';
import type { ActionRequest, Receipt } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { agentName, askId, runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';

const code = (receipt: Receipt): string => receipt.failure?.code ?? receipt.outcome;

async function oneAgent(state: Parameters<ActWorld['add']>[1] = 'idle') {
  const world = new ActWorld();
  const agent = world.add('a', state);
  const actor = await world.open();
  return { world, agent, actor };
}

describe('an action', () => {
  it('ACT1 ACT2 types a message in two steps and leaves one audit row with its snapshot', async () => {
    const { world, actor } = await oneAgent();
    const receipt = await world.act(actor, { action: 'send' });
    expect(receipt).toMatchObject({
      outcome: 'delivered',
      ref: 'runtime:a',
      runtime_id: 'a',
      way: 'keys',
      failure: null,
    });
    expect(world.typed).toEqual(['%1 paste:hello there', '%1 press:Enter']);
    expect(world.snapshots).toHaveLength(1);
    expect(world.snapshots[0]).toMatchObject({ runtime_id: 'a', target: 'host', pane: '%1', state_version: 1 });
    expect(world.snapshots[0]?.nonce).toMatch(/^[0-9a-f]{32}$/);
    expect((world.snapshots[0]?.expires_at ?? 0) - 1_000_000).toBe(limits.snapshotMs);
    expect(world.audits).toHaveLength(1);
    expect(world.audits[0]).toMatchObject({
      actor: 'human: a person at pts/1',
      action: 'send',
      runtime_id: 'a',
      snapshot_id: receipt.snapshot_id,
      result: 'delivered',
      detail: { bytes: 11, state: 'idle', snapshot: { snapshot_id: receipt.snapshot_id } },
    });
    expect(JSON.stringify(world.audits)).not.toContain('hello there');
  });

  const refs: [string, string][] = [
    ['runtime:nobody', 'E_REF_NOT_FOUND'],
    ['nobody', 'E_REF_NOT_FOUND'],
    ['claude', 'E_REF_AMBIGUOUS'],
    ['nonsense:', 'E_REF_INVALID'],
    ['%1', 'delivered'],
    ['a', 'delivered'],
    ['pane:host/work/@1/%1', 'delivered'],
  ];
  it.each(refs)('ACT1 resolves %s to %s and says so in the audit', async (ref, expected) => {
    const world = new ActWorld();
    world.add('a');
    world.add('b');
    const receipt = await world.act(await world.open(), { action: 'send', ref });
    expect(code(receipt)).toBe(expected);
    expect(receipt.ref).toBe(expected === 'delivered' ? 'runtime:a' : null);
    expect(world.audits.map(({ detail }) => detail.named)).toEqual([ref]);
    if (expected !== 'delivered') expect(world.typed).toEqual([]);
  });

  it('ACT1a refuses what no longer fits, sends nothing and writes it down', async () => {
    type Given = Awaited<ReturnType<typeof oneAgent>>;
    const stopped =
      (why: 'in_mode' | 'synchronized' | 'dead' | 'gone') =>
      ({ world }: Given) => {
        world.onStep = () => ({ kind: 'refused', why });
      };
    const nothing = (): void => undefined;
    const cases: [string, (given: Given) => void, Partial<ActionRequest>][] = [
      ['E_ENDED', ({ world, agent }) => world.ends(agent), {}],
      ['E_SUSPENDED', ({ world, agent }) => world.becomes(agent, { suspended: true }), {}],
      ['E_NO_PANE', ({ world, agent }) => world.paneless.add(agent.identity.runtime_id), {}],
      ['E_NO_PANE', ({ world, agent }) => world.paneless.add(agent.identity.runtime_id), { action: 'approve' }],
      ['E_TARGET_DOWN', ({ world }) => Object.assign(world, { health: 'down' }), {}],
      ['E_RUNTIME_STALE', ({ world }) => Object.assign(world, { owner: () => runtimeId('x') }), {}],
      ['E_RUNTIME_STALE', ({ agent }) => Object.assign(agent, { place: null }), {}],
      ['E_RUNTIME_STALE', nothing, { conditions: { if_runtime: runtimeId('x') } }],
      ['E_STATE_CHANGED', nothing, { conditions: { if_state: ['running'] } }],
      ['E_TMUX_REFUSED', stopped('in_mode'), {}],
      ['E_TMUX_REFUSED', stopped('synchronized'), {}],
      ['E_RUNTIME_STALE', stopped('dead'), {}],
      ['E_RUNTIME_STALE', stopped('gone'), {}],
      ['E_STATE_CHANGED', ({ agent }) => Object.assign(agent, { look: null }), {}],
      ['E_INPUT', nothing, { action: 'send', text: '' }],
      ['E_INPUT', nothing, { action: 'send', text: 'a\u001b[201~b' }],
    ];
    for (const [expected, prepare, parts] of cases) {
      const given = await oneAgent();
      prepare(given);
      const receipt = await given.world.act(given.actor, { ...parts, action: 'send' });
      expect(code(receipt), expected).toBe(expected);
      expect(receipt.outcome).toBe('refused');
      expect(given.world.typed).toEqual([]);
      expect(given.world.audits).toHaveLength(1);
      expect(given.world.audits[0]).toMatchObject({ result: 'refused', detail: { code: expected } });
      const [row] = given.world.audits;
      expect(row?.detail.snapshot).toMatchObject({ snapshot_id: row?.snapshot_id, runtime_id: 'a', pane: '%1' });
    }
  });

  it('ACT1b refuses when the state changes between snapshot and effect, and force says so in the audit', async () => {
    for (const forced of [false, true]) {
      const { world, agent, actor } = await oneAgent();
      const first = world.act(actor, { action: 'send', text: 'one' });
      // The second is decided on while the first still types.
      const second = actor.act(
        {
          action: 'send',
          ref: 'runtime:a',
          conditions: forced ? { force_stale: true } : {},
          text: 'two',
          enter: true,
          when_ready: false,
          strip_control: false,
        },
        person,
      );
      world.onStep = (step) => {
        if (step === 'press:Enter' && agent.state.state === 'idle') world.becomes(agent, { state: 'running' });
        return undefined;
      };
      expect(code(await first)).toBe('delivered');
      const receipt = await world.settled(second);
      expect(code(receipt)).toBe(forced ? 'delivered' : 'E_STATE_CHANGED');
      expect(world.typed.some((step) => step.includes('two'))).toBe(forced);
      expect(world.audits).toHaveLength(2);
      if (forced) expect(world.audits[1]?.detail).toMatchObject({ conditions: { force_stale: true } });
    }
  });

  it('ACT1 refuses when another agent takes the pane between the look and the paste', async () => {
    const { world, agent, actor } = await oneAgent();
    const ground = world.ground();
    let looks = 0;
    const swapped = await world.open({
      ground: {
        ...ground,
        placeOf: async () => {
          looks += 1;
          if (looks > 1) world.owner = () => runtimeId('x');
          return agent.place;
        },
      },
    });
    expect(code(await world.act(swapped, { action: 'send' }))).toBe('E_RUNTIME_STALE');
    expect(world.typed).toEqual([]);
    actor.close();
  });

  it('ACT1 refuses when the state changes between the second look and the paste', async () => {
    const { world, agent } = await oneAgent();
    let looks = 0;
    const raced = await world.open({
      ground: {
        ...world.ground(),
        placeOf: async () => {
          looks += 1;
          if (looks === 2) world.becomes(agent, { state: 'running' });
          return agent.place;
        },
      },
    });
    expect(code(await world.act(raced, { action: 'send' }))).toBe('E_STATE_CHANGED');
    expect(world.typed).toEqual([]);
  });

  it('ACT2 leaves Enter alone when another agent owns the pane after the paste', async () => {
    const { world, actor } = await oneAgent();
    world.onStep = (step) => {
      if (step.startsWith('paste:')) world.owner = () => runtimeId('x');
      return undefined;
    };
    expect(await world.act(actor, { action: 'send' })).toMatchObject({ outcome: 'unconfirmed' });
    expect(world.typed).toEqual(['%1 paste:hello there']);
  });

  it('ACT1 does not act on a snapshot that expired while it waited for its turn', async () => {
    const { world, agent, actor } = await oneAgent();
    const ground = world.ground();
    let isSlow = true;
    const slow = await world.open({
      ground: {
        ...ground,
        freshLook: (runtime) => {
          const wait = isSlow ? limits.snapshotMs + 1 : 0;
          isSlow = false;
          return new Promise((resolve) => {
            world.clock.after(wait, () => void ground.freshLook(runtime).then(resolve));
          });
        },
      },
    });
    const both = Promise.all([world.act(slow, { action: 'send' }), world.act(slow, { action: 'send' })]);
    expect((await both).map(code)).toEqual(['E_SNAPSHOT_EXPIRED', 'E_SNAPSHOT_EXPIRED']);
    expect(world.typed).toEqual([]);
    expect(agent.state.state).toBe('idle');
    actor.close();
  });

  it('turns away who comes to a full line', async () => {
    const { world, actor } = await oneAgent();
    const sends = Array.from({ length: limits.actionsWaitingMax + 3 }, () => world.act(actor, { action: 'send' }));
    const codes = (await Promise.all(sends)).map(code);
    expect(codes.filter((one) => one === 'E_QUEUE_FULL')).toHaveLength(2);
    expect(world.audits).toHaveLength(sends.length);
  });

  it('does nothing that cannot be recorded first, and says what was done when the row cannot be written', async () => {
    const { world, actor } = await oneAgent();
    const full = async (): Promise<void> => {
      throw new AgtmuxError('E_STORE_FULL', 'the disk is full');
    };
    const cases: [Parameters<ActWorld['act']>[1], FakeAgent['state']['state']][] = [
      [{ action: 'send' }, 'idle'],
      [{ action: 'send', when_ready: true }, 'running'],
      [{ action: 'approve' }, 'waiting_approval'],
      [{ action: 'interrupt' }, 'running'],
      [{ action: 'kill', signal: 'TERM' }, 'idle'],
      [{ action: 'name', nick: 'x' }, 'idle'],
    ];
    for (const isOverChannel of [false, true]) {
      for (const [request, state] of cases) {
        const given = await oneAgent(state);
        if (state === 'waiting_approval') given.world.asks(given.agent);
        let runs = 0;
        const run = async () => {
          runs += 1;
          return { kind: 'delivered', words: null } as const;
        };
        if (isOverChannel) given.world.channels.push({ name: 'own', can: () => true, run });
        const before = await given.world.open({ ground: { ...given.world.ground(), keepSnapshot: full } });
        expect(code(await given.world.act(before, request)), request.action).toBe('E_STORE_FULL');
        const { typed, signals } = given.world;
        expect([typed, signals, before.queue(), before.nicks.size, runs]).toEqual([[], [], [], 0, 0]);
      }
    }
    const after = await world.open({ ground: { ...world.ground(), keepAudit: full } });
    expect(code(await world.act(after, { action: 'send' }))).toBe('delivered');
    expect(world.warnings).toEqual(['an audit row could not be written']);
    actor.close();
  });
});

describe('a message', () => {
  it('ACT3 is refused while an approval is open, forced or not, and while any dialog is on the screen', async () => {
    for (const force_stale of [false, true]) {
      for (const state of ['idle', 'completed', 'running', 'error', 'unknown', 'waiting_approval'] as const) {
        const { world, agent, actor } = await oneAgent(state);
        agent.look = commandScreen;
        const receipt = await world.act(actor, { action: 'send', conditions: { force_stale } });
        expect(receipt.outcome, state).toBe('refused');
        expect(code(receipt), state).toBe('E_DIALOG');
        expect(world.typed).toEqual([]);
      }
    }
  });

  it('ACT4b is delivered when its agent was seen to take it after Enter, and while it was still this agent', async () => {
    const cases: [string, RegExp | null, (agent: FakeAgent, world: ActWorld) => void][] = [
      ['delivered', null, (agent) => Object.assign(agent, { screen: [' > Type your message'] })],
      ['delivered', null, (agent) => Object.assign(agent, { look: commandScreen })],
      ['delivered', null, (agent, world) => world.becomes(agent, { state: 'running', decided_by: 'hook' })],
      [
        'unconfirmed',
        /not seen to take/,
        (agent, world) => world.becomes(agent, { state: 'running', decided_by: 'screen' }),
      ],
      ['unconfirmed', /not seen to take/, (agent) => Object.assign(agent, { screen: [...agent.screen, ''] })],
      ['unconfirmed', /ended or another program/, (agent) => Object.assign(agent, { screen: ['$ '], place: null })],
      ['unconfirmed', /ended or another program/, (agent, world) => world.ends(agent)],
    ];
    for (const [outcome, words, onEnter] of cases) {
      const { world, actor } = await oneAgent();
      world.onStep = (step, agent) => {
        if (step !== 'press:Enter') return undefined;
        onEnter(agent, world);
        // What is typed before the agent has taken the message would still be submitted with it.
        expect(world.held).toEqual(['%1']);
        return { kind: 'done' };
      };
      const receipt = await world.act(actor, { action: 'send' });
      expect(receipt.outcome, String(onEnter)).toBe(outcome);
      if (words !== null) expect(receipt.words).toMatch(words);
      expect(world.held).toEqual([]);
    }
  });

  it('ACT2 is not submitted where somebody typed into the prompt with it, and the receipt says what to do', async () => {
    const { world, actor } = await oneAgent();
    world.onStep = (step, agent) => {
      if (step.startsWith('paste:')) agent.screen = ['a prompt', 'rm hello there'];
      return step.startsWith('paste:') ? { kind: 'done' } : undefined;
    };
    const receipt = await world.act(actor, { action: 'send' });
    expect(receipt).toMatchObject({ outcome: 'unconfirmed', words: expect.stringMatching(/not submitted.*attach/s) });
    expect([world.typed, world.held]).toEqual([[], []]);
  });

  it('ACT3 leaves Enter alone when a dialog comes up after the paste', async () => {
    const { world, agent, actor } = await oneAgent('running');
    world.onStep = (step) => {
      if (step.startsWith('paste:')) agent.look = commandScreen;
      return undefined;
    };
    const receipt = await world.act(actor, { action: 'send' });
    expect(receipt).toMatchObject({ outcome: 'unconfirmed', words: expect.stringMatching(/^pasted, not submitted/) });
    expect(world.typed).toEqual(['%1 paste:hello there']);
  });

  it('ACT3 in waiting_input is the answer to what is asked, and only for who may answer', async () => {
    const question = { ...commandAsk, kind: 'question' as const, text: 'Which colour?' };
    const look = {
      state: 'waiting_input' as const,
      ask: { kind: 'question' as const, text: 'Which colour?', options: [] },
    };
    for (const [claim, expected] of [
      [person, 'delivered'],
      [program, 'E_ROLE'],
      [agentClaim('b'), 'E_ROLE'],
    ] as const) {
      const { world, agent, actor } = await oneAgent();
      world.asks(agent, question, look);
      world.onStep = (step) => {
        if (step === 'press:Enter') agent.look = { state: 'running', ask: null };
        return undefined;
      };
      expect(code(await world.act(actor, { action: 'send', text: 'blue please' }, claim))).toBe(expected);
      expect(world.typed).toEqual(
        expected === 'delivered' ? ['%1 press:9', '%1 paste:blue please', '%1 press:Enter'] : [],
      );
    }
  });

  it('ACT2 with no Enter is left in the prompt; what was not seen stays unconfirmed', async () => {
    const { world, agent, actor } = await oneAgent();
    expect(await world.act(actor, { action: 'send', enter: false })).toMatchObject({
      outcome: 'delivered',
      words: 'left in the prompt',
    });
    expect(world.typed).toEqual(['%1 paste:hello there']);
    agent.look = { state: 'idle', ask: null, prompt: { unsent: '', sign: null } };
    world.onStep = (step) => (step.startsWith('paste:') ? { kind: 'lost', words: 'no answer' } : undefined);
    expect(await world.act(actor, { action: 'send' })).toMatchObject({ outcome: 'unconfirmed', words: 'no answer' });
  });

  it('RTE4 RTE6 RTE7 without a reference goes to the CONNECTED agent and to no other', async () => {
    const { world, actor } = await oneAgent();
    world.add('b');
    world.connected = 'b';
    const files = [{ path: '/src/a.ts', from: 10, to: 20 }];
    expect(await world.act(actor, { action: 'send', ref: '', connected: true, text: 'look', files })).toMatchObject({
      ref: 'runtime:b',
    });
    expect(world.typed[0]).toBe('%2 paste:@/src/a.ts#L10-20 look');
    world.health = 'down';
    expect(code(await world.act(actor, { action: 'send', ref: '', connected: true }))).toBe('E_TARGET_DOWN');
    world.connected = null;
    const nobody = await world.act(actor, { action: 'send', ref: '', connected: true });
    expect(nobody.failure).toMatchObject({
      code: 'E_REF_NOT_FOUND',
      message: 'no agent is CONNECTED: none is running',
    });
    world.health = 'ok';
    world.connected = 'a';
    // An empty name means nobody, whoever is CONNECTED.
    expect(code(await world.act(actor, { action: 'send', ref: '' }))).toBe('E_REF_NOT_FOUND');
    expect(code(await world.act(actor, { action: 'kill', ref: '', signal: 'INT' }))).toBe('E_REF_NOT_FOUND');
  });

  it('ACT6 ACT6i of an agent names who sent it, reaches others only, and stops after some hops', async () => {
    const { world, agent, actor } = await oneAgent();
    const other = world.add('b');
    expect(code(await world.act(actor, { action: 'send', ref: 'a' }, agentClaim('a')))).toBe('E_ROLE');
    expect(world.typed).toEqual([]);
    const codes: string[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      const [from, to] = turn % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
      codes.push(code(await world.act(actor, { action: 'send', ref: to, text: `turn ${turn}` }, agentClaim(from))));
    }
    expect(codes).toEqual([...Array.from({ length: limits.hopsMax }, () => 'delivered'), 'E_ROLE']);
    expect(world.typed[0]).toBe(
      '%2 paste:[from an agent, claude (pid 30), runtime:a, not from a person; through agtmux, hop 1 of 4]\nturn 0',
    );
    // A person's word begins a new conversation.
    expect(code(await world.act(actor, { action: 'send', ref: 'a' }))).toBe('delivered');
    expect(code(await world.act(actor, { action: 'send', ref: 'b' }, agentClaim('a')))).toBe('delivered');
    expect([agent.state.state, other.state.state]).toEqual(['idle', 'idle']);
  });

  it('ACT4 takes the agent’s own channel first', async () => {
    const { world, actor } = await oneAgent();
    world.channels.push({
      name: 'own',
      can: ({ action }) => action === 'send',
      run: async () => ({ kind: 'delivered', words: null }),
    });
    expect(await world.act(actor, { action: 'send' })).toMatchObject({ outcome: 'delivered', way: 'own' });
    expect(world.typed).toEqual([]);
  });
});

describe('other actions', () => {
  it('ACT5 interrupts the agent’s own way, while it works and at no other time', async () => {
    const { world, agent, actor } = await oneAgent('running');
    world.onStep = () => {
      agent.look = { state: 'idle', ask: null };
      return undefined;
    };
    expect(code(await world.act(actor, { action: 'interrupt' }))).toBe('delivered');
    expect(world.typed).toEqual(['%1 press:Escape']);
    expect(code(await world.act(actor, { action: 'interrupt' }))).toBe('E_STATE_CHANGED');
    agent.look = commandScreen;
    expect(code(await world.act(actor, { action: 'interrupt' }))).toBe('E_DIALOG');
    world.keys = null;
    agent.look = { state: 'running', ask: null };
    expect(code(await world.act(actor, { action: 'interrupt' }))).toBe('E_UNSUPPORTED');
    for (const state of ['idle', 'completed', 'waiting_approval'] as const) {
      world.becomes(agent, { state });
      expect((await world.act(actor, { action: 'interrupt' })).outcome).toBe('refused');
    }
    expect(world.typed).toHaveLength(1);
  });

  it('ACT5 kills the verified process and says what INT does to Codex', async () => {
    const world = new ActWorld();
    world.keys = codexKeys;
    const agent = world.add('a', 'running', { agent: agentName('codex') });
    const actor = await world.open();
    expect(await world.act(actor, { action: 'kill', signal: 'TERM' })).toMatchObject({ outcome: 'unconfirmed' });
    world.onSignal = () => {
      world.ends(agent);
      return true;
    };
    const receipt = await world.act(actor, { action: 'kill', signal: 'INT' });
    expect(receipt).toMatchObject({ outcome: 'delivered', way: 'signal' });
    expect(receipt.words).toContain('leaves its terminal dirty');
    expect(world.signals).toEqual(['TERM 101', 'INT 101']);
    expect(code(await world.act(actor, { action: 'kill', signal: 'KILL' }))).toBe('E_ENDED');
    const reused = world.add('b');
    world.onSignal = () => false;
    expect(code(await world.act(actor, { action: 'kill', ref: 'b', signal: 'KILL' }))).toBe('E_RUNTIME_STALE');
    expect(reused.state.ended).toBeNull();
  });

  it('resumes a suspended agent, and tells the command for one whose pane is gone', async () => {
    const { world, agent, actor } = await oneAgent();
    expect(code(await world.act(actor, { action: 'resume' }))).toBe('E_STATE_CHANGED');
    world.becomes(agent, { suspended: true });
    world.onSignal = () => {
      world.becomes(agent, { suspended: false });
      return true;
    };
    expect(code(await world.act(actor, { action: 'resume' }))).toBe('delivered');
    world.ends(agent);
    const receipt = await world.act(actor, { action: 'resume' });
    expect(receipt.failure).toMatchObject({ code: 'E_ENDED', next: 'run `claude --resume session-1` where it worked' });
    expect(world.signals).toEqual(['CONT 101']);
    expect(world.typed).toEqual([]);
  });

  it('ACT8 RTE4 an event that an action causes carries the id of its audit row', async () => {
    const { world, agent, actor } = await oneAgent();
    expect(code(await world.act(actor, { action: 'activate' }))).toBe('delivered');
    expect(world.events).toMatchObject([
      { kind: 'route.activated', source: 'operator', evidence: { runtime_id: 'a' } },
    ]);
    expect((world.events[0] as { audit_id?: string }).audit_id).toBe(world.audits[0]?.detail.audit_id);
    world.ends(agent);
    expect(code(await world.act(actor, { action: 'activate' }))).toBe('E_ENDED');
    world.add('c', 'idle', { parent: runtimeId('a'), pane: null });
    expect(code(await world.act(actor, { action: 'activate', ref: 'runtime:c' }))).toBe('E_UNSUPPORTED');
    expect(code(await world.act(actor, { action: 'send', ref: 'runtime:c' }))).toBe('E_UNSUPPORTED');
  });

  it('ACT1 a name is nobody’s as soon as its agent has ended, also before anything was told of the end', async () => {
    const world = new ActWorld();
    const agent = world.add('a');
    world.add('b');
    const actor = await world.open();
    expect(code(await world.act(actor, { action: 'name', ref: 'a', nick: 'front' }))).toBe('delivered');
    world.ends(agent);
    expect(code(await world.act(actor, { action: 'send', ref: 'front' }))).toBe('E_REF_NOT_FOUND');
  });

  it('gives names that work as references, are unique and end with their agent', async () => {
    const { world, agent, actor } = await oneAgent();
    world.add('b');
    expect(code(await world.act(actor, { action: 'name', nick: 'front' }))).toBe('delivered');
    expect(code(await world.act(actor, { action: 'name', ref: 'b', nick: 'front' }))).toBe('E_INPUT');
    for (const nick of ['claude', '%3', 'a:b', '.', '-x', 'b', 'x'.repeat(33), '']) {
      expect(code(await world.act(actor, { action: 'name', ref: 'b', nick })), nick).toBe('E_INPUT');
    }
    expect(await world.act(actor, { action: 'send', ref: 'front' })).toMatchObject({ ref: 'runtime:a' });
    expect(actor.nickOf(runtimeId('a'))).toBe('front');
    const later = await world.open();
    expect(later.nickOf(runtimeId('a'))).toBe('front');
    world.ends(agent);
    actor.changed();
    expect(code(await world.act(actor, { action: 'name', ref: 'b', nick: 'front' }))).toBe('delivered');
    expect(code(await world.act(actor, { action: 'name', ref: 'b', nick: null }))).toBe('delivered');
    expect(actor.nickOf(runtimeId('b'))).toBeNull();
  });

  it('marks what was seen, ended agents too', async () => {
    const { world, agent, actor } = await oneAgent('completed');
    world.ends(agent);
    expect(code(await world.act(actor, { action: 'seen' }))).toBe('delivered');
    expect(actor.seenAt(runtimeId('a'))).toBe(1_000_000);
    expect((await world.open()).seenAt(runtimeId('a'))).toBe(1_000_000);
  });

  it('plans an attachment, shows output and starts agents, each with one row', async () => {
    const { world, actor } = await oneAgent();
    expect(await actor.attach('a', {}, person)).toMatchObject({
      ok: true,
      value: { ref: 'runtime:a', session_id: '$1', window_id: '@1', pane_id: '%1', socket_path: '/tmp/socket' },
    });
    expect(await actor.view('a', 10, person)).toMatchObject({ ok: true, value: { lines: ['a prompt'] } });
    expect(await actor.view('a', 10, person)).toMatchObject({ ok: true });
    expect(await actor.view('nobody', 10, person)).toMatchObject({ ok: false, failure: { code: 'E_REF_NOT_FOUND' } });
    const wanted = { agent: 'claude', target: null, session: null, cwd: null, args: [] };
    expect(await actor.start(wanted, person)).toMatchObject({ outcome: 'delivered', ref: 'runtime:a' });
    expect(code(await actor.start(wanted, agentClaim('a')))).toBe('E_ROLE');
    expect(world.audits.map(({ action, result }) => `${action} ${result}`)).toEqual([
      'attach delivered',
      'view delivered',
      'view refused',
      'new delivered',
      'new refused',
    ]);
    expect(await actor.audit(2)).toHaveLength(2);
  });

  it('ASK3 an unknown ask is nobody’s', async () => {
    const { world, actor } = await oneAgent();
    expect(code(await world.act(actor, { action: 'approve', ask_id: askId('x') }))).toBe('E_STATE_CHANGED');
  });
});
