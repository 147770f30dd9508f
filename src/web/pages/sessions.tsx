// Sessions that agtmux leads: the list of them, the form for a new one, and the conversation of the chosen one.

import { type FormEvent, type ReactNode, useState } from 'react';
import { get, post } from '../../api/requests.ts';
import type { ManagedItem, NewSessionBody } from '../../api/sessions.ts';
import { projectOf } from '../../view/pane-words.ts';
import { autoWarning, machineLabel } from '../../view/sessions.ts';
import { Command, Empty, Link, OutcomeLine, PageHead, ReadingNote } from '../parts/basics.tsx';
import { Age, line } from '../parts/text.tsx';
import { send } from '../requests.ts';
import { machineRoles } from '../state/chat.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { go, useModel, useReading } from '../state/hooks.ts';
import type { Model } from '../state/model.ts';
import { did } from '../state/outcomes.ts';
import { pathOf } from '../state/route.ts';
import { ChatPage } from './chat.tsx';

/** Changes whenever the feed told something new of any session. */
const versionOf = ({ rows }: Model): string =>
  [...rows.values()]
    .flatMap(({ session, state_version }) => (session === null ? [] : [`${session.id}:${state_version}`]))
    .join(' ');

export function SessionsPage({ id }: { readonly id: string | null }): ReactNode {
  const model = useModel();
  const reading = useReading(get('/v1/managed'), versionOf(model));
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

// The form for a new agent: which one, where, and what it shall do.

interface Wished {
  readonly agent: string;
  readonly prompt: string;
  readonly cwd: string;
  readonly model: string;
  readonly title: string;
  readonly worktree: string;
  readonly hasWorktree: boolean;
  readonly isAuto: boolean;
}

const nothing: Wished = {
  agent: '',
  prompt: '',
  cwd: '',
  model: '',
  title: '',
  worktree: '',
  hasWorktree: false,
  isAuto: false,
};

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** The web server gives the agent the environment of the daemon: a page has none. */
const bodyOf = (wished: Wished): NewSessionBody => ({
  agent: wished.agent,
  prompt: wished.prompt,
  cwd: wished.cwd,
  model: orNull(wished.model),
  title: orNull(wished.title),
  worktree: wished.hasWorktree ? wished.worktree.trim() : null,
  auto_approve: wished.isAuto,
  env: {},
});

function NewSession(): ReactNode {
  const adapters = useReading(get('/v1/agents')).value?.items ?? [];
  const [wished, setWished] = useState(nothing);
  const why = whyIdle(useEntrance());
  const set = (part: Partial<Wished>): void => setWished((now) => ({ ...now, ...part }));
  const agent = wished.agent === '' ? (adapters[0]?.agent ?? '') : wished.agent;
  const isReady = agent !== '' && wished.prompt.trim() !== '' && wished.cwd.startsWith('/') && why === null;
  const start = (event: FormEvent): void => {
    event.preventDefault();
    const started = send(post('/v1/managed', bodyOf({ ...wished, agent })));
    void did('session+', 'Starting…', started, ({ session }) => {
      go(pathOf('sessions', session.id), { replace: true });
      return null;
    });
  };
  return (
    <form className="panel new-session" onSubmit={start} aria-labelledby="new-title">
      <h2 id="new-title">New agent</h2>
      <div className="fields">
        <label className="field">
          Agent
          <select value={agent} onChange={(event) => set({ agent: event.target.value })}>
            {adapters.map((one) => (
              <option key={one.agent} value={one.agent}>
                {line(one.agent)}
              </option>
            ))}
          </select>
        </label>
        <Folder cwd={wished.cwd} onChange={(cwd) => set({ cwd })} />
      </div>
      <label className="field">
        Task
        <textarea
          required
          rows={5}
          value={wished.prompt}
          placeholder="Fix the failing test in checkout, and say what was wrong."
          onChange={(event) => set({ prompt: event.target.value })}
        />
      </label>
      <MoreWishes wished={wished} onChange={set} />
      <OutcomeLine id="session+" />
      <div className="dialog-buttons">
        <button type="submit" className="primary" disabled={!isReady} title={why ?? undefined}>
          Start
        </button>
      </div>
    </form>
  );
}

/** Absolute, with the folders that agents are in already. */
function Folder({ cwd, onChange }: { readonly cwd: string; readonly onChange: (cwd: string) => void }): ReactNode {
  const { rows } = useModel();
  const known = [...new Set([...rows.values()].map((row) => row.cwd))].filter((path) => path.startsWith('/')).sort();
  return (
    <label className="field">
      Folder
      <input
        required
        list="folders"
        value={cwd}
        placeholder="/home/you/project"
        pattern="/.*"
        title="An absolute path"
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id="folders">
        {known.map((path) => (
          <option key={path} value={line(path)} />
        ))}
      </datalist>
    </label>
  );
}

interface MoreProps {
  readonly wished: Wished;
  readonly onChange: (part: Partial<Wished>) => void;
}

function MoreWishes({ wished, onChange }: MoreProps): ReactNode {
  return (
    <>
      <details>
        <summary>Model, title, worktree</summary>
        <div className="fields">
          <label className="field">
            Model
            <input
              value={wished.model}
              placeholder="the agent's default"
              onChange={(event) => onChange({ model: event.target.value })}
            />
          </label>
          <label className="field">
            Title
            <input
              value={wished.title}
              placeholder="from the prompt"
              onChange={(event) => onChange({ title: event.target.value })}
            />
          </label>
        </div>
        <label className="check">
          <input
            type="checkbox"
            checked={wished.hasWorktree}
            onChange={(event) => onChange({ hasWorktree: event.target.checked })}
          />{' '}
          use a new git worktree
        </label>
        {wished.hasWorktree ? (
          <label className="field">
            Branch
            <input
              value={wished.worktree}
              placeholder="generated"
              onChange={(event) => onChange({ worktree: event.target.value })}
            />
          </label>
        ) : null}
      </details>
      <label className="check">
        <input
          type="checkbox"
          checked={wished.isAuto}
          onChange={(event) => onChange({ isAuto: event.target.checked })}
        />{' '}
        approve every request automatically
      </label>
      {wished.isAuto ? <p className="warning">▲ {autoWarning}</p> : null}
    </>
  );
}
