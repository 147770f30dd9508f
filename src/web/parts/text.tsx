// Text on the pages: what others wrote passes the gate and becomes text nodes, nothing else; states and ages in the words
// of every screen.

import type { ReactNode } from 'react';
import type { PaneItem } from '../../api/panes.ts';
import type { TargetItem } from '../../api/targets.ts';
import type { Confidence, StateName } from '../../model/states.ts';
import { foreign, sanitizeBlock, sanitizeLine, sanitizeRevealed } from '../../text/sanitize.ts';
import { ageSince, hasNoServer, routeMarks } from '../../view/pane-words.ts';
import { colourOf, stateLabel, unseenMark } from '../../view/words.ts';
import { useNow } from '../state/hooks.ts';

export const line = (text: string): string => sanitizeLine(foreign(text));
export const block = (text: string): string => sanitizeBlock(foreign(text));
/** The colour of a target's dot: none for a machine without a tmux server. */
export const healthClass = (item: TargetItem): string => (hasNoServer(item) ? 'h-none' : `h-${item.health}`);
/** For what a person decides on: nothing is hidden in it. */
export const revealed = (text: string): string =>
  text
    .split('\n')
    .map((one) => sanitizeRevealed(foreign(one)))
    .join('\n');

export function StateWord({
  item,
}: {
  readonly item: Pick<PaneItem, 'state' | 'confidence' | 'suspended' | 'seen'>;
}): ReactNode {
  if (item.state === null || item.confidence === null) return <span className="state">-</span>;
  return <StateText state={item.state} confidence={item.confidence} suspended={item.suspended} seen={item.seen} />;
}

export function StateText(props: {
  readonly state: StateName;
  readonly confidence?: Confidence;
  readonly suspended?: boolean;
  readonly seen?: boolean | null;
}): ReactNode {
  const { state, confidence = 'high', suspended = false, seen = null } = props;
  const [mark = '', ...word] = stateLabel({ state, confidence, suspended }).split(' ');
  return (
    <span className={`state c-${colourOf({ state, suspended })}`}>
      <span className="mark" aria-hidden="true">
        {mark}
      </span>
      {word.join(' ')}
      {suspended ? '' : unseenMark(seen)}
    </span>
  );
}

export function Age({ since, after = '' }: { readonly since: string | null; readonly after?: string }): ReactNode {
  const now = useNow();
  if (since === null) return null;
  return (
    <time className="age" dateTime={since} title={new Date(since).toLocaleString()}>
      {ageSince(since, now)}
      {after}
    </time>
  );
}

export function RouteMark({ route }: { readonly route: PaneItem['route'] }): ReactNode {
  if (route === null || route === 'NONE') return null;
  return (
    <span className={`route ${route === 'CONNECTED' ? 'c-good' : 'c-attention'}`} title={route.toLowerCase()}>
      <span aria-hidden="true">{routeMarks[route]}</span>
      <span className="unseen">{route.toLowerCase()}</span>
    </span>
  );
}
