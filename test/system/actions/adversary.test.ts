// Sends and approvals while everything around them changes, on a real tmux: nothing reaches another process than the one
// that was looked at, nothing is run by a shell, and every refusal names what happened. COUNT says how many.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Typed, typeAndSubmit } from '../../../src/actions/submitting.ts';
import { AgtmuxError } from '../../../src/model/errors.ts';
import { paneId } from '../../../src/model/ids.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealRandom } from '../../../src/platform/random.ts';
import { createGuardedWriter, type WriterLink } from '../../../src/terminals/tmux/guarded-writer.ts';
import type { PaneAddress, PaneWriter, WriteResult } from '../../../src/terminals/tmux/pane-writer.ts';
import { repetitions } from '../../fault/children.ts';
import { Adversary, type Trick } from '../../kit/adversary.ts';
import { createRecorder, foregroundOf, type Recorder, recorderCommand } from '../../kit/recorder.ts';
import { createTmuxServer, type TmuxServerKit } from '../../kit/tmux-server.ts';
import { type Random, randomOf } from '../../security/sanitize-inputs.ts';

const count = repetitions(100);
const seed = Number(process.env.SEED ?? 20_261_115);
const clock = createRealClock();
/** Pressed as an answer; no message contains it. */
const approval = '\u0014';

type Why = Extract<WriteResult, { kind: 'refused' }>['why'];
/** What each trick may be refused with. A pane that only moved is still the same pane. */
const reasons: Readonly<Record<Trick, readonly Why[]>> = {
  respawn: ['other_process', 'dead'],
  restart: ['other_process', 'dead'],
  front: ['other_process'],
  swap: [],
  copy: ['in_mode'],
  synchronize: ['synchronized'],
  server: ['gone', 'other_process'],
};

interface Attempt {
  readonly foreground: number;
  readonly outcome: string;
}

let kit: TmuxServerKit;
let recorder: Recorder;
let adversary: Adversary;

beforeAll(async () => {
  kit = await createTmuxServer();
  recorder = createRecorder(kit.directory);
  adversary = new Adversary(kit, recorder, randomOf(seed));
  await adversary.build();
});

afterAll(async () => {
  await adversary.end();
  await kit.end();
});

/** Always the connection of the moment, as a TmuxLink gives it. */
const link: WriterLink = {
  command: (text, deadlineMs) => current().command(text, deadlineMs),
  capture: async (pane) => current().capture(pane),
  get capabilities() {
    return current().capabilities;
  },
};

function current(): WriterLink {
  if (adversary.link === null) throw new AgtmuxError('E_TARGET_DOWN', 'there is no connection to tmux');
  return adversary.link;
}

/** A program that is there and in front, as a person sees it in a list; null when this pane has none now. */
async function see(random: Random): Promise<{ place: PaneAddress; foreground: number } | null> {
  const pane = adversary.slots[random(adversary.slots.length)]?.pane;
  if (pane === undefined) return null;
  const format = '#{pid} #{pane_id} #{pane_pid} #{pane_current_command}';
  const blocks = await link.command(`display-message -p -t ${pane} "${format}"`).catch(() => []);
  const words = Buffer.from(blocks[0]?.body ?? new Uint8Array())
    .toString()
    .trim()
    .split(' ');
  const [serverPid = '', id = '', panePid = '', command = ''] = words;
  const foreground = foregroundOf(Number(panePid));
  if (command !== recorderCommand || foreground === null || id !== pane) return null;
  return { place: { serverPid: Number(serverPid), pane: paneId(id), panePid: Number(panePid), command }, foreground };
}

const nameOf = (outcome: Typed): string =>
  typeof outcome === 'string' ? outcome : outcome.kind === 'refused' ? `refused ${outcome.why}` : outcome.kind;

