// Who asks for an action, told from what the system says about the asking process and never from what it says itself
// (ACT6). Doubt makes the smaller role: an agent has many ways to start a program, a person has a few.

import type { Caller, WebCaller } from '../model/actions.ts';
import type { RuntimeId } from '../model/ids.ts';

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
  /** It is the agent of a session that the daemon started itself: who that is does not depend on what stands above it. */
  readonly is_led?: boolean;
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
export interface KnownCaller extends Caller {
  readonly pid: number | null;
  /** Every agent above it: to none of them may it send. */
  readonly above: readonly RuntimeId[];
  /** False: nobody can tell who wanted it, so nobody can say that it is not the very agent it writes to. */
  readonly is_traceable: boolean;
}

/** What agents put into the environment of what they start. */
const markers =
  /^(?:CLAUDECODE|CLAUDE_CODE_\w+|CLAUDE_PID|CODEX_\w+|GEMINI_CLI\w*|COPILOT_\w+|OPENCODE\w*|KILO\w*|CURSOR_\w+|AI_AGENT|AGTMUX_AGENT)$/;

/** People's own settings, which stand in every shell of theirs. */
const settings =
  /_(?:API_KEY|TOKEN|HOME|CONFIG|CONFIG_DIR|MODEL|BASE_URL)$|^[A-Z]+(?:_CODE|_CLI)?_(?:USE|MAX|DISABLE|ENABLE|SKIP|EXTRA|PROVIDER|TRUST)(?:_\w+)?$|^CURSOR_TRACE_ID$/;

/** People come in through them from elsewhere, with or without a command. */
const entrances = ['sshd', 'sshd-session', 'sshd-auth', 'dropbear', 'mosh-server', 'login', 'getty', 'agetty'];

/** They open a window with a command in it for anyone who asks. */
const multiplexers = new Set(['tmux', 'screen', 'SCREEN', 'zellij']);

/** Programs that give a terminal to a person. A recorder or a script that opens one is none of them. */
const terminals = new Set([
  ...[...entrances, ...multiplexers],
  ...['xterm', 'urxvt', 'rxvt', 'st', 'foot', 'footclient', 'alacritty', 'kitty', 'wezterm', 'wezterm-gui', 'ghostty'],
  ...['gnome-terminal-server', 'gnome-terminal-', 'kgx', 'ptyxis-agent', 'konsole', 'xfce4-terminal', 'terminator'],
  ...['tilix', 'Terminal', 'iTerm2', 'iTermServer', 'code', 'cursor', 'zed'],
  ...['containerd-shim', 'conmon', 'podman', 'systemd-nspawn', 'init-wsl', 'Relay'],
]);

/** They may open a terminal of their own between two that belong together. */
const doors = new Set(['sudo', 'su', 'doas', 'machinectl', 'run0']);

/** Programs that start others at a set time, for whoever asked them to. */
const starters = new Set(['cron', 'crond', 'atd', 'anacron', 'launchd']);

const plainShell = /^-?(?:sh|bash|dash|zsh|fish|ksh|mksh|tcsh|csh|ash|nu|elvish|xonsh|pwsh)$/;
const plainOption = /^(?:-[li]+|--login|--interactive)$/;
/** Of a shell that runs what it is given and ends. */
const commandOption = /^-[a-z]*c[a-z]*$/;

/** Set by an agent for what it starts. */
export const isMarker = (name: string): boolean => markers.test(name) && !settings.test(name);

export function callerOf(facts: CallerFacts | null, hops: number): KnownCaller {
  const trace = facts === null ? { above: [], is_traceable: false } : traceOf(facts);
  const made = (role: Caller['role'], name: string, runtime: RuntimeId | null, why: string): KnownCaller => ({
    role,
    name,
    runtime_id: runtime,
    hops,
    why,
    pid: facts?.pid ?? null,
    ...trace,
  });
  if (facts === null) return made('observer', 'a process that is gone', null, 'there is no such process');
  const program = `${nameOf(facts.argv)} (pid ${facts.pid})`;
  const agent = facts.ancestors.find(({ is_agent, runtime_id }) => is_agent || runtime_id !== null);
  if (agent !== undefined) {
    return made(
      'observer',
      `an agent, ${nameOf(agent.argv)} (pid ${agent.pid})`,
      agent.runtime_id,
      'an agent started it',
    );
  }
  if (facts.environment === null) return made('observer', program, null, 'its environment cannot be read');
  const marker = facts.environment.find(isMarker);
  if (marker !== undefined) return made('observer', program, null, `${marker} is set, as agents do`);
  if (!facts.is_whole) return made('observer', program, null, 'its parents could not be followed to the end');
  const origin = originOf(facts);
  if (origin === 'lost') return made('observer', program, null, 'whoever started it is gone');
  const doubt = origin === 'ordered' ? 'no shell that waits for a person started it' : notByHand(facts);
  return doubt === null
    ? made('human', `a person at ${facts.tty}`, null, 'a terminal of its own and no agent above it')
    : made('operator', program, null, doubt);
}

