// The New Agent form: which agent, where, with which model, under which care, and what to do. What is seen when no session
// is there or chosen.

import { resolve } from 'node:path/posix';
import type { ManagedItem, NewSessionBody } from '../../api/sessions.ts';
import { type AgtmuxError, fail, ok, type Result } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import { pad } from '../../text/width.ts';
import { autoWarning } from '../../view/sessions.ts';
import type { ScreenSize } from '../../view/shells-panel.ts';
import { cutLine, type SpanLine, span } from '../../view/shells-spans.ts';
import { wrapText } from '../../view/wrap.ts';
import type { Command, Key, KeyHelp, Message, Place, Screen, Step, World } from '../contract.ts';
import { emptyField, fieldKey, fieldLines, fieldOf, insert, isCharacter, type TextField } from '../message-field.ts';
import { creatingWords, spinnerAt } from './spinner.ts';

// The form of a new agent as data: its fields, which of them is focused, and the request that they make.

const fieldNames = ['agent', 'directory', 'model', 'auto', 'worktree', 'prompt'] as const;
type FieldName = (typeof fieldNames)[number];

interface FormModel {
  readonly focus: FieldName;
  readonly agent: TextField;
  readonly directory: TextField;
  readonly model: TextField;
  readonly isAuto: boolean;
  readonly isWorktree: boolean;
  readonly branch: TextField;
  readonly prompt: TextField;
  /** The request is under way. */
  readonly isStarting: boolean;
  readonly frame: number;
  readonly problem: string | null;
}

type FormOwn =
  | { readonly is: 'started'; readonly item: ManagedItem }
  | { readonly is: 'failed'; readonly problem: AgtmuxError };

const firstForm = ({ self }: Pick<World, 'self'>): FormModel => ({
  focus: 'prompt',
  agent: fieldOf(self.agents[0] ?? ''),
  directory: fieldOf(self.cwd),
  model: emptyField,
  isAuto: false,
  isWorktree: false,
  branch: emptyField,
  prompt: emptyField,
  isStarting: false,
  frame: 0,
  problem: null,
});

type Wanted = Omit<NewSessionBody, 'env'>;

/** What is missing is said before anybody is asked. */
function wantedOf(form: FormModel, { cwd, home }: World['self']): Result<Wanted> {
  const [agent, typed, prompt] = [form.agent, form.directory, form.prompt].map(({ text }) => text.trim());
  if (agent === undefined || agent === '') return fail('E_INPUT', 'missing agent', 'name one');
  if (prompt === undefined || prompt === '') return fail('E_INPUT', 'missing prompt', 'type a prompt');
  const directory = (typed ?? '').replace(/^~(?=\/|$)/, home);
  return ok({
    agent,
    prompt,
    cwd: resolve(cwd, directory),
    model: form.model.text.trim() === '' ? null : form.model.text.trim(),
    auto_approve: form.isAuto,
    worktree: form.isWorktree ? form.branch.text.trim() : null,
  });
}

type FormStep = Step<FormModel, FormOwn>;

const failed = (problem: Extract<FormOwn, { readonly is: 'failed' }>['problem']): FormOwn => ({
  is: 'failed',
  problem,
});

function updateForm(message: Message<FormOwn>, model: FormModel, world: World): FormStep | null {
  switch (message.is) {
    case 'key':
      return model.isStarting ? onStarting(message.key, model) : onKey(message.key, model, world);
    case 'mouse':
      return null;
    case 'paste':
      return model.isStarting ? { model } : onPaste(message.text, model);
    case 'world':
    case 'back':
      return { model };
    case 'frame':
      return { model: { ...model, frame: model.frame + 1 } };
    case 'own':
      return onOwn(message.own, model);
  }
}

/** The daemon may have started it already: it goes on whether one looks or not. */
function onStarting(key: Key, model: FormModel): FormStep {
  if (key === 'esc') return { model, commands: [{ do: 'back' }] };
  return { model, commands: [{ do: 'say', text: 'Starting; Esc goes back while it starts.' }] };
}

function onKey(key: Key, model: FormModel, world: World): FormStep | null {
  switch (key) {
    case 'esc':
      return { model, commands: [{ do: 'back' }] };
    case 'tab':
    case 'down':
      return { model: focused(model, 1) };
    case 'shift+tab':
    case 'up':
      return { model: focused(model, -1) };
    case 'enter':
      return model.focus === 'prompt' ? started(model, world) : { model: focused(model, 1) };
    default:
      return onFieldKey(key, { ...model, problem: null }, world);
  }
}

