// What an agent wants from a person over ACP: leave for its tools, forms, and questions that the protocol hides; one put
// after another. In automatic mode leave is given at once, and said so.

import type { AskKind } from '../../../model/asks.ts';
import { fail, ok, type Result } from '../../../model/errors.ts';
import { askId, mainScope, type ScopeId, scopeId } from '../../../model/ids.ts';
import { limits } from '../../../model/limits.ts';
import type { MachineEventKind, PendingAsk } from '../../../model/sessions.ts';
import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../fields.ts';
import type { UserAction } from '../adapter.ts';
import {
  clip,
  fullCode,
  fullReason,
  hasRoom,
  keep,
  nextId,
  note,
  own,
  sayLine,
  tell,
  tellRefused,
  weightOf,
  write,
} from '../draft.ts';
import { call, envelope2, methodUnknown, noticeLine, type RpcId, refusalLine, replyLine } from '../json-rpc.ts';
import {
  answeredBy,
  askOfInterview,
  formContent,
  formQuestions,
  type Interview,
  interviewOf,
  nextOf,
  type Question,
  questionId,
} from '../questions.ts';
import { beginTurn, endTurn, hearIdle, setWatch } from '../watch.ts';
import {
  type AcpDraft,
  type AcpMemory,
  type Choice,
  endSpeech,
  failed,
  markTool,
  nothingSeen,
  type OpenAsk,
  profileOf,
  see,
  showTool,
  type Tool,
  textsIn,
  toolIn,
} from './conversation.ts';

/** A request of the agent. Files and terminals were not offered, and are refused to those who ask all the same. */
export function hearRequest(draft: AcpDraft, id: RpcId, method: string, params: Fields): void {
  switch (method) {
    case 'session/request_permission':
      if (!isKnown(draft, keyOf(draft, id))) hearWish(draft, leaveAsk(draft, id, params));
      return;
    case 'elicitation/create':
      if (!isKnown(draft, keyOf(draft, id))) hearWish(draft, formAsk(draft, id, params));
      return;
    default:
      sayLine(draft, refusalLine(id, methodUnknown, `agtmux does not serve ${method}`, envelope2));
  }
}

/** Whose ask it is: an agent may run others beside the session that we lead. */
function scopeOf(draft: AcpDraft, params: Fields): ScopeId {
  const session = idOf(params.sessionId);
  return session === null || session === draft.memory.session ? mainScope : scopeId(session);
}

function leaveAsk(draft: AcpDraft, id: RpcId, params: Fields): OpenAsk {
  const call = fieldsIn(params.toolCall);
  const found = toolIn(draft, call);
  // With some agents this is the first that is heard of the tool.
  if (found !== null) {
    endSpeech(draft);
    showTool(draft, found.id, { ...found.tool, status: 'pending' });
    see(draft, { work: true, workSinceNo: true });
  }
  const choices = rowsOf(params.options).flatMap((one): readonly Choice[] => {
    const choice = idOf(one.optionId);
    return choice === null ? [] : [{ id: choice, name: textOf(one.name) ?? choice, kind: textOf(one.kind) ?? '' }];
  });
  const toolKind = found?.tool.kind ?? 'other';
  const text = leaveText(call, found?.tool ?? null);
  return openAsk(draft, params, id, found?.id ?? null, { kind: 'leave', id, toolKind, text, choices });
}

function formAsk(draft: AcpDraft, id: RpcId, params: Fields): OpenAsk {
  endSpeech(draft);
  const questions = questionsIn(params);
  const interview = questions.length === 0 ? null : interviewOf(questions);
  return openAsk(draft, params, id, idOf(params.toolCallId), { kind: 'form', id, params, interview });
}

function openAsk(draft: AcpDraft, params: Fields, id: RpcId, tool: string | null, about: OpenAsk['about']): OpenAsk {
  return { bytes: weightOf(about), key: keyOf(draft, id), scope: scopeOf(draft, params), tool, about };
}

