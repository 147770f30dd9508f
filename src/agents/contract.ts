// What one agent's folder offers to the rest of the product. Each part stands in a file of the same name in every folder:
// identify, screen (rules as data), hooks, native, install, mcp, transcript, session. Adapters read and say what it means;
// they touch nothing.

import type { ActionRequest } from '../model/actions.ts';
import type { Ask, AskKind, AskOption } from '../model/asks.ts';
import { type ErrorCode, type Failure, failure } from '../model/errors.ts';
import type { Fact, RuntimeIdentity } from '../model/events.ts';
import type { AgentName, AgentSessionId, RuntimeId } from '../model/ids.ts';
import type { StateRecord } from '../model/records.ts';
import type { SourceName } from '../model/sources.ts';
import type { Confidence, StateName } from '../model/states.ts';
import type { AcpAgent } from './protocol/acp/profile.ts';
import type { SessionLauncher } from './protocol/launch.ts';

/** Major and minor. An adapter of another major is refused, so that an old one never half works. */
export const contractVersion = '1.0';

/** What a process runs. Nothing else is evidence: not its working directory, not the title, not the screen (IDN7). */
export interface ProgramView {
  /** Path of the executable; null where it cannot be known (another user's process, a machine asked through ps). */
  readonly executable: string | null;
  readonly argv: readonly string[];
}

/**
 * interactive: a person talks to it in a terminal; only such a run can own a pane.
 * headless: it does one job and reads no keys. Text typed at it would end up in the shell behind it, so it never owns a
 * pane and nothing is routed to it; it is shown.
 */
export type RunMode = 'interactive' | 'headless';

export interface Identified {
  readonly agent: AgentName;
  readonly mode: RunMode;
  readonly version: string | null;
  /** high: by its package or its own program; medium: by a name that nobody else is known to use; low: by a shared name. */
  readonly confidence: Confidence;
}

/** Null for everything that is not a run of this agent: other programs, and its own servers, helpers and errands. */
export type Identify = (program: ProgramView) => Identified | null;

/** What this adapter can tell, said honestly: a screen that promises more than its agent shows is a lie. */
export interface Capabilities {
  /** It has hooks or a stream of its own that can be listened to. */
  readonly event_driven: boolean;
  /** Its screen or files have to be looked at again and again. */
  readonly polling_required: boolean;
  readonly supports_waiting_approval: boolean;
  readonly supports_waiting_input: boolean;
  readonly supports_completed: boolean;
  /** It can tell a turn that was interrupted from one that was finished. */
  readonly supports_interrupted: boolean;
  /** Versions whose behaviour was seen, in words; empty where everything is from reports. */
  readonly measured: readonly string[];
  /** What it cannot do, one sentence each. */
  readonly limits: readonly string[];
}

/** One fact an adapter read out of a signal. Who it is about is known from where the signal came, unless it says so. */
export interface Finding {
  readonly fact: Exclude<Fact, { kind: 'runtime.started' | 'runtime.base' | 'server.seen' | 'route.activated' }>;
  /** When it arose, by the clock of the agent's machine, ms since 1970. */
  readonly time: number;
  /** Other than the source the signal came by. */
  readonly source?: SourceName;
  /** For numbered sources. */
  readonly seq?: { readonly epoch: number; readonly number: number };
  /** The agent's own id of this event, if it has one. */
  readonly dedupe?: string;
  /** Which of several runs it is about. */
  readonly runtime_id?: RuntimeId;
  /** The agent's own id of the conversation it is about: evidence where the process is not (BND1). */
  readonly agent_session?: AgentSessionId;
  /** What a person has asked for last, where that stands beside the fact. Never stored. */
  readonly prompt?: string;
}

/** A call of `agtmux-hook`, as it was found in the spool. */
export interface HookCall {
  /** In the agent's own words. */
  readonly event: string;
  /** The payload as JSON; null when it is none. Foreign. */
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly time: number;
}

