// A first definition out of screens that somebody labelled: what stands on all screens of one scene and on none of another
// becomes a rule. It is a beginning: its author reads it, and `agents check` says how well it does.

import type { ProgramView } from '../contract.ts';
import { isLasting } from '../keys/options.ts';
import { lastPart, programOf } from '../program.ts';

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
  readonly version: string;
  readonly screens: readonly SceneScreen[];
  /** The key that interrupted it, by tmux's name. */
  readonly interruptKey: string;
}

/** So far from the bottom is the live interface. */
const liveLines = 16;
const marks = '[❯›>▶→●○◉*]';
const edge = '[\\s│┃║|]*';
const numbered = new RegExp(`^${edge}(?:${marks} ?)?(\\d)[.)] (\\S.*?)${edge}$`, 'u');
const lettered = new RegExp(`^${edge}(?:${marks} ?)?[[(]?([a-z])[\\])] (\\S.*?)${edge}$`, 'u');
/** Several in one row: `[y] Yes   [n] No`. */
const inRow = new RegExp(`^${edge}([[(]\\w[\\])] \\S.*? {2,}[[(]\\w[\\])] \\S.*?)${edge}$`, 'u');
const betweenInRow = ' {2,}';
const promptMark = /^([\s│┃║|]*[>❯›»]) ?(.*?)[\s│┃║|]*$/u;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** A line with what changes from moment to moment left open: numbers, spinners, dots, lengths of rulers and gaps. */
function shapeOf(line: string): string {
  const text = line.replace(/^[\s│┃║|]+|[\s│┃║|█]+$/gu, '');
  const open = escaped(text)
    .replace(/\d+/g, '\\d+')
    .replace(/[\u2800-\u28ff◐◓◑◒✳✶✻✽✢✦]+/gu, '\\S+')
    .replace(/^(?:\\[|/\\]|[-/]) /u, '\\S ')
    .replace(/(?:\\\.|…)+/g, '[.…]+')
    .replace(/([─━═=~_-])\1{3,}/gu, '$1{4,}')
    .replace(/ {2,}/g, ' +');
  return `^${edge}${open}`;
}

const filled = (lines: readonly string[]): readonly string[] => lines.filter((line) => line.trim() !== '');
const liveOf = (lines: readonly string[]): readonly string[] => filled(lines).slice(-liveLines);
const hasLetters = (shape: string): boolean => /\p{L}{3}/u.test(shape.replaceAll('\\d', '').replaceAll('\\S', ''));

interface Sign {
  readonly shape: string;
  /** From below, among lines that are not blank. */
  readonly height: number;
}

/** What every screen of a scene has, and none of the others so low on the screen; the lowest first. */
function signsOf(own: readonly SceneScreen[], others: readonly SceneScreen[], isAnywhere = false): readonly Sign[] {
  const [first, ...more] = own.map(({ lines }) => liveOf(lines));
  if (first === undefined) return [];
  const heightIn = (lines: readonly string[], pattern: RegExp): number => {
    const at = lines.findLastIndex((line) => pattern.test(line));
    return at < 0 ? -1 : lines.length - at;
  };
  return [...new Set(first.map(shapeOf))]
    .filter(hasLetters)
    .flatMap((shape): readonly Sign[] => {
      const pattern = new RegExp(shape, 'u');
      const heights = [first, ...more].map((lines) => heightIn(lines, pattern));
      const height = Math.max(...heights);
      const isLow = (at: number): boolean => at > 0 && (isAnywhere || at <= height + 1);
      // What an earlier scene left in sight has moved up since.
      if (height - Math.min(...heights) > 1) return [];
      if (heights.includes(-1) || others.some(({ lines }) => isLow(heightIn(liveOf(lines), pattern)))) return [];
      return [{ shape, height }];
    })
    .toSorted((one, other) => one.height - other.height);
}

interface Options {
  readonly pattern: string;
  readonly choose: 'digit' | 'letter' | 'label';
  readonly first: string;
  readonly labels: readonly string[];
}

