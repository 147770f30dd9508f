// The board: every agent, by target and session, with what each group sums up to; and what to do while it is empty.

import type { ReactNode } from 'react';
import { wordsOf } from '../../view/words.ts';
import { type AgentItem, countsOf, groupsOf, statesInOrder } from '../state/agents.ts';
import { AgentRow } from './agent-card.tsx';
import { Command, Empty } from './basics.tsx';
import { line } from './text.tsx';

/** `1 approve · 2 running`. */
function sumOf(items: readonly AgentItem[]): string {
  const counts = countsOf(items);
  return statesInOrder
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${wordsOf(state).word}`)
    .join(' · ');
}

export function Board({ items }: { readonly items: readonly AgentItem[] }): ReactNode {
  return (
    <div className="board">
      {groupsOf(items).map(({ name, items: group }) => (
        <section key={name} className="group" aria-label={line(name)}>
          <h3>
            <span>{line(name)}</span>
            <span className="sum">{sumOf(group)}</span>
          </h3>
          <ul className="rows">
            {group.map((item) => (
              <AgentRow key={item.runtime_id} item={item} />
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
          <Command>tmux new -d -s work claude</Command> an agent in any tmux pane is found by itself
        </li>
        <li>
          <Command>agtmux new claude</Command> starts one in a tmux window of its own
        </li>
        <li>
          <Command>agtmux session start --agent claude "fix the tests"</Command> starts one that agtmux leads
        </li>
      </ul>
      <p className="dim">
        With hooks the agents tell their state themselves, at once: <Command>agtmux hooks install</Command>
      </p>
    </Empty>
  );
}
