// Who asks for an action, told from what the system says about the asking process and never from what it says itself
// (ACT6). Doubt makes the smaller role: an agent has many ways to start a program, a person has a few.

import type { Caller, CallerClaim, EditorCaller, EditorScope, WebCaller } from '../model/actions.ts';
import type { RuntimeId } from '../model/ids.ts';
import {
  carriers,
  commandOption,
  entrances,
  hostNames,
  inits,
  isMarker,
  multiplexers,
  nodePrograms,
  type OperatorRight,
  passers,
  plainOption,
  plainShell,
  starters,
  terminals,
  userSwitchers,
} from './program-names.ts';

export interface AncestorFacts {
  readonly pid: number;
  readonly argv: readonly string[];
  /** The file it runs, which it cannot choose as freely as its name; null when nobody may look. */
  readonly executable: string | null;
  readonly tty: string | null;
  /** It reads from its terminal, not from a file or a pipe. */
  readonly is_at_terminal: boolean;
  /** The agent that this process belongs to, if it is one's. */
  readonly runtime_id: RuntimeId | null;
  /** It runs a known agent's program, whether its runtime is known or not. */
  readonly is_agent: boolean;
  /** It is a tmux server. */
  readonly is_tmux: boolean;
  /**
   * The daemon knows by itself whom it belongs to: the agent of a session that it started, or the command of a background
   * shell. Who that is does not depend on what stands above it.
   */
  readonly is_led?: boolean;
  /** A daemon of agtmux, or what keeps a background shell: nobody types below it, whoever typed the daemon's own start. */
  readonly ours?: 'daemon' | 'shell' | null;
  /** It stood above this daemon when that was started. */
  readonly is_starter?: boolean;
  /** When it began, as the system counts. */
  readonly start?: string;
}

export interface CallerFacts {
  readonly pid: number;
  readonly argv: readonly string[];
  /** Its controlling terminal. */
  readonly tty: string | null;
  /** It reads from that terminal. */
  readonly is_at_terminal: boolean;
  /** Nearest first, up to the first process of the machine, or of the container. */
  readonly ancestors: readonly AncestorFacts[];
  /** They were followed to the very end, where no parent is left. Otherwise an agent may stand where nobody looked. */
  readonly is_whole: boolean;
  /** Names of its environment; null when they could not be read. Values are nobody's business. */
  readonly environment: readonly string[] | null;
}

/** A caller with what is needed to know whether it means itself. */
export interface Principal extends Caller {
  readonly pid: number | null;
  /** Every agent above it: to none of them may it send. */
  readonly above: readonly RuntimeId[];
  /** False: nobody can tell who wanted it, so nobody can say that it is not the very agent it writes to. */
  readonly is_traceable: boolean;
  /** It, or what started it, started the daemon as well, and no agent is seen above it: it may end what it began. */
  readonly is_starter?: boolean;
  /** Of a paired editor: what its key is for. */
  readonly scopes?: readonly EditorScope[];
  /** What the policy allows programs beyond what they may anyway. */
  readonly may?: readonly OperatorRight[];
}

/** Of a caller whose parents have ended. */
export const startedByNobody = 'the process that started it has ended';

export function callerOf(facts: CallerFacts | null, hops: number): Principal {
  const trace = facts === null ? { above: [], is_traceable: false } : traceOf(facts);
  const made = (role: Caller['role'], name: string, runtime: RuntimeId | null, why: string): Principal => ({
    role,
    name,
    runtime_id: runtime,
    hops,
    why,
    pid: facts?.pid ?? null,
    ...trace,
  });
  if (facts === null) return made('observer', 'an ended process', null, 'there is no such process');
  const program = `${nameOf(facts.argv)} (pid ${facts.pid})`;
  const agent = facts.ancestors.find(({ is_agent, runtime_id }) => is_agent || runtime_id !== null);
  if (agent !== undefined) {
    const why = agent.ours === 'shell' ? 'it runs in a background shell of that agent' : 'an agent started it';
    return made('observer', `an agent, ${nameOf(agent.argv)} (pid ${agent.pid})`, agent.runtime_id, why);
  }
  const ours = facts.ancestors.find((one) => one.ours != null);
  if (ours !== undefined) {
    const what = ours.ours === 'shell' ? 'it runs in a background shell' : 'a daemon of agtmux started it';
    return made('observer', program, null, `${what} (pid ${ours.pid})`);
  }
  if (facts.environment === null) return made('observer', program, null, 'its environment cannot be read');
  const marker = facts.environment.find(isMarker);
  if (marker !== undefined) return made('observer', program, null, `${marker} is set, which agents do`);
  if (!facts.is_whole) return made('observer', program, null, 'its parent processes could not all be read');
  const is_starter = facts.ancestors.some((one) => one.is_starter === true);
  const origin = originOf(facts);
  if (origin.kind === 'lost') return { ...made('observer', program, null, startedByNobody), is_starter };
  const doubt = origin.kind === 'ordered' ? origin.why : (foreignIn(facts, origin.between) ?? notByHand(facts));
  return doubt === null
    ? made('human', `a person at ${facts.tty}`, null, origin.why)
    : { ...made('operator', program, null, doubt), is_starter };
}