function optionsOf(screens: readonly SceneScreen[]): Options | null {
  for (const [pattern, choose] of [
    [numbered, 'digit'],
    [lettered, 'letter'],
  ] as const) {
    const found = screens.map(({ lines }) => liveOf(lines).flatMap((line) => pattern.exec(line) ?? []));
    const labels = screens.flatMap(({ lines }) => liveOf(lines).flatMap((line) => pattern.exec(line)?.[2] ?? []));
    const id = found[0]?.[1];
    if (id === undefined || new Set(labels).size < 2) continue;
    const first = choose === 'digit' ? '1[.)] ' : `[[(]?${id}[\\])] `;
    return { pattern: pattern.source, choose, first: `^${edge}(?:${marks} ?)?${first}`, labels: [...new Set(labels)] };
  }
  return optionsInRow(screens);
}

function optionsInRow(screens: readonly SceneScreen[]): Options | null {
  const rows = screens.flatMap(({ lines }) => liveOf(lines).flatMap((line) => inRow.exec(line)?.[1] ?? []));
  const labels = new Set(rows.flatMap((row) => row.split(new RegExp(betweenInRow, 'u'))).map((label) => label.trim()));
  if (labels.size < 2) return null;
  return { pattern: inRow.source, choose: 'label', first: `^${edge}[[(]\\w[\\])] `, labels: [...labels] };
}

const saysYes =
  /^(?:[[(]y[\])] |(?:[[(]\w[\])] )?(?:yes|allow|approve|accept|proceed|run|ok|go ahead|continue|confirm|do it)\b)/i;
