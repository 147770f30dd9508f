// The tabs of an agent: its states over time, what waits to be told to it, why it is believed to be what it is, and what was
// done to it.

import { type FormEvent, type ReactNode, useState } from 'react';
import type { AuditList, QueueList, ReceiptReply } from '../../api/schemas-act.ts';
import type { ExplanationDocument } from '../../api/schemas-explain.ts';
import type { TimelineDocument } from '../../api/schemas-timeline.ts';
import type { AgentItem } from '../../view/board.ts';
import { post, remove } from '../door.ts';
import { AuditTable } from '../parts/audit-table.tsx';
import { OutcomeLine, ReadingNote, Scroll } from '../parts/basics.tsx';
import { Lanes, Totals } from '../parts/plots.tsx';
import { Age, block, line, StateText } from '../parts/text.tsx';
import { refOf } from '../state/agents.ts';
import { did, receiptOutcome } from '../state/deeds.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useBeat, useNow, useReading } from '../state/hooks.ts';
import { durationText, lanesIn, upTo } from '../state/timeline.ts';

const beatMs = 10_000;
const dayMs = 24 * 3_600_000;

interface TabProps {
  readonly item: AgentItem;
}

const query = (item: AgentItem): string => String(new URLSearchParams({ ref: refOf(item) }));

export function TimelineTab({ item }: TabProps): ReactNode {
  const reading = useReading<TimelineDocument>(
    `/v1/timeline?${query(item)}`,
    `${useBeat(beatMs)} ${item.state_version}`,
  );
  const now = useNow();
  const told = item.started_at ?? item.since;
  const began = told === null ? now : Date.parse(told);
  const frame = { from: Math.max(now - dayMs, Math.min(began, now - 600_000)), to: now };
  const { value } = reading;
  return (
    <>
      <ReadingNote reading={reading} />
      {value === null ? null : (
        <>
          <p className="waited">
            <strong>{durationText(value.waited_ms)}</strong> waited for you in the last 24 hours
          </p>
          <Lanes lanes={lanesIn(upTo(value, now), frame, 1)} frame={frame} ticksMax={4} />
          <Totals document={value} />
        </>
      )}
    </>
  );
}

export function QueueTab({ item }: TabProps): ReactNode {
  const reading = useReading<QueueList>('/v1/queue', `${useBeat(beatMs / 5)} ${item.state_version}`);
  const waiting = reading.value?.items.filter(({ runtime_id }) => runtime_id === item.runtime_id) ?? [];
  return (
    <>
      <ReadingNote reading={reading} />
      {reading.value !== null && waiting.length === 0 ? (
        <p className="dim">
          No queued messages. A message sent with “wait until it is ready” is listed here until then.
        </p>
      ) : null}
      <ul className="queue">
        {waiting.map((message) => (
          <Queued key={message.id} message={message} onChange={reading.again} />
        ))}
      </ul>
    </>
  );
}

interface QueuedProps {
  readonly message: QueueList['items'][number];
  readonly onChange: () => void;
}

function Queued({ message, onChange }: QueuedProps): ReactNode {
  const [text, setText] = useState<string | null>(null);
  const isOff = whyIdle(useEntrance()) !== null;
  const path = `/v1/queue/${encodeURIComponent(message.id)}`;
  const id = `queue:${message.id}`;
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await did(id, 'Saving…', post<ReceiptReply>(path, { text }), receiptOutcome)) setText(null);
    onChange();
  };
  const drop = async (): Promise<void> => {
    await did(id, 'Removing…', remove<ReceiptReply>(path), receiptOutcome);
    onChange();
  };
  return (
    <li>
      {text === null ? (
        <pre className="queued-text">{block(message.text)}</pre>
      ) : (
        <form onSubmit={(event) => void save(event)}>
          <textarea aria-label="Message" rows={3} value={text} onChange={(event) => setText(event.target.value)} />
          <button type="submit" className="primary">
            Save
          </button>
        </form>
      )}
      <p className="small dim">
        from {line(message.from)}, <Age since={message.queued_at} after=" ago" />, until{' '}
        {new Date(message.expires_at).toLocaleTimeString()}
      </p>
      <div className="buttons">
        <button type="button" disabled={isOff} onClick={() => setText(text === null ? message.text : null)}>
          {text === null ? 'Edit' : 'Cancel'}
        </button>
        <button type="button" disabled={isOff} onClick={() => void drop()}>
          Drop
        </button>
      </div>
      <OutcomeLine id={id} />
    </li>
  );
}

export function ExplainTab({ item }: TabProps): ReactNode {
  const reading = useReading<ExplanationDocument>(`/v1/explain?${query(item)}`, item.state_version);
  const { value } = reading;
  return (
    <>
      <ReadingNote reading={reading} />
      {value === null ? null : (
        <>
          <p>
            Because {line(value.reason_words)} <code>{value.item.reason_code}</code>
            {value.item.detail === null ? null : <>: {line(value.item.detail)}</>}
          </p>
          <EvidenceTable evidence={value.evidence} />
          <ScreenTrials screen={value.screen} />
          <EventTable events={value.events} />
        </>
      )}
    </>
  );
}

function EvidenceTable({ evidence }: Pick<ExplanationDocument, 'evidence'>): ReactNode {
  return (
    <Scroll label="Evidence">
      <table>
        <caption>Evidence</caption>
        <thead>
          <tr>
            <th>Part</th>
            <th>Source</th>
            <th>Says</th>
            <th>Age</th>
          </tr>
        </thead>
        <tbody>
          {evidence.map((one) => (
            <tr key={`${one.source} ${one.at} ${one.state}`}>
              <td>{one.part}</td>
              <td>
                {one.source} <span className="dim">({one.rank})</span>
              </td>
              <td>
                <StateText state={one.state} confidence={one.confidence} />{' '}
                <span className="dim">{one.reason_code}</span>
              </td>
              <td>
                <Age since={one.at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function ScreenTrials({ screen }: Pick<ExplanationDocument, 'screen'>): ReactNode {
  if (screen === null) return null;
  const { tried, rule } = screen;
  return (
    <details>
      <summary>
        Screen: <StateText state={screen.state} /> by {rule === null ? 'no rule' : line(rule)}
      </summary>
      <ul className="trials">
        {tried.map((one) => (
          <li key={one.rule}>
            <code>{line(one.rule)}</code>{' '}
            {one.matched ? <strong>fits</strong> : <span className="dim">{line(one.why ?? '')}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}

function EventTable({ events }: Pick<ExplanationDocument, 'events'>): ReactNode {
  return (
    <Scroll label="Last events">
      <table>
        <caption>Last events</caption>
        <thead>
          <tr>
            <th>Age</th>
            <th>Source</th>
            <th>What</th>
            <th>Verdict</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.event_id}>
              <td>
                <Age since={event.at} />
              </td>
              <td>{event.source}</td>
              <td>
                {event.kind} <span className="dim">{line(event.words)}</span>
              </td>
              <td>
                {event.verdict} <span className="dim">{event.verdict_reason}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

export function AuditTab({ item }: TabProps): ReactNode {
  const reading = useReading<AuditList>('/v1/audit', `${useBeat(beatMs)} ${item.state_version}`);
  const mine = reading.value?.items.filter(({ runtime_id }) => runtime_id === item.runtime_id) ?? [];
  return (
    <>
      <ReadingNote reading={reading} />
      {reading.value !== null && mine.length === 0 ? <p className="dim">No actions on this agent yet.</p> : null}
      {mine.length === 0 ? null : <AuditTable items={mine} hasAgent={false} />}
    </>
  );
}
