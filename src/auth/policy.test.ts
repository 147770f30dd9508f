import { describe, expect, it } from 'vitest';
import { type ActionKind, actionKinds, callerRoles, type EditorScope, editorScopes } from '../model/actions.ts';
import { askKinds } from '../model/asks.ts';
import { runtimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import {
  defaultPolicy,
  mayAlso,
  mayAnswer,
  mayDo,
  mayGoOn,
  type Policy,
  type Right,
  readPolicy,
  rights,
  underPolicy,
} from './policy.ts';
import type { Principal } from './principal.ts';
import { operatorRights } from './program-names.ts';

const caller = (role: Principal['role'], parts: Partial<Principal> = {}): Principal => ({
  role,
  name: 'someone',
  runtime_id: null,
  hops: 0,
  why: 'a test',
  pid: 1,
  above: [],
  is_traceable: true,
  ...parts,
});

/** Written out once more, by hand: human, operator, observer, editor. */
const table: Readonly<Record<ActionKind, readonly [Right, Right, Right, Right]>> = {
  send: ['yes', 'yes', 'others', 'scope'],
  approve: ['yes', 'asks', 'no', 'scope'],
  reject: ['yes', 'asks', 'no', 'scope'],
  answer: ['yes', 'asks', 'no', 'scope'],
  interrupt: ['yes', 'policy', 'no', 'scope'],
  kill: ['yes', 'policy', 'no', 'scope'],
  attach: ['yes', 'yes', 'no', 'scope'],
  view: ['yes', 'yes', 'yes', 'scope'],
  resume: ['yes', 'yes', 'no', 'scope'],
  new: ['yes', 'yes', 'no', 'scope'],
  name: ['yes', 'policy', 'no', 'scope'],
  seen: ['yes', 'policy', 'no', 'scope'],
  activate: ['yes', 'policy', 'no', 'scope'],
  queue: ['yes', 'yes', 'own', 'scope'],
  agents: ['yes', 'policy', 'no', 'no'],
  hooks: ['yes', 'yes', 'yes', 'no'],
  mcp: ['yes', 'yes', 'yes', 'no'],
  target: ['yes', 'yes', 'yes', 'no'],
  notify: ['yes', 'policy', 'no', 'no'],
  restore: ['yes', 'yes', 'no', 'no'],
  stop: ['yes', 'policy', 'no', 'no'],
  web: ['yes', 'policy', 'no', 'no'],
  editor: ['yes', 'policy', 'no', 'no'],
  hub: ['yes', 'policy', 'no', 'no'],
  pair: ['yes', 'yes', 'no', 'yes'],
  type: ['yes', 'no', 'no', 'no'],
};

describe('the roles', () => {
  const cells = callerRoles.flatMap((role) => actionKinds.map((action) => [role, action] as const));
  it.each(cells)('ACT6 %s and %s', (role, action) => {
    const right = table[action][callerRoles.indexOf(role)];
    expect(rights[role][action]).toBe(right);
    const own = caller(role, { runtime_id: runtimeId('a'), above: [runtimeId('b'), runtimeId('a')] });
    const codes = ['a', 'b', 'c'].map((name) => mayDo(own, action, runtimeId(name))?.code ?? 'yes');
    if (right === 'no' || right === 'policy' || right === 'scope')
      expect(codes).toEqual(['E_ROLE', 'E_ROLE', 'E_ROLE']);
    else if (right === 'others') expect(codes).toEqual(['E_ROLE', 'E_ROLE', 'yes']);
    else expect(codes).toEqual(['yes', 'yes', 'yes']);
  });

  it('ACT6 an agent that nobody can trace sends nothing, unless the policy trusts it', () => {
    const lost = caller('observer', { is_traceable: false, why: 'the process that started it has ended' });
    expect(mayDo(lost, 'send', runtimeId('a'))?.code).toBe('E_ROLE');
    expect(underPolicy(lost, defaultPolicy).role).toBe('observer');
    expect(underPolicy(lost, { ...defaultPolicy, trust_untraceable: true }).role).toBe('operator');
    const marked = caller('observer', { is_traceable: false, why: 'CLAUDECODE is set, which agents do' });
    expect(underPolicy(marked, { ...defaultPolicy, trust_untraceable: true }).role).toBe('observer');
  });

  it('ACT6 a program that nobody can trace reaches no agent’s input, unless the policy trusts it', () => {
    const ordered = caller('operator', { is_traceable: false });
    const trusted = underPolicy(ordered, { ...defaultPolicy, trust_untraceable: true });
    // Keys are for people, whatever the policy says.
    const reaching = ['send', 'approve', 'reject', 'answer', 'interrupt', 'queue', 'type'];
    for (const action of actionKinds) {
      const isOpen = (table[action][1] === 'yes' || table[action][1] === 'asks') && !reaching.includes(action);
      const code = mayDo(ordered, action, runtimeId('a'))?.code ?? 'yes';
      expect([action, code]).toEqual([action, isOpen ? 'yes' : 'E_ROLE']);
      const isTrusted = table[action][1] === 'yes' || table[action][1] === 'asks';
      expect([action, mayDo(trusted, action, runtimeId('a')) === null]).toEqual([action, isTrusted]);
    }
  });

  it('ACT6 ACT6e what gives power, silences or destroys takes a person or the line of the policy that names it', () => {
    const guarded = operatorRights.filter((right) => right !== 'auto_approve');
    expect(actionKinds.filter((action) => table[action][1] === 'policy').toSorted()).toEqual(guarded.toSorted());
    for (const right of operatorRights) {
      const allowed = underPolicy(caller('operator'), { ...defaultPolicy, allow_operator: [right] });
      for (const other of operatorRights) expect(mayAlso(allowed, other) === null).toBe(other === right);
      expect(mayAlso(caller('human'), right)).toBeNull();
      expect(mayAlso(caller('operator'), right)).toMatchObject({
        code: 'E_ROLE',
        next: expect.stringContaining(right),
      });
      const agent = underPolicy(caller('observer'), { ...defaultPolicy, allow_operator: [right] });
      expect(mayAlso(agent, right)?.code).toBe('E_ROLE');
    }
  });

  it('ACT6 what started the daemon may end it, and nothing else by that', () => {
    const lost = caller('observer', { is_starter: true, is_traceable: false });
    for (const action of actionKinds) {
      const may = mayDo(lost, action, runtimeId('a')) === null;
      expect([action, may]).toEqual([action, action === 'stop' || table[action][2] === 'yes' || action === 'queue']);
    }
  });

  it('ACT6 asks are answered by people, and by programs as far as the policy says', () => {
    const policy: Policy = { ...defaultPolicy, allow_approve: ['operator'], kinds: ['command'] };
    for (const kind of askKinds) {
      expect(mayAnswer(caller('human'), defaultPolicy, [kind])).toBeNull();
      expect(mayAnswer(caller('operator'), defaultPolicy, [kind])?.code).toBe('E_ROLE');
      expect(mayAnswer(caller('operator'), policy, [kind])?.code ?? 'yes').toBe(kind === 'command' ? 'yes' : 'E_ROLE');
      expect(mayAnswer(caller('observer'), policy, [kind])?.code).toBe('E_ROLE');
    }
    expect(mayAnswer(caller('operator'), policy, ['command', 'edit'])?.code).toBe('E_ROLE');
  });

  it('EDI3 an editor does what the scopes of its key name, and nothing that gives power', () => {
    const scoped = actionKinds.filter((action) => table[action][3] === 'scope');
    const may = (scopes: readonly EditorScope[]): readonly ActionKind[] =>
      actionKinds.filter((action) => mayDo(caller('editor', { scopes }), action, runtimeId('a')) === null);
    expect(may([])).toEqual(['pair']);
    expect(may(['look'])).toEqual(['attach', 'view', 'seen', 'pair']);
    expect(may(['answer'])).toEqual(['approve', 'reject', 'answer', 'pair']);
    expect(may(['control'])).toEqual(['interrupt', 'kill', 'pair']);
    expect(may(['send'])).toEqual(['send', 'resume', 'new', 'name', 'activate', 'queue', 'pair']);
    expect(may([...editorScopes]).filter((action) => action !== 'pair')).toEqual(scoped);
    const every = caller('editor', { scopes: editorScopes });
    expect(mayAlso(every, 'auto_approve')?.code).toBe('E_ROLE');
    expect(mayAlso(every, 'kill')).toBeNull();
    expect(mayAnswer(every, defaultPolicy, ['command'])).toBeNull();
    expect(mayAnswer(caller('editor', { scopes: ['look', 'send'] }), defaultPolicy, ['command'])?.code).toBe('E_ROLE');
  });

  it('ACT6 a message stops after some agents', () => {
    expect(mayGoOn(limits.hopsMax)).toBeNull();
    expect(mayGoOn(limits.hopsMax + 1)?.code).toBe('E_ROLE');
  });
});

describe('the policy file', () => {
  it('allows what it names', () => {
    expect(readPolicy('allow_approve = ["operator"]\nkinds = ["command", "edit"]\n', 'policy.toml')).toEqual({
      ok: true,
      value: { ...defaultPolicy, allow_approve: ['operator'], kinds: ['command', 'edit'] },
    });
    expect(readPolicy('', 'policy.toml')).toEqual({ ok: true, value: defaultPolicy });
  });

  it.each([
    ['allow_approve = ["observer"]', 'allow_approve'],
    ['kinds = ["anything"]', 'kinds'],
    ['alow_approve = []', 'alow_approve'],
    ['allow_operator = ["approve"]', 'allow_operator'],
    ['a = [', 'line 1'],
  ])('refuses %s and names the place', (text, place) => {
    const read = readPolicy(text, 'policy.toml');
    expect(read).toMatchObject({ ok: false, failure: { code: 'E_CONFIG' } });
    expect(read.ok ? '' : read.failure.message).toContain(place);
  });
});
