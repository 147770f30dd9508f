// Finding a pattern in what all agents have shown and said, as a screen: a line to write it in, the hits below, and from each the
// way to its agent. Pure.

import type { GrepReply } from '../../api/grep.ts';
import type { AgtmuxError } from '../../model/errors.ts';
import { type GrepPlace, grepPlaces } from '../../model/grep.ts';
import { hitHead, hitLine, searchedWords } from '../../view/grep-text.ts';
import type { ScreenSize } from '../../view/shells-panel.ts';
import { cutLine, type SpanLine, selectedLine, span } from '../../view/shells-spans.ts';
import type { Command, Key, KeyHelp, Message, Screen, Step, World } from '../contract.ts';
import { editText, emptyText, fieldSpans, isCharacter, type TextField, withPaste } from '../text-field.ts';

type Hit = GrepReply['items'][number];

export interface GrepModel {
  readonly field: TextField;
  readonly isTyping: boolean;
  /** What was looked for last; answers to another question come too late. */
  readonly asked: string | null;
  readonly hits: readonly Hit[];
  readonly searched: { readonly searched: number; readonly left_out: number; readonly is_cut: boolean };
  /** Answers that are still to come. */
  readonly awaited: number;
  readonly trouble: string | null;
  readonly at: number;
}

export type GrepOwn =
  | { readonly is: 'found'; readonly pattern: string; readonly reply: GrepReply }
  | { readonly is: 'failed'; readonly pattern: string; readonly problem: AgtmuxError };

type GrepStep = Step<GrepModel, GrepOwn>;

const nothing = { searched: 0, left_out: 0, is_cut: false };

const firstGrep: GrepModel = {
  field: emptyText,
  isTyping: true,
  asked: null,
  hits: [],
  searched: nothing,
  awaited: 0,
  trouble: null,
  at: 0,
};

export const grepScreen: Screen<GrepModel, GrepOwn, { readonly screen: 'grep' }> = {
  title: 'finding',
  open: () => ({ model: firstGrep }),
  update,
  view,
  keys,
  isTyping: ({ isTyping }) => isTyping,
  takesText: ({ isTyping }) => isTyping,
};

/** Screens by themselves: they are known already, and their lines stand there at once. */
const questions: readonly (readonly GrepPlace[])[] = [['screens'], grepPlaces.filter((place) => place !== 'screens')];

const ask = (pattern: string, places: readonly GrepPlace[]): Command<GrepOwn> => ({
  do: 'call',
  run: async ({ api }) => ({ is: 'found', pattern, reply: await api.get('/v1/grep', { pattern, in: places }) }),
  failed: (problem) => ({ is: 'failed', pattern, problem }),
});

function update(message: Message<GrepOwn>, model: GrepModel, world: World): GrepStep | null {
  switch (message.is) {
    case 'key':
      return model.isTyping ? typingKey(message.key, model) : listKey(message.key, model, world);
    case 'paste':
      return model.isTyping ? { model: { ...model, field: withPaste(model.field, message.text) } } : null;
    case 'mouse':
      return null;
    case 'own':
      return { model: told(model, message.own) };
    case 'world':
    case 'back':
    case 'frame':
      return { model };
  }
}

function told(model: GrepModel, own: GrepOwn): GrepModel {
  if (own.pattern !== model.asked) return model;
  const awaited = model.awaited - 1;
  if (own.is === 'failed') {
    const { message, next, code } = own.problem;
    return { ...model, awaited, trouble: `${message}; ${next} [${code}]` };
  }
  const { items, searched, left_out, is_cut } = own.reply;
  const sums = {
    searched: model.searched.searched + searched,
    left_out: model.searched.left_out + left_out,
    is_cut: model.searched.is_cut || is_cut,
  };
  return { ...model, awaited, hits: [...model.hits, ...items], searched: sums };
}

