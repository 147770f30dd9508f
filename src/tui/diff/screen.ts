// What has changed in an agent's work tree since its turn began, as a screen: the files, then the diff, scrolled. Pure.

import type { AgentDiffReply } from '../../api/git.ts';
import { pathTo } from '../../api/requests.ts';
import type { AgtmuxError } from '../../model/errors.ts';
import { foreign, sanitizeLine } from '../../text/sanitize.ts';
import { wrapped } from '../../view/asks.ts';
import { type DiffLine, diffFileLines, patchLines } from '../../view/diff-text.ts';
import { clipLine } from '../../view/pane-picture.ts';
import { type SpanLine, span } from '../../view/shells-spans.ts';
import type { Command, Key, KeyHelp, Message, Screen, Step, World } from '../contract.ts';

export interface DiffModel {
  readonly runtime: string;
  readonly diff: AgentDiffReply | null;
  readonly trouble: string | null;
  /** Made once of a diff: a long one is scrolled line by line. */
  readonly lines: readonly DiffLine[];
  readonly down: number;
}

export type DiffOwn =
  | { readonly is: 'diff'; readonly diff: AgentDiffReply }
  | { readonly is: 'trouble'; readonly problem: AgtmuxError };

type DiffStep = Step<DiffModel, DiffOwn>;

export const diffScreen: Screen<DiffModel, DiffOwn, { readonly screen: 'diff'; readonly runtime: string }> = {
  title: 'what has changed',
  open: ({ runtime }) => {
    const model: DiffModel = { runtime, diff: null, trouble: null, lines: [], down: 0 };
    return { model, commands: [ask(runtime)] };
  },
  update,
  view: ({ diff, trouble, lines, down }, _, size) => {
    if (trouble !== null)
      return wrapped(sanitizeLine(foreign(trouble)), size.columns).map((line): SpanLine => [span(line)]);
    if (diff === null) return [[span('Comparing…', 'dim')]];
    return lines.slice(down, down + size.lines).map(({ text, role }) => clipLine([span(text, role)], size.columns));
  },
  keys,
};

const ask = (runtime: string): Command<DiffOwn> => ({
  do: 'call',
  run: async ({ api }) => ({ is: 'diff', diff: await api.get(pathOf(runtime)) }),
  failed: (problem) => ({ is: 'trouble', problem }),
});

const pathOf = (runtime: string) => pathTo('/v1/agents/{ref}/diff', { ref: `runtime:${runtime}` });

function update(message: Message<DiffOwn>, model: DiffModel, world: World): DiffStep | null {
  switch (message.is) {
    case 'key':
      return takeKey(message.key, model, world);
    case 'mouse':
      return message.what === 'press'
        ? { model }
        : moved(model, world, message.what === 'wheelup' ? -wheelLines : wheelLines);
    case 'own':
      if (message.own.is === 'trouble') {
        const { message: words, next, code } = message.own.problem;
        return { model: { ...model, trouble: `${words}; ${next} [${code}]` } };
      }
      return { model: shown(model, message.own.diff) };
    case 'paste':
      return null;
    case 'world':
    case 'back':
    case 'frame':
      return { model };
  }
}

function shown(model: DiffModel, diff: AgentDiffReply): DiffModel {
  const patch = patchLines(diff);
  const rule: readonly DiffLine[] = patch.length === 0 ? [] : [{ text: sanitizeLine(foreign('')), role: null }];
  return { ...model, diff, trouble: null, lines: [...diffFileLines(diff), ...rule, ...patch] };
}

const wheelLines = 3;

function moved(model: DiffModel, { size }: World, by: number): DiffStep {
  const most = Math.max(0, model.lines.length - size.lines);
  return { model: { ...model, down: Math.max(0, Math.min(most, model.down + by)) } };
}

const isFileHead = ({ text, role }: DiffLine): boolean => role === 'title' && text.startsWith('diff --git ');

/** The next file, or the one before. */
function fileFrom({ lines, down }: DiffModel, way: 1 | -1): number {
  const heads = lines.flatMap((line, row) => (isFileHead(line) ? [row] : []));
  const next = way === 1 ? heads.find((row) => row > down) : heads.findLast((row) => row < down);
  return (next ?? (way === 1 ? down : 0)) - down;
}

function takeKey(key: Key, model: DiffModel, world: World): DiffStep | null {
  const page = Math.max(1, world.size.lines - 2);
  switch (key) {
    case 'down':
    case 'j':
      return moved(model, world, 1);
    case 'up':
    case 'k':
      return moved(model, world, -1);
    case 'pagedown':
    case ' ':
      return moved(model, world, page);
    case 'pageup':
      return moved(model, world, -page);
    case 'g':
    case 'home':
      return moved(model, world, Number.NEGATIVE_INFINITY);
    case 'G':
    case 'end':
      return moved(model, world, Number.POSITIVE_INFINITY);
    case 'tab':
      return moved(model, world, fileFrom(model, 1));
    case 'shift+tab':
      return moved(model, world, fileFrom(model, -1));
    case 'r':
      return { model, commands: [ask(model.runtime)] };
    case 'y':
      if (model.diff === null) return { model };
      return {
        model,
        commands: [
          { do: 'copy', text: model.diff.patch },
          { do: 'say', text: 'Copied the diff.' },
        ],
      };
    default:
      return null;
  }
}

function keys(): readonly KeyHelp[] {
  const rare = (of: string, words: string): KeyHelp => ({ keys: of, words, isRare: true });
  return [
    { keys: 'tab', words: 'next file' },
    { keys: 'r', words: 'read again' },
    { keys: 'y', words: 'copy' },
    { keys: 'q', words: 'back' },
    rare('↑ ↓ j k', 'scroll'),
    rare('pgup pgdn space', 'scroll a page'),
    rare('g G', 'beginning, end'),
    rare('shift+tab', 'file before'),
  ];
}
