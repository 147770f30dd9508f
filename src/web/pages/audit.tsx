// Audit: every deed that went through agtmux, refused ones too.

import { type ReactNode, useState } from 'react';
import type { AuditItem } from '../../api/actions.ts';
import { get } from '../../api/requests.ts';
import { AuditTable } from '../parts/audit-table.tsx';
import { Empty, PageHead, ReadingNote } from '../parts/basics.tsx';
import { useBeat, useReading } from '../state/hooks.ts';

const beatMs = 3_000;

const fits = (item: AuditItem, typed: string): boolean =>
  `${item.actor} ${item.action} ${item.result} ${item.runtime_id ?? ''} ${JSON.stringify(item.detail)}`
    .toLowerCase()
    .includes(typed.toLowerCase());

export function AuditPage(): ReactNode {
  const reading = useReading(get('/v1/audit'), useBeat(beatMs));
  const [typed, setTyped] = useState('');
  const items = reading.value?.items.filter((item) => fits(item, typed)) ?? [];
  return (
    <>
      <PageHead title="Audit">
        <input
          type="search"
          data-filter
          className="filter"
          aria-label="Filter the audit"
          placeholder="Filter: who, what, result…  /"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </PageHead>
      <ReadingNote reading={reading} />
      {reading.value !== null && reading.value.items.length === 0 ? (
        <Empty title="No actions yet.">
          <p className="dim">
            Everything that is sent, approved, rejected or killed through agtmux is listed here, with who did it and on
            which evidence.
          </p>
        </Empty>
      ) : null}
      {items.length === 0 ? null : (
        <section className="panel" aria-label="Actions">
          <AuditTable items={items} hasAgent />
        </section>
      )}
    </>
  );
}