export interface HookReader {
  /** The events it wants to be called for, in the agent's own words. */
  readonly events: readonly string[];
  /** Fields of payloads that may be stored beside the fact (ADM1). */
  readonly stored: readonly string[];
  /** The conversation a call is about, if it says so. */
  session(call: HookCall): AgentSessionId | null;
  /** What a person has just asked for, where this call tells it; empty when the conversation begins anew. Never stored. */
  prompt?(call: HookCall): string | null;
  /** What the call means; an empty list when it means nothing for the state. Never throws on foreign input. */
  read(call: HookCall): readonly Finding[];
}

/** A run of this agent that is alive, as much of it as is needed to find its own files and sockets. */
export interface RunView {
  readonly runtime_id: RuntimeId;
  readonly version: string | null;
  /** Its processes, the topmost first: loader, program. */
  readonly programs: readonly { readonly pid: number; readonly start: string; readonly argv: readonly string[] }[];
  readonly home: string;
  readonly cwd: string;
  /** Only the variables that the source asked for by name. */
  readonly env: Readonly<Record<string, string>>;
  /** Files it holds open that match what the source asked for. */
  readonly openFiles: readonly string[];
  readonly title: string;
  /** When its process began, ms by the clock of its machine. */
  readonly startedAt: number;
}

/** Something on the agent's machine that is to be followed. Two runs that name the same thing share one reader. */
export type Watch =
  /** A small file, told whole whenever it changes, and when it is gone. */
  | { readonly kind: 'file'; readonly path: string }
  /** A file of lines that grows; told are whole lines only. With `tail`, a new reader begins that many bytes before the end. */
  | { readonly kind: 'journal'; readonly path: string; readonly tailBytes: number }
  /** Files below a folder whose name matches, told whenever the list changes. At most two levels. */
  | { readonly kind: 'find'; readonly folder: string; readonly name: string }
  /** Server-sent events on this machine's loopback. */
  | { readonly kind: 'sse'; readonly port: number; readonly path: string }
  /** A web socket behind a unix socket. */
  | { readonly kind: 'websocket'; readonly socketPath: string };

export type NativeInput =
  | { readonly kind: 'file'; readonly path: string; readonly text: string | null; readonly changedAt: number }
  | { readonly kind: 'lines'; readonly path: string; readonly lines: readonly string[]; readonly changedAt: number }
  | { readonly kind: 'found'; readonly paths: readonly string[] }
  | { readonly kind: 'opened' }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'closed' }
  /** What the screen of one of the runs shows now: for sources that must find out which run a message is about. */
  | { readonly kind: 'look'; readonly runtime_id: RuntimeId; readonly state: StateName };

export interface NativeAnswer {
  readonly findings: readonly Finding[];
  /** Messages to send, for web sockets. */
  readonly send?: readonly string[];
  /** What else is to be followed from now on. */
  readonly watch?: readonly Watch[];
  /** Why nothing could be made of it, in a few words: it is counted and shown until something can. */
  readonly trouble?: string;
}

/** Follows one watched thing for all runs that asked for it. Keeps what it needs between calls; touches nothing else. */
export interface NativeReader {
  take(input: NativeInput, runs: readonly RunView[], now: number): NativeAnswer;
}

export interface NativeSource {
  /** Unique within the adapter: `registry`, `transcript`. */
  readonly id: string;
  /** What its findings count as (RSV2). */
  readonly source: Extract<SourceName, 'native' | 'stream' | 'transcript'>;
  /** Variables of the agent's environment that say where its files are. */
  readonly environment: readonly string[];
  /** Files held open that tell which conversation a run has, as the text of a pattern. */
  readonly openFiles?: string;
  /** Whether it also works on a machine reached over ssh: small files do, streams do not. */
  readonly remote: boolean;
  plan(run: RunView): readonly Watch[];
  open(watch: Watch): NativeReader;
}

/** What a person is asked on the screen, before it has an id. */
export interface SeenAsk {
  readonly kind: AskKind;
  readonly text: string;
  readonly options: readonly AskOption[];
  /** The label Enter would take, where only colours tell: null when none was found, left out when nobody looked. */
  readonly marked?: string | null;
  /** The dialog itself says, or shows, that not all of what it asks is in sight. */
  readonly cut?: true;
}