/** Who names no process may be anyone, the very agent it writes to included: leaving it out must not gain anything. */
export const anonymousPrincipal = (hops: number): Principal => ({
  role: 'observer',
  name: 'a program that does not name its process',
  runtime_id: null,
  hops,
  why: 'it names no process to check',
  pid: null,
  above: [],
  is_traceable: false,
});

/** Somebody sits at the desktop that shows our notification: only the desktop itself says that a button was pressed. */
export const desktopPrincipal: Principal = {
  role: 'human',
  name: 'a person at a notification',
  runtime_id: null,
  hops: 0,
  why: 'a button of an agtmux notification was pressed',
  pid: null,
  above: [],
  is_traceable: true,
};
/** A person at the hub that this machine has joined: the owner's list was asked before, and the order names them. */
export const hubPrincipal = ({ order, who }: NonNullable<CallerClaim['hub']>): Principal => ({
  role: 'human',
  name: `${who} at the hub`,
  runtime_id: null,
  hops: 0,
  why: `order ${order} of the hub, which hub.toml allows`,
  pid: null,
  above: [],
  is_traceable: true,
});

/** A page in a browser: what it may do was settled when its link was asked for. */
export const webPrincipal = ({ session, role, opened_by, is_traceable }: WebCaller, hops: number): Principal => ({
  role,
  name: `web session ${session}`,
  runtime_id: null,
  hops,
  why: `its sign-in link was created by ${opened_by}`,
  pid: null,
  above: [],
  is_traceable,
});

/**
 * A paired editor. A key is worth nothing in the hands of an agent: whoever has one above it, or may be one, stays what they
 * are. An editor that was started in the background has nobody above it but the program it belongs to; a window that was opened
 * with a command in it is no editor, for an agent can open one.
 */
export function editorPrincipal(
  { id, name, scopes }: EditorCaller,
  facts: CallerFacts | null,
  hops: number,
): Principal {
  const seen = facts === null ? anonymousPrincipal(hops) : callerOf(facts, hops);
  const isHosted = seen.why === startedByNobody && facts?.tty === null && (facts.ancestors[0]?.pid ?? 1) !== 1;
  if (!isHosted && (seen.role === 'observer' || !seen.is_traceable)) {
    return { ...seen, why: `${seen.why}, so the key of an editor does not count` };
  }
  const why = `it has the key of editor ${id}, which a person paired`;
  return {
    ...seen,
    role: 'editor',
    name: `editor:${name}`,
    why,
    editor_id: id,
    scopes,
    above: [],
    is_traceable: true,
    runtime_id: null,
  };
}

/** In the audit. */
export const actorOf = ({ role, name }: Caller): string => (role === 'editor' ? name : `${role}: ${name}`);

/** Of a message that waited: who sent it was looked at when it was sent, and what an editor's key is for is looked up now. */
export const principalAgain = (from: Caller, scopes: readonly EditorScope[] = []): Principal => ({
  ...from,
  scopes,
  pid: null,
  above: from.runtime_id === null ? [] : [from.runtime_id],
  is_traceable: true,
});

function traceOf(facts: CallerFacts): Pick<Principal, 'above' | 'is_traceable'> {
  const above = facts.ancestors.flatMap(({ runtime_id }) => (runtime_id === null ? [] : [runtime_id]));
  const isManagedProcess = facts.ancestors.some(({ is_led }) => is_led === true);
  const isOurs = facts.ancestors.some(({ ours }) => ours != null);
  const { kind } = originOf(facts);
  const isKnown = !isOurs && (kind === 'typed' || (kind === 'ordered' && above.length > 0));
  return { above, is_traceable: facts.is_whole && (isKnown || isManagedProcess) };
}

