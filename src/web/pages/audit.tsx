// Audit: every deed that went through agtmux, refused ones too.

import { type ReactNode, useState } from 'react';
import { get } from '../../api/requests.ts';
import { AuditTable, useAuditLines } from '../parts/audit-table.tsx';
import { Empty, PageHead, ReadingNote } from '../parts/basics.tsx';
import { auditFilter } from '../state/audit.ts';
import { useBeat, useNow, useReading } from '../state/hooks.ts';

const beatMs = 3_000;

export function AuditPage(): ReactNode {
  const reading = useReading(get('/v1/audit'), useBeat(beatMs));
  const [typed, setTyped] = useState('');
  const now = useNow();
  const all = useAuditLines(reading.value?.items ?? []);
  const lines = all.filter(auditFilter(typed, now));
  return (
    <>
      <PageHead title="Audit">
        <input
          type="search"
          data-filter
          className="filter"
          aria-label="Filter the audit"
          placeholder="Filter: words, who:, did:, result:, agent:, in:…  /"
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
      {all.length > 0 && lines.length === 0 ? <p className="calm-note">Nothing matches “{typed}”.</p> : null}
      {lines.length === 0 ? null : (
        <section className="panel" aria-label="Actions">
          <AuditTable lines={lines} hasAgent />
        </section>
      )}
    </>
  );
}