/** Requests are numbered anew in every process; a doubled line has the same number. */
const keyOf = (draft: AcpDraft, id: RpcId): string => `ask-${draft.memory.mark}-${id}`;

const isKnown = ({ memory }: AcpDraft, key: string): boolean =>
  memory.settled.includes(key) || memory.asks.some((ask) => ask.key === key);

function hearWish(draft: AcpDraft, ask: OpenAsk): void {
  const { asks, watch, opening } = draft.memory;
  if (watch.isCancelling) {
    drop(draft, ask);
    return;
  }
  const yes = ask.about.kind === 'leave' && opening.auto_approve ? choiceFor(ask.about.choices, 'allow') : null;
  if (ask.about.kind === 'leave' && yes !== null) {
    settle(draft, ask.key);
    markTool(draft, ask.tool, 'running');
    saySelected(draft, ask.about.id, yes);
    note(draft, `auto-${ask.key}`, `approved automatically: ${ask.about.text}`);
    return;
  }
  if (!hasRoom(draft, ask)) {
    refuseUnseen(draft, ask);
    return;
  }
  keep(draft, { asks: [...asks, ask] });
  if (asks.length === 0) putNext(draft);
}

/** A question that the protocol hides has no reply: the turn is stopped, and goes on with the reason. */
function refuseUnseen(draft: AcpDraft, ask: OpenAsk): void {
  const { about, key, tool } = ask;
  tellRefused(draft, pendingOf(ask).text);
  settle(draft, key);
  markTool(draft, tool, 'refused');
  if (about.kind !== 'hidden') sayLine(draft, refusalLine(about.id, fullCode, fullReason, envelope2));
  else {
    stopTurn(draft);
    sayPrompt(draft, fullReason);
  }
}

/** Once is enough where once is offered; null where there is no such choice. */
function choiceFor(choices: readonly Choice[], way: 'allow' | 'reject'): string | null {
  const once = choices.find(({ kind }) => kind === `${way}_once`);
  return (once ?? choices.find(({ kind }) => kind === `${way}_always`))?.id ?? null;
}

const saySelected = (draft: AcpDraft, id: RpcId, optionId: string): void =>
  sayLine(draft, replyLine(id, { outcome: { outcome: 'selected', optionId } }, envelope2));

/** The tool with which some agents ask, and of which the protocol knows nothing: the prompt would stay open for ever. */
export function hearHiddenQuestion(draft: AcpDraft, id: string, tool: Tool, update: Fields): void {
  const { questionTool } = profileOf(draft);
  const isAsked = update.status === 'in_progress' && questionTool !== null && update.title === questionTool;
  const questions = isAsked ? hiddenQuestions(fieldsIn(update.rawInput)) : [];
  if (questions.length === 0 || !draft.memory.watch.isTurnOpen) return;
  showTool(draft, id, { ...tool, text: questions.map(({ text }) => text).join('\n'), status: 'pending' });
  const key = keyOf(draft, id);
  if (isKnown(draft, key)) return;
  const about = { kind: 'hidden', interview: interviewOf(questions) } as const;
  hearWish(draft, { bytes: weightOf(about), key, scope: mainScope, tool: id, about });
}

function hiddenQuestions(input: Fields): readonly Question[] {
  return rowsOf(input.questions).flatMap((one) => {
    const text = textOf(one.question);
    if (text === null) return [];
    const labels = rowsOf(one.options).flatMap(({ label }) => textOf(label) ?? []);
    return [{ key: text, text, labels, isMany: one.multiple === true, isFree: true }];
  });
}

/** The first of the open asks, in the words of the machine. */
function putNext(draft: AcpDraft): void {
  const [ask] = draft.memory.asks;
  if (ask !== undefined) tell(draft, eventOf(ask), { ask: pendingOf(ask) });
}

function settle(draft: AcpDraft, key: string): void {
  const { asks, settled } = draft.memory;
  keep(draft, {
    asks: asks.filter((ask) => ask.key !== key),
    settled: [...settled, key].slice(-limits.sessionRequestsKept),
  });
}

