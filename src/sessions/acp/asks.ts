// What an agent wants from a person over ACP: leave for its tools, forms, and questions that the protocol hides; one put
// after another. In automatic mode leave is given at once, and said so.

import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../agents/fields.ts';
import { fail, ok, type Result } from '../../model/errors.ts';
import { mainScope, type ScopeId, scopeId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { fullCode, fullReason, hasRoom, tellRefused, weightOf } from '../asks-room.ts';
import type { Deed } from '../dialect.ts';
import { keep, note, sayLine, tell } from '../draft.ts';
import { envelope2, methodUnknown, type RpcId, refusalLine, replyLine } from '../json-rpc.ts';
import { answeredBy, type Interview, interviewOf, nextOf, type Question } from '../questions.ts';
import { hearIdle, setWatch } from '../watch.ts';
import { sayPrompt, sayStop } from './calls.ts';
import { contentOf, questionsIn } from './forms.ts';
import type { AcpDraft, Choice, OpenAsk, Tool } from './memory.ts';
import { eventOf, idOfAsk, interviewIn, leaveText, pendingOf } from './pending.ts';
import { profileOf } from './profiles.ts';
import { endSpeech, see } from './speech.ts';
import { markTool, showTool, toolIn } from './tools.ts';

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
  const { questionTool } = profileOf(draft.memory.profile);
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

type Answer = Extract<Deed, { readonly ask_id: string }>;

/** A person's answer to the ask that is open. */
export function answer(draft: AcpDraft, deed: Answer): Result<null> {
  const [ask] = draft.memory.asks;
  if (ask === undefined || idOfAsk(ask) !== deed.ask_id) {
    return fail('E_STATE_CHANGED', 'that was answered already, or the agent took it back');
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
    if (deed.kind !== 'approve') return fail('E_UNSUPPORTED', 'this wants a yes or a no', 'approve or reject it');
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
  if (deed.kind === 'write') return fail('E_UNSUPPORTED', 'this wants a yes or a no', 'approve or reject it');
  if (deed.kind === 'choose') {
    const chosen = yes.find(({ id, name }) => id === deed.option || name === deed.option);
    if (chosen !== undefined) return ok(chosen.id);
    return fail('E_INPUT', `"${deed.option}" is none of the options`, `choose one of ${offered}`);
  }
  const once = yes.find(({ kind }) => kind === 'allow_once');
  if (once !== undefined) return ok(once.id);
  return offered === ''
    ? fail('E_UNSUPPORTED', 'the agent offers no way to say yes to this', 'reject it')
    : fail('E_UNSUPPORTED', 'the agent offers no yes for this once', `choose one of ${offered}`);
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