interface Origin {
  /**
   * typed: in a shell that waits for a person, or below one. ordered: as a command of something that starts commands for
   * anyone, agents too. lost: whoever started it is gone.
   */
  readonly kind: 'typed' | 'ordered' | 'lost';
  readonly why: string;
  /** Everyone between the caller and whatever gave it its terminal. */
  readonly between: readonly AncestorFacts[];
}

function originOf(facts: CallerFacts): Origin {
  const { ancestors, tty } = facts;
  const at = ancestors.findIndex(isGiver);
  const giver = ancestors[at];
  const typed = (between: readonly AncestorFacts[], what: string): Origin => ({
    kind: 'typed',
    why: `${what}, with only allowed programs in between and no agent above it`,
    between,
  });
  if (giver !== undefined) {
    const between = ancestors.slice(0, at);
    if (isBoard(facts, between)) return typed(between, 'a board that reads its own terminal');
    const doubt = notOpenedFor(giver, between.at(-1));
    return doubt === null
      ? typed(between, `a shell that reads a terminal of ${nameOf(giver.argv)}`)
      : { kind: 'ordered', why: doubt, between };
  }
  const starter = ancestors.find((one) => starters.has(programOf(one)));
  if (starter !== undefined) {
    return { kind: 'ordered', why: `${programOf(starter)} started it on a schedule`, between: [] };
  }
  // The chain of a process that came in from outside, as into a container, ends without the first process.
  const fromOutside = ancestors.every(({ pid }) => pid !== 1) && !isAdopted(ancestors);
  const ofFirst = tty !== null && ancestors.some((one) => one.pid === 1 && one.tty === tty);
  return fromOutside || ofFirst
    ? typed(ancestors, 'a terminal that was passed in from outside')
    : { kind: 'lost', why: startedByNobody, between: [] };
}

/** The first process takes in everyone whose parents are gone: that it gave a terminal to somebody proves nothing. */
const isGiver = (one: AncestorFacts): boolean => one.is_tmux || (one.pid !== 1 && terminals.has(programOf(one)));

/** What several that have nothing to do with each other stand below: a person's shell, a terminal, the first process. */
export const isSharedAncestor = (one: AncestorFacts): boolean =>
  isGiver(one) ||
  one.pid === 1 ||
  starters.has(programOf(one)) ||
  inits.has(programOf(one)) ||
  (one.is_at_terminal && isPlainShell(one.argv));

/** A person's window has a shell that waits for them; anyone can open one with a command in it. Null: it was. */
function notOpenedFor(giver: AncestorFacts, root: AncestorFacts | undefined): string | null {
  const name = programOf(giver);
  if (!giver.is_tmux && entrances.includes(name)) return null;
  const by = giver.is_tmux ? 'tmux' : name;
  if (root === undefined) return `${by} was configured to start it`;
  if (root.tty === null) return `${by} was configured to start it, without a terminal`;
  if (!plainShell.test(programOf(root))) return `its window was opened with ${told(root.argv)} instead of a shell`;
  if (!root.is_at_terminal) return 'the shell of its window does not read its terminal';
  const isWaiting =
    giver.is_tmux || multiplexers.has(name)
      ? isPlainShell(root.argv)
      : !root.argv.slice(1).some((one) => commandOption.test(one));
  return isWaiting
    ? null
    : `the shell of its window was started as \`${toldShell(root.argv)}\`, which determines what it runs; a person's shell has no such options`;
}

/**
 * The board in a window or a popup of its own. It does nothing until keys are pressed in it, as a shell there, and whoever
 * can press them can press them in a shell too. A command that acts by itself is another matter. Nothing but the shell that
 * the window started it with may stand in between, and nothing may be loaded into it.
 */
function isBoard({ argv, tty, is_at_terminal, environment }: CallerFacts, between: readonly AncestorFacts[]): boolean {
  const [program, file = '', command = 'tui'] = argv;
  if (nameOf([program ?? '']) !== 'node' || nameOf([file]) !== 'agtmux' || command !== 'tui') return false;
  if (!is_at_terminal || environment?.includes('NODE_OPTIONS') === true) return false;
  return between.every((one) => one.tty === tty && one.is_at_terminal && plainShell.test(programOf(one)));
}

