// Plots, drawn by ourselves: lanes of states over time, and minutes waited per day. Every plot has a text that says the same.

import { type ReactNode, useState } from 'react';
import type { TimelineDocument, TimelineLane } from '../../api/timeline.ts';
import { statesInOrder, wordsOf } from '../../view/words.ts';
import { pathOf } from '../state/route.ts';
import { barsOf, durationText, type Frame, roundTop, ticksOf } from '../state/timeline.ts';
import { Link } from './basics.tsx';
import { line, StateText } from './text.tsx';

interface LanesProps {
  readonly lanes: readonly TimelineLane[];
  readonly frame: Frame;
  readonly isSmall?: boolean;
  readonly ticksMax?: number;
}

const laneWords = ({ agent, project }: TimelineLane): string => line(`${agent} ${project ?? ''}`.trim());

export function Lanes({ lanes, frame, isSmall = false, ticksMax = 8 }: LanesProps): ReactNode {
  const [told, setTold] = useState<string | null>(null);
  return (
    <div className={isSmall ? 'lanes is-small' : 'lanes'} onPointerLeave={() => setTold(null)}>
      <div className="axis" aria-hidden="true">
        {ticksOf(frame, ticksMax).map(({ x, words }) => (
          <span key={x} style={{ left: `${x * 100}%` }}>
            {words}
          </span>
        ))}
      </div>
      {lanes.map((lane) => (
        <Lane key={lane.runtime_id} lane={lane} frame={frame} onTell={setTold} />
      ))}
      {isSmall ? null : <p className="told">{told ?? 'Point at a span to see its state and evidence.'}</p>}
    </div>
  );
}

interface LaneProps {
  readonly lane: TimelineLane;
  readonly frame: Frame;
  readonly onTell: (words: string) => void;
}

function Lane({ lane, frame, onTell }: LaneProps): ReactNode {
  const name = laneWords(lane);
  const words = `${name}: ${statesInOrder
    .filter((state) => lane.totals[state] > 0)
    .map((state) => `${wordsOf(state).word} ${durationText(lane.totals[state])}`)
    .join(', ')}`;
  return (
    <div className="lane">
      <Link to={pathOf('agents', lane.runtime_id)} className="lane-name">
        {name}
      </Link>
      <svg className="lane-bars" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={words}>
        {barsOf(lane, frame).map((bar) => (
          <rect
            key={bar.key}
            className={`f-${wordsOf(bar.state).colour}`}
            x={bar.x * 1000}
            width={bar.width * 1000}
            y={bar.state === 'idle' ? 4 : 0}
            height={bar.state === 'idle' ? 2 : 10}
            onPointerEnter={() => onTell(`${name}: ${bar.words}`)}
          >
            <title>{`${name}: ${bar.words}`}</title>
          </rect>
        ))}
      </svg>
    </div>
  );
}

export function Totals({ document }: { readonly document: Pick<TimelineDocument, 'totals' | 'waited_ms'> }): ReactNode {
  return (
    <dl className="totals">
      {statesInOrder
        .filter((state) => document.totals[state] > 0)
        .map((state) => (
          <div key={state}>
            <dt>
              <StateText state={state} />
            </dt>
            <dd>{durationText(document.totals[state])}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Minutes that agents waited for a person, one column a day. */
export function WaitedPerDay({ days }: { readonly days: TimelineDocument['days'] }): ReactNode {
  const minutes = days.map(({ waited_ms }) => waited_ms / 60_000);
  const top = roundTop(Math.max(1, ...minutes));
  const words = days.map(({ day, waited_ms }) => `${day} ${durationText(waited_ms)}`).join(', ');
  return (
    <figure className="per-day">
      <figcaption>
        Waited for a person, per day <span className="dim">(up to {durationText(top * 60_000)})</span>
      </figcaption>
      <div className="columns" role="img" aria-label={`Waited per day: ${words}`}>
        {days.map(({ day, waited_ms }) => (
          <div key={day} className="column" title={`${day}: ${durationText(waited_ms)}`}>
            <span className="column-value">{waited_ms === 0 ? '' : durationText(waited_ms)}</span>
            <span className="column-bar" style={{ height: `${Math.max(1, (waited_ms / 60_000 / top) * 100)}%` }} />
            <span className="column-day">{day.slice(8)}.</span>
          </div>
        ))}
      </div>
    </figure>
  );
}
