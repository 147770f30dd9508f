// What is about to be done to an agent, and what became of it, as lines below the board or in the detail. Pure.

import { width } from '../text/width.ts';
import { askText, optionTexts, plainOption, saidLines, wrapped } from '../view/asks.ts';
import { cutLine, hintLines, type SpanLine, span } from '../view/shells-spans.ts';
import { type Acting, type Done, nameOf, type Whom } from './acting.ts';
import type { KeyHelp } from './contract.ts';
import { fieldLines } from './message-field.ts';

/**
 * In at most so many lines: what decides (what will be taken, and the keys) is never what is left out, an ask that does not
 * fit is scrolled.
 */
export function actingLines(acting: Acting, columns: number, linesMax: number): readonly SpanLine[] {
  switch (acting.is) {
    case 'none':
      return [];
    case 'doing':
      return [cutLine([span(`${acting.deed} → ${nameOf(acting.whom)} …`, 'dim')], columns)];
    case 'done':
      return doneLines(acting, columns).slice(0, linesMax);
    case 'many':
      return manyLines(acting, columns, linesMax);
    case 'confirm':
    case 'choose':
    case 'typing': {
      const before = acting.before === undefined ? [] : doneLines(acting.before, columns);
      const { head, read, tail } = acting.is === 'typing' ? typingParts(acting, columns) : partsOf(acting, columns);
      const needed = head.length + tail.length + (read.length === 0 ? 0 : 2);
      const above = before.slice(0, Math.max(0, linesMax - needed));
      const down = acting.is === 'typing' ? 0 : acting.down;
      const room = Math.max(2, linesMax - above.length - head.length - tail.length);
      return [...above, ...head, ...windowOf(read, down, Math.min(room, readLinesMax)), ...tail];
    }
  }
}

/** An ask is shown whole up to here; a longer one must not push everything else from the screen. */
const readLinesMax = 12;
/** A longer option is read like the ask: it must not push the keys from the screen. */
const takesLinesMax = 3;

const doneLines = ({ text, role }: Done, columns: number): readonly SpanLine[] =>
  saidLines(text, columns).map((line) => [span(line, role)]);

/** How many took it; below, those that did not, each with its reason, then the others. */
function manyLines(
  { total, dones }: Extract<Acting, { is: 'many' }>,
  columns: number,
  linesMax: number,
): readonly SpanLine[] {
  const good = dones.filter(({ role }) => role === 'good').length;
  const rest = total - dones.length;
  const parts = [
    `${good} delivered`,
    ...(dones.length > good ? [`${dones.length - good} not`] : []),
    ...(rest > 0 ? [`${rest} on the way`] : []),
  ];
  const head = cutLine([span(`Sent to ${total}: ${parts.join(', ')}`, good === total ? 'good' : 'attention')], columns);
  const sorted = dones.toSorted((one, other) => Number(one.role === 'good') - Number(other.role === 'good'));
  const lines = sorted.map(({ whom, text, role }) => cutLine([span(`  ${nameOf(whom)}  `), span(text, role)], columns));
  if (lines.length < linesMax) return [head, ...lines];
  const shown = Math.max(0, linesMax - 2);
  return [head, ...lines.slice(0, shown), [span(`  … ${lines.length - shown} more; agtmux audit has all`, 'dim')]];
}

interface Parts {
  readonly head: readonly SpanLine[];
  /** What is to be read, as far as there is room. */
  readonly read: readonly SpanLine[];
  readonly tail: readonly SpanLine[];
}

/** The lines from there on; where there are more above or below, the last line says so. */
function windowOf(lines: readonly SpanLine[], down: number, room: number): readonly SpanLine[] {
  if (lines.length <= room) return lines;
  const shown = Math.max(1, room - 1);
  const start = Math.max(0, Math.min(down, lines.length - shown));
  const below = lines.length - start - shown;
  const more = below > 0 ? `… ${below} more, ↓ scrolls` : 'end of the request, ↑ scrolls back';
  return [...lines.slice(start, start + shown), [span(`  ${more}`, below > 0 ? 'attention' : 'dim')]];
}

/** `─ Approve for claude, host/work:1.2? ───`; where that does not fit, its place stands below it. */
function headLines(title: string, { name, where }: Whom, mark: string, columns: number): readonly SpanLine[] {
  const whole = `─ ${title} ${name}, ${where}${mark} `;
  const fill = (text: string): SpanLine =>
    cutLine([span(`${text}${'─'.repeat(Math.max(0, columns - width(text)))}`, 'attention')], columns);
  if (width(whole) <= columns) return [fill(whole)];
  return [fill(`─ ${title} ${name}${mark} `), cutLine([span(`  ${where}`)], columns)];
}

