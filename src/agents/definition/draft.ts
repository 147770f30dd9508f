// A first definition out of screens that somebody labelled: what stands on all screens of one scene and on none of another
// becomes a rule. It is a beginning: its author reads it, and `agents check` says how well it does.

import { parse } from 'smol-toml';
import { classOf } from '../../model/states.ts';
import type { ProgramView } from '../contract.ts';
import { isLasting } from '../keys/options.ts';
import { lastPart, programOf } from '../program.ts';
import { classify } from '../screen/classify.ts';
import { linearPattern } from '../screen/pattern.ts';
import { readRuleFile } from '../screen/rule-file.ts';
import { answerWords, betweenInRow, type DraftHead, type DraftOptions, headOf, optionsOf } from './draft-asks.ts';
import {
  edge,
  escaped,
  filled,
  hasLetters,
  listed,
  liveLines,
  liveOf,
  openedWord,
  quoted,
  shapeOf,
  sharedShapes,
} from './draft-lines.ts';

/**
 * What a person leads an unknown agent through, in this order: what was seen before may still be in sight later. What differs
 * between a scene and the same scene `again` is the conversation, and what is left is the agent's own interface.
 */
export const scenes = [
  { name: 'idle', state: 'idle', words: 'its prompt is empty and it waits for you', again: null },
  { name: 'running', state: 'running', words: 'it works on something long', again: 'it works on something else' },
  {
    name: 'asks',
    state: 'waiting_approval',
    words: 'it asks whether it may do something',
    again: 'it asks whether it may do something else',
  },
  {
    name: 'answers',
    state: 'waiting_input',
    words: 'it asks a question with answers to choose from',
    again: 'it asks another question',
  },
  { name: 'error', state: 'error', words: 'a request of it has failed, and it says so', again: null },
  { name: 'interrupt', state: 'idle', words: 'you have interrupted it, and its prompt is back', again: null },
] as const;
export type SceneName = (typeof scenes)[number]['name'];

export interface SceneScreen {
  readonly scene: SceneName;
  readonly lines: readonly string[];
}

export interface DraftInput {
  readonly name: string;
  readonly program: ProgramView;
  /** Null: nobody knows it, and no key is drafted. */
  readonly version: string | null;
  readonly screens: readonly SceneScreen[];
  /** The key that interrupted it, by tmux's name. */
  readonly interruptKey: string;
  /** A person has said that what was shown of its requests was not all of them. */
  readonly isAskPartial?: boolean;
}

const promptMark = /^([\s│┃║|]*[>❯›»]) ?(.*?)[\s│┃║|]*$/u;

interface Sign {
  readonly shape: string;
  /** From below, among lines that are not blank. */
  readonly height: number;
}

/** What every screen of a scene has, and none of the others so low on the screen; the lowest first. */
function signsOf(
  own: readonly SceneScreen[],
  others: readonly SceneScreen[],
  { isAnywhere = false, isOpen = false }: { readonly isAnywhere?: boolean; readonly isOpen?: boolean } = {},
): readonly Sign[] {
  const [first, ...more] = own.map(({ lines }) => liveOf(lines));
  if (first === undefined) return [];
  const heightIn = (lines: readonly string[], pattern: RegExp): number => {
    const at = lines.findLastIndex((line) => pattern.test(line));
    return at < 0 ? -1 : lines.length - at;
  };
  const plain = first.map(shapeOf);
  const shapes = [...(isOpen ? plain.flatMap(openedWord) : []), ...plain, ...sharedShapes(plain, more)];
  const found = [...new Set(shapes)].filter(hasLetters).flatMap((shape): readonly Sign[] => {
    const pattern = new RegExp(shape, 'u');
    const heights = [first, ...more].map((lines) => heightIn(lines, pattern));
    const height = Math.max(...heights);
    const isLow = (at: number): boolean => at > 0 && (isAnywhere || at <= height + 1);
    // What an earlier scene left in sight has moved up since.
    if (height - Math.min(...heights) > 1) return [];
    if (heights.includes(-1) || others.some(({ lines }) => isLow(heightIn(liveOf(lines), pattern)))) return [];
    return [{ shape, height }];
  });
  // Of several shapes of one line the first counts.
  return found
    .filter(({ height }, at) => found.findIndex((one) => one.height === height) === at)
    .toSorted((one, other) => one.height - other.height);
}

const saysYes =
  /^(?:[[(]y[\])] |(?:[[(]\w[\])] )?(?:yes|allow|approve|accept|proceed|run|ok|go ahead|continue|confirm|do it)\b)/i;
