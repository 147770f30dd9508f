// What the rows of Copilot's journal add up to: one state after each reading, the asks that are open and the work in the
// background. Rows that nobody knows change nothing.

import type { Ask, AskKind, AskOption, SettleKind } from '../../model/asks.ts';
import type { StateFact } from '../../model/events.ts';
import { askId, mainScope } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Finding } from '../contract.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../fields.ts';

type Said = Finding['fact'];
type Base = Pick<StateFact, 'state' | 'reason' | 'detail'>;

interface Told {
  readonly facts: readonly Said[];
  /** When the last of it arose, by Copilot's own stamp. */
  readonly time: number;
}

const isRunning: Base = { state: 'running', reason: 'turn_running' };

export class Journal {
  /** Null as long as no row told anything. */
  #base: Base | null = null;
  /** Whether the last message of the model asked for no more tools: only then the end of its step ends the turn. */
  #isLastWord = false;
  #isCompacting = false;
  /** The last answer to an ask was no, and nothing has happened since. */
  #isDenied = false;
  readonly #open = new Map<string, Ask>();
  readonly #tools = new Map<string, string>();
  readonly #shells = new Set<string>();
  readonly #agents = new Set<string>();
  /** What was told, so that only news is told again. */
  #toldAsks: ReadonlySet<string> = new Set();
  #toldBackground = '0 0';
  #settled = new Map<string, SettleKind>();
  #hasGoodbye = false;
  #timeMs = 0;
  #toldMs = 0;