/** Nobody answers it any more: the agent is told so. */
function drop(draft: AcpDraft, { key, about }: OpenAsk): void {
  settle(draft, key);
  if (about.kind === 'hidden') return;
  const result = about.kind === 'leave' ? { outcome: { outcome: 'cancelled' } } : { action: 'cancel' };
  sayLine(draft, replyLine(about.id, result, envelope2));
}

/** The turn is to end, or has ended. */
export function dropAsks(draft: AcpDraft): void {
  for (const ask of draft.memory.asks) drop(draft, ask);
}

/** The agent no longer wants to know. */
export function withdraw(draft: AcpDraft, matches: (ask: OpenAsk) => boolean): void {
  const [first] = draft.memory.asks;
  const gone = draft.memory.asks.filter(matches);
  for (const { key } of gone) settle(draft, key);
  if (first === undefined || !gone.includes(first)) return;
  tell(draft, 'user_feedback', { ask_id: idOfAsk(first) });
  putNext(draft);
}

type Answer = Extract<UserAction, { readonly ask_id: string }>;

/** A person's answer to the ask that is open. */
export function answer(draft: AcpDraft, deed: Answer): Result<null> {
  const [ask] = draft.memory.asks;
  if (ask === undefined || idOfAsk(ask) !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'the request was already answered or withdrawn');
  }
  const done = deed.kind === 'reject' ? refuse(draft, ask, deed.because) : grant(draft, ask, deed);
  if (!done.ok) return done;
  // An ask outside of a prompt: no reply will tell when its work is over.
  if (draft.memory.prompt === null && !draft.memory.watch.isTurnOpen) {
    setWatch(draft, { isTurnOpen: true });
    hearIdle(draft);
  }
  putNext(draft);
  return ok(null);
}

function refuse(draft: AcpDraft, ask: OpenAsk, because: string | null): Result<null> {
  const { about, key, tool } = ask;
  settle(draft, key);
  see(draft, { saidNo: true, workSinceNo: false });
  switch (about.kind) {
    case 'leave': {
      const no = choiceFor(about.choices, 'reject');
      if (no === null) sayLine(draft, replyLine(about.id, { outcome: { outcome: 'cancelled' } }, envelope2));
      else saySelected(draft, about.id, no);
      break;
    }
    case 'form':
      sayLine(draft, replyLine(about.id, { action: 'decline' }, envelope2));
      break;
    case 'hidden':
      stopTurn(draft);
      break;
  }
  // Not every agent tells what became of it.
  markTool(draft, tool, 'refused');
  // A no takes no words here: they are said when the turn is over.
  if (because !== null) sayPrompt(draft, because);
  return ok(null);
}

function grant(draft: AcpDraft, ask: OpenAsk, deed: Exclude<Answer, { readonly kind: 'reject' }>): Result<null> {
  const { about, key, tool } = ask;
  const interview = interviewIn(ask);
  if (interview !== null) {
    const answered = answeredBy(interview, deed);
    return answered.ok ? goOnWith(draft, ask, answered.value) : answered;
  }
  if (about.kind === 'leave') {
    const yes = yesOf(about.choices, deed);
    if (!yes.ok) return yes;
    saySelected(draft, about.id, yes.value);
  } else if (about.kind === 'form') {
    if (deed.kind !== 'approve')
      return fail('E_UNSUPPORTED', 'this request needs an approval or a rejection', 'approve or reject it');
    sayLine(draft, replyLine(about.id, { action: 'accept' }, envelope2));
  }
  settle(draft, key);
  markTool(draft, tool, 'running');
  return ok(null);
}

