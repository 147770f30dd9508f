// Turns of an agent that gets only a small part of a processor, as on a machine that is busy with other things: its hooks
// and its screen fall apart by seconds. Every turn has to be running and then completed, once each, and told once.

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../src/model/limits.ts';
import type { StateName } from '../../src/model/states.ts';
import type { ActionExecutor } from './actor.ts';
import { Parts } from './scenario.ts';
import type { Stage } from './stage.ts';
import type { StateStream } from './state-stream.ts';

/** Of one processor. */
const share = 0.03;
/** The least that a group can be given. */
const frozenShare = 0.002;
const periodUs = 500_000;
const turnMs = 180_000;
const frozenMs = 2_500;
const groups = '/sys/fs/cgroup';

/**
 * Holds processes back until it is closed, by a control group. Stopping them with signals instead would tell their shell,
 * which takes the terminal back.
 */
class Brake {
  readonly #group: string;
  readonly #isNew = existsSync(join(groups, 'cgroup.controllers'));

  constructor(name: string, pids: readonly number[]) {
    this.#group = join(groups, this.#isNew ? '' : 'cpu', name);
    mkdirSync(this.#group);
    this.#give(share);
    for (const pid of pids) writeQuietly(join(this.#group, 'cgroup.procs'), String(pid));
  }

  /** For a while it gets next to nothing. */
  async freeze(ms: number): Promise<void> {
    this.#give(frozenShare);
    await pause(ms);
    this.#give(share);
  }

  close(): void {
    const held = readFileSync(join(this.#group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
    for (const pid of held) writeQuietly(join(this.#group, '..', 'cgroup.procs'), pid);
    try {
      rmdirSync(this.#group);
    } catch {
      // A process that is just ending still counts; an empty group does no harm.
    }
  }

  #give(part: number): void {
    const quota = Math.round(periodUs * part);
    if (this.#isNew) writeFileSync(join(this.#group, 'cpu.max'), `${quota} ${periodUs}`);
    else {
      writeFileSync(join(this.#group, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(join(this.#group, 'cpu.cfs_quota_us'), String(quota));
    }
  }
}

/** Whether this user may make a group that limits processor time. */
function canHold(): boolean {
  try {
    new Brake(`agtmux-tried-${process.pid}`, []).close();
    return true;
  } catch {
    return false;
  }
}

function writeQuietly(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch {
    // It was gone already.
  }
}

export interface Slowness {
  readonly turns: number;
  readonly hasHooks: boolean;
  /** Whether the daemon and tmux share that small part with the agent. */
  readonly isMachine: boolean;
}

/** What was told that was not so, one line each. */
export async function playSlowed(
  actor: ActionExecutor,
  stage: Stage,
  stream: StateStream,
  { turns, isMachine }: Slowness,
): Promise<readonly string[]> {
  if (!canHold()) {
    process.stdout.write('  not played: no control group may be made here\n');
    return [];
  }
  const parts = new Parts(actor, stage);
  await stage.submit(actor.command);
  await stage.shows((view) => actor.shows.trust.test(view) || actor.shows.ready.test(view), 'the agent');
  await pause(1_500);
  if (actor.shows.trust.test(stage.screen())) await actor.press.trust(stage);
  await parts.settled();
  await pause(1_500);
  const brake = new Brake(`agtmux-slowed-${process.pid}`, isMachine ? stage.machinePids() : await stage.agentPids());
  process.stdout.write(`  ${isMachine ? 'all' : 'the agent'} held back to ${share * 100} % of a processor\n`);
  const wrong: string[] = [];
  try {
    for (let turn = 1; turn <= turns; turn += 1) wrong.push(...(await playTurn(parts, stream, brake, turn)));
  } finally {
    brake.close();
  }
  return [...wrong, ...noticesOf(stream, turns)];
}

/** One turn, from the key that sends it off until the screen shows its end. Every second one lasts for a while. */
async function playTurn(parts: Parts, stream: StateStream, brake: Brake, turn: number): Promise<readonly string[]> {
  const { stage } = parts;
  const isLong = turn % 2 === 0;
  const before = stage.mock.count('slow', 'slow');
  await parts.task(isLong ? 'slow' : 'easy');
  const from = Date.now();
  if (isLong) {
    await parts.asked('slow', 'slow', 1, before);
    await pause(3_000);
    stage.mock.release();
  }
  // Now and then it stands still just when its hooks have spoken: the old picture stays.
  const isFrozen = turn % 3 === 0;
  const began = await firstAfter(stream, from, 'running');
  if (isFrozen && !isLong) await brake.freeze(frozenMs);
  const done = await firstAfter(stream, began ?? from, 'completed');
  if (isFrozen && isLong) await brake.freeze(frozenMs);
  const shownAt = await parts.settled();
  // The screen has come to the end as well: some looks more, and two ends that are too close together count as one.
  await pause(limits.noticeSameStateMs);
  const states = stream.since(from).map(({ row }) => `${row.state}/${row.reason_code}`);
  const path = states.filter((one, at) => one.split('/')[0] !== states[at - 1]?.split('/')[0]);
  // Until anybody has told of the work, the row of the turn before is told again, or doubt while the first turn is drawn.
  const own = path.slice(
    Math.max(
      path.findIndex((one) => one.startsWith('running')),
      0,
    ),
  );
  const asIs = own.map((one) => one.split('/')[0]).join(' ');
  const behindMs = done === null ? 0 : Math.max(0, shownAt - done);
  process.stdout.write(`  turn ${turn}: ${asIs}, the screen ${behindMs} ms behind\n`);
  return asIs === 'running completed' ? [] : [`turn ${turn}: ${path.join(', ')}`];
}

/** When this state was first told after a moment; null when it was not for too long. */
async function firstAfter(stream: StateStream, from: number, state: StateName): Promise<number | null> {
  return (await stream.fits(from, (row) => row.state === state, turnMs))?.time ?? null;
}

/** Each end of a turn is told once. */
function noticesOf(stream: StateStream, turns: number): readonly string[] {
  const events = [...stream.notices.values()];
  const done = events.filter((event) => event === 'completed').length;
  process.stdout.write(`  notices: ${done} of ${turns} turns done, ${events.length - done} others\n`);
  return done === turns ? [] : [`${done} notices of ${turns} turns`];
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
