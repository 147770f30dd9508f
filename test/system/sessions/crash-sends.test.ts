// The daemon is killed at any moment around a message that it has accepted (SES5): the agent is told it once, or whoever
// reads the conversation is shown that it was not said. COUNT kills; half of them on a machine that has more to do.

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManagedItem } from '../../../src/api/sessions.ts';
import { until } from '../../kit/live.ts';
import { LedWorld, runs } from './kit.ts';

const countMax = Number(process.env.COUNT ?? 20);
/** Around the answer: a message is on its way for about so long. */
const momentMsMax = 500;

let world: LedWorld;
const hogs: ChildProcess[] = [];

beforeEach(async () => {
  world = new LedWorld();
  for (const [name, file] of [
    ['gemini', 'fake-acp.ts'],
    ['opencode', 'fake-server.ts'],
  ] as const) {
    const path = join(world.bin, name);
    writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, file)}'\n`);
    chmodSync(path, 0o755);
  }
  await world.startDaemon();
});
afterEach(async () => {
  for (const hog of hogs.splice(0)) hog.kill('SIGKILL');
  try {
    for (const { id } of (await world.client.get('/v1/managed')).items) await world.deed(id, 'remove', { force: true });
  } finally {
    await world.close();
  }
});

const agents = ['claude', 'gemini', 'opencode'] as const;

/** What a message meets: an agent that rests, one whose process is gone, one at work, and none at all yet. */
const meetings = {
  rests: async (agent) => rested(agent),
  gone: async (agent) => {
    const { id, pid } = await rested(agent);
    await world.deed(id, 'stop');
    await until(async () => (await world.session(id)).pid === null && !runs(pid ?? 0));
    return id;
  },
  works: async (agent) => {
    const { id } = await world.begin(agent === 'claude' ? 'paced 20 10' : 'text first', { agent });
    return id;
  },
  begins: async () => null,
} as const satisfies Record<string, (agent: string) => Promise<ManagedItem | string | null>>;
type Meeting = keyof typeof meetings;
const meetingNames = Object.keys(meetings) as readonly Meeting[];

async function rested(agent: string): Promise<ManagedItem> {
  const { id } = await world.begin('text first', { agent });
  return world.becomes(id, 'completed');
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
const times = (token: string): number => world.noted('told').filter((line) => line.includes(token)).length;

interface Trial {
  readonly agent: string;
  readonly meeting: Meeting;
  readonly afterMs: number;
  readonly isAfterAnswer: boolean;
}

/** Sends, kills at its moment, and starts again; whether the message was accepted, and in which session. */
async function crashed(
  trial: Trial,
  text: string,
): Promise<{ readonly isAccepted: boolean; readonly id: string | null }> {
  const met = await meetings[trial.meeting](trial.agent);
  const known = met === null || typeof met === 'string' ? met : met.id;
  const sending = (
    known === null ? world.begin(text, { agent: trial.agent }) : world.deed(known, 'send', { text })
  ).then(
    ({ id }) => ({ isAccepted: true, id }),
    () => ({ isAccepted: false, id: known }),
  );
  if (trial.isAfterAnswer) await sending;
  await pause(trial.afterMs);
  await world.stopDaemon('SIGKILL');
  const sent = await sending;
  await world.startDaemon();
  return sent;
}

/** What must hold: told once, or shown as not told. Told never twice, also when the session goes on. */
async function verdict(id: string, token: string): Promise<readonly string[]> {
  const wrong: string[] = [];
  // An agent that still reads what was left for it has had its time when its process is gone. One that was joined again, or
  // started for what waited, is done with it at the end of its turn.
  await until(async () => {
    const { pid, state, reason } = await world.session(id);
    if (state === 'paused') return pid === null || reason !== 'daemon_restarted';
    return state === 'completed' || (state === 'error' && pid === null);
  });
  const before = times(token);
  const shown = (await world.messages(id)).filter((message) => message.text.includes(token));
  const asSaid = shown.filter(({ role }) => role === 'user').length;
  const asUnsaid = shown.filter(({ role, text }) => role === 'notice' && /not/.test(text)).length;
  const { queued, state } = await world.session(id);
  if (before > 1) wrong.push('said twice');
  if (before === 0 && asUnsaid === 0 && queued === 0) wrong.push('lost');
  if (before === 0 && asSaid > 0) wrong.push('not said, and shown as said');
  if (asSaid > 1) wrong.push('shown as said twice');
  // Whoever has read that nobody knows says something else.
  if (state === 'error') await world.deed(id, 'retry');
  if (state === 'paused') await world.deed(id, 'resume', queued > 0 ? {} : { text: 'text onward' });
  await until(async () => {
    const now = await world.session(id);
    return now.state === 'completed' && now.queued === 0;
  });
  if (times(token) > 1) wrong.push('said twice in the end');
  if (queued > 0 && times(token) === 0) wrong.push('promised and never said');
  return wrong;
}

/** What is wrong with one kill; a wait in vain is a failure of this trial, with what was there then. */
async function tried(trial: Trial, token: string): Promise<{ isAccepted: boolean; wrong: readonly string[] }> {
  const { id, isAccepted } = await crashed(trial, `text ${token}`);
  if (!isAccepted || id === null) return { isAccepted, wrong: times(token) > 1 ? ['said twice'] : [] };
  try {
    return { isAccepted, wrong: await verdict(id, token) };
  } catch (problem) {
    const there = { ...(await world.session(id)), view: null };
    return { isAccepted, wrong: [`${problem} ${JSON.stringify(there)}`] };
  }
}

describe('kill -9 around a message', () => {
  it(
    'SES5 what was accepted is said once, or shown as not said, and never said twice',
    async () => {
      const failures: string[] = [];
      let accepted = 0;
      for (let count = 0; count < countMax; count += 1) {
        if (count === Math.floor(countMax / 2))
          for (let hog = 0; hog < 3; hog += 1)
            hogs.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
        const trial: Trial = {
          agent: agents[count % agents.length] ?? 'claude',
          meeting: meetingNames[Math.floor(count / agents.length) % meetingNames.length] ?? 'rests',
          afterMs: Math.random() ** 2 * momentMsMax,
          isAfterAnswer: Math.random() < 0.7,
        };
        const token = `token-${count}-end`;
        const { isAccepted, wrong } = await tried(trial, token);
        if (isAccepted) accepted += 1;
        if (wrong.length > 0) failures.push(`${JSON.stringify(trial)}: ${wrong.join(', ')}`);
        for (const one of (await world.client.get('/v1/managed')).items)
          await world.deed(one.id, 'remove', { force: true });
      }
      expect(failures).toEqual([]);
      expect(accepted).toBeGreaterThan(countMax / 3);
    },
    120_000 + countMax * 30_000,
  );
});