function focused(model: FormModel, by: 1 | -1): FormModel {
  const place = fieldNames.indexOf(model.focus) + by;
  return { ...model, focus: fieldNames[(place + fieldNames.length) % fieldNames.length] ?? 'prompt' };
}

function onFieldKey(key: Key, model: FormModel, world: World): FormStep | null {
  switch (model.focus) {
    case 'agent':
      if (key === 'left' || key === 'right')
        return { model: { ...model, agent: otherAgent(model.agent, world.self.agents, key) } };
      return changed(model, 'agent', fieldKey(model.agent, key, true));
    case 'directory':
      return changed(model, 'directory', fieldKey(model.directory, key, true));
    case 'model':
      return changed(model, 'model', fieldKey(model.model, key, true));
    case 'prompt':
      return changed(model, 'prompt', fieldKey(model.prompt, key));
    case 'auto':
      return key === ' ' ? { model: { ...model, isAuto: !model.isAuto } } : null;
    case 'worktree':
      if (key === ' ') return { model: { ...model, isWorktree: !model.isWorktree } };
      // A branch that is typed means that one is wanted.
      return changed(
        { ...model, isWorktree: model.isWorktree || isCharacter(key) },
        'branch',
        fieldKey(model.branch, key, true),
      );
  }
}

const changed = (
  model: FormModel,
  name: 'agent' | 'directory' | 'model' | 'prompt' | 'branch',
  field: TextField | null,
): FormStep | null => (field === null ? null : { model: { ...model, [name]: field } });

function otherAgent({ text }: TextField, names: readonly string[], key: 'left' | 'right'): TextField {
  const place = names.indexOf(text.trim());
  const next = place < 0 ? 0 : (place + (key === 'right' ? 1 : -1) + names.length) % names.length;
  return fieldOf(names[next] ?? text);
}

function onPaste(text: string, model: FormModel): FormStep {
  const calm = { ...model, problem: null };
  switch (model.focus) {
    case 'agent':
    case 'directory':
    case 'model':
      return { model: { ...calm, [model.focus]: insert(model[model.focus], text.trim(), true) } };
    case 'worktree':
      return { model: { ...calm, isWorktree: true, branch: insert(model.branch, text.trim(), true) } };
    case 'auto':
    case 'prompt':
      return { model: { ...calm, focus: 'prompt', prompt: insert(model.prompt, text) } };
  }
}

function started(model: FormModel, world: World): FormStep {
  const wanted = wantedOf(model, world.self);
  if (!wanted.ok) return { model: { ...model, problem: `${wanted.failure.message} [${wanted.failure.code}]` } };
  const call: Command<FormOwn> = {
    do: 'call',
    run: async ({ api, env }) => {
      const body = { ...wanted.value, env };
      const { session } = await api.post('/v1/managed', body, { silenceMs: limits.sessionGitMs });
      return { is: 'started', item: session };
    },
    failed,
    late: (own) =>
      own.is === 'started'
        ? { text: `started: ${own.item.ref}`, role: 'good' }
        : { text: `no agent was started: ${own.problem.message} [${own.problem.code}]`, role: 'bad' },
  };
  return { model: { ...model, isStarting: true, problem: null }, commands: [call] };
}

function onOwn(own: FormOwn, model: FormModel): FormStep {
  const calm = { ...model, isStarting: false };
  if (own.is === 'started') {
    return { model: calm, commands: [{ do: 'open', place: { screen: 'chat', id: own.item.id }, replaces: true }] };
  }
  const { message, next, code } = own.problem;
  return { model: { ...calm, problem: sanitizeLine(foreign(`${message}. ${next} [${code}]`)) } };
}

const labels: Readonly<Record<FieldName, string>> = {
  agent: 'Agent',
  directory: 'Directory',
  model: 'Model',
  auto: 'Auto-approve',
  worktree: 'Worktree',
  prompt: 'Prompt',
};
const labelColumns = 14;
const promptLinesMax = 8;