/** An agent's prompt as it stands on its screen. */
export interface SeenPrompt {
  /** What somebody has begun to write and not sent; empty when nothing was. Hints in its place are none. */
  readonly unsent: string;
  /** Words that are on the screen only while the prompt is; null when there are none. */
  readonly sign: string | null;
  /** The rows of the screen that it takes up; `to` is the first one below. */
  readonly rows: { readonly from: number; readonly to: number };
}

/** Where things are when hooks are put in. */
export interface InstallContext {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command that an agent shall run for an event, quoted for sh. */
  readonly command: (event: string) => string;
  readonly hookPath: string;
  readonly spoolDir: string;
  /** Of the agent as it is installed there; null when that was asked in vain, left out when nobody asked. */
  readonly version?: string | null;
}

/** Where a user's files are. */
export type InstallPlace = Pick<InstallContext, 'home' | 'env'>;

/** A piece of a user's configuration that cannot be merged as it is. */
export interface InstallProblem {
  readonly problem: string;
  readonly next: string;
}

export type InstallState = 'installed' | 'partial' | 'absent';

/** One file that hooks are put into. Pure: text in, text out; null is a file that is not there. */
export interface InstallFile {
  readonly path: string;
  /** The whole file is ours: it may be replaced and removed. */
  readonly isOwn: boolean;
  /** Put in only when it is asked for by this name, taken out always, and no part of being installed: `notify`. */
  readonly extra?: string;
  install(before: string | null): { readonly text: string } | InstallProblem;
  /** Null: the file goes. What the user had stays byte for byte. */
  remove(before: string): { readonly text: string | null } | InstallProblem;
  status(before: string | null): InstallState | InstallProblem;
}

/** One talk with the agent's own program, a line of JSON at a time, in which its user's trust is told to it. */
export interface TrustTalk {
  /** What is said first. */
  readonly first: readonly string[];
  /** Never throws on foreign input. */
  take(line: string): { readonly say: readonly string[]; readonly end?: TrustEnd };
}

export type TrustEnd = { readonly trusted: number } | InstallProblem;

/** For agents that run a hook only after a person trusted it. Used on an explicit yes and never otherwise. */
export interface HookTrust {
  argv(context: InstallContext): readonly string[];
  open(context: InstallContext): TrustTalk;
}

/** For agents to which another version may not be told the same. Its own program is run for it, without a terminal. */
export interface VersionQuestion {
  readonly argv: readonly string[];
  /** Null for words that name no version. Never throws on foreign input. */
  read(output: string): string | null;
  /** What a person has to know: which version was found, what it does not get, and how to get it. */
  notes(version: string | null): readonly string[];
}

export interface HookInstall {
  files(context: InstallContext): readonly InstallFile[];
  /** What a person has to know or do: trust gates, restarts. */
  readonly notes: readonly string[];
  /** Variables that say where the agent's files are. */
  readonly environment?: readonly string[];
  /** The agent's own folder. Where there is none the agent is not used, and nothing is put in unless it is named. */
  folder?(context: InstallContext): string;
  readonly trust?: HookTrust;
  readonly version?: VersionQuestion;
}

/** Where things are when our MCP server is registered. */
export interface McpContext extends InstallPlace {
  /** The program that agents start; it needs no arguments. */
  readonly programPath: string;
}

/** How an agent is told of our MCP server: one entry in its own configuration, under our name. */
export interface McpInstall {
  files(context: McpContext): readonly InstallFile[];
  /** What a person has to know or do. */
  readonly notes: readonly string[];
  /** Variables that say where the agent's files are. */
  readonly environment?: readonly string[];
  /** The agent's own folder; as for hooks. */
  folder(context: McpContext): string;
}

/**
 * Something done at the keyboard in one guarded step: keys by tmux's names, or text as it is. With `after`, the keys wait
 * for these words, letters and blanks, which the keys before them bring onto the screen; where they do not come, those are
 * pressed again.
 */
export type KeyStep = { readonly keys: readonly string[]; readonly after?: string } | { readonly text: string };