it(`ACT2: ${count} sends and ${count / 5} approvals among adversaries: none to another process, none to a shell`, async () => {
  const writer: PaneWriter = createGuardedWriter(link, createRealRandom());
  const random = randomOf(seed + 1);
  const sends = new Map<number, Attempt>();
  const approvals: Attempt[] = [];
  const wrongReasons: string[] = [];
  const tally = new Map<string, number>();
  const unsure = new Set<number>();
  const running = adversary.run();
  for (let index = 0; index < count + count / 5; ) {
    const lookedAt = performance.now();
    const seen = await see(random);
    if (adversary.failure !== null) throw adversary.failure;
    if (seen === null) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      continue;
    }
    const { place, foreground } = seen;
    // An earlier message may still stand there: whoever sends looks for that, and says no (ACT3).
    if (unsure.has(foreground)) {
      await adversary.renew(place.pane);
      continue;
    }
    adversary.aim = place.pane;
    const recheck = async (): Promise<boolean> => foregroundOf(place.panePid) === foreground;
    // The person reads and decides.
    await new Promise((resolve) => setTimeout(resolve, random(40)));
    const isSend = index < count;
    const canary = `touch ${join(kit.directory, `canary${index}`)}`;
    const text = `${canary} # m${index}m${random(2) === 0 ? '' : `\n${canary}\necho z${index}z`}`;
    const outcome = isSend
      ? await typeAndSubmit(writer, place, text, { enter: true, collapsed: null, enterPauseMs: 0, recheck, clock })
      : (await recheck())
        ? await writer.press(place, ['C-t'])
        : ({ kind: 'refused', why: 'other_process' } as const);
    const name = nameOf(outcome);
    if (typeof outcome !== 'string' && outcome.kind === 'refused') {
      const happened = [...adversary.since(lookedAt)];
      if (!happened.some((trick) => reasons[trick].includes(outcome.why))) {
        wrongReasons.push(`${index}: ${outcome.why} after ${happened.join(', ')}`);
      }
    }
    if (isSend && ['pasted', 'mixed', 'lost'].includes(name)) unsure.add(foreground);
    if (isSend) sends.set(index, { foreground, outcome: name });
    else approvals.push({ foreground, outcome: name });
    const key = `${isSend ? 'send' : 'approval'} ${name}`;
    tally.set(key, (tally.get(key) ?? 0) + 1);
    index += 1;
  }
  adversary.stop();
  await running;
  if (adversary.failure !== null) throw adversary.failure;
  const wrong = wrongDeliveries(sends, approvals);
  const executed = readdirSync(kit.directory).filter((name) => name.startsWith('canary'));
  const played = Object.fromEntries(
    Object.keys(reasons).map((trick) => [trick, adversary.diary.filter((entry) => entry.trick === trick).length]),
  );
  console.log(
    `adversaries: ${JSON.stringify({ played, outcomes: Object.fromEntries([...tally].sort()), wrong: wrong.length, executed: executed.length, wrongReasons: wrongReasons.length })}`,
  );
  expect(wrong).toEqual([]);
  expect(executed).toEqual([]);
  expect(wrongReasons).toEqual([]);
  // The adversary is quick, and Enter comes a moment after the text: a few get through, and that is enough to see it work.
  expect(tally.get('send submitted') ?? 0).toBeGreaterThan(0);
}, 1_800_000);

/** Every byte that is where it must not be: a message, an Enter or an answer of somebody else. */
function wrongDeliveries(sends: ReadonlyMap<number, Attempt>, approvals: readonly Attempt[]): readonly string[] {
  const wrong: string[] = [];
  const mayHave = (attempts: Iterable<Attempt>, pid: number, outcomes: readonly string[]): number =>
    [...attempts].filter((one) => one.foreground === pid && outcomes.includes(one.outcome)).length;
  for (const { pid, bytes } of recorder.recordings()) {
    const text = bytes.toString();
    for (const [, index] of text.matchAll(/ # m(\d+)m/g)) {
      const attempt = sends.get(Number(index));
      const isTyped = attempt !== undefined && !attempt.outcome.startsWith('refused');
      if (!isTyped || attempt.foreground !== pid) {
        wrong.push(`message ${index} for ${attempt?.foreground} (${attempt?.outcome}) reached ${pid}`);
      }
    }
    const enters = text.split('\r').length - 1;
    if (enters > mayHave(sends.values(), pid, ['submitted', 'lost'])) wrong.push(`${pid} got ${enters} Enters`);
    const answers = text.split(approval).length - 1;
    if (answers > mayHave(approvals, pid, ['done', 'lost'])) wrong.push(`${pid} got ${answers} answers`);
  }
  return wrong;
}