/** A plain yes is for this once. What holds for longer has to be chosen. */
function yesOf(choices: readonly Choice[], deed: Exclude<Answer, { readonly kind: 'reject' }>): Result<string> {
  const yes = choices.filter(({ kind }) => kind.startsWith('allow'));
  const offered = yes.map(({ id, name }) => `${id} (${name})`).join(', ');
  if (deed.kind === 'write')
    return fail('E_UNSUPPORTED', 'this request needs an approval or a rejection', 'approve or reject it');
  if (deed.kind === 'choose') {
    const chosen = yes.find(({ id, name }) => id === deed.option || name === deed.option);
    if (chosen !== undefined) return ok(chosen.id);
    return fail('E_INPUT', `"${deed.option}" is not one of the options`, `choose one of ${offered}`);
  }
  const once = yes.find(({ kind }) => kind === 'allow_once');
  if (once !== undefined) return ok(once.id);
  return offered === ''
    ? fail('E_UNSUPPORTED', 'the agent offers no option to approve this', 'reject it')
    : fail('E_UNSUPPORTED', 'the agent offers no option to approve this once', `choose one of ${offered}`);
}

/** With the last answer the agent gets its reply; before it the next question is put. */
function goOnWith(draft: AcpDraft, ask: OpenAsk, interview: Interview): Result<null> {
  const { about, key } = ask;
  if (nextOf(interview) !== null && about.kind !== 'leave') {
    keep(draft, { asks: [{ ...ask, about: { ...about, interview } }, ...draft.memory.asks.slice(1)] });
    return ok(null);
  }
  settle(draft, key);
  if (about.kind === 'form') {
    const content = contentOf(about.params, interview.questions, interview.answers);
    sayLine(draft, replyLine(about.id, { action: 'accept', content }, envelope2));
  } else {
    stopTurn(draft);
    sayPrompt(draft, answersOf(interview));
  }
  return ok(null);
}

const answersOf = ({ questions, answers }: Interview): string =>
  questions.map(({ text }, place) => `${text} ${(answers[place] ?? []).join(', ')}`).join('\n');

function stopTurn(draft: AcpDraft): void {
  const { session } = draft.memory;
  if (session !== null) sayStop(draft, session);
}

// An open ask as people and the machine see it.

interface Manner {
  readonly event: MachineEventKind;
  readonly kind: AskKind;
}

const tool: Manner = { event: 'ask:tool', kind: 'tool' };
const edit: Manner = { event: 'ask:tool', kind: 'edit' };

/** By the kind of the tool, which is all that the protocol tells. */
const manners: Readonly<Record<string, Manner>> = {
  execute: { event: 'ask:command', kind: 'command' },
  edit,
  delete: edit,
  move: edit,
  fetch: { event: 'ask:browser_action_launch', kind: 'tool' },
  switch_mode: { event: 'ask:tool', kind: 'plan' },
};

const interviewIn = ({ about }: OpenAsk): Interview | null => (about.kind === 'leave' ? null : about.interview);

function idOfAsk(ask: OpenAsk): string {
  const interview = interviewIn(ask);
  return interview === null ? ask.key : questionId(ask.key, interview);
}

function eventOf(ask: OpenAsk): MachineEventKind {
  if (interviewIn(ask) !== null) return 'ask:followup';
  return ask.about.kind === 'leave' ? (own(manners, ask.about.toolKind) ?? tool).event : 'ask:use_mcp_server';
}

function pendingOf(ask: OpenAsk): PendingAsk {
  const { key, scope, about } = ask;
  const interview = interviewIn(ask);
  const question = interview === null ? null : askOfInterview(key, scope, interview);
  if (question !== null) return question;
  const base = { ask_id: askId(key), scope } as const;
  if (about.kind !== 'leave') {
    const params = about.kind === 'form' ? about.params : {};
    const words = [textOf(params.message), textOf(params.url)].filter((one) => one !== null).join('\n');
    const text = (words === '' ? 'a tool request' : words).slice(0, limits.askCharsMax);
    return { ...base, kind: 'tool', text, options: [], accepts: ['approve', 'reject'] };
  }
  // A no is said by `reject`; options are the ways to say yes.
  const yes = about.choices.filter(({ kind }) => kind.startsWith('allow')).slice(0, limits.askOptionsMax);
  const isChoice = yes.length > 1 || yes.some(({ kind }) => kind !== 'allow_once');
  return {
    ...base,
    kind: (own(manners, about.toolKind) ?? tool).kind,
    text: about.text,
    options: isChoice ? yes.map(({ id, name }) => ({ id, label: clip(name, limits.detailCharsMax) })) : [],
    accepts: ['approve', 'reject', ...(isChoice ? (['option'] as const) : [])],
  };
}

