// Agents: everyone on one board, narrowed by words.

import { type ReactNode, useCallback, useState } from 'react';
import { statesThatAskNothing } from '../../model/states.ts';
import { type AgentItem, boardGroups } from '../../view/board.ts';
import { PageHead, Tabs } from '../parts/basics.tsx';
import { Board, NoAgents } from '../parts/board.tsx';
import { MessageForm } from '../parts/message-form.tsx';
import { keep, kept } from '../port.ts';
import { agentsOf, filterAgents } from '../state/agents.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useModel, useNow } from '../state/hooks.ts';
import { act } from '../state/outcomes.ts';

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
  const [marked, setMarked] = useState<ReadonlySet<string> | null>(null);
  const isOff = whyIdle(useEntrance()) !== null;
  const onMark = useCallback((runtime: string): void => {
    setMarked((before) => {
      const next = new Set(before);
      if (!next.delete(runtime)) next.add(runtime);
      return next;
    });
  }, []);
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
        <button
          type="button"
          aria-pressed={marked !== null}
          disabled={isOff}
          onClick={() => setMarked(marked === null ? new Set() : null)}
        >
          Write to several
        </button>
        <span className="dim" role="status">
          {typed === '' ? `${items.length} agents` : `${shown.length} of ${items.length}`}
        </span>
      </PageHead>
      {items.length === 0 && model.isFilled ? <NoAgents /> : null}
      {items.length > 0 && shown.length === 0 ? <p className="calm-note">No agent matches “{typed}”.</p> : null}
      {marked === null ? null : <Several items={shown} marked={marked} onMark={setMarked} />}
      <Board groups={boardGroups(shown, grouping)} marking={marked === null ? null : { marked, onMark }} heading="h2" />
    </>
  );
}

interface SeveralProps {
  readonly items: readonly AgentItem[];
  readonly marked: ReadonlySet<string>;
  readonly onMark: (marked: ReadonlySet<string>) => void;
}

/** One message to each that is marked and shown: guarded as if it were alone, with a receipt of its own in its row. */
function Several({ items, marked, onMark }: SeveralProps): ReactNode {
  const [isWaiting, setWaiting] = useState(true);
  const meant = items.filter(({ runtime_id, ended }) => marked.has(runtime_id) && ended === null);
  const send = async (text: string): Promise<boolean> => {
    const message = { action: 'send', text, when_ready: isWaiting } as const;
    const sent = await Promise.all(meant.map((item) => act(item, message, statesThatAskNothing)));
    return sent.includes(true);
  };
  return (
    <section className="panel" aria-label="Write to several">
      <div className="buttons">
        <button type="button" onClick={() => onMark(new Set(items.map(({ runtime_id }) => runtime_id)))}>
          Mark all {items.length} shown
        </button>
        <button type="button" onClick={() => onMark(new Set())}>
          Mark none
        </button>
        <span className="dim" role="status">
          {meant.length} marked
        </span>
      </div>
      <MessageForm
        label="Message to the marked agents"
        hint="Type a message. Enter sends it to each, Shift+Enter adds a line."
        touchHint="Type a message to each."
        isOff={meant.length === 0}
        onSend={send}
      >
        <label className="check">
          <input type="checkbox" checked={isWaiting} onChange={(event) => setWaiting(event.target.checked)} /> wait
          until each is ready
        </label>
      </MessageForm>
    </section>
  );
}
