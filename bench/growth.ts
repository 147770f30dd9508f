// How the cost grows with the number of agents: CPU of the idle daemon with all its threads and children, memory, the list over the
// API, and the start until its first answer. Small programs stand in for the agents, or a thousand would not fit into a machine.
// PANES="20 100" for other numbers; SVG=file draws the curves.

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { Live, until } from '../test/kit/live.ts';
import { LookAlike } from '../test/kit/look-alike.ts';
import { usageOf } from './churn.ts';
import { spentBy } from './idle.ts';
import { type BenchRow, figure, percentile } from './row.ts';

const sizes = (process.env.PANES ?? '20 100 200 400 1000').split(/[ ,]+/).map(Number);
const settleMs = 10_000;
const measuredMs = 20_000;
const requests = 100;

interface Point {
  readonly panes: number;
  readonly idlePercent: number;
  readonly rssMb: number;
  readonly listMs: number;
  readonly listCpuMs: number;
  readonly startCpuMs: number;
}

/** A program that is called as an agent is, below a screen that the real one has drawn. */
function prepare(live: Live): string {
  const bin = join(live.dir, 'home/.local/bin');
  mkdirSync(bin, { recursive: true });
  const screen = join(live.dir, 'screen.txt');
  writeFileSync(screen, LookAlike.recorded('claude', '2.1.325-completed_text.80x24.txt'));
  copyFileSync('/bin/sleep', join(bin, 'claude'));
  return `sh -c "cat '${screen}'; exec '${join(bin, 'claude')}' 100000"`;
}

async function measure(panes: number): Promise<Point> {
  const live = new Live();
  try {
    const command = prepare(live);
    live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', command);
    for (let pane = 1; pane < panes; pane += 1) live.tmux('new-window', '-d', '-t', 'work:', command);
    await live.startDaemon();
    const listed = async (): Promise<number> => (await live.client.get('/v1/panes', {})).items.length;
    await until(async () => (await listed().catch(() => 0)) === panes, 120_000, 5);
    const startCpuMs = spentBy(live.daemonPid).cpuMs;
    await rest(settleMs);
    const before = spentBy(live.daemonPid).cpuMs;
    const from = performance.now();
    await rest(measuredMs);
    const idlePercent = ((spentBy(live.daemonPid).cpuMs - before) / (performance.now() - from)) * 100;
    const beforeLists = spentBy(live.daemonPid).cpuMs;
    const times: number[] = [];
    for (let request = 0; request < requests; request += 1) {
      const began = performance.now();
      await listed();
      times.push(performance.now() - began);
    }
    const listCpuMs = (spentBy(live.daemonPid).cpuMs - beforeLists) / requests;
    return {
      panes,
      idlePercent,
      rssMb: usageOf(live.daemonPid).rssMb,
      listMs: percentile(times, 0.5),
      listCpuMs,
      startCpuMs,
    };
  } finally {
    await live.close();
  }
}

const curves: readonly { readonly name: string; readonly unit: string; readonly of: (point: Point) => number }[] = [
  { name: 'idle daemon', unit: '% of a core', of: ({ idlePercent }) => idlePercent },
  { name: 'memory', unit: 'MB', of: ({ rssMb }) => rssMb },
  { name: 'list over the API, CPU', unit: 'ms', of: ({ listCpuMs }) => listCpuMs },
  { name: 'list over the API, median', unit: 'ms', of: ({ listMs }) => listMs },
  { name: 'start until the first whole list, CPU', unit: 'ms', of: ({ startCpuMs }) => startCpuMs },
];

const [width, height, left, bottom, top] = [320, 200, 44, 26, 30];

/** One small picture a curve, from zero on both axes, with a straight line through the origin and the largest number beside it. */
export function drawCurves(points: readonly Point[]): string {
  const panesMax = Math.max(...points.map(({ panes }) => panes));
  const panels = curves.map(({ name, unit, of }, place) => {
    const max = Math.max(...points.map(of)) * 1.1 || 1;
    const x = (panes: number): number => left + (panes / panesMax) * (width - left - 14);
    const y = (value: number): number => height - bottom - (value / max) * (height - bottom - top);
    const line = points.map((point) => `${x(point.panes).toFixed(1)},${y(of(point)).toFixed(1)}`).join(' ');
    const dots = points.map(
      (point) =>
        `<circle cx="${x(point.panes).toFixed(1)}" cy="${y(of(point)).toFixed(1)}" r="3"><title>${point.panes}: ${figure(of(point))} ${unit}</title></circle>`,
    );
    const ticks = points.map(
      (point) => `<text x="${x(point.panes).toFixed(1)}" y="${height - 10}" text-anchor="middle">${point.panes}</text>`,
    );
    const levels = [0, 0.5, 1].map(
      (share) =>
        `<text x="${left - 4}" y="${(y((max / 1.1) * share) + 4).toFixed(1)}" text-anchor="end">${figure((max / 1.1) * share)}</text>`,
    );
    const last = points.at(-1);
    const straight = `<line x1="${x(0)}" y1="${y(0)}" x2="${x(panesMax).toFixed(1)}" y2="${y(last === undefined ? 0 : of(last)).toFixed(1)}" stroke="#8886" stroke-dasharray="3 3"/>`;
    const [column, row] = [place % 2, Math.floor(place / 2)];
    return `<g transform="translate(${column * width},${row * height})"><text x="${left}" y="16" font-weight="bold">${name}, ${unit}</text><path d="M${left} ${top}V${height - bottom}H${width - 10}" fill="none" stroke="#888"/>${straight}<polyline points="${line}" fill="none" stroke="#2a7de1" stroke-width="2"/><g fill="#2a7de1">${dots.join('')}</g>${ticks.join('')}${levels.join('')}</g>`;
  });
  const rows = Math.ceil(curves.length / 2);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width * 2} ${height * rows}" font-family="sans-serif" font-size="11" fill="#888">${panels.join('')}</svg>\n`;
}

export async function run(): Promise<readonly BenchRow[]> {
  const points: Point[] = [];
  for (const panes of sizes) points.push(await measure(panes));
  if (process.env.SVG !== undefined) writeFileSync(process.env.SVG, drawCurves(points));
  return points.flatMap((point) =>
    curves.map(({ name, unit, of }): BenchRow => ({ name: `${point.panes} agents: ${name}`, value: of(point), unit })),
  );
}
