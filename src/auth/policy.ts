// Who may do what (ACT6): the table of roles, and the file by which a person may allow more. A file with a mistake allows
// nothing.

import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import type { ActionKind, CallerRole, EditorScope } from '../model/actions.ts';
import { type AskKind, askKinds } from '../model/asks.ts';
import { type Failure, fail, failure, ok, type Result } from '../model/errors.ts';
import type { RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import { type Principal, startedByNobody } from './principal.ts';
import { type OperatorRight, operatorRights } from './program-names.ts';

const policySchema = z.strictObject({
  /** Roles that may answer asks besides people. */
  allow_approve: z.array(z.enum(['operator'])).default([]),
  /** What they may answer. Nothing is allowed by leaving it out. */
  kinds: z.array(z.enum(askKinds)).default([]),
  /** What programs may do besides: each gives power, silences people or destroys. */
  allow_operator: z.array(z.enum(operatorRights)).default([]),
  /** Programs whose starter is gone or unknown, as services of the system are, count as the user's own. */
  trust_untraceable: z.boolean().default(false),
});

export type Policy = z.infer<typeof policySchema>;

export const defaultPolicy: Policy = policySchema.parse({});

export function readPolicy(text: string, path: string): Result<Policy> {
  try {
    const checked = policySchema.safeParse(parse(text));
    if (checked.success) return ok(checked.data);
    const problems = checked.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    return fail('E_CONFIG', `${path}: ${problems.join('; ')}`);
  } catch (problem) {
    if (!(problem instanceof TomlError)) throw problem;
    return fail('E_CONFIG', `${path}, line ${problem.line}: ${problem.message.split('\n')[0]}`);
  }
}

/** scope: as far as the scopes of an editor's key go. asks: as far as the policy allows it for what is asked. policy: if a line of the policy names it. others: to other agents only. own: on what it sent itself. */
export type Right = 'yes' | 'scope' | 'no' | 'asks' | 'policy' | 'others' | 'own';

/** The three ways to answer an ask are one right: `mayAnswer` looks at it once what is asked is known. */
const answering = <Only extends Right>(right: Only) => ({ approve: right, reject: right, answer: right });

const everything: Readonly<Record<ActionKind, Right>> = {
  ...answering('yes'),
  send: 'yes',
  interrupt: 'yes',
  kill: 'yes',
  attach: 'yes',
  view: 'yes',
  resume: 'yes',
  new: 'yes',
  name: 'yes',
  seen: 'yes',
  activate: 'yes',
  queue: 'yes',
  agents: 'yes',
  hooks: 'yes',
  mcp: 'yes',
  target: 'yes',
  notify: 'yes',
  restore: 'yes',
  stop: 'yes',
  web: 'yes',
  editor: 'yes',
  hub: 'yes',
  pair: 'yes',
  type: 'yes',
};

/** What of all this an editor's key can be for, and by which of its scopes. Everything else stays a person's. */
const scopeOf: Readonly<Partial<Record<ActionKind, EditorScope>>> = {
  view: 'look',
  attach: 'look',
  seen: 'look',
  send: 'send',
  queue: 'send',
  name: 'send',
  activate: 'send',
  new: 'send',
  resume: 'send',
  approve: 'answer',
  reject: 'answer',
  answer: 'answer',
  interrupt: 'control',
  kill: 'control',
};

export const rights: Readonly<Record<CallerRole, Readonly<Record<ActionKind, Right>>>> = {
  human: everything,
  operator: {
    ...everything,
    ...answering('asks'),
    // An agent has ways to start a program that nobody can tell from a person's own.
    interrupt: 'policy',
    kill: 'policy',
    name: 'policy',
    seen: 'policy',
    activate: 'policy',
    agents: 'policy',
    notify: 'policy',
    stop: 'policy',
    web: 'policy',
    editor: 'policy',
    hub: 'policy',
    type: 'no',
  },
  observer: {
    ...answering('no'),
    send: 'others',
    interrupt: 'no',
    kill: 'no',
    attach: 'no',
    view: 'yes',
    resume: 'no',
    new: 'no',
    name: 'no',
    seen: 'no',
    activate: 'no',
    queue: 'own',
    agents: 'no',
    // People have their agents set up their machines; these stand in files that an agent can write by hand as well.
    hooks: 'yes',
    mcp: 'yes',
    target: 'yes',
    notify: 'no',
    restore: 'no',
    stop: 'no',
    web: 'no',
    editor: 'no',
    hub: 'no',
    pair: 'no',
    type: 'no',
  },
  editor: {
    ...answering('scope'),
    send: 'scope',
    interrupt: 'scope',
    kill: 'scope',
    attach: 'scope',
    view: 'scope',
    resume: 'scope',
    new: 'scope',
    name: 'scope',
    seen: 'scope',
    activate: 'scope',
    queue: 'scope',
    agents: 'no',
    hooks: 'no',
    mcp: 'no',
    target: 'no',
    notify: 'no',
    restore: 'no',
    stop: 'no',
    web: 'no',
    editor: 'no',
    hub: 'no',
    // It is what it becomes by this.
    pair: 'yes',
    type: 'no',
  },
};

/** The role in force: what nobody can trace is an agent's until the policy says otherwise. */
export function underPolicy(caller: Principal, policy: Policy): Principal {
  const isProgram = caller.role === 'operator' || caller.why === startedByNobody;
  const isTrusted = !caller.is_traceable && policy.trust_untraceable && isProgram;
  const known = { ...caller, may: policy.allow_operator };
  if (!isTrusted) return known;
  return { ...known, role: 'operator', is_traceable: true, why: `the policy trusts it, although ${caller.why}` };
}

/** Null: it may. What is asked is looked at once it is known, by `mayAnswer`. */
export function mayDo(caller: Principal, action: ActionKind, runtime: RuntimeId | null): Failure | null {
  const { role, why } = caller;
  // Who began it may end it, also where nobody else could.
  if (action === 'stop' && caller.is_starter === true) return null;
  if (role === 'operator' && !caller.is_traceable && spoken.has(action)) return nobodyKnows(why);
  switch (rights[role][action]) {
    case 'yes':
    case 'asks':
    case 'own':
      return null;
    case 'scope':
      return inScope(caller, action);
    case 'policy':
      return mayAlso(caller, action);
    case 'no':
      return failure('E_ROLE', `${action} is not allowed for ${words[role]}: ${why}`);
    case 'others':
      if (runtime !== null && caller.above.includes(runtime)) {
        return failure('E_ROLE', 'an agent may not send to itself');
      }
      return caller.is_traceable ? null : nobodyKnows(why);
  }
}

/** Null: the caller is a person, or a program that a line of the policy lets do it. */
export function mayAlso(caller: Principal, right: ActionKind | OperatorRight): Failure | null {
  if (caller.role === 'human' || (caller.role === 'operator' && caller.may?.some((one) => one === right) === true)) {
    return null;
  }
  if (caller.role === 'editor' && right !== 'auto_approve') return inScope(caller, right);
  const next = `run it in your own shell, or allow programs to do it: \`allow_operator = ["${right}"]\` in policy.toml`;
  return failure('E_ROLE', `${right} needs a person: ${caller.why}`, next);
}

/** Null: the key of this editor is for that. */
function inScope(caller: Principal, action: ActionKind): Failure | null {
  const scope = scopeOf[action];
  if (scope !== undefined && caller.scopes?.includes(scope) === true) return null;
  const next = scope === undefined ? 'do it in your own terminal' : 'pair it again: `agtmux editor pair`';
  return failure('E_ROLE', `the key of this editor does not allow ${action}`, next);
}

/** Null: it may start an agent with these arguments, which may let that one do everything unasked. */
export const mayStart = (caller: Principal, args: readonly string[]): Failure | null =>
  mayDo(caller, 'new', null) ?? (args.length === 0 ? null : mayAlso(caller, 'auto_approve'));

/** What reaches an agent's input. Whoever may be that agent must not do it, whatever else they may. */
const spoken: ReadonlySet<ActionKind> = new Set(['send', 'approve', 'reject', 'answer', 'interrupt', 'queue']);

const nobodyKnows = (why: string): Failure =>
  failure('E_ROLE', `it is not known which agent this comes from: ${why}`, 'run it in a shell');

/** Null: it may answer an ask of all these kinds. */
export function mayAnswer(caller: Principal, policy: Policy, kinds: readonly AskKind[]): Failure | null {
  const right = rights[caller.role].answer;
  if (right === 'yes') return null;
  if (right === 'scope') return inScope(caller, 'answer');
  if (right !== 'asks' || !policy.allow_approve.some((role) => role === caller.role)) {
    return failure('E_ROLE', `answering is not allowed for ${words[caller.role]}: ${caller.why}`);
  }
  const other = kinds.find((kind) => !policy.kinds.includes(kind));
  return other === undefined ? null : failure('E_ROLE', `the policy does not allow a program to answer a ${other}`);
}

/** Null: it has not gone through too many agents yet. */
export function mayGoOn(hops: number): Failure | null {
  return hops > limits.hopsMax
    ? failure(
        'E_ROLE',
        `the message already passed through ${limits.hopsMax} agents`,
        'a person has to send the next one',
      )
    : null;
}

const words: Readonly<Record<CallerRole, string>> = {
  human: 'people',
  operator: 'programs',
  observer: 'agents',
  editor: 'editors',
};
