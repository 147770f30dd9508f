// Hooks: which agents tell their state themselves, and how to let them. Every change is shown before it is made, and made
// only if nothing has changed since.

import { type ReactNode, useState } from 'react';
import type { HookOutcomeReply, HookPlanReply, HookStatusReply } from '../../api/schemas-hooks.ts';
import { post } from '../door.ts';
import { Dialog, OutcomeLine, ReadingNote, Scroll } from '../parts/basics.tsx';
import { block, line } from '../parts/text.tsx';
import { did } from '../state/deeds.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useReading } from '../state/hooks.ts';

type Action = 'install' | 'remove';

const stateRoles = {
  installed: 'good',
  partial: 'attention',
  absent: 'quiet',
  broken: 'bad',
  unsupported: 'quiet',
} as const;

/** What is there in part can be made whole or taken away. */
const offered: Readonly<Record<keyof typeof stateRoles, readonly Action[]>> = {
  installed: ['remove'],
  partial: ['install', 'remove'],
  absent: ['install'],
  broken: ['install', 'remove'],
  unsupported: [],
};

export function HookSettings(): ReactNode {
  const reading = useReading<HookStatusReply>('/v1/hooks');
  const [plan, setPlan] = useState<HookPlanReply | null>(null);
  const isOff = whyIdle(useEntrance()) !== null;
  const look = (action: Action, agents: readonly string[]): Promise<boolean> =>
    did('hooks', 'Checking what would change…', post<HookPlanReply>('/v1/hooks/plan', { action, agents }), (found) => {
      setPlan(found);
      return null;
    });
  return (
    <section className="panel" aria-label="Hooks">
      <p className="dim">
        With hooks an agent reports its state itself, at once and reliably. They never block it and never make it fail.
      </p>
      <ReadingNote reading={reading} />
      <ul className="hooks">
        {(reading.value?.agents ?? []).map((one) => (
          <li key={one.agent}>
            <strong>{line(one.agent)}</strong>
            <span className={`c-${stateRoles[one.state]}`}>{one.state}</span>
            <span className="dim">{one.is_used ? '' : 'not in use on this machine'}</span>
            <span className="spring" />
            {offered[one.state].map((action) => (
              <button key={action} type="button" disabled={isOff} onClick={() => void look(action, [one.agent])}>
                {action === 'remove' ? 'Remove' : 'Install'}…
              </button>
            ))}
            {[...one.notes, ...one.files.flatMap(({ problem }) => (problem === null ? [] : [problem]))].map((note) => (
              <p key={note} className="dim small">
                {line(note)}
              </p>
            ))}
          </li>
        ))}
      </ul>
      <OutcomeLine id="hooks" />
      {plan === null ? null : <PlanDialog plan={plan} onClose={() => setPlan(null)} onDone={reading.again} />}
    </section>
  );
}

interface PlanProps {
  readonly plan: HookPlanReply;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function PlanDialog({ plan, onClose, onDone }: PlanProps): ReactNode {
  const { action, agents, digest, edits, notes } = plan;
  const apply = async (): Promise<void> => {
    onClose();
    const applied = post<HookOutcomeReply>('/v1/hooks/apply', { action, agents, digest });
    await did('hooks', 'Writing…', applied, ({ written, removed }) => ({
      tone: 'good',
      words: `${written.length} files written, ${removed.length} removed`,
    }));
    onDone();
  };
  return (
    <Dialog
      title={`${action === 'install' ? 'Install' : 'Remove'} hooks: ${agents.map(line).join(', ')}`}
      onClose={onClose}
    >
      {edits.length === 0 ? <p>Nothing to change.</p> : null}
      {edits.map((edit) => (
        <div key={edit.path}>
          <p>
            {edit.change} <code>{line(edit.path)}</code>
          </p>
          <Scroll className="log diff" label={`Change of ${line(edit.path)}`}>
            <pre>{block(edit.diff)}</pre>
          </Scroll>
        </div>
      ))}
      {notes.map((note) => (
        <p key={note} className="dim">
          {line(note)}
        </p>
      ))}
      <div className="dialog-buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="primary" disabled={edits.length === 0} onClick={() => void apply()}>
          {action === 'install' ? 'Install' : 'Remove'}
        </button>
      </div>
    </Dialog>
  );
}
