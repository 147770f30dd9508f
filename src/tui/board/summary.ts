// The first line of the board: how many are in each state, and how the targets are. Pure.

import type { TargetItem } from '../../api/schemas.ts';
import type { StateName } from '../../model/states.ts';
import { pad, width } from '../../text/width.ts';
import { type AgentItem, countsOf } from '../../view/board.ts';
import { healthRole, healthText } from '../../view/pane-words.ts';
import { cutLine, type Span, type SpanLine, span } from '../../view/shells-spans.ts';
import { statesInOrder, wordsOf } from '../../view/words.ts';
import type { World } from '../contract.ts';

/** `1 approve · 2 running` */
export function countSpans(counts: Readonly<Record<StateName, number>>): readonly Span[] {
  return statesInOrder
    .filter((state) => counts[state] > 0)
    .flatMap((state, place) => [
      ...(place === 0 ? [] : [span(' · ', 'dim')]),
      span(`${counts[state]} ${wordsOf(state).word}`, wordsOf(state).colour),
    ]);
}

/** `agtmux  ▲ 2  ? 1  ✕ 1  ● 6  ✓ 3  ○ 9                host 12 ok · vm2 3 down 12s` */
export function summaryLine(world: World, items: readonly AgentItem[], columns: number): SpanLine {
  const wide = [span('agtmux', 'title'), ...marks(items, '  ', ' ')];
  const isNarrow = wide.reduce((sum, { text }) => sum + width(text), 0) > columns;
  const left: readonly Span[] = isNarrow ? [span('agtmux', 'title'), ...marks(items, ' ', '')] : wide;
  const used = left.reduce((sum, { text }) => sum + width(text), 0);
  const targets = healthSpans(world, items, columns - used - 2);
  const taken = targets.reduce((sum, { text }) => sum + width(text), 0);
  return cutLine([...left, span(pad('', Math.max(1, columns - used - taken))), ...targets], columns);
}

function marks(items: readonly AgentItem[], before: string, between: string): readonly Span[] {
  const counts = countsOf(items);
  return statesInOrder.flatMap((state) => {
    const count = counts[state];
    return count === 0 ? [] : [span(`${before}${wordsOf(state).mark}${between}${count}`, wordsOf(state).colour)];
  });
}

/** All of them with how many agents each has, where they fit; else without; else those in trouble, else how many are well. */
function healthSpans({ targets, nowMs }: World, items: readonly AgentItem[], room: number): readonly Span[] {
  const has = ({ target }: TargetItem): number => items.filter(({ identity }) => identity.target === target).length;
  const spans = (of: World['targets'], countOf: (target: TargetItem) => number | null = () => null): readonly Span[] =>
    of.flatMap((target, place) => [
      ...(place === 0 ? [] : [span(' · ', 'dim')]),
      span(healthText(target, nowMs, countOf(target)), target.health === 'ok' ? 'dim' : healthRole(target)),
    ]);
  const ill = targets.filter(({ health }) => health !== 'ok');
  const well = targets.length - ill.length;
  const short = well === 0 ? [] : [span(`${ill.length === 0 ? '' : ' · '}${well} ok`, 'dim')];
  const forms = [
    spans(targets, has),
    spans(targets),
    [...spans(ill), ...short],
    ill.length === 0 ? [] : [span(`${ill.length} down`, 'bad')],
  ];
  const fits = (form: readonly Span[]): boolean => form.reduce((sum, { text }) => sum + width(text), 0) <= room;
  return forms.find(fits) ?? [];
}
