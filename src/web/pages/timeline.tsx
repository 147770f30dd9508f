// Timeline: one lane an agent, coloured by state, from an hour to a month; and how long agents waited for a person per day.

import { type ReactNode, useState } from 'react';
import { type ApiRequest, get } from '../../api/requests.ts';
import type { TimelineDocument } from '../../api/timeline.ts';
import { Empty, PageHead, ReadingNote, Tabs } from '../parts/basics.tsx';
import { Lanes, Totals, WaitedPerDay } from '../parts/plots.tsx';
import { clock } from '../port.ts';
import { useBeat, useNow, useReading } from '../state/hooks.ts';
import { clockOf, dayOf, durationText, lanesIn, upTo, type Zoom, zoomMs, zooms } from '../state/timeline.ts';

const refreshMs = 30_000;
const lanesMax = 60;
const weekMs = 7 * 24 * 3_600_000;

const quantum = 15_000;

export function TimelinePage(): ReactNode {
  const [zoom, setZoom] = useState<Zoom>('6 h');
  const [back, setBack] = useState(0);
  const beat = useBeat(refreshMs);
  const now = useNow();
  const to = now - back * zoomMs[zoom] * 0.5;
  const frame = { from: to - zoomMs[zoom], to };
  // The address must stand still between two looks.
  const iso = (ms: number): string => new Date(Math.ceil(ms / quantum) * quantum).toISOString();
  const [asked, setAsked] = useState<Asked>({ beat: -1, zoom, back, request: null });
  if (asked.beat !== beat || asked.zoom !== zoom || asked.back !== back) {
    const request = get('/v1/timeline', { since: iso(frame.from), until: new Date(to).toISOString() });
    setAsked({ beat, zoom, back, request });
  }
  const reading = useReading(asked.request);
  const last = useLast(reading.value);
  return (
    <>
      <PageHead title="Timeline">
        <Tabs label="Zoom" tabs={zooms.map((one) => [one, one] as const)} chosen={zoom} onChoose={setZoom} />
        <div className="buttons">
          <button type="button" aria-label="Earlier" onClick={() => setBack(back + 1)}>
            ←
          </button>
          <button type="button" aria-label="Later" disabled={back === 0} onClick={() => setBack(Math.max(0, back - 1))}>
            →
          </button>
        </div>
      </PageHead>
      <p className="dim">
        {dayOf(frame.from)} {clockOf(frame.from)} to {back === 0 ? 'now' : `${dayOf(to)} ${clockOf(to)}`}
      </p>
      <ReadingNote reading={reading} />
      {last === null ? null : <Plot document={back === 0 ? upTo(last, now) : last} frame={frame} />}
      <PerDay />
    </>
  );
}

/** What was read last stays until the next is there. */
function useLast<Value>(value: Value | null): Value | null {
  const [last, setLast] = useState(value);
  if (value !== null && value !== last) setLast(value);
  return value ?? last;
}

interface Asked {
  readonly beat: number;
  readonly zoom: Zoom;
  readonly back: number;
  readonly request: ApiRequest<TimelineDocument> | null;
}

interface PlotProps {
  readonly document: TimelineDocument;
  readonly frame: { readonly from: number; readonly to: number };
}

function Plot({ document, frame }: PlotProps): ReactNode {
  const lanes = lanesIn(document, frame, lanesMax);
  if (lanes.length === 0)
    return (
      <Empty title="Nothing was seen in this period.">
        <p className="dim">The timeline begins when agtmux first sees an agent, and has gaps where it did not run.</p>
      </Empty>
    );
  return (
    <section className="panel" aria-label="States over time">
      <Lanes lanes={lanes} frame={frame} />
      <p className="waited">
        <strong>{durationText(document.waited_ms)}</strong> waited for a person in this time
        {document.is_cut ? '; older spans are not drawn but are included in the sums' : ''}
      </p>
      <Totals document={document} />
    </section>
  );
}

function PerDay(): ReactNode {
  const [since] = useState(() => get('/v1/timeline', { since: startOfWeek() }));
  const reading = useReading(since, useBeat(refreshMs * 4));
  if (reading.value === null) return <ReadingNote reading={reading} />;
  return (
    <section className="panel" aria-label="Waited per day">
      <WaitedPerDay days={reading.value.days} />
    </section>
  );
}

const startOfWeek = (): string => new Date(clock.wallMs() - weekMs).toISOString();
