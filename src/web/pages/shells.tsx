// Shells: commands that agents run and nobody waits for. Tabs by how they stand, one selected with its log.

import { type ReactNode, useEffect, useState } from 'react';
import { get, pathTo, post } from '../../api/requests.ts';
import type { ShellItem, ShellReceiptReply } from '../../api/shells.ts';
import { type ShellControl, type ShellLogMode, type ShellStatus, shellStatuses } from '../../model/shells.ts';
import { shellEventText } from '../../view/shell-events.ts';
import {
  badgeText,
  isForeground,
  isNew,
  modeText,
  shellLabel,
  shellMark,
  statusRoles,
  statusWords,
  timeText,
  timingText,
} from '../../view/shells.ts';
import { shellsOfTab } from '../../view/shells-panel.ts';
import { Command, Dialog, Empty, Link, OutcomeLine, PageHead, ReadingNote, Scroll, Tabs } from '../parts/basics.tsx';
import { Age, block, line, revealed } from '../parts/text.tsx';
import { copyText } from '../port.ts';
import { send } from '../requests.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useModel, useNow, useReading } from '../state/hooks.ts';
import { did, type Outcome, refusalText, setOutcome } from '../state/outcomes.ts';
import { pathOf } from '../state/route.ts';

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

// One shell: how it stands, its log a page at a time, and what a person may do to it.

const receiptWords = ({ failure, reason }: ShellReceiptReply): Outcome =>
  failure === null ? { tone: 'good', words: reason } : { tone: 'bad', words: refusalText(failure) };

const controlRequest = (ref: string, name: ShellControl) =>
  post(pathTo(`/v1/shells/{ref}/${name}`, { ref }), { via: 'web page' });

function control(row: ShellItem, name: ShellControl, busy: string): Promise<boolean> {
  return did(row.shell_id, busy, send(controlRequest(row.shell_id, name)), receiptWords);
}

function ShellDetail({ row }: { readonly row: ShellItem }): ReactNode {
  const isOff = whyIdle(useEntrance()) !== null;
  const isFresh = isNew(row);
  const { shell_id } = row;
  // Looking at it is what takes the mark away.
  useEffect(() => {
    if (isFresh && !isOff) void send(controlRequest(shell_id, 'seen'));
  }, [isFresh, isOff, shell_id]);
  return (
    <section className="panel shell-detail" aria-label={row.shell_id}>
      <h2>
        <span className={`mark c-${statusRoles[row.status]}`} aria-hidden="true">
          {shellMark}
        </span>{' '}
        {shellLabel(row)}
      </h2>
      <ShellFacts row={row} />
      <ShellButtons row={row} isOff={isOff} />
      <OutcomeLine id={row.shell_id} />
      <ShellLog row={row} />
    </section>
  );
}

function ShellFacts({ row }: { readonly row: ShellItem }): ReactNode {
  const now = useNow();
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      'Status',
      <span key="status" className={`c-${statusRoles[row.status]}`}>{`${statusWords(row)} · ${row.shell_id}`}</span>,
    ],
    ['Command', <code key="command">{revealed(row.command)}</code>],
    ['Folder', line(row.cwd)],
    ['Time', timingText(row, now)],
    ['Mode', modeText(row)],
    ['Agent', row.owner.runtime_id === null ? line(row.owner.client ?? '-') : <Owner key="owner" row={row} />],
    ['Ended by', row.ended_by ?? ''],
    ['Reason', line(row.words ?? '')],
  ];
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

function Owner({ row }: { readonly row: ShellItem }): ReactNode {
  return (
    <Link to={pathOf('agents', row.owner.runtime_id)}>{line(row.owner.client ?? row.owner.runtime_id ?? '')}</Link>
  );
}

function ShellButtons({ row, isOff }: { readonly row: ShellItem; readonly isOff: boolean }): ReactNode {
  const [isKilling, setKilling] = useState(false);
  const isRunning = row.status === 'running';
  const kill = (): void => {
    setKilling(false);
    void control(row, 'kill', 'Killing…');
  };
  return (
    <div className="buttons">
      {isForeground(row) ? (
        <button
          type="button"
          disabled={isOff}
          onClick={() => void control(row, 'background', 'Moving to the background…')}
        >
          Move to the background
        </button>
      ) : null}
      {isRunning && !row.is_stopped ? null : (
        <button type="button" disabled={isOff} onClick={() => void control(row, 'resume', 'Starting…')}>
          {isRunning ? 'Continue' : 'Run again'}
        </button>
      )}
      {isRunning ? (
        <button type="button" className="danger" disabled={isOff} onClick={() => setKilling(true)}>
          Kill
        </button>
      ) : null}
      {isKilling ? (
        <Dialog title={`Kill ${row.shell_id}?`} onClose={() => setKilling(false)}>
          <pre className="ask-text">{revealed(row.command)}</pre>
          <p>Its agent is told that you killed it.</p>
          <div className="dialog-buttons">
            <button type="button" onClick={() => setKilling(false)}>
              Cancel
            </button>
            <button type="button" className="danger" onClick={kill}>
              Kill it
            </button>
          </div>
        </Dialog>
      ) : null}
    </div>
  );
}

function ShellLog({ row }: { readonly row: ShellItem }): ReactNode {
  const [mode, setMode] = useState<ShellLogMode>('tail');
  const path = pathTo('/v1/shells/{ref}/log', { ref: row.shell_id });
  const reading = useReading(get(path, { mode, lines: 120 }), `${row.log.bytes} ${row.status}`);
  const { value } = reading;
  const lines = value?.lines ?? [];
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(lines.join('\n'));
    setOutcome(row.shell_id, {
      tone: isCopied ? 'good' : 'bad',
      words: isCopied ? 'Log copied' : 'Not copied: select it',
    });
  };
  return (
    <>
      <div className="log-head">
        <h3>Log</h3>
        <label className="check">
          <input
            type="checkbox"
            checked={mode === 'diagnostic'}
            onChange={(event) => setMode(event.target.checked ? 'diagnostic' : 'tail')}
          />{' '}
          diagnostic
        </label>
        <span className="spring" />
        <button type="button" className="quiet" onClick={() => void copy()}>
          Copy log
        </button>
      </div>
      <ReadingNote reading={reading} />
      {value?.diagnosis == null ? null : <p className="calm-note">{line(value.diagnosis)}</p>}
      {value === null ? null : (
        <Scroll className="log" label="Log">
          <pre>{lines.length === 0 ? '(no output)' : block(lines.join('\n'))}</pre>
        </Scroll>
      )}
    </>
  );
}
