// How an order of the hub is known again in the audit of the edge that carried it out.

import type { WireLogRow } from '../api/hub-wire.ts';

const pattern = /\border ([0-9a-f]{32})\b/;

/** The order that an audit row is about. */
export const orderOfAudit = ({ detail }: Pick<WireLogRow, 'detail'>): string | null =>
  typeof detail.why === 'string' ? (pattern.exec(detail.why)?.[1] ?? null) : null;