function viewForm(model: FormModel, { self }: World, size: ScreenSize): readonly SpanLine[] {
  const { columns } = size;
  const safe = (text: string): string => sanitizeLine(foreign(text));
  if (model.isStarting) {
    const words = `${safe(model.agent.text)} in ${safe(model.directory.text)}`;
    return [
      [span('New Agent', 'title')],
      [],
      [span(`${spinnerAt(model.frame)} ${creatingWords}`, 'work')],
      [span(`  ${words}`, 'dim')],
    ].map((line) => cutLine(line, columns));
  }
  const problem: readonly SpanLine[] =
    model.problem === null
      ? []
      : [[], ...wrapText(`✕ ${model.problem}`, columns).map((line): SpanLine => [span(line, 'bad')])];
  const lines = [
    [span('New Agent', 'title')],
    [],
    ...fieldNames.flatMap((name) => rowOf(name, model, size, self.agents)),
    ...problem,
  ];
  return lines.map((line) => cutLine(line, columns)).slice(0, size.lines);
}

function rowOf(
  name: FieldName,
  model: FormModel,
  { columns, lines }: ScreenSize,
  agents: readonly string[],
): readonly SpanLine[] {
  const isFocused = model.focus === name;
  const label = `${isFocused ? '> ' : '  '}${pad(labels[name], labelColumns)}`;
  const room = Math.max(1, columns - label.length);
  const first = span(label, isFocused ? 'title' : 'dim');
  const next = span(' '.repeat(label.length));
  const body = bodyOf(name, model, { columns: room, lines }, agents);
  return body.map((line, place) => [place === 0 ? first : next, ...line]);
}

function bodyOf(
  name: FieldName,
  model: FormModel,
  { columns, lines }: ScreenSize,
  agents: readonly string[],
): readonly SpanLine[] {
  const isFocused = model.focus === name;
  const field = (one: TextField, hint: string, linesMax = 1): readonly SpanLine[] =>
    fieldLines(one, { columns, lines: linesMax, isFocused, prompt: '', hint });
  const wrapped = (text: string, role: 'dim' | 'attention'): readonly SpanLine[] =>
    wrapText(text, columns).map((line) => [span(line, role)]);
  switch (name) {
    case 'agent':
      return [...field(model.agent, 'agent'), ...(isFocused ? wrapped(`←/→ ${agents.join(' ')}`, 'dim') : [])];
    case 'directory':
      return field(model.directory, 'the directory agtmux was started in');
    case 'model':
      return field(model.model, "the agent's default");
    case 'auto':
      return model.isAuto
        ? [
            [span(isFocused ? '[x]' : '[x]', isFocused ? 'selected' : null), span(' on', 'attention')],
            ...wrapped(`▲ ${autoWarning}`, 'attention'),
          ]
        : [[span('[ ]', isFocused ? 'selected' : null), span(' off: you approve each request', 'dim')]];
    case 'worktree':
      return worktreeLines(model, columns, isFocused);
    case 'prompt':
      return field(model.prompt, "the agent's task", Math.max(1, Math.min(promptLinesMax, lines - 10)));
  }
}

function worktreeLines(model: FormModel, columns: number, isFocused: boolean): readonly SpanLine[] {
  const box = span(model.isWorktree ? '[x] ' : '[ ] ', isFocused && !model.isWorktree ? 'selected' : null);
  if (!model.isWorktree) return [[box, span('off: works in the directory itself', 'dim')]];
  const options = { columns: columns - 4, lines: 1, isFocused, prompt: '', hint: 'branch (generated if empty)' };
  return fieldLines(model.branch, options).map((line) => [box, ...line]);
}

const keys = ({ focus, isStarting }: FormModel): readonly KeyHelp[] => {
  if (isStarting) return [{ keys: 'esc', words: 'back' }];
  return [
    { keys: 'enter', words: focus === 'prompt' ? 'start' : 'next' },
    { keys: 'tab', words: 'next field' },
    ...(focus === 'auto' || focus === 'worktree' ? [{ keys: 'space', words: 'on or off' }] : []),
    ...(focus === 'agent' ? [{ keys: '←/→', words: 'another agent' }] : []),
    ...(focus === 'prompt' ? [{ keys: 'alt+enter', words: 'new line' }] : []),
    { keys: 'esc', words: 'back' },
  ];
};

export const newScreen: Screen<FormModel, FormOwn, Extract<Place, { readonly screen: 'new' }>> = {
  title: 'New agent',
  open: (_, world) => ({ model: firstForm(world) }),
  update: updateForm,
  view: viewForm,
  keys,
  isTyping: ({ isStarting }) => !isStarting,
  moves: ({ isStarting }) => isStarting,
};
