// What a hub counts, in the text format of Prometheus. No names and no texts of anyone.

import type { Clock } from '../platform/clock.ts';
import type { Hub } from './hub.ts';
import { wholeScope } from './roster.ts';
import type { HubTable } from './table.ts';
import type { HubTransport } from './transport.ts';

export interface MetricsParts {
  readonly hub: Hub;
  readonly table: HubTable;
  readonly transport: HubTransport;
  readonly clock: Clock;
  readonly memoryBytes: () => number;
  /** Of this process, since it began. */
  readonly cpuSeconds: () => number;
}

export async function metricsText({
  hub,
  table,
  transport,
  clock,
  memoryBytes,
  cpuSeconds,
}: MetricsParts): Promise<string> {
  const lines: string[] = [];
  const add = (
    name: string,
    type: 'counter' | 'gauge',
    words: string,
    values: readonly (readonly [string, number])[],
  ): void => {
    lines.push(`# HELP agtmux_hub_${name} ${words}`, `# TYPE agtmux_hub_${name} ${type}`);
    for (const [labels, value] of values) lines.push(`agtmux_hub_${name}${labels} ${value}`);
  };
  const { counters } = hub;
  add('batches_total', 'counter', 'Batches of daemons that were taken', [['', counters.batches]]);
  add('rows_total', 'counter', 'Rows in those batches', [['', counters.rows]]);
  add('refused_total', 'counter', 'Messages that were refused', [['', counters.refused]]);
  add('resyncs_total', 'counter', 'Snapshots that were asked for', [['', counters.resyncs]]);
  add('log_rows_total', 'counter', 'Audit rows and state changes that were taken', [['', counters.log_rows]]);
  add('beats_total', 'counter', 'Signs of life', [['', counters.beats]]);
  add('orders_total', 'counter', 'Actions that were sent to daemons', [['', counters.orders]]);
  add('orders_unconfirmed_total', 'counter', 'Actions without an answer', [['', counters.orders_unconfirmed]]);
  add('connections', 'gauge', 'Daemons that are connected to this process', [['', transport.connections()]]);
  const stream = [...transport.waiting()].map(([tenant, count]) => [`{tenant="${tenant}"}`, count] as const);
  add('stream_waiting', 'gauge', 'Batches that are not in the table yet, at the process that reads them', stream);
  add('memory_bytes', 'gauge', 'Resident memory of this process', [['', memoryBytes()]]);
  add('cpu_seconds_total', 'counter', 'Time of a core that this process has used', [['', cpuSeconds()]]);
  const rows: [string, number][] = [];
  const machines: [string, number][] = [];
  const waiting: [string, number][] = [];
  const longest: [string, number][] = [];
  for (const tenant of await table.tenants()) {
    const roster = await hub.rosterOf(tenant);
    rows.push([`{tenant="${tenant}"}`, roster.size]);
    const now = clock.wallMs();
    const reachable = roster.machines.filter(({ daemon }) => roster.isReachable(daemon, now)).length;
    machines.push([`{tenant="${tenant}",reachable="yes"}`, reachable]);
    machines.push([`{tenant="${tenant}",reachable="no"}`, roster.machines.length - reachable]);
    const waits = roster.waiting(wholeScope, now);
    waiting.push([`{tenant="${tenant}"}`, waits.reduce((sum, { agents }) => sum + agents, 0)]);
    longest.push([
      `{tenant="${tenant}"}`,
      Math.round((now - Math.min(now, ...waits.map(({ since }) => since))) / 1_000),
    ]);
  }
  add('agents', 'gauge', 'Rows in memory', rows);
  add('machines', 'gauge', 'Daemons that have joined', machines);
  add('waiting', 'gauge', 'Agents that need a person', waiting);
  add('longest_wait_seconds', 'gauge', 'Since when the first of them waits', longest);
  return `${lines.join('\n')}\n`;
}
