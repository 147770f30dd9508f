// The board: every agent, by target and session, with what each group sums up to; and what to do while it is empty.

import type { ReactNode } from 'react';
import type { BoardGroup, Counts } from '../../view/board.ts';
import { statesInOrder, wordsOf } from '../../view/words.ts';
import { AgentRow } from './agent-card.tsx';
import { Command, Empty } from './basics.tsx';
import { line } from './text.tsx';

/** `1 approve · 2 running`. */
const sumOf = (counts: Counts): string =>
  statesInOrder
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${wordsOf(state).word}`)
    .join(' · ');

/** Which agents are marked, while somebody marks them. */
export interface Marking {
  readonly marked: ReadonlySet<string>;
  readonly onMark: (runtime: string) => void;
}

interface BoardProps {
  readonly groups: readonly BoardGroup[];
  readonly marking?: Marking | null;
  /** One level below the heading that this board stands under. */
  readonly heading: 'h2' | 'h3';
}

export function Board({ groups, marking = null, heading: Heading }: BoardProps): ReactNode {
  return (
    <div className="board">
      {groups.map(({ key, title, items, counts }) => (
        <section key={key} className="group" aria-label={line(title)}>
          <Heading className="group-head">
            <span>{line(title)}</span>
            <span className="sum">{sumOf(counts)}</span>
          </Heading>
          <ul className="rows">
            {items.map((item) => (
              <AgentRow
                key={item.runtime_id}
                item={item}
                isMarked={marking === null ? null : marking.marked.has(item.runtime_id)}
                onMark={marking?.onMark ?? null}
              />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

export function NoAgents(): ReactNode {
  return (
    <Empty title="No agent is running yet. Any of these makes one appear:">
      <ul className="steps">
        <li>
          <Command>tmux new -d -s work claude</Command> starts an agent in tmux; it is found automatically
        </li>
        <li>
          <Command>agtmux new claude</Command> starts one in a new tmux window
        </li>
        <li>
          <Command>agtmux session start --agent claude "fix the tests"</Command> starts a managed session
        </li>
      </ul>
      <p className="dim">
        With hooks the agents report their state themselves, at once: <Command>agtmux hooks install</Command>
      </p>
    </Empty>
  );
}