/** What leave is wanted for: the command, the change or the input itself, then what the agent says about it. */
function leaveText(call: Fields, tool: Tool | null): string {
  const head = tool?.text ?? textOf(call.title) ?? 'a tool';
  const change = tool?.change ?? null;
  const input = tool?.kind === 'execute' || change !== null ? null : inputIn(call.rawInput);
  // A change begins with the file, which may be all that the title says.
  const substance = [...(change?.startsWith(`${head}\n`) ? [] : [head]), change, input];
  const shown = substance.filter((one) => one !== null).join('\n');
  const places = rowsOf(call.locations).flatMap(({ path }) => textOf(path) ?? []);
  const about = [
    textOf(call.title),
    textOf(fieldsIn(call.rawInput).description),
    textOf(textsIn(call.content)),
    ...places,
  ];
  const notes = [...new Set(about)].filter((one): one is string => one !== null && !shown.includes(one));
  const lines = notes.flatMap((one) => one.split('\n')).map((line) => `# ${line}`);
  return clip([shown, ...lines].join('\n'), limits.askCharsMax);
}

function inputIn(raw: unknown): string | null {
  const input = fieldsIn(raw);
  return Object.keys(input).length === 0 ? null : JSON.stringify(input);
}

// Forms over ACP: those of MCP servers, with a twist of Claude's adapter. It puts a question with options as two fields,
// `x` and `x_custom`, of which one is filled in; a person is asked once.

const ending = '_custom';

/** The fields that take words in place of another field's options. */
function twinsIn(params: Fields): readonly string[] {
  const keys = Object.keys(fieldsIn(fieldsIn(params.requestedSchema).properties));
  return keys.filter((key) => key.endsWith(ending) && keys.includes(key.slice(0, -ending.length)));
}

/** The questions of a form; none when it has no fields, or is no form: then it wants a yes or a no. */
function questionsIn(params: Fields): readonly Question[] {
  const twins = twinsIn(params);
  return formQuestions(params)
    .filter(({ key }) => !twins.includes(key))
    .map((question) => (twins.includes(`${question.key}${ending}`) ? { ...question, isFree: true } : question));
}

function contentOf(params: Fields, questions: readonly Question[], answers: readonly (readonly string[])[]): Fields {
  const twins = twinsIn(params);
  const given = questions.map(({ key, labels }, place) => {
    const said = answers[place] ?? [];
    const isOwn = said.some((one) => !labels.includes(one)) && twins.includes(`${key}${ending}`);
    return [isOwn ? `${key}${ending}` : key, said] as const;
  });
  return formContent(params, Object.fromEntries(given));
}

// What is said to an agent over ACP: the opening, prompts, and the wish that it stops.

/** What a reply is about. */
export type Purpose = 'initialize' | 'new' | 'load' | 'resume' | 'model' | 'prompt';

/** The one version of the protocol that is spoken here. */
export const protocolVersion = 1;

function ask(draft: AcpDraft, purpose: Purpose, method: string, params: unknown): number {
  const { calls, line, id } = call(draft.memory.calls, method, params, envelope2, purpose);
  keep(draft, { calls });
  sayLine(draft, line);
  return id;
}

/** Files and terminals are the agent's own affair; its questions are wanted. */
export function sayHello(draft: AcpDraft): void {
  ask(draft, 'initialize', 'initialize', {
    protocolVersion,
    clientInfo: { name: 'agtmux', title: 'agtmux', version: '1' },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      elicitation: { form: {}, url: {} },
    },
  });
}