/** Who names no process may be anyone, the very agent it writes to included: leaving it out must not gain anything. */
export const namelessCaller = (hops: number): KnownCaller => ({
  role: 'observer',
  name: 'a program that does not say which process it is',
  runtime_id: null,
  hops,
  why: 'it names no process to look at',
  pid: null,
  above: [],
  is_traceable: false,
});

/** Somebody sits at the desktop that shows our notification: only the desktop itself says that a button was pressed. */
export const personAtDesktop: KnownCaller = {
  role: 'human',
  name: 'a person at a notification',
  runtime_id: null,
  hops: 0,
  why: 'a button of our own notification was pressed',
  pid: null,
  above: [],
  is_traceable: true,
};
/** A page in a browser: what it may do was settled when its link was asked for. */
export const webCaller = ({ session, role, opened_by, is_traceable }: WebCaller, hops: number): KnownCaller => ({
  role,
  name: `web session ${session}`,
  runtime_id: null,
  hops,
  why: `its link was asked for by ${opened_by}`,
  pid: null,
  above: [],
  is_traceable,
});

/** Of a message that waited: who sent it was looked at when it was sent. */
export const knownAgain = (from: Caller): KnownCaller => ({
  ...from,
  pid: null,
  above: from.runtime_id === null ? [] : [from.runtime_id],
  is_traceable: true,
});

function traceOf(facts: CallerFacts): Pick<KnownCaller, 'above' | 'is_traceable'> {
  const above = facts.ancestors.flatMap(({ runtime_id }) => (runtime_id === null ? [] : [runtime_id]));
  const origin = originOf(facts);
  const isKnown = origin === 'typed' || (origin === 'ordered' && above.length > 0);
  const isLed = facts.ancestors.some(({ is_led }) => is_led === true);
  return { above, is_traceable: facts.is_whole && (isKnown || isLed) };
}

/**
 * typed: in a shell that waits for a person, or below one. ordered: as a command of something that starts commands for
 * anyone, agents too. lost: whoever started it is gone.
 */
function originOf(facts: CallerFacts): 'typed' | 'ordered' | 'lost' {
  const { ancestors, tty } = facts;
  const at = ancestors.findIndex(isGiver);
  const giver = ancestors[at];
  if (giver !== undefined) {
    return isOpenedFor(giver, ancestors[at - 1]) || isBoard(facts, ancestors.slice(0, at)) ? 'typed' : 'ordered';
  }
  if (ancestors.some((one) => starters.has(programOf(one)))) return 'ordered';
  // The chain of a process that came in from outside, as into a container, ends without the first process.
  const fromOutside = ancestors.every(({ pid }) => pid !== 1) && !isAdopted(ancestors);
  const ofFirst = tty !== null && ancestors.some((one) => one.pid === 1 && one.tty === tty);
  return fromOutside || ofFirst ? 'typed' : 'lost';
}

/** The first process takes in everyone whose parents are gone: that it gave a terminal to somebody proves nothing. */
const isGiver = (one: AncestorFacts): boolean => one.is_tmux || (one.pid !== 1 && terminals.has(programOf(one)));

/** A person's window has a shell that waits for them; anyone can open one with a command in it. */
function isOpenedFor(giver: AncestorFacts, root: AncestorFacts | undefined): boolean {
  const name = programOf(giver);
  if (!giver.is_tmux && entrances.includes(name)) return true;
  if (root === undefined || !root.is_at_terminal || !plainShell.test(programOf(root))) return false;
  return giver.is_tmux || multiplexers.has(name)
    ? isPlainShell(root.argv)
    : !root.argv.slice(1).some((one) => commandOption.test(one));
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

/** Null when a person typed it, as far as anyone can tell; else what speaks against it. */
function notByHand(facts: CallerFacts): string | null {
  if (facts.tty === null) return 'it has no terminal';
  let tty: string | null = facts.tty;
  for (const one of facts.ancestors) {
    if (one.tty === tty) continue;
    if (isGiver(one)) return null;
    if (!doors.has(programOf(one)) || one.pid === 1) return `its terminal belongs to ${nameOf(one.argv)}`;
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

const nameCharsMax = 32;
