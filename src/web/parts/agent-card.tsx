// One agent on a page: as a card when it needs a person, as a row on the board otherwise.

import { memo, type ReactNode } from 'react';
import type { AgentItem } from '../../view/board.ts';
import { gitLabel, isAway, placeOf, projectOf, saysTime } from '../../view/pane-words.ts';
import { autoWarning } from '../../view/sessions.ts';
import { agentLabel, wordsOf } from '../../view/words.ts';
import { marksOf, whatOf } from '../state/agents.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useNow } from '../state/hooks.ts';
import { act } from '../state/outcomes.ts';
import { pathOf } from '../state/route.ts';
import { AskBox } from './ask.tsx';
import { Link, OutcomeLine } from './basics.tsx';
import { Age, line, RouteMark, StateWord } from './text.tsx';

export const pageOf = (item: AgentItem): string =>
  item.session === null ? pathOf('agents', item.runtime_id) : pathOf('sessions', item.session.id);

const nameOf = (item: AgentItem): string =>
  `${line(agentLabel(item))} in ${line(projectOf(item.cwd))}: ${wordsOf(item.state).word}`;

function Marks({ item }: { readonly item: AgentItem }): ReactNode {
  return (
    <>
      {marksOf(item).map((mark) => (
        <span key={mark} className="tag">
          {mark}
        </span>
      ))}
      {item.session?.auto_approve === true ? (
        <span className="tag warn" title={autoWarning}>
          auto-approve
        </span>
      ) : null}
    </>
  );
}

/** `main *3 ↑1`, where its folder is in a repository. */
function Branch({ item }: { readonly item: AgentItem }): ReactNode {
  if (item.git === null) return null;
  return (
    <span className="branch dim" title="branch, changed files, commits ahead and behind">
      {line(gitLabel(item.git))}
    </span>
  );
}

/** Who needs you, with what it asks and how to answer. */
export function AgentCard({ item }: { readonly item: AgentItem }): ReactNode {
  const now = useNow();
  const idle = whyIdle(useEntrance()) !== null;
  return (
    <article
      className={`card b-${wordsOf(item.state).colour}`}
      data-row={item.runtime_id}
      data-href={pageOf(item)}
      tabIndex={0}
      aria-label={nameOf(item)}
    >
      <header className="card-head">
        <StateWord item={item} />
        <strong>{line(agentLabel(item))}</strong>
        <span className="project">
          {line(projectOf(item.cwd))} <Branch item={item} />
        </span>
        <Age since={item.since} />
      </header>
      {item.ask === null ? <p className="what">{line(whatOf(item, now))}</p> : <AskBox item={item} />}
      <OutcomeLine id={item.runtime_id} />
      <footer className="card-foot">
        <span className="place">{line(placeOf(item))}</span>
        <RouteMark route={item.route} />
        <Marks item={item} />
        <span className="spring" />
        {item.state === 'error' && item.ended !== null && !idle ? (
          <button type="button" className="quiet" onClick={() => void act(item, { action: 'resume' })}>
            Resume
          </button>
        ) : null}
        <Link to={pageOf(item)} className="open" label={`Open ${nameOf(item)}`}>
          Open
        </Link>
      </footer>
    </article>
  );
}

/** What it does. Only few change with time: the others do not follow the clock. */
function What({ item }: { readonly item: AgentItem }): ReactNode {
  return saysTime(item) ? <TimedWhat item={item} /> : line(whatOf(item, 0));
}

function TimedWhat({ item }: { readonly item: AgentItem }): ReactNode {
  return line(whatOf(item, useNow()));
}

interface RowProps {
  readonly item: AgentItem;
  /** Null while nobody marks. */
  readonly isMarked: boolean | null;
  readonly onMark: ((runtime: string) => void) | null;
}

/** One line of the board. Drawn again only when its agent has changed: there may be hundreds. */
export const AgentRow = memo(function AgentRow({ item, isMarked, onMark }: RowProps): ReactNode {
  return (
    <li
      className={`row ${isMarked === null ? '' : 'is-marking'} ${isAway(item) ? 'is-away' : ''} ${item.parent === null ? '' : 'is-child'}`}
      data-row={item.runtime_id}
      data-href={pageOf(item)}
    >
      {isMarked === null || onMark === null ? null : (
        <label className="row-mark">
          <input type="checkbox" checked={isMarked} onChange={() => onMark(item.runtime_id)} />
          <span className="unseen">Mark {nameOf(item)}</span>
        </label>
      )}
      <Link to={pageOf(item)} className="row-link">
        <StateWord item={item} />
        <span className="agent">{line(agentLabel(item))}</span>
        <span className="project">
          {line(projectOf(item.cwd))} <Branch item={item} />
        </span>
        <span className="what">
          <What item={item} /> <Marks item={item} />
          {item.task === null ? null : <span className="dim">{line(item.task)}</span>}
        </span>
        <Age since={item.since} />
        <span className="place">
          {line(placeOf(item))} <RouteMark route={item.route} />
        </span>
      </Link>
      {isMarked === null ? null : <OutcomeLine id={item.runtime_id} />}
    </li>
  );
});
