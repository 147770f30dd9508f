// Hostile messages of every size into a recording program on a real tmux: each arrives byte for byte or is refused by
// rule, and none of it ever stands in the arguments of a process. COUNT says how many.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkMessage } from '../../../src/actions/message-text.ts';
import { limits } from '../../../src/model/limits.ts';
import { createRealRandom } from '../../../src/platform/random.ts';
import { createBufferLoader, createGuardedWriter } from '../../../src/terminals/tmux/guarded-writer.ts';
import type { PaneAddress, PaneWriter } from '../../../src/terminals/tmux/pane-writer.ts';
import { repetitions } from '../../fault/children.ts';
import {
  createRecorder,
  openLink,
  placeNow,
  type Recorder,
  recorderCommand,
  type TestLink,
  unbracketed,
} from '../../kit/recorder.ts';
import { createTmuxServer, type TmuxServerKit, until } from '../../kit/tmux-server.ts';
import { randomOf } from '../../security/sanitize-inputs.ts';

const count = repetitions(100);
/** In every message that is long enough, to be looked for among arguments. */
const mark = 'agtmux-fuzz-mark';

const harmless =
  ';|; |;;|\\;|#{pid}|#(touch x)|#[fg=red]|##|%H|%%|%if|-|--|-t|-b x|$HOME|$(id)|`id`|~|~/x|"|\'|\\|\\n|\\033|{|}| } { |\n|\t|\r\n|é|漢字|🙂|👩‍👩‍👧|🇯🇵|\u00a0|\u200d|\u2028|\ufffd|\ufeff|[200~|[201~|' +
  'word| two words |0|=|!|*|?|@|<|>|&&|run-shell id|kill-server|@@hands-1|%end 1 1 1|%exit';
const refused = ['\u001b[201~', '\u001b', '\u0000', '\r', '\u0007', '\u007f', '\u009b', '\u0003', '\ud800', '\udc00'];

/** The rule in the test's own words: null for refused. */
function ruled(text: string, strip: boolean): string | null {
  if (Buffer.from(text).toString() !== text) return null;
  let told = '';
  const lines = text.split('\r\n').join('\n');
  for (const char of lines) {
    const code = char.charCodeAt(0);
    const isControl = (code < 32 && char !== '\n' && char !== '\t') || (code >= 127 && code < 160);
    if (isControl && !strip) return null;
    if (!isControl) told += char;
  }
  return told.trim() === '' || Buffer.byteLength(told) > limits.messageBytesMax ? null : told;
}

let kit: TmuxServerKit;
let recorder: Recorder;
let link: TestLink;
let place: PaneAddress;
const argvs: (readonly string[])[] = [];

beforeAll(async () => {
  kit = await createTmuxServer();
  recorder = createRecorder(kit.directory);
  await kit.newSession('main', recorder.command);
  const pane = await until('the recorder runs', async () => {
    const now = await placeNow(kit, 'main:');
    return now.command === recorderCommand && now;
  });
  place = pane;
  link = await openLink(kit, 'main');
});

afterAll(async () => {
  link.close();
  await kit.end();
});

function isAnywhere(text: string): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}

function messageOf(random: (below: number) => number): string {
  const pieces = harmless.split('|');
  const sizeMax = Math.ceil(10 ** (random(6_050) / 1_000));
  const isRefused = random(8) === 0;
  const parts: string[] = sizeMax > 100 ? [mark] : [];
  let bytes = parts.length === 0 ? 0 : mark.length;
  const block = Array.from({ length: 1 + random(40) }, () => pieces[random(pieces.length)] ?? '').join('');
  while (bytes < sizeMax) {
    const part = sizeMax - bytes > 2_000 ? block + random(1_000_000) : (pieces[random(pieces.length)] ?? '');
    parts.push(part);
    bytes += Buffer.byteLength(part);
  }
  if (isRefused) parts.splice(random(parts.length + 1), 0, refused[random(refused.length)] ?? '');
  return parts.join('');
}

it(`ACT2 ACT2b, SEC6: ${count} fuzzed messages arrive byte for byte or are refused by rule, and stand in no argv`, async () => {
  const { executor } = kit;
  const watched: typeof executor = {
    ...executor,
    run: (argv, options) => {
      argvs.push(argv);
      return executor.run(argv, options);
    },
  };
  const loadBuffer = createBufferLoader({ executor: watched, socket: { kind: 'path', path: kit.socketPath } });
  const ways: readonly PaneWriter[] = [
    createGuardedWriter(link, createRealRandom()),
    createGuardedWriter({ ...link, loadBuffer }, createRealRandom()),
  ];
  const random = randomOf(20_261_115);
  const counts = { equal: 0, refused: 0, largest: 0, bytes: 0, scans: 0, inArguments: 0 };
  let offset = 0;
  for (let index = 0; index < count; index += 1) {
    const text = messageOf(random);
    const strip = random(2) === 0;
    const expected = ruled(text, strip);
    const checked = checkMessage(text, { strip });
    expect(checked.ok ? checked.value : null).toBe(expected);
    if (!checked.ok) {
      expect(['E_INPUT', 'E_TOO_LARGE']).toContain(checked.failure.code);
      counts.refused += 1;
      continue;
    }
    let isOver = false;
    const sent = ways[index % 2]?.paste(place, checked.value).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      if (isAnywhere(mark)) counts.inArguments += 1;
      counts.scans += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await sent).toEqual({ kind: 'done' });
    const wanted = Buffer.byteLength(checked.value) + 12;
    await until(`message ${index} arrives`, () => recorder.bytesOf(place.panePid, offset).length >= wanted);
    const arrived = recorder.bytesOf(place.panePid, offset).toString();
    // Compared first: a difference of a megabyte is not printed.
    expect(unbracketed(arrived) === checked.value, `message ${index}, seed 20261115`).toBe(true);
    offset += wanted;
    counts.equal += 1;
    counts.bytes += wanted - 12;
    counts.largest = Math.max(counts.largest, wanted - 12);
  }
  console.log(`fuzzed messages: ${JSON.stringify(counts)}`);
  expect(counts.equal + counts.refused).toBe(count);
  expect(counts.equal).toBeGreaterThan(count / 2);
  expect(counts.inArguments).toBe(0);
  expect(argvs.length).toBeGreaterThan(0);
  expect(argvs.flat().some((word) => word.includes(mark))).toBe(false);
  expect(await kit.tmux('list-buffers')).toBe('');
  expect((await kit.tmux('list-sessions', '-F', '#{session_name}')).split('\n')).toEqual(['main']);
}, 600_000);