const saysNo =
  /^(?:[[(]n[\])] |(?:[[(]\w[\])] )?(?:no|deny|reject|cancel|don['’]t|do not|refuse|decline|skip|abort)\b)/i;
const grantsMore = (label: string): boolean => isLasting({ id: label, label });

const quoted = (text: string): string => (text.includes("'") ? JSON.stringify(text) : `'${text}'`);
const listed = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`;

/** One rule: what has to stand in the lowest lines, and not. */
function ruleText(id: string, priority: number, proves: string, signs: readonly Sign[], more = ''): string {
  const region = `low${Math.max(...signs.map(({ height }) => height)) + 1}`;
  const all = signs.map(({ shape }) => shape);
  return `[[screen.rules]]
id = "${id}"
priority = ${priority}
where = [{ in = "${region}", all = ${listed(all)} }]
proves = { ${proves} }
${more}`;
}

const askText = (kind: string, options: Options | null): string =>
  options === null
    ? ''
    : `[screen.rules.ask]
kind = "${kind}"
text = { in = "${kind}_text" }
options = { in = "live", match = ${quoted(options.pattern)}${options.choose === 'label' ? `, split = '${betweenInRow}', wrap = false` : ''} }
`;

export function draftDefinition(input: DraftInput): string {
  const of = (...names: readonly SceneName[]) => input.screens.filter(({ scene }) => names.includes(scene));
  const before = (name: SceneName) =>
    of(
      ...scenes
        .slice(
          0,
          scenes.findIndex((one) => one.name === name),
        )
        .map((one) => one.name),
    );
  const [asked, question] = [optionsOf(of('asks')), optionsOf(of('answers'))];
  const rules: readonly (string | null)[] = [
    ruleOf(
      'question',
      110,
      'waiting_input',
      'question_asked',
      signsOf(of('answers'), of('idle', 'running', 'asks', 'error', 'interrupt')),
      askText('question', question),
    ) ?? anyOptionsRule(question),
    ruleOf(
      'approval',
      100,
      'waiting_approval',
      'approval_asked',
      signsOf(of('asks'), of('idle', 'running', 'answers', 'error', 'interrupt')),
      askText('command', asked),
    ),
    ruleOf(
      'running',
      80,
      'running',
      'turn_running',
      signsOf(of('running'), of('idle', 'asks', 'answers', 'error', 'interrupt')),
    ),
    ruleOf('error', 60, 'error', 'api_error', signsOf(of('error'), before('error')).slice(0, 1)),
    ruleOf('interrupted', 50, 'idle', 'interrupted', signsOf(of('interrupt'), before('interrupt')).slice(0, 1)),
    idleRule(of('idle'), of('running', 'asks', 'answers')),
  ];
  const text = rules.filter((one) => one !== null).join('\n');
  return [head(input), screenHead(text, asked, question), text, keysText(input, of('idle'), asked, question)].join(
    '\n',
  );
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
const anyOptionsRule = (question: Options | null): string | null =>
  question === null
    ? null
    : `[[screen.rules]]
id = "question"
priority = 90
where = [{ in = "live", any = ${listed([question.first])} }]
proves = { state = "waiting_input", reason = "question_asked" }
${askText('question', question)}`;

/** The prompt, or what else stands there while it waits; everything else has a greater priority. */
function idleRule(idle: readonly SceneScreen[], others: readonly SceneScreen[]): string | null {
  const [sign] = signsOf(idle, others, true);
  const height = promptHeight(idle);
  const prompt = height === null ? null : { shape: `^${edge}[>❯›»](?: |$)`, height };
  const signs = [prompt, sign].filter((one) => one != null);
  return signs.length === 0 ? null : ruleText('idle', 10, 'state = "idle", reason = "prompt_ready"', signs);
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
measured = [${JSON.stringify(version)}]
limits = ["It was drafted from a few screens: what was not on one of them is unknown."]

[identify]
commands = [${JSON.stringify(found?.calledAs ?? lastPart(path))}]
${place === undefined ? '' : `places = [${quoted(escaped(place))}]\n`}${isScript ? 'script' : 'native'} = "medium"
kind = "${isScript ? 'script' : 'native'}"
`;
}

function screenHead(rules: string, asked: Options | null, question: Options | null): string {
  const lows = [...new Set([...rules.matchAll(/in = "low(\d+)"/g)].map((one) => Number(one[1])))];
  const texts = [
    ['command', asked],
    ['question', question],
  ] as const;
  return [
    '[screen]',
    'title = "not known"',
    `regions.live = { bottom = ${liveLines} }`,
    ...lows.map((count) => `regions.low${count} = { bottom = ${count} }`),
    ...texts.flatMap(([kind, options]) =>
      options === null
        ? []
        : [
            `regions.${kind}_above = { of = "live", before = ${quoted(options.first)} }`,
            `regions.${kind}_text = { of = "${kind}_above", bottom = 4 }`,
          ],
    ),
    '',
  ].join('\n');
}

function keysText(
  { interruptKey }: DraftInput,
  idle: readonly SceneScreen[],
  asked: Options | null,
  question: Options | null,
): string {
  const exact = (labels: readonly string[]): readonly string[] => labels.map((label) => `^${escaped(label)}$`);
  const once = (asked?.labels ?? []).filter((label) => saysYes.test(label) && !grantsMore(label));
  const no = (asked?.labels ?? []).filter((label) => saysNo.test(label));
  const parts = [`[keys]\ninterrupt = ["${interruptKey}"]\n`, promptText(idle)];
  if (asked !== null && once.length === 1 && no.length > 0)
    parts.push(
      `[[keys.answer]]\nchoose = "${asked.choose}"\nonce = ${listed(exact(once))}\nno = ${listed(exact(no))}\nreject = "no"\n`,
    );
  // A question is answered by an option that was read; only a field for words of one's own is known by name.
  if (question !== null) {
    const own = question.labels.filter((label) => /^(?:other|type|something else|enter|custom)\b/i.test(label));
    if (own.length === 1)
      parts.push(`[[keys.answer]]\nkinds = ["question"]\nchoose = "${question.choose}"\nown = ${listed(exact(own))}\n`);
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