type Ask = NonNullable<Extract<Acting, { is: 'confirm' }>['ask']>;

const asked = (ask: Ask, columns: number): readonly SpanLine[] =>
  askText(ask, columns - 2).map((line): SpanLine => [span(`  ${line}`)]);

/** Each whole: what is chosen must be read to its end. */
export const optionLines = (ask: Ask, columns: number): readonly SpanLine[] =>
  optionTexts(ask).flatMap((text, place) =>
    wrapped(text.replaceAll('\n', ' '), columns - 5).map(
      (line, row): SpanLine => [span(row === 0 ? `  ${place + 1}  ` : '     ', 'title'), span(line)],
    ),
  );

function partsOf(acting: Extract<Acting, { is: 'confirm' | 'choose' }>, columns: number): Parts {
  const { whom, ask } = acting;
  if (acting.is === 'choose') {
    return {
      head: headLines('Answer', whom, '', columns),
      read: [...asked(acting.ask, columns), ...optionLines(acting.ask, columns)],
      tail: hintLines(['1-9 chooses', 'e types an answer', 'any other key cancels'], columns),
    };
  }
  switch (acting.deed) {
    case 'approve':
    case 'reject': {
      if (ask === null) return { head: [], read: [], tail: [] };
      const option = plainOption(ask, acting.deed);
      const takes = option === null ? `the agent's own ${acting.deed} option` : `"${option.replaceAll('\n', ' ')}"`;
      const key = acting.deed === 'approve' ? 'a' : 'r';
      const taken = wrapped(`chooses ${takes}`, columns - 2).map((line): SpanLine => [span(`  ${line}`)]);
      const isLong = taken.length > takesLinesMax;
      return {
        head: headLines(`${acting.deed === 'approve' ? 'Approve' : 'Reject'} for`, whom, '?', columns),
        read: [...asked(ask, columns), ...(isLong ? taken : [])],
        tail: [
          ...(isLong ? [cutLine([span(`  chooses ${takes}`)], columns)] : taken),
          ...hintLines([`${key} or enter confirms`, 'any other key cancels'], columns),
        ],
      };
    }
    case 'interrupt':
      return {
        head: headLines('Interrupt', whom, '?', columns),
        read: [],
        tail: hintLines(['i or enter confirms', 'any other key cancels'], columns),
      };
    case 'kill':
      return {
        head: headLines('Kill', whom, '?', columns),
        read: [],
        tail: [
          ...wrapped('Sends SIGTERM; unsaved work is lost.', columns - 2).map(
            (line): SpanLine => [span(`  ${line}`, 'bad')],
          ),
          ...hintLines(['y confirms', 'any other key cancels'], columns),
        ],
      };
  }
}

/** Of a message that is being written. */
const fieldLinesMax = 6;
const titles = { send: 'Send to', answer: 'Answer', name: 'Name' } as const;

function typingParts(acting: Extract<Acting, { is: 'typing' }>, columns: number): Parts {
  const { deed, whom, ask, field, whenReady, many } = acting;
  const sends = whenReady ? ['enter: when it is ready', 'tab: now'] : ['enter: now', 'tab: when it is ready'];
  return {
    head: many === null ? headLines(titles[deed], whom, '', columns) : manyHead(many, columns),
    read: ask === null ? [] : asked(ask, columns),
    tail: [
      ...fieldLines(field, { columns, lines: fieldLinesMax, isFocused: true, prompt: '› ', hint: '' }),
      ...hintLines(hintsOf(deed, sends), columns),
    ],
  };
}

const lineHints = ['ctrl+j: new line', 'ctrl+e: editor'];

const hintsOf = (deed: keyof typeof titles, sends: readonly string[]): readonly string[] =>
  deed === 'name'
    ? ['enter names it', 'empty removes the name']
    : [...(deed === 'send' ? sends : ['enter sends it']), ...lineHints];

/** Everyone by name and place: nobody is written to unseen. */
const manyHead = (many: readonly Whom[], columns: number): readonly SpanLine[] => [
  cutLine([span(`─ Send to ${many.length}: `, 'attention'), span(many.map(nameOf).join(' · '))], columns),
];

/** While something is being done, the footer has its keys alone. */
export function actingKeys({ is }: Acting): readonly KeyHelp[] | null {
  switch (is) {
    case 'none':
    case 'doing':
    case 'done':
    case 'many':
      return null;
    case 'confirm':
      return [{ keys: 'esc', words: 'cancel' }];
    case 'choose':
      return [
        { keys: '1-9', words: 'choose' },
        { keys: 'esc', words: 'cancel' },
      ];
    case 'typing':
      return [
        { keys: 'enter', words: 'send' },
        { keys: 'esc', words: 'cancel' },
      ];
  }
}