  /** Only what is true after the last line is told: a dialog that came and went in between was nobody's. */
  take(lines: readonly string[], changedAt: number): Told {
    let isNews = false;
    for (const line of lines) {
      const row = rowOf(line);
      if (row === null || !this.#read(row.type, row.data)) continue;
      isNews = true;
      this.#timeMs = Math.max(row.time ?? changedAt, this.#timeMs);
    }
    if (!isNews) return { facts: [], time: this.#timeMs };
    // Rows of one moment keep their order: what is told last is the latest.
    this.#timeMs = Math.max(this.#timeMs, this.#toldMs + 1);
    this.#toldMs = this.#timeMs;
    return { facts: this.#news(), time: this.#timeMs };
  }

  #news(): readonly Said[] {
    const facts: Said[] = [];
    for (const [id, how] of this.#settled)
      if (this.#toldAsks.has(id)) facts.push({ kind: 'ask.settled', ask_id: askId(id), how });
    for (const [id, ask] of this.#open) if (!this.#toldAsks.has(id)) facts.push({ kind: 'ask.opened', ask });
    this.#settled = new Map();
    this.#toldAsks = new Set(this.#open.keys());
    const background = `${this.#shells.size} ${this.#agents.size}`;
    if (background !== this.#toldBackground)
      facts.push({ kind: 'background.counted', shells: this.#shells.size, agents: this.#agents.size });
    this.#toldBackground = background;
    const state = this.#state();
    if (state !== null) facts.push(state);
    if (this.#hasGoodbye) facts.push({ kind: 'runtime.goodbye' });
    this.#hasGoodbye = false;
    return facts;
  }

  #state(): StateFact | null {
    const [ask] = this.#open.values();
    if (ask !== undefined) {
      const waits = ask.kind === 'question' ? questionAsked : approvalAsked;
      return { kind: 'state.observed', confidence: 'high', dialog: true, ...waits, detail: short(ask.text) };
    }
    const base = this.#isCompacting ? compacting : this.#base;
    return base === null ? null : { kind: 'state.observed', confidence: 'high', dialog: false, ...base };
  }

  /** Whether the row says anything about the state. */
  #read(type: string, data: Fields): boolean {
    switch (type) {
      case 'session.start':
      case 'session.resume':
        this.#restart();
        return true;
      case 'user.message':
      case 'assistant.turn_start':
      case 'assistant.message':
      case 'assistant.turn_end':
        return this.#readTurn(type, data);
      case 'tool.execution_start':
      case 'tool.execution_complete':
      case 'permission.requested':
      case 'permission.completed':
      case 'human_response.recorded':
        return this.#readTool(type, data);
      case 'abort':
        // The same row ends a turn at a dialog and in the middle of work: only what came before tells them apart.
        this.#endTurn({ state: 'idle', reason: this.#isRefusal() ? 'refused_by_person' : 'interrupted' });
        return true;
      case 'session.error':
        this.#endTurn(errorOf(data));
        return true;
      case 'session.compaction_start':
        this.#isCompacting = true;
        return true;
      case 'session.compaction_complete':
        this.#isCompacting = false;
        return true;
      case 'session.usage_checkpoint':
        // A rewind takes the rows of the turn away and leaves this one: the prompt is back for editing.
        if (!JSON.stringify(data.promptCacheBreakState ?? null).includes('"rewind"')) return false;
        // What came before it is another turn's end, unless it is this one's.
        this.#endTurn({ state: 'idle', reason: this.#base?.state === 'completed' ? 'prompt_ready' : 'interrupted' });
        return true;
      case 'session.shutdown':
        this.#hasGoodbye = data.shutdownType !== 'error';
        return true;
      default:
        return this.#readBackground(type, data);
    }
  }

  #isRefusal(): boolean {
    return this.#isDenied || this.#open.size > 0;
  }

  #readTurn(type: string, data: Fields): boolean {
    // What a subagent says is not the end of anything but its own work.
    if (textOf(data.parentToolCallId) !== null) return false;
    // Some versions write the end of the step between the refusal and the abort.
    if (type !== 'assistant.turn_end') this.#isDenied = false;
    if (type === 'assistant.message') {
      this.#isLastWord = listOf(data.toolRequests).length === 0;
      this.#base = isRunning;
      return true;
    }
    if (type !== 'assistant.turn_end') {
      this.#isLastWord = false;
      this.#base = isRunning;
      return true;
    }
    // One for every call of the model. Without its last word a tool, an abort or an error comes next and tells more.
    if (!this.#isLastWord || this.#agents.size > 0) return false;
    this.#endTurn({ state: 'completed', reason: 'turn_completed' });
    return true;
  }

  #readTool(type: string, data: Fields): boolean {
    const call = textOf(data.toolCallId);
    if (type === 'permission.requested') return this.#readRequest(data);
    if (type === 'permission.completed') {
      const isApproved = textOf(fieldsOf(data.result)?.kind)?.startsWith('approved') === true;
      const name = call === null ? undefined : this.#tools.get(call);
      this.#isDenied = !isApproved;
      if (isApproved && this.#base?.state === 'running') this.#base = toolRunning(name);
      return this.#settle(textOf(data.requestId), isApproved ? 'answered' : 'denied') || isApproved;
    }
    if (call === null) return false;
    if (type === 'human_response.recorded') return this.#settle(call, 'answered');
    if (type === 'tool.execution_start') {
      const name = textOf(data.toolName) ?? 'tool';
      remember(this.#tools, call, name);
      this.#base = toolRunning(name);
      if (name === 'ask_user') this.#openAsk(questionOf(call, fieldsOf(data.arguments) ?? {}));
      return true;
    }
    this.#tools.delete(call);
    this.#base = isRunning;
    this.#settle(call, 'result');
    const moved = /\(?shellId: (\w+)\)? (?:moved to|is running in the|started in the) background/.exec(resultOf(data));
    if (moved?.[1] !== undefined && this.#shells.size < limits.asksPerRuntimeMax) this.#shells.add(moved[1]);
    return true;
  }

  #readRequest(data: Fields): boolean {
    const id = textOf(data.requestId);
    const request = fieldsOf(data.promptRequest) ?? fieldsOf(data.permissionRequest);
    if (id === null || id.length > limits.idCharsMax || request === null) return false;
    this.#openAsk({
      ask_id: askId(id),
      kind: kindOf(request),
      scope: mainScope,
      text: textOfAsk(request),
      options: [],
    });
    return true;
  }

  #readBackground(type: string, data: Fields): boolean {
    if (type === 'system.notification') {
      const kind = fieldsOf(data.kind) ?? {};
      const shell = textOf(kind.shellId);
      return shell !== null && this.#shells.delete(shell);
    }
    const call = textOf(data.toolCallId);
    if (call === null) return false;
    if (type === 'subagent.started' && this.#agents.size < limits.asksPerRuntimeMax) {
      this.#agents.add(call);
      return true;
    }
    return (type === 'subagent.completed' || type === 'subagent.failed') && this.#agents.delete(call);
  }

  #openAsk(ask: Ask): void {
    if (this.#open.size < limits.asksPerRuntimeMax) this.#open.set(ask.ask_id, ask);
  }

  #settle(id: string | null, how: SettleKind): boolean {
    if (id === null || !this.#open.delete(id)) return false;
    this.#settled.set(id, how);
    return true;
  }

  #endTurn(base: Base | null): void {
    for (const id of [...this.#open.keys()]) this.#settle(id, 'withdrawn');
    this.#tools.clear();
    this.#agents.clear();
    this.#isLastWord = false;
    this.#isCompacting = false;
    this.#isDenied = false;
    this.#base = base;
  }

  /** Nothing is known yet: at its start the trust dialog may be open. */
  #restart(): void {
    this.#endTurn(null);
    this.#shells.clear();
  }
}

const questionAsked: Base = { state: 'waiting_input', reason: 'question_asked' };
const approvalAsked: Base = { state: 'waiting_approval', reason: 'approval_asked' };
const compacting: Base = { state: 'running', reason: 'compacting' };

const toolRunning = (name: string | undefined): Base => ({
  state: 'running',
  reason: 'tool_running',
  ...(name === undefined ? {} : { detail: short(name) }),
});

const short = (text: string): string => text.slice(0, limits.detailCharsMax);

function errorOf(data: Fields): Base {
  const message = textOf(data.message);
  const isLimit = data.errorType === 'quota' || data.errorType === 'rate_limit' || data.statusCode === 429;
  const reason = isLimit ? 'usage_limit' : 'api_error';
  return { state: 'error', reason, ...(message === null ? {} : { detail: short(message) }) };
}

function kindOf(request: Fields): AskKind {
  switch (request.kind) {
    case 'shell':
    case 'commands':
      return 'command';
    case 'write':
      return 'edit';
    default:
      return 'tool';
  }
}

/** A tool of a server, with what it is to be called with: a yes to its name alone would be a yes to anything. */
function callOf({ toolName, serverName, args }: Fields): string | null {
  const [name, server, input] = [textOf(toolName), textOf(serverName), fieldsOf(args)];
  if (name === null || server === null || input === null) return name;
  return `${server}/${name} ${JSON.stringify(input)}`;
}

function textOfAsk(request: Fields): string {
  const file = textOf(request.fileName);
  const change = textOf(request.diff)?.trim();
  const texts = [
    textOf(request.fullCommandText) ?? file ?? textOf(request.url) ?? textOf(request.path) ?? callOf(request),
    file === null ? null : change,
  ];
  const known = texts.filter((text) => text !== null && text !== undefined);
  const text = known.length > 0 ? known.join('\n') : (textOf(request.intention) ?? textOf(request.kind) ?? 'a tool');
  return text.slice(0, limits.askCharsMax);
}

/** Two forms: a plain question with choices, or a message with a schema whose first property names the choices. */
function questionOf(call: string, given: Fields): Ask {
  const [property] = Object.values(fieldsOf(fieldsOf(given.requestedSchema)?.properties) ?? {});
  const choices = [...listOf(given.choices), ...listOf(fieldsOf(property)?.enum)].flatMap((one) => textOf(one) ?? []);
  const options = choices
    .slice(0, limits.askOptionsMax)
    .map((label, place): AskOption => ({ id: String(place + 1), label }));
  const text = textOf(given.question) ?? textOf(given.message) ?? 'a question';
  return {
    ask_id: askId(call.slice(0, limits.idCharsMax)),
    kind: 'question',
    scope: mainScope,
    text: text.slice(0, limits.askCharsMax),
    options,
  };
}

const resultOf = (data: Fields): string =>
  (textOf(fieldsOf(data.result)?.content) ?? '').slice(0, limits.detailCharsMax);

/** Bounded: a journal of another kind must not fill the memory. */
function remember(tools: Map<string, string>, call: string, name: string): void {
  if (tools.size < limits.asksPerRuntimeMax) tools.set(call, name);
}

interface Row {
  readonly type: string;
  readonly data: Fields;
  readonly time: number | null;
}

function rowOf(line: string): Row | null {
  try {
    const row = fieldsOf(JSON.parse(line));
    const type = textOf(row?.type);
    if (row === null || type === null) return null;
    const time = Date.parse(textOf(row.timestamp) ?? '');
    return { type, data: fieldsOf(row.data) ?? {}, time: Number.isNaN(time) ? null : time };
  } catch {
    return null;
  }
}
