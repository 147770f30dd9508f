// Who did what to whom, with what result: one line a deed, refused ones too.

import type { ReactNode } from 'react';
import type { AuditItem } from '../../api/actions.ts';
import { pathOf } from '../state/route.ts';
import { Link, Scroll } from './basics.tsx';
import { Age, line } from './text.tsx';

interface AuditProps {
  readonly items: readonly AuditItem[];
  readonly hasAgent: boolean;
}

const isBad = (result: string): boolean => result.startsWith('refused') || result.startsWith('E_');

/** The few words of a detail that people read; everything is in `agtmux audit --json`. */
function detailText({ detail }: AuditItem): string {
  return Object.entries(detail)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}

export function AuditTable({ items, hasAgent }: AuditProps): ReactNode {
  return (
    <Scroll label="Audit">
      <table>
        <caption className="unseen">Audit, newest first</caption>
        <thead>
          <tr>
            <th>Age</th>
            <th>Who</th>
            <th>Did</th>
            {hasAgent ? <th>To</th> : null}
            <th>Result</th>
            <th>Detail</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item, place) => (
            // Two deeds of one moment differ by nothing but their place, and old ones never change it.
            <AuditRow key={`${item.at} ${items.length - place}`} item={item} hasAgent={hasAgent} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function AuditRow({ item, hasAgent }: { readonly item: AuditItem; readonly hasAgent: boolean }): ReactNode {
  return (
    <tr>
      <td>
        <Age since={item.at} />
      </td>
      <td>{line(item.actor)}</td>
      <td>{line(item.action)}</td>
      {hasAgent ? (
        <td>
          {item.runtime_id === null ? (
            line(typeof item.detail.named === 'string' ? item.detail.named : '-')
          ) : (
            <Link to={pathOf('agents', item.runtime_id)}>{line(item.runtime_id.slice(0, 12))}</Link>
          )}
        </td>
      ) : null}
      <td className={isBad(item.result) ? 'c-bad' : undefined}>{line(item.result)}</td>
      <td className="dim detail">{line(detailText(item))}</td>
    </tr>
  );
}
