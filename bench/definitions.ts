// What many definitions cost: a daemon that knows the seven agents with code of their own, beside one that knows these, every
// definition that ships and as many of a user's as make forty. Each watches two hundred panes of its own; both are measured in the
// same seconds, so that whatever else the machine does falls on both.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import configs from '../rolldown.config.ts';
import { builtInDefinitions } from '../src/agents/definition/built-in.ts';
import { folders } from '../src/agents/folders.ts';
import { Live, until } from '../test/kit/live.ts';
import { LookAlike, type LookAlikeKind } from '../test/kit/look-alike.ts';
import { act } from '../test/kit/scenes.ts';
import { lookMs } from './churn.ts';
import { type BenchRow, figure, percentile } from './row.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const panes = 200;
const agentPanes = 12;
const busyPanes = 10;
const definitionsAll = 40;
const settleMs = 20_000;
const measuredMs = 30_000;
const lists = 200;
const kinds: readonly LookAlikeKind[] = ['claude', 'codex', 'gemini'];

/** The daemon without the definitions that ship, as it was when agents were code. */
async function buildWithout(folder: string): Promise<string> {
  const config = configs.find(({ input }) => typeof input === 'object' && 'daemon' in input);
  if (config === undefined) throw new Error('rolldown.config.ts builds no daemon');
  const { output, ...input } = config;
  const without = {
    name: 'without-definitions',
    load: (id: string) => (id.endsWith('/agents/definitions.json') ? '[]' : null),
  };
  const bundle = await rolldown({ ...input, cwd: root, plugins: [without] });
  await bundle.write({ ...(Array.isArray(output) ? output[0] : output), dir: folder });
  await bundle.close();
  return join(folder, 'daemon.js');
}

/** A user's own definitions: those of measured agents under other names, so that they have as much to say. */
function writeDefinitions(live: Live, count: number): void {
  const measured = builtInDefinitions.filter(({ measured }) => measured.length > 0).map(({ agent }) => agent);
  const folder = join(live.dir, 'home/.config/agtmux/agents');
  mkdirSync(folder, { recursive: true });
  for (let place = 0; place < count; place += 1) {
    const from = measured[place % measured.length] ?? '';
    const name = `own-${place}`;
    const text = readFileSync(join(root, 'src/agents', from, `${from}.toml`), 'utf8');
    const screen = text.slice(text.indexOf('\n[screen]'), text.indexOf('\n[keys]'));
    const identify = `[identify]\ncommands = ["${name}"]\nnative = "medium"\n`;
    writeFileSync(
      join(folder, `${name}.toml`),
      `schema = 2\nagent = "${name}"\nmeasured = ["1.0"]\n${identify}${screen}`,
    );
  }
}

const cpuMs = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const redraw = `sh -c 'i=0; while :; do i=$((i+1)); printf "\\033[H%s working" "$i"; sleep 0.25; done'`;

async function open(live: Live, entry: string | undefined): Promise<void> {
  live.tmux('new-session', '-d', '-s', 'work', '-x', '100', '-y', '30', 'sleep 100000');
  for (let place = 0; place < agentPanes; place += 1)
    await act(LookAlike.start(live, kinds[place % kinds.length] ?? 'claude', 'work'), 'settled');
  for (let place = agentPanes + 1; place < panes; place += 1)
    live.tmux('new-window', '-d', '-t', 'work:', place < agentPanes + busyPanes ? redraw : 'sleep 100000');
  await live.startDaemon(entry);
  await until(
    async () => (await live.client.get('/v1/panes', { all_panes: true })).items.length === panes,
    60_000,
    200,
  );
}

export async function run(): Promise<readonly BenchRow[]> {
  const folder = join(root, `dist.bench-${process.pid}`);
  const few = new Live(lookMs);
  const many = new Live(lookMs);
  try {
    writeDefinitions(many, definitionsAll - folders.length - builtInDefinitions.length);
    await open(few, await buildWithout(folder));
    await open(many, undefined);
    const known = async (live: Live): Promise<number> => (await live.client.get('/v1/agents')).items.length;
    const counts = [await known(few), await known(many)];
    if (counts[0] !== folders.length || counts[1] !== definitionsAll)
      throw new Error(`the daemons know ${counts.join(' and ')} agents, not ${folders.length} and ${definitionsAll}`);
    await rest(settleMs);
    const before = [cpuMs(few.daemonPid), cpuMs(many.daemonPid)] as const;
    await rest(measuredMs);
    const spent = [cpuMs(few.daemonPid) - before[0], cpuMs(many.daemonPid) - before[1]] as const;
    const times: readonly [number[], number[]] = [[], []];
    for (let turn = 0; turn < lists; turn += 1) {
      for (const [place, live] of [few, many].entries()) {
        const began = performance.now();
        await live.client.getText('/v1/panes', { all_panes: true });
        times[place]?.push(performance.now() - began);
      }
    }
    const listed = [percentile(times[0], 0.5), percentile(times[1], 0.5)] as const;
    const memory = [rssMb(few.daemonPid), rssMb(many.daemonPid)] as const;
    const row = (what: string, [one, other]: readonly [number, number], unit: string): BenchRow => ({
      name: `${definitionsAll} agents known, times the ${folders.length} with code: ${what}`,
      value: other / one,
      unit: 'x',
      goal: { atMost: 1.05 },
      note: `${panes} panes each, at the same time; ${figure(one)} and ${figure(other)} ${unit}`,
    });
    return [
      row('processor time', spent, `ms in ${measuredMs / 1_000} s`),
      row('memory', memory, 'MB'),
      row('list, median', listed, 'ms'),
    ];
  } finally {
    await few.close();
    await many.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
