// Sessions that agtmux leads: the list of them, the form for a new one, and the conversation of the chosen one.

import type { ReactNode } from 'react';
import type { ManagedItem, ManagedList } from '../../api/schemas-sessions.ts';
import { projectOf } from '../../view/pane-words.ts';
import { autoWarning, machineLabel } from '../../view/sessions.ts';
import { Command, Empty, Link, PageHead, ReadingNote } from '../parts/basics.tsx';
import { Age, line } from '../parts/text.tsx';
import { useModel, useReading } from '../state/hooks.ts';
import type { Model } from '../state/model.ts';
import { pathOf } from '../state/route.ts';
import { ChatPage } from './chat.tsx';
import { NewSession } from './new-session.tsx';
import { machineRoles } from './sessions-words.ts';

/** Changes whenever the feed told something new of any session. */
const versionOf = ({ rows }: Model): string =>
  [...rows.values()]
    .flatMap(({ session, state_version }) => (session === null ? [] : [`${session.id}:${state_version}`]))
    .join(' ');

export function SessionsPage({ id }: { readonly id: string | null }): ReactNode {
  const model = useModel();
  const reading = useReading<ManagedList>('/v1/managed', versionOf(model));
  const items = reading.value?.items ?? [];
  return (
    <div className={id === null ? 'sessions-page' : 'sessions-page has-chosen'}>
      <div className="session-list">
        <PageHead title="Sessions">
          <Link to={pathOf('sessions', 'new')} className="button primary">
            New agent
          </Link>
        </PageHead>
        <ReadingNote reading={reading} />
        {reading.value !== null && items.length === 0 ? <NoSessions /> : null}
        <ul>
          {items.map((item) => (
            <SessionLine key={item.id} item={item} isChosen={item.id === id} />
          ))}
        </ul>
      </div>
      <div className="session-main">
        {id === 'new' ? <NewSession /> : id === null ? null : <ChatPage key={id} id={id} />}
        {id === null && items.length > 0 ? <p className="calm-note">Choose a session, or start a new agent.</p> : null}
      </div>
    </div>
  );
}

function SessionLine({ item, isChosen }: { readonly item: ManagedItem; readonly isChosen: boolean }): ReactNode {
  const href = pathOf('sessions', item.id);
  return (
    <li data-row={item.runtime_id} data-href={href}>
      <Link to={href} className="session-line" isCurrent={isChosen}>
        <span className="session-top">
          <span className={`state c-${machineRoles[item.state]}`}>{machineLabel(item)}</span>
          <strong>{line(item.agent)}</strong>
          <span className="project">{line(projectOf(item.cwd))}</span>
          <Age since={item.updated_at} />
        </span>
        <span className="session-title">{line(item.title)}</span>
        {item.auto_approve ? (
          <span className="tag warn" title={autoWarning}>
            auto-approve
          </span>
        ) : null}
      </Link>
    </li>
  );
}

function NoSessions(): ReactNode {
  return (
    <Empty title="No sessions yet.">
      <p className="dim">A session is an agent without a pane: its messages and requests appear here.</p>
      <p>
        <Command>agtmux session start --agent claude "fix the tests"</Command>
      </p>
    </Empty>
  );
}
