// The team on the page of a hub: who is waited for now, and how days went: how long agents worked, and how long asks waited.

import { type ReactNode, useEffect, useState } from 'react';
import { Scroll } from './parts/basics.tsx';
import { Age, line } from './parts/text.tsx';
import { useNow } from './state/hooks.ts';
import { durationText } from './state/timeline.ts';

interface TeamLine {
  readonly name: string;
  readonly worked_ms: number;
  readonly waited_ms: number;
  readonly waits: number;
  readonly longest_wait_ms: number;
  readonly within: readonly number[];
}
interface TeamReply {
  readonly since: string;
  readonly waiting: readonly {
    readonly owner: string;
    readonly agents: number;
    readonly since: string;
    readonly repos: Readonly<Record<string, number>>;
  }[];
  readonly by_day: readonly TeamLine[];
  readonly by_owner: readonly TeamLine[];
  readonly by_repo: readonly TeamLine[];
}

type Ask = <Value>(path: string) => Promise<Value>;
const everyMs = 15_000;

export function Team({ ask }: { readonly ask: Ask }): ReactNode {
  const [days, setDays] = useState(14);
  const [team, setTeam] = useState<TeamReply | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const look = Math.floor(useNow() / everyMs);
  useEffect(() => {
    ask<TeamReply>(`/hub/v1/team?days=${days}`).then(
      (told) => {
        setTeam(told);
        setProblem(null);
      },
      (error: Error) => setProblem(error.message),
    );
  }, [ask, days, look]);
  if (team === null) return <p role="status">{problem === null ? 'Loading…' : line(problem)}</p>;
  return (
    <>
      {problem === null ? null : <p role="status">{line(problem)}</p>}
      <WaitingTable waiting={team.waiting} />
      <form className="page-tools">
        <label>
          Days{' '}
          <select value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {[1, 7, 14, 31, 92].map((count) => (
              <option key={count} value={count}>
                {count}
              </option>
            ))}
          </select>
        </label>
      </form>
      <Lines title="By day" what="Day" lines={[...team.by_day].reverse()} />
      <Lines title="By owner" what="Owner" lines={mostFirst(team.by_owner)} />
      <Lines title="By project" what="Project" lines={mostFirst(team.by_repo)} />
    </>
  );
}

const mostFirst = (lines: readonly TeamLine[]): readonly TeamLine[] =>
  [...lines].sort((one, other) => other.waited_ms - one.waited_ms || other.worked_ms - one.worked_ms);

function WaitingTable({ waiting }: Pick<TeamReply, 'waiting'>): ReactNode {
  if (waiting.length === 0) return <p role="status">Nobody is waited for.</p>;
  return (
    <Scroll label="Waiting now">
      <table>
        <caption>Waiting now</caption>
        <thead>
          <tr>
            {['For', 'Agents', 'The first since', 'Projects'].map((title) => (
              <th key={title}>{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {waiting.map(({ owner, agents, since, repos }) => (
            <tr key={owner}>
              <td>{owner === '' ? 'nobody in particular' : line(owner)}</td>
              <td>{agents}</td>
              <td>
                <Age since={since} />
              </td>
              <td>
                {Object.entries(repos)
                  .map(([repo, count]) => `${line(repo)} ${count}`)
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface LinesProps {
  readonly title: string;
  readonly what: string;
  readonly lines: readonly TeamLine[];
}

/** Of the waits that ended: which part of them within a minute, five, a quarter of an hour. */
function Lines({ title, what, lines }: LinesProps): ReactNode {
  if (lines.length === 0) return null;
  return (
    <Scroll label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {[what, 'Worked', 'Waited', 'Asks', 'Within 1 min', '5 min', '15 min', 'Longest'].map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, worked_ms, waited_ms, waits, longest_wait_ms, within }) => (
            <tr key={name}>
              <td>{name === '' ? 'none' : line(name)}</td>
              <td>{durationText(worked_ms)}</td>
              <td>{durationText(waited_ms)}</td>
              <td>{waits}</td>
              {[0, 1, 2].map((at) => (
                <td key={at}>{waits === 0 ? '' : `${Math.round((100 * (within[at] ?? 0)) / waits)} %`}</td>
              ))}
              <td>{waits === 0 ? '' : durationText(longest_wait_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