/** What is asked, as far as a person can see it: enough to answer by the words of an option and never by its place. */
export type AnswerableAsk = Pick<Ask, 'kind' | 'text' | 'options'> & Pick<SeenAsk, 'marked'>;

/** An option of an agent's start that may be given again. What is not named is forgotten: arguments hold prompts and secrets. */
export interface StartOption {
  /** Every spelling; the first is used when it is written again. */
  readonly names: readonly string[];
  readonly hasValue?: true;
  /** With it the agent acts without asking: always, or with one of these values. */
  readonly skipsPermissions?: true | readonly string[];
}

/**
 * How an agent is worked at the keyboard. Null means that it cannot be done this way and nothing is typed. An option is
 * found by its words: its number differs from dialog to dialog and from version to version.
 */
export interface Keys {
  /** Interrupts a turn and leaves the agent running. */
  readonly interrupt: readonly KeyStep[];
  /** What the signal INT does to it instead, as measured; left out where it is an interruption like another. */
  readonly afterInterruptSignal?: string;
  /** What a prompt shows instead of a long or many-lined paste, as the text of a pattern; null: it spells out everything. */
  readonly collapsed: string | null;
  /** plain: it shows the marks of a paste as text, so that a message is one line and goes in without them. Needs `prompt`. */
  readonly paste?: 'plain';
  /** From the sight of a text in its prompt to Enter: some take an Enter that comes sooner for a line of the text. */
  readonly enterPauseMs: number;
  /** For dialogs in which nothing but a colour tells what Enter takes: that label, out of lines with their colours. */
  marked?(lines: readonly string[]): string | null;
  /** The prompt, out of lines with their colours; null when it is not there. Left out where nobody knows its looks. */
  prompt?(lines: readonly string[]): SeenPrompt | null;
  /** Yes, this once. */
  approve(ask: AnswerableAsk): readonly KeyStep[] | null;
  /** No, and with `because` what to do instead where the dialog takes it. */
  reject(ask: AnswerableAsk, because: string | null): readonly KeyStep[] | null;
  /**
   * For dialogs that are no ask of their own: an answer was given, and does not count before this is answered too.
   * reason: after a refusal, and `reject` finishes it. sure: after a yes that lasts, which is left to a person.
   */
  asksOn?(ask: AnswerableAsk): 'reason' | 'sure' | null;
  /** One of the options, by its id. */
  choose(ask: AnswerableAsk, optionId: string): readonly KeyStep[] | null;
  /** Words of one's own where the dialog takes them. */
  write(ask: AnswerableAsk, text: string): readonly KeyStep[] | null;
  /** How a file, or lines of it, are named in a message to this agent (RTE6). Paths may hold blanks. */
  fileRef(path: string, lines: { readonly from: number; readonly to: number } | null): string;
  /** The command that goes on with an ended conversation; without an id the last one of its directory. Null: it has none. */
  resume(session: string | null): readonly string[] | null;
  /** The command that starts it. */
  readonly start: readonly string[];
  /** Options of its start that may be given again when a conversation is resumed (RST2). */
  readonly startOptions?: readonly StartOption[];
}

/** One thing that was said or done in a conversation, as its record tells it; foreign text. A tool and a note are one line. */
export interface Spoken {
  readonly who: 'user' | 'assistant' | 'tool' | 'note';
  readonly text: string;
}

/** Where the record of a conversation may stand. Only places that bear the id of the conversation in them (BND1). */
export type TranscriptPlace =
  /** A file of lines that grows. */
  | { readonly kind: 'journal'; readonly path: string }
  /** The same in a folder, by a pattern for its name. One part of the folder may be `*`. */
  | { readonly kind: 'find'; readonly folder: string; readonly name: string }
  /** A SQLite file. The query gives one text a row, the newest first; its values are these and then how many rows. */
  | { readonly kind: 'database'; readonly path: string; readonly query: string; readonly values: readonly string[] };

