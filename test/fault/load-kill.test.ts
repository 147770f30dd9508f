// kill -9 of the daemon in the middle of everything: messages that are typed and messages that wait, background shells, hook calls.
// What was acknowledged is there afterwards, and nothing is there twice. COUNT kills, SEED says where chance begins.

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PaneItem } from '../../src/api/panes.ts';
import { seeded } from '../../src/store/samples.contract.ts';
import { Live, until } from '../kit/live.ts';
import { LookAlike } from '../kit/look-alike.ts';
import { act } from '../kit/scenes.ts';
import { repetitions } from './children.ts';

const hook = fileURLToPath(new URL('../../bin/agtmux-hook', import.meta.url));
const count = repetitions(1);
const random = seeded(Number(process.env.SEED ?? 1));
let live: Live;

beforeEach(() => {
  live = new Live();
  live.trustPrograms();
  mkdirSync(join(live.dir, 'state/spool'), { recursive: true, mode: 0o700 });
  live.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
});
afterEach(() => live.close());

/** One acknowledgement: the word that is looked for, and what was said of it; null where no answer came. */
interface Told {
  readonly token: string;
  readonly said: string | null;
}
type Attempt = (token: string) => Promise<string>;

const caller = { pid: process.pid, hops: 0 };
const send = async (ref: string, text: string, when_ready: boolean): Promise<string> => {
  const body = { action: 'send', ref, text, enter: true, when_ready, strip_control: false, conditions: {} } as const;
  return (await live.client.post('/v1/act', { ...body, ...caller })).outcome;
};

const mark = (token: string): string => join(live.dir, `mark-${token}`);
async function runShell(token: string): Promise<string> {
  const command = `echo ${token} >> ${mark(token)}`;
  const env = { PATH: process.env.PATH ?? '' };
  const body = { command, label: token, cwd: live.dir, env, run_in_background: true, pid: process.pid, client: 'load' };
  return (await live.client.post('/v1/shells', body)).shell?.label ?? 'refused';
}

const timesIn = (text: string, token: string): number => text.split(`${token}.`).length - 1;
/** On a busy machine an answer may come too late for whoever asked: it is asked again. */
const answered = (holds: () => Promise<boolean>, ms: number): Promise<void> =>
  until(() => holds().catch(() => false), ms);
/** What only asks changes nothing, so it may be asked again. */
async function asked<Value>(ask: () => Promise<Value>): Promise<Value> {
  const answers: Value[] = [];
  await answered(async () => answers.push(await ask()) > 0, 60_000);
  const [first] = answers;
  if (first === undefined) throw new Error('nobody answered');
  return first;
}
const itemOf = async ({ pane }: LookAlike): Promise<PaneItem | undefined> =>
  (await live.client.get('/v1/panes', {})).items.find((one) => one.identity.pane_id === pane && one.ended === null);
const becomes = (actor: LookAlike, state: RegExp): Promise<void> =>
  until(async () => state.test((await itemOf(actor).catch(() => undefined))?.state ?? ''), 60_000);

/** What waits goes out one by one, which takes its time afterwards. */
const attemptsMax = { send: 40, queue: 4, shell: 40 } as const;

class Load {
  readonly told: Record<'send' | 'queue' | 'shell', Told[]> = { send: [], queue: [], shell: [] };
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();
  readonly #round: number;

  constructor(round: number) {
    this.#round = round;
  }

  start(attempts: Readonly<Record<keyof Load['told'], Attempt>>, others: () => Promise<unknown>): void {
    const one = async (kind: keyof Load['told']): Promise<void> => {
      for (let number = 0; !this.#isOver && number < attemptsMax[kind]; number += 1) {
        const token = `${kind}${this.#round}x${number}`;
        const said = await attempts[kind](token).catch(() => null);
        this.told[kind].push({ token, said });
        if (said === null) return;
      }
    };
    this.#running = Promise.all([one('send'), one('queue'), one('shell'), others()]);
  }

  async over(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }
}