/** A process whose parent ended is given to the first one, or to the one that keeps the user's session. */
const isAdopted = (ancestors: readonly AncestorFacts[]): boolean =>
  ancestors.some(({ pid, argv }) => pid === 1 || nameOf(argv) === 'systemd');

/** Null: nothing stands between that may have a will of its own. */
function foreignIn(facts: CallerFacts, between: readonly AncestorFacts[]): string | null {
  const itself = scriptName(facts.argv);
  if (!carriers.has(itself) && !plainShell.test(itself)) {
    return `${told(facts.argv)} calls directly, and it cannot be told whether it is an agent`;
  }
  let isBelowShell = false;
  for (const one of between) {
    const name = scriptNameOf(one);
    if (plainShell.test(name)) {
      isBelowShell ||= one.is_at_terminal && isPlainShell(one.argv);
      continue;
    }
    if (passers.has(name) || carriers.has(name) || (one.pid === 1 && inits.has(name))) continue;
    if (isBelowShell && hostNames.has(name)) continue;
    return `${told(one.argv)} (pid ${one.pid}) is between it and the shell, and it cannot be told whether it is an agent`;
  }
  return null;
}

/** Through Node to what it runs: `node /usr/bin/npx` is npx. A program may have renamed itself: `npm exec agtmux`. */
function scriptName(argv: readonly string[]): string {
  const name = nameOf(argv);
  if (name !== 'node' && name !== 'nodejs') return name;
  const script = argv.slice(1).find((word) => !word.startsWith('-')) ?? '';
  return nameOf([script]).replace(/(?:-cli)?\.c?js$/, '');
}

/** By its file, unless that is Node, which runs anything. */
function scriptNameOf(one: AncestorFacts): string {
  const name = programOf(one);
  if (name !== 'node' && name !== 'nodejs') return name;
  // What Node runs may call itself anything; of these names alone it has to be believed.
  const script = scriptName(one.argv);
  return nodePrograms.has(script) ? script : name;
}

/** Null when a person typed it, as far as anyone can tell; else what speaks against it. */
function notByHand(facts: CallerFacts): string | null {
  if (facts.tty === null) return 'it has no terminal';
  let tty: string | null = facts.tty;
  for (const one of facts.ancestors) {
    if (one.tty === tty) continue;
    if (isGiver(one)) return null;
    if (!userSwitchers.has(programOf(one)) || one.pid === 1) return `its terminal belongs to ${nameOf(one.argv)}`;
    tty = one.tty;
  }
  return null;
}

const isPlainShell = (argv: readonly string[]): boolean =>
  plainShell.test(nameOf(argv)) && argv.slice(1).every((one) => plainOption.test(one));

/** By its file where that can be seen: anyone can start a program under another name. */
function programOf({ executable, argv }: AncestorFacts): string {
  const file = executable === null ? '' : nameOf([executable]).replace(/^\.(.+)-wrapped$/, '$1');
  return file === '' || file === 'busybox' ? nameOf(argv) : file;
}

/** A login shell keeps its dash here; daemons that write into their arguments (`sshd: me@pts/1`) keep their name. */
function nameOf(argv: readonly string[]): string {
  const first = (argv[0] ?? '').split(/[\s:]/, 1)[0] ?? '';
  // It is told to people and to agents, and anyone may call a process anything.
  const name = first.slice(first.lastIndexOf('/') + 1).replace(/[^\w.@+-]/g, '_');
  return name.slice(0, nameCharsMax) || 'a process';
}

/** A program for people: its name, and of a runtime what it runs. Nothing else of its arguments, which may be secret. */
function told(argv: readonly string[]): string {
  const name = nameOf(argv);
  const script = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|perl)$/.test(name)
    ? argv.slice(1).find((word) => !word.startsWith('-'))
    : undefined;
  return script === undefined ? name : `${name} ${nameOf([script])}`;
}

/** A shell with its options, and that there is more. */
function toldShell(argv: readonly string[]): string {
  const options = argv.slice(1).filter((word) => word.startsWith('-'));
  const words = [nameOf(argv), ...options.map((word) => nameOf([word.split('=', 1)[0] ?? '']))];
  return `${words.join(' ')}${options.length < argv.length - 1 ? ' …' : ''}`;
}

const nameCharsMax = 32;
