// One agent as a screen: its pane live, what it asks with the keys that answer, and everything that can be done to it. Pure;
// what it reads from the daemon comes as streams that end when one leaves.

import type { ExplanationDocument } from '../../api/explain.ts';
import { AgtmuxError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import {
  type ActingStep,
  actingAfter,
  actingKey,
  actingPaste,
  answerBy,
  beginActing,
  isActing,
  notActing,
} from '../acting.ts';
import { actingKeys } from '../acting-view.ts';
import type { Command, Key, KeyHelp, Message, MouseWhat, Ports, Screen, Step, Stream, World } from '../contract.ts';
import { type DetailModel, type DetailOwn, firstDetail, itemOf } from './model.ts';
import { detailView, isAskWhole } from './view.ts';

type DetailStep = Step<DetailModel, DetailOwn>;

export const detailScreen: Screen<DetailModel, DetailOwn, { readonly screen: 'detail'; readonly runtime: string }> = {
  title: 'one agent',
  open: ({ runtime }, world) => {
    const model = firstDetail(runtime, world);
    return { model, commands: markSeen(model, null) };
  },
  update,
  view: detailView,
  keys,
  isTyping: ({ acting }) => isActing(acting),
  takesText: ({ acting }) => acting.is === 'typing',
  streams,
};

function update(message: Message<DetailOwn>, model: DetailModel, world: World): DetailStep | null {
  switch (message.is) {
    case 'key':
      return takeKey(message.key, model, world);
    case 'paste': {
      const acting = actingPaste(model.acting, message.text);
      return acting === null ? null : { model: { ...model, acting } };
    }
    case 'own':
      return { model: told(model, message.own, world) };
    case 'world':
    case 'back': {
      const item = itemOf(model.runtime, world);
      const isGone = item === null && world.link.is === 'up';
      const isNewAsk = item !== null && item.ask?.ask_id !== model.item?.ask?.ask_id;
      const askedMs = isNewAsk ? world.nowMs : model.askedMs;
      const next = { ...model, item: item ?? model.item, isGone, askedMs };
      return {
        model: { ...next, explanation: isOld(next, model.explanation) ? null : model.explanation },
        commands: markSeen({ ...model, item }, model.item),
      };
    }
    case 'mouse':
      return takeMouse(message.what, model);
    case 'frame':
      return { model };
  }
}

/** Whoever looks at it has seen what it finished. */
function markSeen({ item, runtime }: DetailModel, before: DetailModel['item']): readonly Command<DetailOwn>[] {
  if (item?.seen !== false || before?.seen === false) return [];
  return [
    {
      do: 'call',
      run: async ({ api }) => {
        const conditions = { if_runtime: runtime };
        await api.post('/v1/act', { action: 'seen', ref: `runtime:${runtime}`, conditions });
        return { is: 'seen' };
      },
      failed: () => ({ is: 'seen' }),
    },
  ];
}

/** Of a state that it has left: what it asked then must not stand here as what it asks. */
const isOld = ({ item }: DetailModel, explanation: ExplanationDocument | null): boolean =>
  item !== null && (explanation?.item.state_version ?? 0) < (item.state_version ?? 0);

function told(model: DetailModel, own: DetailOwn, { nowMs }: World): DetailModel {
  switch (own.is) {
    case 'acting': {
      const { own: told } = own;
      const askId = told.is === 'receipt' && told.receipt.outcome === 'delivered' ? (told.askId ?? null) : null;
      const answered = askId === null ? model.answered : { askId, atMs: nowMs };
      return { ...model, answered, acting: actingAfter(model.acting, told) };
    }
    case 'output':
      return {
        ...model,
        output: { lines: own.reply.lines, words: own.reply.words ?? null },
        outputTrouble: null,
      };
    case 'told':
      return {
        ...model,
        explanation: isOld(model, own.explanation) ? null : own.explanation,
        queue: own.queue,
        timeline: own.timeline ?? model.timeline,
      };
    case 'trouble':
      return own.of === 'output' ? { ...model, outputTrouble: own.problem.message } : model;
    case 'seen':
      return model;
  }
}

const acted = (model: DetailModel, { acting, commands }: ActingStep): DetailStep => ({
  model: { ...model, acting },
  commands: commands.map((command): Command<DetailOwn> => {
    if (command.do === 'edit') {
      return { ...command, done: (text, words) => ({ is: 'acting', own: command.done(text, words) }) };
    }
    if (command.do !== 'call') return command;
    const { run, failed, late } = command;
    return {
      do: 'call',
      run: async (ports) => ({ is: 'acting', own: await run(ports) }),
      failed: (problem) => ({ is: 'acting', own: failed(problem) }),
      ...(late === undefined ? {} : { late: (own) => (own.is === 'acting' ? late(own.own) : null) }),
    };
  }),
});

function takeKey(key: Key, model: DetailModel, world: World): DetailStep | null {
  const doing = actingKey(model.acting, key);
  if (doing !== null) return acted(model, doing);
  const calm = model.acting.is === 'done' ? { ...model, acting: notActing } : model;
  const item = model.isGone ? null : model.item;
  const begun = beginActing(key, item) ?? answerBy(key, item, isAskWhole(model, world));
  if (begun !== null && world.nowMs - model.askedMs < limits.tuiAskSeenMs && begun.acting.is !== 'none') {
    // Whoever types on without looking does not get there either.
    const text = 'The request has just changed; check it and press again.';
    return { model: { ...calm, askedMs: world.nowMs }, commands: [{ do: 'say', text }] };
  }
  if (begun !== null) return acted(calm, begun);
  return moveKey(key, calm) ?? otherKey(key, calm);
}

const wheelLines = 3;

function takeMouse(what: MouseWhat, model: DetailModel): DetailStep {
  const keys = Array.from({ length: wheelLines }, () => (what === 'wheelup' ? 'up' : 'down'));
  if (what === 'press' || isActing(model.acting)) return { model };
  return { model: keys.reduce((seen, key) => moveKey(key, seen)?.model ?? seen, model) };
}

const pageLines = 10;
/** More than an explanation has. */
const evidenceMax = 1_000;

function moveKey(key: Key, model: DetailModel): DetailStep | null {
  // The pane is read from its end, evidence from its beginning.
  const way = model.isExplaining ? -1 : 1;
  const most = model.isExplaining ? evidenceMax : (model.output?.lines.length ?? 0);
  const up = (by: number): DetailStep => ({
    model: { ...model, up: Math.max(0, Math.min(most, model.up + by * way)) },
  });
  switch (key) {
    case 'up':
    case 'k':
      return up(1);
    case 'down':
    case 'j':
      return up(-1);
    case 'pageup':
      return up(pageLines);
    case 'pagedown':
      return up(-pageLines);
    case 'end':
    case 'G':
      return { model: { ...model, up: 0 } };
    default:
      return null;
  }
}

function otherKey(key: Key, model: DetailModel): DetailStep | null {
  switch (key) {
    case 't':
    case 'enter':
      return { model, commands: [{ do: 'attach', ref: `runtime:${model.runtime}` }] };
    case '/':
    case 'f':
      return { model, commands: [{ do: 'open', place: { screen: 'grep' } }] };
    case 'd':
      return { model, commands: [{ do: 'open', place: { screen: 'diff', runtime: model.runtime } }] };
    case 'x':
      return { model: { ...model, isExplaining: !model.isExplaining, up: 0 } };
    case 'esc':
      return model.isExplaining ? { model: { ...model, isExplaining: false, up: 0 } } : null;
    default:
      return null;
  }
}

/** One bad answer is no reason to look no more: it is told, and asked for again. */
const trouble =
  (of: 'output' | 'told') =>
  (problem: unknown): DetailOwn => {
    const known = problem instanceof AgtmuxError ? problem : new AgtmuxError('E_INTERNAL', String(problem));
    return { is: 'trouble', of, problem: known };
  };

/** Rows above the screen that can be scrolled to. */
const historyLines = 200;

function streams({ runtime, isGone, item }: DetailModel, { link }: World): readonly Stream<DetailOwn>[] {
  if (isGone || link.is !== 'up') return [];
  const ref = `runtime:${runtime}`;
  const tell = async (api: Ports['api']): Promise<DetailOwn> => {
    const explanation = await api.get('/v1/explain', { ref });
    const queue = (await api.get('/v1/queue')).items.filter((one) => one.runtime_id === runtime);
    const timeline = await api.get('/v1/timeline', { ref }).catch(() => null);
    return { is: 'told', explanation, queue, timeline };
  };
  return [
    {
      key: 'output',
      start: async function* ({ api, sleep }, signal) {
        let last: string | null = null;
        while (!signal.aborted) {
          const told = await api
            .get('/v1/output', { ref, lines: historyLines, screen: true, colours: true })
            .then((reply): DetailOwn => ({ is: 'output', reply }), trouble('output'));
          const text = told.is === 'output' ? told.reply.lines.join('\n') : null;
          // What stands still is not told again.
          if (text === null || text !== last) yield told;
          last = text;
          await sleep(text === null ? limits.tuiExplainMs : limits.tuiOutputMs, signal);
        }
      },
      failed: (problem) => ({ is: 'trouble', of: 'output', problem }),
    },
    {
      // Read anew as soon as its state is another one.
      key: `told ${item?.state_version ?? 0}`,
      start: async function* ({ api, sleep }, signal) {
        while (!signal.aborted) {
          yield await tell(api).catch(trouble('told'));
          await sleep(limits.tuiExplainMs, signal);
        }
      },
      failed: (problem) => ({ is: 'trouble', of: 'told', problem }),
    },
  ];
}

const rare = (keys: string, words: string): KeyHelp => ({ keys, words, isRare: true });

function keys(model: DetailModel): readonly KeyHelp[] {
  const doing = actingKeys(model.acting);
  if (doing !== null) return doing;
  const ask = model.item?.ask ?? null;
  const options =
    ask === null || ask.options.length === 0 ? [] : [{ keys: `1-${Math.min(9, ask.options.length)}`, words: 'choose' }];
  const asks =
    ask === null
      ? []
      : [{ keys: 'a', words: 'approve' }, { keys: 'r', words: 'reject' }, { keys: 'e', words: 'answer' }, ...options];
  return [
    ...asks,
    { keys: 's', words: 'send' },
    { keys: 't', words: 'attach' },
    { keys: 'x', words: model.isExplaining ? 'pane' : 'explain' },
    { keys: 'i', words: 'interrupt' },
    { keys: 'K', words: 'kill' },
    { keys: 'd', words: 'diff' },
    { keys: 'q', words: 'back' },
    rare('/', 'find in what all agents have shown and said'),
    rare('N', 'name it'),
    rare('R', 'restart it when it has ended'),
    rare('↑ ↓ j k', 'scroll'),
    rare('pgup pgdn', 'scroll a page'),
    rare('G', 'to the end'),
    rare('enter', 'attach'),
  ];
}