function typingKey(key: Key, model: GrepModel): GrepStep | null {
  switch (key) {
    case 'esc':
      return model.asked === null ? { model, commands: [{ do: 'back' }] } : { model: { ...model, isTyping: false } };
    case 'enter': {
      const pattern = model.field.text;
      if (pattern.trim() === '')
        return { model, commands: [{ do: 'say', text: 'Write what to look for; esc goes back.' }] };
      const next = { ...model, isTyping: false, asked: pattern, hits: [], searched: nothing, trouble: null, at: 0 };
      return {
        model: { ...next, awaited: questions.length },
        commands: questions.map((places) => ask(pattern, places)),
      };
    }
    default: {
      const field = editText(model.field, key);
      return isCharacter(key) || field !== model.field ? { model: { ...model, field } } : null;
    }
  }
}

function listKey(key: Key, model: GrepModel, world: World): GrepStep | null {
  const page = Math.max(1, world.size.lines - 4);
  const moved = (by: number): GrepStep => ({
    model: { ...model, at: Math.max(0, Math.min(model.hits.length - 1, model.at + by)) },
  });
  switch (key) {
    case 'down':
    case 'j':
      return moved(1);
    case 'up':
    case 'k':
      return moved(-1);
    case 'pagedown':
      return moved(page);
    case 'pageup':
      return moved(-page);
    case 'g':
      return moved(Number.NEGATIVE_INFINITY);
    case 'G':
      return moved(Number.POSITIVE_INFINITY);
    case '/':
    case 'f':
      return { model: { ...model, isTyping: true } };
    case 'enter':
      return opened(model, world);
    case 't': {
      const runtime = model.hits[model.at]?.runtime_id ?? null;
      return runtime === null ? { model } : { model, commands: [{ do: 'attach', ref: `runtime:${runtime}` }] };
    }
    default:
      return null;
  }
}

/** An agent as its pane, a session as its conversation, a shell in the panel of shells. */
function opened(model: GrepModel, world: World): GrepStep {
  const hit = model.hits[model.at];
  if (hit === undefined) return { model, commands: [{ do: 'say', text: 'Nothing to open.' }] };
  if (hit.shell_id !== null) return { model, commands: [{ do: 'open', place: { screen: 'shells' } }] };
  const session = world.rows.get(`row:${hit.runtime_id}`)?.session ?? null;
  if (session !== null) return { model, commands: [{ do: 'open', place: { screen: 'chat', id: session.id } }] };
  if (hit.runtime_id === null) return { model };
  return { model, commands: [{ do: 'open', place: { screen: 'detail', runtime: hit.runtime_id } }] };
}

function view(model: GrepModel, _world: World, { columns, lines }: ScreenSize): readonly SpanLine[] {
  const { field, isTyping, hits, at } = model;
  const shown = isTyping ? fieldSpans(field, columns - 8) : [span(field.text)];
  const head: readonly SpanLine[] = [[span('find: ', 'title'), ...shown], [span(stateWords(model), 'dim')]];
  const room = Math.max(1, lines - head.length);
  const start = Math.max(0, Math.min(at - Math.floor(room / 2), hits.length - room));
  const rows = hits.slice(start, start + room).map((hit, row): SpanLine => {
    const isAt = start + row === at && !isTyping;
    const line: SpanLine = [span(isAt ? '> ' : '  '), span(`${hitHead(hit)}  `, 'work'), span(hitLine(hit))];
    return isAt ? selectedLine(line, columns) : cutLine(line, columns);
  });
  return [...head.map((line) => cutLine(line, columns)), ...rows];
}

function stateWords(model: GrepModel): string {
  const { asked, awaited, trouble, searched, hits } = model;
  if (asked === null) return 'On the screens, in the transcripts and in the shell logs of all agents; enter looks.';
  if (trouble !== null) return trouble;
  return `${searchedWords({ ...searched, items: [...hits] })}${awaited > 0 ? '; looking on…' : ''}`;
}

const rare = (of: string, words: string): KeyHelp => ({ keys: of, words, isRare: true });

function keys({ isTyping }: GrepModel): readonly KeyHelp[] {
  if (isTyping)
    return [
      { keys: 'enter', words: 'look' },
      { keys: 'esc', words: 'back' },
    ];
  return [
    { keys: 'enter', words: 'open' },
    { keys: 't', words: 'attach' },
    { keys: '/', words: 'another pattern' },
    { keys: 'q', words: 'back' },
    rare('↑ ↓ j k', 'select'),
    rare('g G', 'first, last'),
  ];
}