/** The agent's own record of a conversation, for people: where its screen keeps no history, this is what it said. */
export interface Transcript {
  /** Variables of the agent's environment that say where its files are. */
  readonly environment: readonly string[];
  /** The ids hold nothing but letters, digits, `-` and `_`. */
  places(run: RunView, sessions: readonly string[]): readonly TranscriptPlace[];
  /** Whether the record is about one of these conversations, where a name alone does not tell. */
  isOf?(firstRow: string, sessions: readonly string[]): boolean;
  /** Rows of a record, the oldest first, perhaps without their beginning. Never throws on foreign input. */
  read(rows: readonly string[]): readonly Spoken[];
}

/** Tokens of one answer of a model, as the agent's own record tells them; foreign. */
export interface UsageEntry {
  /** What makes two entries one, in whatever files they stand: of them the one with more output counts. */
  readonly key: string;
  /** ms since 1970, by the clock of the agent's machine. */
  readonly time: number;
  readonly session: string | null;
  readonly cwd: string | null;
  readonly model: string;
  /** Without what came out of a cache or went into one. */
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  /** In USD, where the agent tells it itself. */
  readonly cost: number | null;
}

export type UsagePlace =
  /** Files of lines that grow, so many levels below a folder, whose name matches. */
  | { readonly kind: 'lines'; readonly folder: string; readonly levels: number; readonly name: string }
  /** A SQLite file; the query gives one line a row, of those that were made after its one value, ms since 1970. */
  | { readonly kind: 'database'; readonly path: string; readonly query: string };

/** Reads one record from its beginning, or from where its state was left. */
export interface UsageReader {
  /** Null: it cannot be understood. Never throws on foreign input. */
  take(line: string): readonly UsageEntry[] | null;
  /** What has to be known to go on with the next line. */
  state(): Readonly<Record<string, unknown>>;
}

export interface UsageSource {
  places(where: InstallPlace): readonly UsagePlace[];
  /** Lines without any of these say nothing about usage, and are not read. */
  readonly hints: readonly string[];
  open(path: string, state: Readonly<Record<string, unknown>>): UsageReader;
}

export interface Agent {
  readonly name: AgentName;
  /** Its interface is another agent's: a screen alone cannot tell the two apart. */
  readonly forkOf?: AgentName;
  readonly contract: string;
  readonly capabilities: Capabilities;
  readonly identify: Identify;
  /** What it puts into the environment of what it starts, as patterns of whole names (ACT6). */
  readonly childVariables?: readonly string[];
  /** Rules for its screen, as data; checked and compiled by screen/rules. */
  readonly screen: unknown;
  readonly hooks: HookReader | null;
  /** Agents whose hooks it runs as well: a call of theirs that comes from its process is its own word. */
  readonly alsoRunsHooksOf?: readonly AgentName[];
  readonly natives: readonly NativeSource[];
  readonly install: HookInstall | null;
  /** Left out where it takes no MCP servers. */
  readonly mcp?: McpInstall;
  readonly keys: Keys | null;
  /** Left out where it keeps no record that can be read. */
  readonly transcript?: Transcript;
  /** How agtmux leads it as a session of its own, the best way first; left out where it cannot. */
  readonly sessions?: readonly SessionLauncher[];
  /** What it keeps about the tokens it used; left out where it keeps nothing. */
  readonly usage?: UsageSource;
  /** How it speaks the Agent Client Protocol, as measured; left out where nobody has. */
  readonly acp?: AcpAgent;
  /** How it is told something over its own protocol where it runs in a pane; left out where there are only keys. */
  readonly channel?: (context: ChannelContext) => Channel;
}

// An agent's own channel (ACT4): how it is told something over its own protocol, without keys. What a channel is given is
// described here; the daemon fills it in, and the folder of the agent decides.

/** What the rules of an agent make of its screen at this moment. */
export interface FreshLook {
  readonly state: StateName;
  /** The dialog that is open, as the screen words it. */
  readonly ask: SeenAsk | null;
  /** The screen that this was read from. */
  readonly lines?: readonly string[];
  /** Its prompt; null when it is not there, left out where nobody knows its looks. */
  readonly prompt?: Pick<SeenPrompt, 'unsent' | 'sign'> | null;
}

/** A dialog is open on the screen, whatever was published. Of a screen that cannot be read nobody can say that. */
export const showsDialog = ({ ask, state }: Pick<FreshLook, 'ask' | 'state'>): boolean =>
  ask !== null || state === 'waiting_approval' || state === 'waiting_input';