/** Begins a conversation, or goes on with one: without its history where the agent can leave that out. */
export function saySession(draft: AcpDraft): void {
  const { opening, canResume, canLoad } = draft.memory;
  const place = { cwd: opening.cwd, mcpServers: [] };
  if (opening.resume === null) {
    ask(draft, 'new', 'session/new', place);
    return;
  }
  if (!(canResume || canLoad)) {
    failOpening(draft, 'this agent cannot continue a conversation over ACP; start a new session');
    return;
  }
  const wish = { sessionId: profileOf(draft).loadId(opening.resume), ...place };
  if (canResume) ask(draft, 'resume', 'session/resume', wish);
  else ask(draft, 'load', 'session/load', wish);
}

/** There will be no session before somebody does something about it. What was to be said is kept for another try. */
export function failOpening(draft: AcpDraft, words: string): void {
  setWatch(draft, { isTurnOpen: false, isCancelling: false, due: null });
  draft.wakeMs = null;
  tell(draft, 'process_error', { words });
}

/** There is no session yet, or it has not the right model. */
export const isOpening = ({ calls }: AcpMemory): boolean =>
  Object.values(calls.open).some((purpose) => purpose !== 'prompt');

/** A prompt. One is answered at a time: while another is open, or there is no session yet, it waits. */
export function sayPrompt(draft: AcpDraft, text: string): void {
  write(draft, { id: nextId(draft, 'user'), role: 'user', text });
  const { waiting } = draft.memory;
  if (!draft.memory.watch.isTurnOpen) beginTurn(draft);
  keep(draft, { waiting: waiting === null ? text : `${waiting}\n\n${text}`, failedAsk: null });
  setWatch(draft, { words: 'held' });
  sayNext(draft);
}

/** What waits is said, if it can be. */
export function sayNext(draft: AcpDraft): void {
  const { waiting, session, isGreeted, isReady, prompt } = draft.memory;
  if (waiting === null || prompt !== null || isOpening(draft.memory)) return;
  if (!isGreeted) sayHello(draft);
  else if (session === null) saySession(draft);
  else if (!isReady) sayModel(draft);
  else {
    const id = ask(draft, 'prompt', 'session/prompt', {
      sessionId: session,
      prompt: [{ type: 'text', text: waiting }],
    });
    keep(draft, { waiting: null, prompt: id, said: waiting, seen: nothingSeen });
    setWatch(draft, { isCancelling: false, words: 'said' });
    beginTurn(draft);
    // The protocol tells of no request to the model: ours to the agent stands for it.
    // What is asked stays asked: a request would count as its answer.
    if (draft.memory.asks.length === 0)
      tell(draft, 'api_req_started', { request: `prompt-${draft.memory.mark}-${id}` });
  }
}

/** The model that was wished for is set before anything is said. */
function sayModel(draft: AcpDraft): void {
  const { model } = draft.memory;
  if (model === null || model.kind === 'unknown') {
    if (model !== null)
      endTurn(draft, failed(draft.memory, { kind: 'ask:invalid_model', words: model.words }, draft.at));
    return;
  }
  ask(draft, 'model', model.method, model.params);
}

/** What the agent does now is to end. Where nothing was said yet, nothing will be. */
export function sayCancel(draft: AcpDraft): void {
  const { session, prompt, watch } = draft.memory;
  keep(draft, { waiting: null });
  setWatch(draft, { isCancelling: watch.isTurnOpen });
  if (session !== null && prompt !== null) sayStop(draft, session);
  else if (session !== null && watch.isTurnOpen) endTurn(draft, { kind: 'turn_cancelled', at: draft.at });
}

const sayStop = (draft: AcpDraft, session: string): void =>
  sayLine(draft, noticeLine('session/cancel', { sessionId: session }, envelope2));