async function checkTyped(prompt: LookAlike, waiting: LookAlike, { told }: Load): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { token, said } of told.send) {
    const times = timesIn(prompt.typed(), token);
    if (times > 1 || (said === 'delivered' && times !== 1)) wrong.push(`${token}, ${said}: typed ${times} times`);
  }
  await act(waiting, 'settled');
  await answered(async () => (await live.client.get('/v1/queue', {})).items.length === 0, 120_000);
  const { items } = await asked(() => live.client.get('/v1/audit', { count: 300 }));
  // What was being typed when the daemon fell is not typed again, and its row says that nobody knows.
  let unsure = items.filter(({ result }) => result === 'unconfirmed').length;
  for (const { token, said } of told.queue) {
    const times = timesIn(waiting.typed(), token);
    if (times === 0 && said === 'queued' && unsure > 0) unsure -= 1;
    else if (times > 1 || (said === 'queued' && times !== 1)) wrong.push(`${token}, ${said}: typed ${times} times`);
  }
  return wrong;
}

async function checkShells({ told }: Load): Promise<readonly string[]> {
  const wrong: string[] = [];
  const { items } = await asked(() => live.client.get('/v1/shells', { completed: true, failed: true }));
  for (const { token, said } of told.shell) {
    const there = items.filter(({ label }) => label === token).length;
    if (there > 1 || (said === token && there !== 1)) wrong.push(`${token}, ${said}: ${there} shells`);
    if (said === token) await until(() => existsSync(mark(token)), 60_000);
    const ran = existsSync(mark(token)) ? readFileSync(mark(token), 'utf8') : '';
    if (ran !== '' && ran !== `${token}\n`) wrong.push(`${token} ran as ${JSON.stringify(ran)}`);
  }
  return wrong;
}

async function round(number: number, prompt: LookAlike, waiting: LookAlike): Promise<Readonly<Record<string, number>>> {
  for (const actor of [prompt, waiting]) await act(actor, actor === prompt ? 'settled' : 'running');
  await becomes(prompt, /idle|completed/);
  await becomes(waiting, /running/);
  const load = new Load(number);
  const task = `task ${number} of many`;
  const payload = { session_id: 's1', transcript_path: '/t', cwd: '/p', prompt_id: `p${number}`, prompt: task };
  const input = JSON.stringify({ ...payload, permission_mode: 'default', hook_event_name: 'UserPromptSubmit' });
  const called = waiting.call([{ argv: [hook, 'claude', 'UserPromptSubmit'], input }]);
  load.start(
    {
      send: (token) => send(prompt.pane, `say ${token}.`, false),
      queue: (token) => send(waiting.pane, `later ${token}.`, true),
      shell: runShell,
    },
    () => called,
  );
  await until(() => Object.values(load.told).every((told) => told.length > 0), 60_000);
  await called;
  // Half of them while messages go out that waited.
  if (random() < 0.5) await act(waiting, 'settled');
  const moment = random() * 400;
  await new Promise((resolve) => setTimeout(resolve, moment));
  await live.stopDaemon('SIGKILL');
  await load.over();
  await live.startDaemon();
  await act(prompt, 'settled');
  const heard = async (): Promise<readonly string[]> =>
    (await live.client.get('/v1/explain', { ref: waiting.pane })).events
      .filter(({ source, kind }) => source === 'hook' && kind === 'state.observed')
      .map(({ verdict }) => verdict);
  await answered(async () => (await heard()).length > 0, 60_000);
  expect(await asked(heard), 'one hook call').toEqual(['applied']);
  expect([...(await checkTyped(prompt, waiting, load)), ...(await checkShells(load))]).toEqual([]);
  const acknowledged = (told: readonly Told[], word: RegExp): number =>
    told.filter(({ said }) => said !== null && word.test(said)).length;
  return {
    sends: acknowledged(load.told.send, /^delivered$/),
    queued: acknowledged(load.told.queue, /^queued$/),
    shells: acknowledged(load.told.shell, /^shell/),
    hooks: 1,
  };
}

it(
  `LOG1 ACT7 SHL6 ADM3 ${count} times kill -9 under load: nothing acknowledged is lost, nothing is doubled`,
  async () => {
    await live.startDaemon();
    const sums: Record<string, number> = {};
    for (let number = 0; number < count; number += 1) {
      // Fresh ones: what a killed daemon left in a prompt belongs to nobody.
      const actors = [LookAlike.start(live, 'claude', 'work'), LookAlike.start(live, 'claude', 'work')] as const;
      for (const [name, more] of Object.entries(await round(number, ...actors))) sums[name] = (sums[name] ?? 0) + more;
      for (const { pane } of actors) live.tmux('kill-pane', '-t', pane);
    }
    console.log(`kills under load: ${count}, acknowledged: ${JSON.stringify(sums)}`);
    expect(Object.values(sums).every((sum) => sum > 0)).toBe(true);
  },
  120_000 + count * 60_000,
);
