// Who did what to whom, with what result: one line a deed, refused ones too. Ids stand there only when they are asked for.

import { type ReactNode, useState } from 'react';
import type { AuditItem } from '../../api/actions.ts';
import { hasAgent } from '../../model/rows.ts';
import type { AgentItem } from '../../view/board.ts';
import { type AuditEntry, type AuditLine, auditLine, folded, isUndone } from '../state/audit.ts';
import { useModel } from '../state/hooks.ts';
import { pathOf } from '../state/route.ts';
import { Link, Scroll } from './basics.tsx';
import { Age, line } from './text.tsx';

/** As the agents are known now. */
export function useAuditLines(items: readonly AuditItem[]): readonly AuditLine[] {
  const { rows } = useModel();
  const agentOf = (runtime: string): AgentItem | null => {
    const row = rows.get(`row:${runtime}`);
    return row !== undefined && hasAgent(row) ? row : null;
  };
  return items.map((item) => auditLine(item, agentOf));
}

interface AuditProps {
  readonly lines: readonly AuditLine[];
  readonly hasAgent: boolean;
}

export function AuditTable({ lines, hasAgent: hasWhom }: AuditProps): ReactNode {
  const [hasIds, setIds] = useState(false);
  const entries = folded(lines);
  return (
    <>
      <label className="check audit-ids">
        <input type="checkbox" checked={hasIds} onChange={({ target }) => setIds(target.checked)} /> show ids
      </label>
      <Scroll label="Audit">
        <table className="audit">
          <caption className="unseen">Audit, newest first</caption>
          <thead>
            <tr>
              <th className="number">Age</th>
              <th>Who</th>
              <th>Did</th>
              {hasWhom ? <th>To</th> : null}
              <th>Result</th>
              <th>Detail</th>
            </tr>
          </thead>
          {entries.map((entry, place) => (
            // Two deeds of one moment differ by nothing but their place, and old ones never change it.
            <Entry key={`${entries.length - place}`} entry={entry} hasWhom={hasWhom} hasIds={hasIds} />
          ))}
        </table>
      </Scroll>
    </>
  );
}

interface EntryProps {
  readonly entry: AuditEntry;
  readonly hasWhom: boolean;
  readonly hasIds: boolean;
}

function Entry({ entry, hasWhom, hasIds }: EntryProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const lines = entry.type === 'line' ? [entry.line] : entry.lines;
  const [first] = lines;
  return (
    <tbody>
      {entry.type === 'views' && first !== undefined ? (
        <tr>
          <td className="number">
            <Age since={first.item.at} />
          </td>
          <td colSpan={hasWhom ? 5 : 4}>
            <button type="button" className="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? '▾' : '▸'} looked {lines.length} times
            </button>
          </td>
        </tr>
      ) : null}
      {entry.type === 'line' || isOpen
        ? lines.map((one, place) => (
            <Row key={`${one.item.at} ${lines.length - place}`} line={one} hasWhom={hasWhom} hasIds={hasIds} />
          ))
        : null}
    </tbody>
  );
}

function Row({ line: one, hasWhom, hasIds }: { readonly line: AuditLine } & Omit<EntryProps, 'entry'>): ReactNode {
  const { item, who, did, whom, place, agent, result, more } = one;
  return (
    <>
      <tr>
        <td className="number">
          <Age since={item.at} />
        </td>
        <td title={typeof item.detail.why === 'string' ? line(item.detail.why) : undefined}>{line(who)}</td>
        <td>{line(did)}</td>
        {hasWhom ? (
          <td>
            {agent === null ? line(whom) : <Link to={pathOf('agents', agent.runtime_id)}>{line(whom)}</Link>}
            {place === '' ? null : <span className="dim small audit-place">{line(place)}</span>}
          </td>
        ) : null}
        <td className={isUndone(result) ? 'c-bad' : undefined}>{line(result)}</td>
        <td className="dim detail">{line(more)}</td>
      </tr>
      {hasIds ? (
        <tr className="audit-raw">
          <td />
          <td colSpan={hasWhom ? 5 : 4}>
            <code>{line(JSON.stringify({ actor: item.actor, runtime: item.runtime_id, ...item.detail }))}</code>
          </td>
        </tr>
      ) : null}
    </>
  );
}
