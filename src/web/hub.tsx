// The page of a hub: the agents of every machine, those that need a person first, and answering what they ask. It decides nothing: an
// action names the run, the ask and the state that stood here, and the machine itself refuses what has changed (HUB5).

import { type FormEvent, type ReactNode, StrictMode, useCallback, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { HubWindow } from '../api/hub.ts';
import type { HubActionKind, HubReceipt, HubRole } from '../model/hub.ts';
import { isRoleEnough } from '../model/hub.ts';
import { stateNames } from '../model/states.ts';
import { hubCells, isAskShown } from '../view/hub-text.ts';
import { Team } from './hub-team.tsx';
import { Scroll } from './parts/basics.tsx';
import { Age, line, revealed, StateText } from './parts/text.tsx';
import { showTheme } from './theme.ts';

type Row = HubWindow['items'][number];
type Counts = Pick<
  HubWindow,
  'total' | 'needs_action' | 'missing' | 'by_state' | 'by_agent' | 'by_machine' | 'by_owner' | 'by_repo'
>;
interface Person {
  readonly who: string;
  readonly role: HubRole;
  readonly tenant: string;
}
interface Ask {
  readonly ask_id: string;
  readonly kind: string;
  readonly text: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
}

async function ask<Value>(path: string, body?: unknown): Promise<Value> {
  const how = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(path, { ...how, headers: { 'content-type': 'application/json' } });
  const value = (await response.json()) as Value & {
    readonly error?: { readonly message: string; readonly next: string };
  };
  if (!response.ok) throw new Error([value.error?.message ?? `${response.status}`, value.error?.next ?? ''].join('; '));
  return value;
}

async function enter(): Promise<Person> {
  const token = /^#token=([a-z0-9-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return ask<Person>('/hub/v1/session');
  history.replaceState(null, '', location.pathname);
  return ask<Person>('/hub/v1/enter', { token });
}

const filterNames = ['state', 'machine', 'owner', 'repo', 'agent'] as const;
type Filters = Readonly<Partial<Record<(typeof filterNames)[number] | 'needs_action', string>>>;

/** The window as the server tells it: everything first, then only rows that changed. */
function useWindow(filters: Filters): { readonly counts: Counts | null; readonly items: readonly Row[] } {
  const [shown, show] = useState<{ counts: Counts | null; items: readonly Row[] }>({ counts: null, items: [] });
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  useEffect(() => {
    const rows = new Map<string, Row>();
    const source = new EventSource(`/hub/v1/feed?${query}`);
    source.addEventListener('window', ({ data }) => {
      const {
        order,
        rows: changed,
        ...counts
      } = JSON.parse(String(data)) as Counts & {
        readonly order: readonly string[];
        readonly rows: readonly Row[];
      };
      for (const row of changed) rows.set(row.id, row);
      show({ counts, items: order.flatMap((id) => rows.get(id) ?? []) });
    });
    source.addEventListener('cut', () => location.reload());
    return () => source.close();
  }, [query]);
  return shown;
}

const askOf = ({ item }: Row): Ask | null =>
  typeof item.ask === 'object' && item.ask !== null && 'ask_id' in item.ask ? (item.ask as Ask) : null;

/** Why signing in failed, by its code: nobody writes words onto this page by a link. */
function failedWords(code: string): string {
  if (code === 'E_ROLE') return 'Nothing at this hub is for you: none of your groups may use it. Ask whoever runs it.';
  return 'Signing in failed. Try again.';
}

function App(): ReactNode {
  const [person, setPerson] = useState<Person | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [tenants, setTenants] = useState<readonly string[]>([]);
  useEffect(() => {
    const failed = /^#failed=([A-Z_]{1,40})$/.exec(location.hash)?.[1];
    enter().then(setPerson, (error: Error) => {
      setProblem(failed === undefined ? error.message : failedWords(failed));
      ask<{ tenants: readonly string[] }>('/hub/v1/ways').then(
        (ways) => setTenants(ways.tenants),
        () => undefined,
      );
    });
  }, []);
  if (person !== null) return <Pages person={person} />;
  return (
    <main>
      <h1>agtmux hub</h1>
      <p role="status">{problem === null ? 'Signing in…' : line(problem)}</p>
      {tenants.map((tenant) => (
        <p key={tenant}>
          <a className="primary" href={`/hub/v1/sign-in?tenant=${tenant}`}>
            {tenants.length === 1 ? 'Sign in' : `Sign in to ${tenant}`}
          </a>
        </p>
      ))}
    </main>
  );
}

function Pages({ person }: { readonly person: Person }): ReactNode {
  const [isTeam, setTeam] = useState(false);
  return (
    <main>
      <header className="page-head">
        <h1>{isTeam ? 'The team' : 'Agents of every machine'}</h1>
        <div className="page-tools">
          <button type="button" aria-pressed={!isTeam} onClick={() => setTeam(false)}>
            Agents
          </button>
          <button type="button" aria-pressed={isTeam} onClick={() => setTeam(true)}>
            Team
          </button>
          <span className="dim">
            {line(person.who)}, {person.role}
          </span>
        </div>
      </header>
      {isTeam ? <Team ask={ask} /> : <List person={person} />}
    </main>
  );
}

function List({ person }: { readonly person: Person }): ReactNode {
  const [filters, setFilters] = useState<Filters>({});
  const { counts, items } = useWindow(filters);
  return (
    <>
      <FilterBar filters={filters} counts={counts} onChange={setFilters} />
      <p role="status">{counts === null ? 'Loading…' : statusOf(counts, items.length)}</p>
      <Scroll label="Agents">
        <table>
          <caption className="unseen">Agents, those that need you first</caption>
          <thead>
            <tr>
              {['State', 'Machine', 'Owner', 'Agent', 'Project', 'Age', 'Asks'].map((title) => (
                <th key={title}>{title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((row) => (
              <AgentRow key={row.id} row={row} person={person} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function statusOf({ total, needs_action, missing }: Counts, shown: number): string {
  const part = shown < total ? `, the first ${shown} shown` : '';
  const silent = missing.length === 0 ? '' : `; silent: ${missing.map(line).join(', ')}`;
  return `${total} agents${part}; ${needs_action} need you${silent}`;
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly counts: Counts | null;
  readonly onChange: (filters: Filters) => void;
}

function FilterBar({ filters, counts, onChange }: FilterBarProps): ReactNode {
  const choices = {
    state: stateNames,
    machine: Object.keys(counts?.by_machine ?? {}),
    owner: Object.keys(counts?.by_owner ?? {}),
    repo: Object.keys(counts?.by_repo ?? {}),
    agent: Object.keys(counts?.by_agent ?? {}),
  };
  return (
    <form className="page-tools">
      <label>
        <input
          type="checkbox"
          checked={filters.needs_action !== undefined}
          onChange={({ target }) => {
            const { needs_action: _, ...rest } = filters;
            onChange(target.checked ? { ...rest, needs_action: 'true' } : rest);
          }}
        />{' '}
        Needs you
      </label>
      {filterNames.map((name) => (
        <label key={name}>
          {name}{' '}
          <select value={filters[name] ?? ''} onChange={({ target }) => onChange({ ...filters, [name]: target.value })}>
            <option value="">all</option>
            {[...new Set([...choices[name], ...(filters[name] ? [filters[name]] : [])])].sort().map((value) => (
              <option key={value} value={value}>
                {line(value)}
              </option>
            ))}
          </select>
        </label>
      ))}
    </form>
  );
}

function AgentRow({ row, person }: { readonly row: Row; readonly person: Person }): ReactNode {
  const cells = hubCells(row);
  const asked = askOf(row);
  return (
    <tr className={row.reachable ? undefined : 'is-away'}>
      <td>
        <StateText state={row.state} />
      </td>
      <td>{line(row.machine)}</td>
      <td>{line(row.owner)}</td>
      <td title={line(cells.where)}>{line(cells.agent)}</td>
      <td>{line(row.repo)}</td>
      <td>
        <Age since={cells.since} />
      </td>
      <td>{asked === null ? line(cells.task) : <Answer key={asked.ask_id} row={row} ask={asked} person={person} />}</td>
    </tr>
  );
}

function Answer({
  row,
  ask: asked,
  person,
}: {
  readonly row: Row;
  readonly ask: Ask;
  readonly person: Person;
}): ReactNode {
  const [words, setWords] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  // What stood here when the ask was first drawn: an answer is for that and for nothing later.
  const [version] = useState(row.item.state_version as number | null);
  const send = useCallback(
    async (action: HubActionKind, more: Readonly<Record<string, string>> = {}) => {
      setBusy(true);
      try {
        const act = { action, ask_id: asked.ask_id, ...more };
        const { receipt } = await ask<{ receipt: HubReceipt }>('/hub/v1/act', {
          id: row.id,
          state_version: version,
          act,
        });
        setWords(receiptWords(receipt));
      } catch (error) {
        setWords(error instanceof Error ? error.message : String(error));
      }
      setBusy(false);
    },
    [row.id, version, asked.ask_id],
  );
  const isOff = isBusy || !row.reachable || !isRoleEnough(person.role, 'answer');
  if (!isAskShown(asked))
    return <p className="dim">asks for something that is not shown here: answer it at its machine</p>;
  return (
    <>
      <pre className="ask-text">{revealed(asked.text)}</pre>
      <div className="choices">
        {asked.options.length === 0 ? (
          <>
            <button type="button" className="primary" disabled={isOff} onClick={() => void send('approve')}>
              Approve
            </button>
            <button type="button" disabled={isOff} onClick={() => void send('reject')}>
              Reject
            </button>
          </>
        ) : null}
        {asked.options.map(({ id, label }) => (
          <button key={id} type="button" disabled={isOff} onClick={() => void send('answer', { option: id })}>
            {line(id)} {line(label)}
          </button>
        ))}
        {asked.kind === 'question' ? (
          <AnswerText isOff={isOff} onText={(text) => void send('answer', { text })} />
        ) : null}
      </div>
      {words === null ? null : <p role="status">{line(words)}</p>}
    </>
  );
}

function AnswerText({
  isOff,
  onText,
}: {
  readonly isOff: boolean;
  readonly onText: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onText(text);
  };
  return (
    <form onSubmit={submit}>
      <input aria-label="Answer" value={text} onChange={({ target }) => setText(target.value)} />
      <button type="submit" disabled={isOff || text === ''}>
        Answer
      </button>
    </form>
  );
}

function receiptWords({ outcome, failure, words }: HubReceipt): string {
  if (failure !== null) return `${outcome}: ${failure.message}; ${failure.next}`;
  return words === null ? outcome : `${outcome}: ${words}`;
}

showTheme();
const place = document.getElementById('hub');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