const saysNo =
  /^(?:[[(]n[\])] |(?:[[(]\w[\])] )?(?:no|deny|reject|cancel|don['’]t|do not|refuse|decline|skip|abort)\b)/i;
const grantsMore = (label: string): boolean => isLasting({ id: label, label });

/** One rule: what has to stand in the lowest lines, and not. */
function ruleText(id: string, priority: number, proves: string, signs: readonly Sign[], more = '', guard = ''): string {
  const region = `low${Math.max(...signs.map(({ height }) => height)) + 1}`;
  const all = signs.map(({ shape }) => shape);
  return `[[screen.rules]]
id = "${id}"
priority = ${priority}
where = [{ in = "${region}", all = ${listed(all)} }${guard}]
proves = { ${proves} }
${more}`;
}

/** A dialog as far as it could be told: how its options look, and where what it asks begins. */
interface Asked {
  readonly kind: 'command' | 'question';
  readonly options: DraftOptions;
  readonly head: DraftHead | null;
}

function askedOf(kind: Asked['kind'], screens: readonly SceneScreen[], others: readonly SceneScreen[]): Asked | null {
  const looks = screens.map(({ lines }) => lines);
  const options = optionsOf(looks);
  if (options === null) return null;
  const head = headOf(
    looks,
    others.map(({ lines }) => lines),
    options.first,
  );
  return { kind, options, head };
}

function askText(asked: Asked | null): string {
  if (asked === null) return '';
  const { kind, options } = asked;
  const row = options.choose === 'label' ? `, split = '${betweenInRow}', wrap = false` : '';
  return `[screen.rules.ask]
kind = "${kind}"
text = { in = "${kind}_text" }
${options.pattern === null ? '' : `options = { in = "live", match = ${quoted(options.pattern)}${row} }\n`}`;
}

export interface Draft {
  readonly text: string;
  /** What could not be told from these screens, one sentence each. */
  readonly missing: readonly string[];
}

/** Rules that read one of the screens as something else than its scene are left out: what nothing fits is unknown. */
export function draftDefinition(input: DraftInput): Draft {
  const left: string[] = [];
  for (;;) {
    const draft = draftWithout(input, left);
    const wrong = wrongRule(draft.text, input.screens);
    if (wrong === null) return draft;
    left.push(wrong);
  }
}

function wrongRule(text: string, screens: readonly SceneScreen[]): string | null {
  const rules = readRuleFile({ ...(parse(text).screen as object), schema: 1, agent: 'draft' }, null, linearPattern);
  for (const { scene, lines } of screens) {
    const wanted = scenes.find(({ name }) => name === scene)?.state;
    const { state, rule } = classify(rules, { lines, title: '', command: null, isAlive: true }, null);
    if (state === 'unknown' || wanted === undefined || classOf(state) === classOf(wanted)) continue;
    return rule;
  }
  return null;
}

type Of = (...names: readonly SceneName[]) => readonly SceneScreen[];
type RuleOfScene = readonly [id: string, text: string | null];

function rulesOf(of: Of, asked: Asked | null, question: Asked | null): readonly RuleOfScene[] {
  const before = (name: SceneName) =>
    of(
      ...scenes
        .slice(
          0,
          scenes.findIndex((one) => one.name === name),
        )
        .map((one) => one.name),
    );
  const working = signsOf(of('running'), of('idle', 'asks', 'answers', 'error', 'interrupt'), { isOpen: true });
  return [
    [
      'question',
      ruleOf(
        'question',
        110,
        'waiting_input',
        'question_asked',
        signsOf(of('answers'), of('idle', 'running', 'asks', 'error', 'interrupt')),
        askText(question),
      ) ?? anyOptionsRule(question),
    ],
    [
      'approval',
      ruleOf(
        'approval',
        100,
        'waiting_approval',
        'approval_asked',
        signsOf(of('asks'), of('idle', 'running', 'answers', 'error', 'interrupt')),
        askText(asked),
      ),
    ],
    ['running', ruleOf('running', 80, 'running', 'turn_running', working)],
    ['error', ruleOf('error', 60, 'error', 'api_error', signsOf(of('error'), before('error')).slice(0, 1))],
    [
      'interrupted',
      ruleOf('interrupted', 50, 'idle', 'interrupted', signsOf(of('interrupt'), before('interrupt')).slice(0, 1)),
    ],
    ['idle', idleRule(of('idle'), of('running', 'asks', 'answers'), working, of('idle', 'error', 'interrupt'))],
  ];
}

function draftWithout(input: DraftInput, left: readonly string[]): Draft {
  const of: Of = (...names) => input.screens.filter(({ scene }) => names.includes(scene));
  const asked = askedOf('command', of('asks'), of('idle', 'running'));
  const question = askedOf('question', of('answers'), of('idle', 'running', 'asks'));
  const rules = rulesOf(of, asked, question);
  const kept = rules.flatMap(([id, text]) => (text === null || left.includes(id) ? [] : [text]));
  const text = kept.join('\n');
  const answers = input.isAskPartial === true ? null : answerText(asked);
  const known = rules.filter(([id, one]) => one !== null && !left.includes(id)).map(([id]) => id);
  const missing = [
    ...rules.flatMap(([id, one]) => {
      const scene =
        id === 'approval' ? 'asks' : id === 'question' ? 'answers' : id === 'interrupted' ? 'interrupt' : id;
      if (known.includes(id) || !input.screens.some((screen) => screen.scene === scene)) return [];
      const why =
        one === null ? 'nothing stands on all of its screens and on no other' : 'its rule fitted another scene too';
      return [`${id}: no rule: ${why}`];
    }),
    ...(input.version === null ? ['keys: no version was named, and without one no key is pressed'] : []),
    ...missingOf(asked, answers, input, of('asks').length > 0),
  ];
  const notes = missing.map((one) => `# Not drafted: ${one}\n`).join('');
  return {
    text: [
      head(input) + notes,
      screenHead(text, [asked, question]),
      text,
      input.version === null ? '' : keysText(input, of('idle'), answers, question),
    ].join('\n'),
    missing,
  };
}

/** Why an approval would press nothing. */
function missingOf(
  asked: Asked | null,
  answers: string | null,
  { isAskPartial, version }: DraftInput,
  isTaught: boolean,
): readonly string[] {
  if (!isTaught || version === null) return [];
  if (isAskPartial === true) return ['approval: what was shown was not all of it, so nothing is pressed for it'];
  if (asked === null) return ['approval: no options were found, so nothing is pressed for it'];
  if (asked.options.pattern === null)
    return ['approval: its options have no numbers or letters, so nothing is pressed for it'];
  return [
    ...(asked.head === null
      ? ['approval: no line begins every request and differs below it, so only a no can be given']
      : []),
    ...(answers === null
      ? ['approval: its options do not say yes once and no once, so nothing is pressed for it']
      : []),
  ];
}

function ruleOf(
  id: string,
  priority: number,
  state: string,
  reason: string,
  signs: readonly Sign[],
  more = '',
): string | null {
  const [best, second] = signs;
  if (best === undefined) return null;
  const chosen = second === undefined || second.height > best.height + 4 ? [best] : [best, second];
  return ruleText(id, priority, `state = "${state}", reason = "${reason}"`, chosen, more);
}

/** Where two questions have nothing in common but that there are options: below an approval, which is told by its words. */
const anyOptionsRule = (question: Asked | null): string | null =>
  question === null
    ? null
    : `[[screen.rules]]
id = "question"
priority = 90
where = [{ in = "live", any = ${listed([question.options.first])} }]
proves = { state = "waiting_input", reason = "question_asked" }
${askText(question)}`;

/** How agents show that they work, whatever they do: a spinner, and the key that stops it. */
const signsOfWork = [
  `^${edge}[⠀-⣿◐◓◑◒◴◷◶◵✳✶✻✽✢] ?\\p{L}`,
  '(?i)\\b(?:esc|escape|ctrl[-+ ]?[a-z]|\\^[a-z])\\b.*\\b(?:stops?|interrupts?|cancels?|aborts?|halts?)\\b',
  '(?i)\\b(?:stops?|interrupts?|cancels?|aborts?|halts?)\\b.*\\b(?:esc|escape|ctrl[-+ ]?[a-z])\\b',
];

/**
 * The prompt, or what else stands there while it waits; everything else has a greater priority. Agents keep their prompt while
 * they work, so without a sign of work that is known nothing is told to be idle.
 */
function idleRule(
  idle: readonly SceneScreen[],
  others: readonly SceneScreen[],
  working: readonly Sign[],
  waiting: readonly SceneScreen[],
): string | null {
  const [sign] = signsOf(idle, others, { isAnywhere: true });
  const height = promptHeight(idle);
  const prompt = height === null ? null : { shape: `^${edge}[>❯›»](?: |$)`, height };
  const signs = [prompt, sign].filter((one) => one != null);
  if (signs.length === 0 || (sign === undefined && working.length === 0)) return null;
  const none = [...working.slice(0, 2).map(({ shape }) => shape), ...signsOfWork].filter((source) => {
    const pattern = linearPattern(source);
    return !waiting.some(({ lines }) => liveOf(lines).some((line) => pattern.test(line)));
  });
  const guard = none.length === 0 ? '' : `, { in = "live", none = ${listed(none)} }`;
  return ruleText('idle', 10, 'state = "idle", reason = "prompt_ready"', signs, '', guard);
}

function promptHeight(idle: readonly SceneScreen[]): number | null {
  const heights = idle.map(({ lines }) => {
    const live = liveOf(lines);
    const at = live.findLastIndex((line) => promptMark.test(line));
    return at < 0 ? null : live.length - at;
  });
  return heights.length === 0 || heights.includes(null) ? null : Math.max(...heights.map((one) => one ?? 0));
}

function head({ name, program, version }: DraftInput): string {
  const found = programOf(program);
  const path = found?.path ?? program.argv[0] ?? name;
  const isScript = found?.kind === 'script' || found?.kind === 'title';
  const place = /\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(path)?.[0];
  return `#:schema definition.schema.json
# Drafted by \`agtmux agents learn ${name}\` from the screens in ${name}/. Read it, mend it, then \`agtmux agents check\`.
schema = 2
agent = "${name}"
measured = [${version === null ? '' : JSON.stringify(version)}]
limits = ["It was drafted from a few screens: what was not on one of them is unknown."]

[identify]
commands = [${JSON.stringify(found?.calledAs ?? lastPart(path))}]
${place === undefined ? '' : `places = [${quoted(escaped(place))}]\n`}${isScript ? 'script' : 'native'} = "medium"
kind = "${isScript ? 'script' : 'native'}"
`;
}

function screenHead(rules: string, asks: readonly (Asked | null)[]): string {
  const lows = [...new Set([...rules.matchAll(/in = "low(\d+)"/g)].map((one) => Number(one[1])))];
  return [
    '[screen]',
    'title = "not known"',
    `regions.live = { bottom = ${liveLines} }`,
    ...lows.map((count) => `regions.low${count} = { bottom = ${count} }`),
    ...asks.flatMap((asked) => {
      if (asked === null) return [];
      const { kind, options, head: begin } = asked;
      const before = `before = ${quoted(options.first)}`;
      // Without a line that begins it, what is shown may not be all of it: then agtmux takes only a no.
      return begin === null
        ? [
            `regions.${kind}_above = { of = "live", ${before} }`,
            `regions.${kind}_text = { of = "${kind}_above", bottom = 4 }`,
          ]
        : [`regions.${kind}_text = { ${begin.how} = ${quoted(begin.mark)}, ${before} }`];
    }),
    '',
  ].join('\n');
}

const exact = (labels: readonly string[]): readonly string[] => labels.map((label) => `^${escaped(label)}$`);

/** How an approval is answered; null where its options do not say it. */
function answerText(asked: Asked | null): string | null {
  if (asked === null || asked.options.choose === null) return null;
  const { labels, choose } = asked.options;
  const words = answerWords(
    labels,
    (label) => saysYes.test(label) && !grantsMore(label),
    (label) => saysNo.test(label),
  );
  if (words === null) return null;
  return `[[keys.answer]]\nchoose = "${choose}"\nonce = ${listed(exact(words.once))}\nno = ${listed(exact(words.no))}\nreject = "no"\n`;
}

function keysText(
  { interruptKey }: DraftInput,
  idle: readonly SceneScreen[],
  answers: string | null,
  question: Asked | null,
): string {
  const parts = [`[keys]\ninterrupt = ["${interruptKey}"]\n`, promptText(idle), answers ?? ''];
  // A question is answered by an option that was read; only a field for words of one's own is known by name.
  if (question !== null && question.options.choose !== null) {
    const labels = [...new Set(question.options.labels.flat())];
    const own = labels.filter((label) => /^(?:other|type|something else|enter|custom)\b/i.test(label));
    if (own.length === 1)
      parts.push(
        `[[keys.answer]]\nkinds = ["question"]\nchoose = "${question.options.choose}"\nown = ${listed(exact(own))}\n`,
      );
  }
  return parts.filter((part) => part !== '').join('\n');
}

function promptText(idle: readonly SceneScreen[]): string {
  const [lines] = idle.map((one) => one.lines);
  const at = lines?.findLastIndex((line) => promptMark.test(line)) ?? -1;
  const found = promptMark.exec(lines?.[at] ?? '');
  if (lines === undefined || found === null) return '';
  const below = filled(lines.slice(at + 1))[0];
  const mark = `^${escaped(found[1] ?? '')}(?: |$)`;
  const hint = found[2] ?? '';
  return [
    '[keys.prompt]',
    `mark = ${quoted(mark)}`,
    ...(below === undefined ? [] : [`end = ${quoted(shapeOf(below))}`]),
    ...(hint.trim() === '' ? [] : [`empty = ${quoted(`^${escaped(found[1] ?? '')} ?${escaped(hint)}`)}`]),
    '',
  ].join('\n');
}
