// Agents: everyone on one board, narrowed by words.

import { type ReactNode, useState } from 'react';
import { boardGroups } from '../../view/board.ts';
import { PageHead, Tabs } from '../parts/basics.tsx';
import { Board, NoAgents } from '../parts/board.tsx';
import { keep, kept } from '../port.ts';
import { agentsOf, filterAgents } from '../state/agents.ts';
import { useModel, useNow } from '../state/hooks.ts';

const groupings = [
  ['sessions', 'Sessions'],
  ['projects', 'Projects'],
  ['branches', 'Branches'],
] as const;
type Grouping = (typeof groupings)[number][0];

const keptGrouping = (): Grouping => groupings.find(([name]) => name === kept('grouping'))?.[0] ?? 'sessions';

export function AgentsPage(): ReactNode {
  const model = useModel();
  const [typed, setTyped] = useState('');
  const [grouping, setGrouping] = useState<Grouping>(keptGrouping);
  const now = useNow();
  const items = agentsOf(model, now);
  const shown = filterAgents(items, typed, now);
  return (
    <>
      <PageHead title="Agents">
        <input
          type="search"
          data-filter
          className="filter"
          aria-label="Filter agents"
          placeholder="Filter: words, state:approve, agent:claude, project:web, branch:main…  /"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Tabs
          label="Group by"
          tabs={groupings}
          chosen={grouping}
          onChoose={(next) => {
            keep('grouping', next);
            setGrouping(next);
          }}
        />
        <span className="dim" role="status">
          {typed === '' ? `${items.length} agents` : `${shown.length} of ${items.length}`}
        </span>
      </PageHead>
      {items.length === 0 && model.isFilled ? <NoAgents /> : null}
      {items.length > 0 && shown.length === 0 ? <p className="calm-note">No agent matches “{typed}”.</p> : null}
      <Board groups={boardGroups(shown, grouping)} />
    </>
  );
}
