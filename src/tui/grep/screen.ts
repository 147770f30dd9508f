// Finding a pattern in what all agents have shown and said, as a screen: a line to write it in, the hits below, and from each the
// way to its agent. Pure.

import type { GrepReply } from '../../api/grep.ts';
import type { AgtmuxError } from '../../model/errors.ts';
import { type GrepPlace, grepPlaces } from '../../model/grep.ts';
import { hitHead, hitLine, searchedWords } from '../../view/grep-text.ts';
import type { ScreenSize } from '../../view/shells-panel.ts';
import { cutLine, type SpanLine, selectedLine, span } from '../../view/shells-spans.ts';
import type { Key, KeyHelp, Message, Screen, Step, Stream, World } from '../contract.ts';
import { editText, emptyText, fieldSpans, isCharacter, type TextField, withPaste } from '../text-field.ts';

type Hit = GrepReply['items'][number];

export interface GrepModel {
  readonly field: TextField;
  /** What the hits are for; answers to another pattern come too late. */
  readonly pattern: string;
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

/** Screens by themselves: they are known already, and their lines stand there at once. */
const questions: readonly (readonly GrepPlace[])[] = [['screens'], grepPlaces.filter((place) => place !== 'screens')];

const firstGrep: GrepModel = {
  field: emptyText,
  pattern: '',
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
  streams,
  isTyping: () => true,
  takesText: () => true,
};

/** One letter stands everywhere. */
const charsMin = 2;
/** Nobody looks for half a word: it is asked when one stops writing. */
const pauseMs = 250;

/** One question for as long as its pattern stands there: whoever writes on asks another one. */
function streams({ pattern }: GrepModel, { link }: World): readonly Stream<GrepOwn>[] {
  if (pattern.length < charsMin || link.is !== 'up') return [];
  return [
    {
      key: `grep ${pattern}`,
      start: async function* ({ api, sleep }, signal) {
        await sleep(pauseMs, signal);
        for (const places of questions) {
          if (signal.aborted) return;
          yield { is: 'found', pattern, reply: await api.get('/v1/grep', { pattern, in: places }) };
        }
        // Asked once, and not again until something else stands there.
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      },
      failed: (problem) => ({ is: 'failed', pattern, problem }),
    },
  ];
}

function update(message: Message<GrepOwn>, model: GrepModel, world: World): GrepStep | null {
  switch (message.is) {
    case 'key':
      return takeKey(message.key, model, world);
    case 'paste':
      return { model: written(model, withPaste(model.field, message.text)) };
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

function written(model: GrepModel, field: TextField): GrepModel {
  const pattern = field.text.trim();
  if (pattern === model.pattern) return { ...model, field };
  const awaited = pattern.length < charsMin ? 0 : questions.length;
  return { ...firstGrep, field, pattern, awaited };
}

function told(model: GrepModel, own: GrepOwn): GrepModel {
  if (own.pattern !== model.pattern) return model;
  if (own.is === 'failed') {
    const { message, next, code } = own.problem;
    return { ...model, awaited: 0, trouble: `${message}; ${next} [${code}]` };
  }
  const { items, searched, left_out, is_cut } = own.reply;
  const sums = {
    searched: model.searched.searched + searched,
    left_out: model.searched.left_out + left_out,
    is_cut: model.searched.is_cut || is_cut,
  };
  return { ...model, awaited: model.awaited - 1, hits: [...model.hits, ...items], searched: sums };
}

function takeKey(key: Key, model: GrepModel, world: World): GrepStep | null {
  const page = Math.max(1, world.size.lines - 4);
  const moved = (by: number): GrepStep => ({
    model: { ...model, at: Math.max(0, Math.min(model.hits.length - 1, model.at + by)) },
  });
  switch (key) {
    case 'down':
      return moved(1);
    case 'up':
      return moved(-1);
    case 'pagedown':
      return moved(page);
    case 'pageup':
      return moved(-page);
    case 'esc':
      return { model, commands: [{ do: 'back' }] };
    case 'enter':
      return opened(model, world);
    case 'ctrl+t': {
      const runtime = model.hits[model.at]?.runtime_id ?? null;
      return runtime === null ? { model } : { model, commands: [{ do: 'attach', ref: `runtime:${runtime}` }] };
    }
    default: {
      const field = editText(model.field, key);
      return isCharacter(key) || field !== model.field ? { model: written(model, field) } : null;
    }
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
  const { field, hits, at } = model;
  const head: readonly SpanLine[] = [
    [span('find: ', 'title'), ...fieldSpans(field, columns - 8)],
    [span(stateWords(model), 'dim')],
  ];
  const room = Math.max(1, lines - head.length);
  const start = Math.max(0, Math.min(at - Math.floor(room / 2), hits.length - room));
  const rows = hits.slice(start, start + room).map((hit, row): SpanLine => {
    const isAt = start + row === at;
    const line: SpanLine = [span(isAt ? '> ' : '  '), span(`${hitHead(hit)}  `, 'work'), span(hitLine(hit))];
    return isAt ? selectedLine(line, columns) : cutLine(line, columns);
  });
  return [...head.map((line) => cutLine(line, columns)), ...rows];
}

function stateWords({ pattern, awaited, trouble, searched, hits }: GrepModel): string {
  if (pattern.length < charsMin) return 'On the screens, in the transcripts and in the shell logs of all agents.';
  if (trouble !== null) return trouble;
  return `${searchedWords({ ...searched, items: [...hits] })}${awaited > 0 ? '; looking on…' : ''}`;
}

function keys(): readonly KeyHelp[] {
  return [
    { keys: 'enter', words: 'open' },
    { keys: 'ctrl+t', words: 'attach' },
    { keys: '↑ ↓', words: 'select' },
    { keys: 'esc', words: 'back' },
  ];
}
