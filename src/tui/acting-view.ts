// What is about to be done to an agent, and what became of it, as lines below the board or in the detail. Pure.

import { foreign, gateLine } from '../text/gate.ts';
import { askText, optionTexts, plainOption, wrapped } from '../view/asks.ts';
import { cutLine, hintLines, type SpanLine, span } from '../view/shells-spans.ts';
import type { Acting } from './acting.ts';
import type { KeyHelp } from './contract.ts';
import { fieldSpans } from './text-field.ts';

/** An ask is shown whole where it fits, else its beginning and how much more there is. */
const askLinesMax = 8;

export function actingLines(acting: Acting, columns: number): readonly SpanLine[] {
  switch (acting.is) {
    case 'none':
      return [];
    case 'doing':
      return [cutLine([span(`${acting.deed} → ${acting.whom.name} …`, 'dim')], columns)];
    case 'done':
      return wrapped(acting.text, columns)
        .slice(0, 3)
        .map((line) => [span(line, acting.role)]);
    case 'confirm':
      return confirmLines(acting, columns);
    case 'choose':
      return [
        rule(`Answer ${acting.whom.name}`, columns),
        ...asked(acting.ask, columns),
        ...optionLines(acting.ask, columns),
        ...hintLines(['1-9 chooses', 'e writes an answer', 'any other key leaves'], columns),
      ];
    case 'typing':
      return typingLines(acting, columns);
  }
}

const rule = (title: string, columns: number): SpanLine =>
  cutLine([span(`─ ${title} ${'─'.repeat(columns)}`.slice(0, columns), 'attention')], columns);

type Ask = NonNullable<Extract<Acting, { is: 'confirm' }>['ask']>;

function asked(ask: Ask, columns: number): readonly SpanLine[] {
  const lines = askText(ask, columns - 2);
  const shown = lines.length <= askLinesMax ? lines : lines.slice(0, askLinesMax - 1);
  const more = lines.length - shown.length;
  return [
    ...shown.map((line): SpanLine => [span(`  ${line}`)]),
    ...(more === 0 ? [] : [[span(`  … ${more} more lines; enter on the board shows all of it`, 'dim')]]),
  ];
}

/** Each whole: what is chosen must be read to its end. */
export const optionLines = (ask: Ask, columns: number): readonly SpanLine[] =>
  optionTexts(ask).flatMap((text, place) =>
    wrapped(text.replaceAll('\n', ' '), columns - 5).map(
      (line, row): SpanLine => [span(row === 0 ? `  ${place + 1}  ` : '     ', 'title'), span(line)],
    ),
  );

function confirmLines({ deed, whom, ask }: Extract<Acting, { is: 'confirm' }>, columns: number): readonly SpanLine[] {
  switch (deed) {
    case 'approve':
    case 'reject': {
      if (ask === null) return [];
      const option = plainOption(ask, deed);
      const takes = option === null ? `its own way to ${deed}` : `"${option.replaceAll('\n', ' ')}"`;
      const key = deed === 'approve' ? 'a' : 'r';
      return [
        rule(`${deed === 'approve' ? 'Approve' : 'Reject'} for ${whom.name}?`, columns),
        ...asked(ask, columns),
        ...wrapped(`takes ${takes}`, columns - 2).map((line): SpanLine => [span(`  ${line}`)]),
        ...hintLines([`${key} or enter does it`, 'any other key leaves'], columns),
      ];
    }
    case 'interrupt':
      return [
        rule(`Interrupt ${whom.name}?`, columns),
        ...hintLines(['i or enter does it', 'any other key leaves'], columns),
      ];
    case 'kill':
      return [
        rule(`Kill ${whom.name}?`, columns),
        cutLine(
          [span(`  ${gateLine(foreign(whom.ref))} gets SIGTERM; what it has not saved is lost.`, 'bad')],
          columns,
        ),
        ...hintLines(['y kills it', 'any other key leaves'], columns),
      ];
  }
}

function typingLines(
  { deed, whom, ask, field, whenReady }: Extract<Acting, { is: 'typing' }>,
  columns: number,
): readonly SpanLine[] {
  const title = deed === 'send' ? `Send to ${whom.name}` : `Answer ${whom.name}`;
  const when = whenReady ? 'waits until it can take it (tab: now)' : 'now (tab: when it is ready)';
  const hint = deed === 'send' ? `enter sends, ${when} · esc leaves` : 'enter sends · esc leaves';
  return [
    rule(title, columns),
    ...(ask === null ? [] : asked(ask, columns)),
    [span('› ', 'title'), ...fieldSpans(field, columns - 2)],
    cutLine([span(hint, 'dim')], columns),
  ];
}

/** While something is being done, the footer has its keys alone. */
export function actingKeys({ is }: Acting): readonly KeyHelp[] | null {
  switch (is) {
    case 'none':
    case 'doing':
    case 'done':
      return null;
    case 'confirm':
      return [{ keys: 'esc', words: 'leaves it undone' }];
    case 'choose':
      return [
        { keys: '1-9', words: 'choose' },
        { keys: 'esc', words: 'leaves it undone' },
      ];
    case 'typing':
      return [
        { keys: 'enter', words: 'send' },
        { keys: 'esc', words: 'leave' },
      ];
  }
}
