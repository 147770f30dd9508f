// Shells: commands that agents run and nobody waits for. Tabs by how they stand, one selected with its log.

import { type ReactNode, useState } from 'react';
import type { ShellItem } from '../../api/schemas-shells.ts';
import { type ShellStatus, shellStatuses } from '../../model/shells.ts';
import { shellEventText } from '../../view/shell-events.ts';
import { badgeText, isNew, shellLabel, shellMark, statusRoles, timeText } from '../../view/shells.ts';
import { shellsOfTab } from '../../view/shells-panel.ts';
import { Command, Empty, Link, PageHead, Tabs } from '../parts/basics.tsx';
import { Age } from '../parts/text.tsx';
import { useModel, useNow } from '../state/hooks.ts';
import { pathOf } from '../state/route.ts';
import { ShellDetail } from './shell-detail.tsx';

const isStatus = (text: string | null): text is ShellStatus =>
  (shellStatuses as readonly (string | null)[]).includes(text);

export function ShellsPage({ id }: { readonly id: string | null }): ReactNode {
  const model = useModel();
  const now = useNow();
  const rows = model.shells;
  const chosen = rows.find(({ shell_id }) => shell_id === id) ?? null;
  const [wanted, setWanted] = useState<ShellStatus | null>(null);
  const first = shellStatuses.find((status) => rows.some((row) => row.status === status)) ?? 'running';
  const tab = wanted ?? (chosen === null ? (isStatus(id) ? id : first) : chosen.status);
  const shown = shellsOfTab(rows, tab);
  const selected = chosen !== null && chosen.status === tab ? chosen : (shown[0] ?? null);
  const tabs = shellStatuses.map(
    (status) => [status, `${status} ${rows.filter((row) => row.status === status).length}`] as const,
  );
  return (
    <>
      <PageHead title="Shells">
        <Tabs label="By status" tabs={tabs} chosen={tab} onChoose={setWanted} />
      </PageHead>
      {rows.length === 0 && model.isFilled ? <NoShells /> : null}
      {rows.length > 0 && shown.length === 0 ? <p className="calm-note">No shell is {tab}.</p> : null}
      <div className={selected === null ? '' : 'shells'}>
        <ul className="shell-list" aria-label={`Shells that are ${tab}`}>
          {shown.map((row) => (
            <ShellLine
              key={row.shell_id}
              row={row}
              now={now}
              isChosen={row === selected}
              onOpen={() => setWanted(null)}
            />
          ))}
        </ul>
        {selected === null ? null : <ShellDetail key={`${selected.shell_id} ${selected.attempt}`} row={selected} />}
      </div>
      <Happened />
    </>
  );
}

interface LineProps {
  readonly row: ShellItem;
  readonly now: number;
  readonly isChosen: boolean;
  readonly onOpen: () => void;
}

function ShellLine({ row, now, isChosen, onOpen }: LineProps): ReactNode {
  const badge = badgeText(row, now);
  const href = pathOf('shells', row.shell_id);
  return (
    <li data-row={row.shell_id} data-href={href} onClickCapture={onOpen}>
      <Link to={href} className="shell-line" isCurrent={isChosen}>
        <span className={`mark c-${statusRoles[row.status]}`} aria-hidden="true">
          {shellMark}
        </span>
        <span className="shell-id">{row.shell_id}</span>
        <span className="shell-label">{shellLabel(row)}</span>
        <span className="time">{timeText(row, now)}</span>
        <span className="shell-badge">
          {badge === '' ? null : <span className="tag">{badge}</span>}
          {isNew(row) ? <span className="tag new">new</span> : null}
        </span>
      </Link>
    </li>
  );
}

function NoShells(): ReactNode {
  return (
    <Empty title="No agent has run a command in the background yet.">
      <ul className="steps">
        <li>
          <Command>agtmux mcp install</Command> gives the agents the tools: shell_run, shell_summary, shell_log,
          shell_kill
        </li>
        <li>Then ask an agent to run a long command; it appears here, with who ended it.</li>
      </ul>
    </Empty>
  );
}

const eventsShown = 8;

/** Events to shells lately, whoever did it. */
function Happened(): ReactNode {
  const { shellEvents } = useModel();
  const last = shellEvents.slice(-eventsShown).reverse();
  if (last.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="happened-title">
      <h2 id="happened-title">Events</h2>
      <ul className="happened">
        {last.map((event) => (
          <li key={event.seq}>
            <Age since={event.at} /> {shellEventText(event)}
          </li>
        ))}
      </ul>
    </section>
  );
}