export type ChannelEnd =
  | { readonly kind: 'delivered' | 'unconfirmed' | 'queued'; readonly words: string | null }
  | { readonly kind: 'refused'; readonly failure: Failure };

export const refusedWith = (code: ErrorCode, words: string): ChannelEnd => ({
  kind: 'refused',
  failure: failure(code, words),
});

/** An agent's own way of being told something, which comes before keys (ACT4). */
export interface Channel {
  /** As receipts name it. */
  readonly name: string;
  /** It keeps messages itself until the agent takes them. */
  readonly keepsMessages?: boolean;
  can(request: ActionRequest, runtime: RuntimeIdentity): boolean;
  run(request: ActionRequest, runtime: RuntimeIdentity): Promise<ChannelEnd>;
}

/** A stream that is followed anyway, as a way to act: who reads it, and how to send over it. */
export interface NativeLine {
  readonly reader: NativeReader;
  /** False when it cannot be sent now. */
  readonly send: (text: string) => boolean;
}

export type ServerAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  /** Not a byte of it left. */
  | { readonly kind: 'unsent'; readonly why: string }
  /** It left, and nobody knows what became of it. */
  | { readonly kind: 'lost'; readonly why: string };

/** A hook call that waits for an answer (ACT10), as it wrote itself down; foreign. */
export interface WaitingCall {
  readonly agent: AgentName;
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>> | null;
  /** The processes above it. */
  readonly ancestors: readonly { readonly pid: number; readonly start: string }[];
  /** Puts an answer down for it; false when it could not be, and then nothing of it is there. */
  answer(text: string): Promise<boolean>;
  /** The call has taken its answer along. */
  isTaken(): Promise<boolean>;
  /** Nobody took it, and nobody shall. */
  takeBack(): Promise<void>;
}

/** Servers on this machine's loopback, and whose they are. */
export interface LocalServers {
  /** One bounded request. `isStill` is asked once the connection stands and before a byte is sent. */
  ask(
    call: {
      readonly method: 'GET' | 'POST';
      readonly port: number;
      readonly path: string;
      readonly body: string | null;
    },
    isStill: () => boolean,
  ): Promise<ServerAnswer>;
  events(
    place: { readonly port: number; readonly path: string },
    handlers: { readonly onText: (text: string) => void; readonly onEnd: () => void },
  ): { close(): void };
  /** Whether this very process, and no later one of its number, holds the socket that takes connections there (IDN3). */
  isListening(process: { readonly pid: number; readonly start: string }, port: number): boolean;
  /** Of this machine; empty when it cannot be told. */
  bootId(): string;
  /** NAME=value, with NULs between; null when it is not ours to see. */
  environmentOf(pid: number): string | null;
}

/** What channels are given: what is published of a runtime, its run and its pane as they are now, and a clock. */
export interface ChannelContext {
  readonly clock: { wallMs(): number; after(delayMs: number, run: () => void): () => void };
  readonly stateOf: (runtime: RuntimeId) => StateRecord | null;
  /** What it asks as it was told, secrets and all. */
  readonly wholeAskOf: (runtime: RuntimeId) => Ask | null;
  /** The agent's own ids of its conversations. */
  readonly sessionsOf: (runtime: RuntimeId) => readonly string[];
  /** A fresh look, not what was published; null when the screen could not be read. */
  readonly freshLook: (runtime: RuntimeId) => Promise<FreshLook | null>;
  /** All runs whose own files and streams are followed. */
  readonly runs: () => readonly { readonly agent: Agent; readonly run: RunView }[];
  /** What is open for a runtime, by the id of the source that follows it. */
  readonly linesOf: (runtime: RuntimeId, source: string) => readonly NativeLine[];
  /** The title of a runtime's pane at this moment; null when it is not known. */
  readonly titleOf: (runtime: RuntimeId) => string | null;
  readonly servers: LocalServers;
  /** Hook calls of this machine that wait for an answer now. */
  readonly waitingCalls: () => Promise<readonly WaitingCall[]>;
}
