// The guarded hands on a real tmux: what arrives, what is refused and why, and that nothing is left behind.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { typeAndSubmit, withoutMarks } from '../../../src/actions/submitting.ts';
import { builtIn } from '../../../src/agents/definition/built-in.ts';
import { agentOf } from '../../../src/agents/definition/load.ts';
import { linearPattern } from '../../../src/agents/screen/pattern.ts';
import { paneId } from '../../../src/model/ids.ts';
import { limits } from '../../../src/model/limits.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealRandom } from '../../../src/platform/random.ts';
import { createBufferLoader, createGuardedWriter } from '../../../src/terminals/tmux/guarded-writer.ts';
import type { PaneAddress, PaneWriter } from '../../../src/terminals/tmux/pane-writer.ts';
import {
  createRecorder,
  openLink,
  placeNow,
  type Recorder,
  recorderCommand,
  type TestLink,
} from '../../kit/recorder.ts';
import { createTmuxServer, type TmuxServerKit, until } from '../../kit/tmux-server.ts';

const clock = createRealClock();
const everywhere = async (): Promise<boolean> => true;

/** A prompt in a frame, as Continue has it: what it does not know as a key is text, the marks of a paste too. */
const showsMarks = `
process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8');
let [text, took] = ['', ''];
const draw = () => process.stdout.write(
  '\\u001b[2J\\u001b[H' + took + '\\r\\n╭' + '─'.repeat(60) + '╮\\r\\n│ ● ' + text + '\\u001b[63G│\\r\\n╰' + '─'.repeat(60) + '╯');
process.stdin.on('data', (data) => {
  for (const char of data) {
    if (char === '\\r' || char === '\\n') [took, text] = ['took ' + text, ''];
    else if (char === '\\u0015') text = '';
    else if (char >= ' ') text += char;
  }
  draw();
});
draw();
`;

describe('guarded hands', () => {
  let kit: TmuxServerKit;
  let recorder: Recorder;
  let link: TestLink;
  let writer: PaneWriter;
  let place: PaneAddress;

  beforeAll(async () => {
    kit = await createTmuxServer();
    recorder = createRecorder(kit.directory);
    await kit.newSession('main', 'exec sleep 3600');
    link = await openLink(kit, 'main');
    writer = createGuardedWriter(link, createRealRandom());
  });

  afterAll(async () => {
    link.close();
    await kit.end();
  });

  beforeEach(async () => {
    const pane = await kit.tmux('new-window', '-d', '-P', '-F', '#{pane_id}', '-t', 'main:', recorder.command);
    await ready(pane);
    place = await placeNow(kit, pane);
  });

  const ready = (pane: string): Promise<boolean> =>
    until('the recorder is ready', async () => {
      const { command } = await placeNow(kit, pane);
      return command === recorderCommand && (await kit.tmux('capture-pane', '-p', '-t', pane)).includes('ready');
    });
  const got = (): string => recorder.textOf(place.panePid);
  const arrived = (text: string): Promise<boolean> => until(`${text.length} characters arrive`, () => got() === text);
  const typing = { enter: true, collapsed: null, enterPauseMs: 0, recheck: everywhere, clock };

  it('ACT2 ACT2a: text arrives byte for byte in one bracketed paste, without Enter', async () => {
    const text = `-t %0; "quoted" 'single' $HOME \${HOME} $(id) \`id\` ~ #{pid} #(id) %H %% \\n \\ 漢字 é 🙂\ttab\nnext line;`;
    expect(await writer.paste(place, text)).toEqual({ kind: 'done' });
    await arrived(text);
    const [recording] = recorder.recordings().filter(({ pid }) => pid === place.panePid);
    expect(recording?.bytes.toString()).toBe(`\u001b[200~${text}\u001b[201~`);
  });

  it('ACT2: it is one paste even where the terminal no longer asks for the marks of one', async () => {
    const tty = await kit.tmux('display-message', '-p', '-t', place.pane, '#{pane_tty}');
    writeFileSync(tty, '\u001b[?2004lno marks\r\n');
    await until('tmux has read it', async () =>
      (await kit.tmux('capture-pane', '-p', '-t', place.pane)).includes('no marks'),
    );
    expect(await writer.paste(place, 'first\nsecond')).toEqual({ kind: 'done' });
    await arrived('first\nsecond');
    expect(recorder.bytesOf(place.panePid).toString()).toBe('\u001b[200~first\nsecond\u001b[201~');
  });

  it.each([
    ['over the control connection', false],
    ['through a loader', true],
  ])('ACT2: a megabyte arrives %s', async (_, isLoaded) => {
    const loader = createBufferLoader({ executor: kit.executor, socket: { kind: 'path', path: kit.socketPath } });
    const wide = isLoaded ? createGuardedWriter({ ...link, loadBuffer: loader }, createRealRandom()) : writer;
    const unit = '0123456789 "$\\~; 漢🙂\n';
    const text = unit.repeat(Math.floor(limits.messageBytesMax / Buffer.byteLength(unit)));
    expect(await wide.paste(place, text)).toEqual({ kind: 'done' });
    await arrived(text);
  });

  it('ACT2: a loader that fails leaves the way over the control connection', async () => {
    const text = 'x'.repeat(40_000);
    const narrow = createGuardedWriter({ ...link, loadBuffer: async () => false }, createRealRandom());
    expect(await narrow.paste(place, text)).toEqual({ kind: 'done' });
    await arrived(text);
  });

  it('ACT2: each thing that no longer fits refuses paste and keys, with its reason, and leaves no buffer', async () => {
    const cases = [
      ['gone', { ...place, serverPid: place.serverPid + 1 }],
      ['gone', { ...place, pane: paneId('%999') }],
      ['gone', { ...place, pane: paneId('main') }],
      ['other_process', { ...place, panePid: place.panePid + 1 }],
      ['other_process', { ...place, command: 'bash' }],
      ['other_process', { ...place, command: `${place.command},1}#{==:1,1` }],
    ] as const;
    for (const [why, other] of cases) {
      expect(await writer.paste(other, 'text')).toEqual({ kind: 'refused', why });
      expect(await writer.press(other, ['Enter'])).toEqual({ kind: 'refused', why });
      expect(await writer.press(other, ['Enter'], { words: 'ready' })).toEqual({ kind: 'refused', why });
    }
    await withChange(['copy-mode', '-t', place.pane], ['send-keys', '-X', '-t', place.pane, 'cancel'], 'in_mode');
    await withChange(['select-pane', '-d', '-t', place.pane], ['select-pane', '-e', '-t', place.pane], 'in_mode');
    const sync = (value: string): string[] => ['set-option', '-w', '-t', place.pane, 'synchronize-panes', value];
    await withChange(sync('on'), sync('off'), 'synchronized');
    expect(await kit.tmux('list-buffers')).toBe('');
    expect(await writer.paste(place, 'after all')).toEqual({ kind: 'done' });
    await arrived('after all');
  });

  async function withChange(change: readonly string[], back: readonly string[], why: string): Promise<void> {
    await kit.tmux(...change);
    expect(await writer.paste(place, 'text')).toEqual({ kind: 'refused', why });
    expect(await writer.press(place, ['Enter'])).toEqual({ kind: 'refused', why });
    await kit.tmux(...back);
  }

  it('ACT2: a dead pane and a pane that was respawned refuse', async () => {
    await kit.tmux('set-option', '-w', '-t', place.pane, 'remain-on-exit', 'on');
    process.kill(place.panePid);
    await until(
      'the pane is dead',
      async () => (await kit.tmux('display-message', '-p', '-t', place.pane, '#{pane_dead}')) === '1',
    );
    expect(await writer.paste(place, 'text')).toEqual({ kind: 'refused', why: 'dead' });
    await kit.tmux('respawn-pane', '-t', place.pane, recorder.command);
    await ready(place.pane);
    expect(await writer.paste(place, 'text')).toEqual({ kind: 'refused', why: 'other_process' });
    expect(got()).toBe('');
  });

  it('ACT2: one line is typed as it is, without the marks of a paste, and never more than one', async () => {
    const line = "cd '/a b' && claude --resume 0-1; #{pane_id} \\ $HOME ~ -";
    expect(await writer.type(place, line)).toEqual({ kind: 'done' });
    await arrived(line);
    for (const more of ['', 'a\nb', 'a\r', '\u001b[A']) expect((await writer.type(place, more)).kind).toBe('lost');
    expect(await writer.type({ ...place, command: 'bash' }, 'x')).toEqual({ kind: 'refused', why: 'other_process' });
    await arrived(line);
  });

  it('ACT2a: a program that shows the marks of a paste as text gets its line without them, seen in its prompt before Enter', async () => {
    const { keys } = agentOf(builtIn('continue'), {}, linearPattern);
    if (keys?.prompt === undefined) throw new Error('its prompt is known');
    const shownBy = async (pane: string, sign: RegExp): Promise<boolean> =>
      until(`${sign} on the screen`, async () => sign.test(await kit.tmux('capture-pane', '-p', '-t', pane)));
    const command = `exec '${process.execPath}' '${join(kit.directory, 'shows-marks.js')}'`;
    writeFileSync(join(kit.directory, 'shows-marks.js'), showsMarks);
    const pane = await kit.tmux('new-window', '-d', '-P', '-F', '#{pane_id}', '-t', 'main:', command);
    await shownBy(pane, /│ ● *│/);
    const there = await placeNow(kit, pane);
    const how = { ...typing, prompt: keys.prompt };
    expect(await typeAndSubmit(writer, there, 'hello there', how)).not.toBe('submitted');
    await shownBy(pane, /│ ● \[200~hello there\[201~ *│/);
    await kit.tmux('send-keys', '-t', pane, 'C-u');
    await shownBy(pane, /│ ● *│/);
    const plain = { ...how, isPlain: true };
    expect(await typeAndSubmit(withoutMarks(writer), there, 'say "é" 漢; $HOME', plain)).toBe('submitted');
    await shownBy(pane, /^took say "é" 漢; \$HOME$/m);
    // What another program shows below the prompt, or instead of it, is no prompt.
    const left = await typeAndSubmit(withoutMarks(writer), place, 'to nobody', plain);
    expect(left).toBe('pasted');
    await arrived('to nobody');
    expect(await kit.tmux('list-buffers')).toBe('');
  });

  it('ACT2: only a dead pane gets another program, in a directory that is none of tmux formats', async () => {
    const line = recorder.command;
    expect(await writer.respawn(place, line, null)).toEqual({ kind: 'refused', why: 'other_process' });
    await kit.tmux('set-option', '-w', '-t', place.pane, 'remain-on-exit', 'on');
    process.kill(place.panePid);
    await until(
      'the pane is dead',
      async () => (await kit.tmux('display-message', '-p', '-t', place.pane, '#{pane_dead}')) === '1',
    );
    const diedAt = Number(await kit.tmux('display-message', '-p', '-t', place.pane, '#{pane_dead_time}'));
    const dead = { ...(await placeNow(kit, place.pane)), ...(diedAt === 0 ? {} : { diedAt }) };
    const others = [
      ['other_process', { ...dead, panePid: place.panePid + 1 }],
      ['other_process', { ...dead, diedAt: diedAt + 1 }],
      ['gone', { ...dead, serverPid: place.serverPid + 1 }],
      ['gone', { ...dead, pane: paneId('%999') }],
    ] as const;
    for (const [why, other] of others)
      expect(await writer.respawn(other, line, null)).toEqual({ kind: 'refused', why });
    const folder = join(kit.directory, '#{pane_id},}');
    mkdirSync(folder);
    expect(await writer.respawn(dead, line, folder)).toEqual({ kind: 'done' });
    await ready(place.pane);
    expect(await kit.tmux('display-message', '-p', '-t', place.pane, '#{pane_current_path}')).toBe(folder);
  });

  it('ACT2: keys by their names, and only while the text is shown', async () => {
    expect(await writer.press(place, ['a', 'Enter', '-', ';', 'Escape'])).toEqual({ kind: 'done' });
    await arrived('a\r-;\u001b');
    expect(await writer.press(place, ['y'], { words: '[ready]' })).toEqual({ kind: 'done' });
    expect(await writer.press(place, ['n'], { words: 'not to be seen' })).toEqual({
      kind: 'refused',
      why: 'not_shown',
    });
    expect(await writer.press(place, ['n'], { words: '?!#{' })).toEqual({ kind: 'refused', why: 'not_shown' });
    await arrived('a\r-;\u001by');
  });

  it('ACT2 ACT2d: a row with a tab is the same row, whether tmux tells a tab or blanks', async () => {
    await kit.tmux('send-keys', '-H', '-t', place.pane, '61', '09', '62');
    await arrived('a\tb');
    const lines = await until('the row is shown', async () => {
      const now = await writer.look(place);
      return now.some((line) => /^a\s+b$/.test(line)) && now;
    });
    const row = lines.findIndex((line) => /^a\s+b$/.test(line));
    expect(await writer.press(place, ['y'], { lines, rows: [row], core: [row] })).toEqual({ kind: 'done' });
    await arrived('a\tby');
  });

  it('ACT2 ACT2d: keys only while every row stands where it stood, letter by letter, and no other line has come up', async () => {
    const line = 'rm [a] (b) {c}, #{d} #e ^f$ *+?| \\g ~h "i" é 漢 ─ - ]';
    await writer.type(place, line);
    await arrived(line);
    const lines = await until('the line is shown', async () => {
      const now = await writer.look(place);
      return now[1] === line && now;
    });
    const rows = [0, 1];
    const other = (row: number, text: string): readonly string[] => lines.map((one, at) => (at === row ? text : one));
    for (const text of [
      `${line}x`,
      line.slice(1),
      line.replace('漢', '字'),
      line.replace('^', 'v'),
      line.replace(']', 'x'),
    ])
      expect(await writer.press(place, ['n'], { lines: other(1, text), rows })).toEqual({
        kind: 'refused',
        why: 'not_shown',
      });
    const moved = ['', ...lines];
    expect(await writer.press(place, ['n'], { lines: moved, rows: [1, 2] })).toEqual({
      kind: 'refused',
      why: 'not_shown',
    });
    // The row in question is there, and one more.
    const fewer = lines.filter((_, at) => at !== 1);
    expect(await writer.press(place, ['n'], { lines: fewer, rows: [0], core: [0] })).toEqual({
      kind: 'refused',
      why: 'not_shown',
    });
    // Blanks at the end do not count. What is pressed is drawn, and then the row is another one.
    expect(await writer.press(place, ['y'], { lines: other(1, `${line} `), rows, core: [1] })).toEqual({
      kind: 'done',
    });
    await until('the key is shown', async () => (await writer.look(place))[1] === `${line}y`);
    expect(await writer.press(place, ['n'], { lines, rows, core: [1] })).toEqual({ kind: 'refused', why: 'not_shown' });
    expect(await writer.press(place, ['y'], { lines: other(1, `${line}y`), rows, core: [1] })).toEqual({
      kind: 'done',
    });
    await arrived(`${line}yy`);
  });

  it('ACT2 ACT2c: while a pane is held only what is typed from here arrives, and everybody else again after that', async () => {
    expect(await writer.hold(place)).toEqual({ kind: 'done' });
    await kit.tmux('send-keys', '-t', place.pane, '-l', 'rm ');
    expect(await writer.paste(place, 'ours')).toEqual({ kind: 'done' });
    await kit.tmux('send-keys', '-t', place.pane, '-l', 'rm ');
    expect(await writer.press(place, ['y'])).toEqual({ kind: 'done' });
    await writer.release(place);
    await kit.tmux('send-keys', '-t', place.pane, '-l', 'theirs');
    await arrived('oursytheirs');
    expect(await kit.tmux('display-message', '-p', '-t', place.pane, '#{pane_input_off}[#{@agtmux-held}]')).toBe('0[]');
  });

  it('ACT2: a pane whose keyboard somebody else has switched on again gets no key', async () => {
    expect(await writer.hold(place)).toEqual({ kind: 'done' });
    await kit.tmux('select-pane', '-e', '-t', place.pane);
    expect(await writer.press(place, ['n'])).toEqual({ kind: 'refused', why: 'in_mode' });
    await writer.release(place);
    expect(await writer.press(place, ['y'])).toEqual({ kind: 'done' });
    await arrived('y');
  });

  it('ACT2: tmux gives the keyboard back by itself when whoever held it is gone', async () => {
    const other = await openLink(kit, 'main');
    expect(await createGuardedWriter(other, createRealRandom()).hold(place)).toEqual({ kind: 'done' });
    other.close();
    expect(await writer.press(place, ['n'])).toEqual({ kind: 'refused', why: 'in_mode' });
    await until('the keyboard is given back', async () => (await writer.press(place, ['y'])).kind === 'done', 30_000);
    await arrived('y');
    expect(await kit.tmux('display-message', '-p', '-t', place.pane, '#{pane_in_mode}[#{@agtmux-held}]')).toBe('0[]');
  });

  it('ACT2: no answer is lost, not done', async () => {
    const broken = createGuardedWriter(await closedLink(), createRealRandom());
    for (const touch of [await broken.paste(place, 'text'), await broken.press(place, ['Enter'])]) {
      expect(touch.kind).toBe('lost');
    }
    expect(await broken.look(place)).toEqual([]);
  });

  async function closedLink(): Promise<TestLink> {
    const closed = await openLink(kit, 'main');
    closed.close();
    return closed;
  }

  it('ACT2 ACT2c: Enter follows once the text was seen, and is left alone when it was not', async () => {
    expect(await typeAndSubmit(writer, place, 'first line\nfix the bug, please', typing)).toBe('submitted');
    await arrived('first line\nfix the bug, please\r');
    expect(await typeAndSubmit(writer, place, 'left in the prompt', { ...typing, enter: false })).toEqual({
      kind: 'done',
    });
    await kit.tmux('respawn-pane', '-k', '-t', place.pane, `${recorder.command} >/dev/null`);
    await until('another recorder', async () => (await placeNow(kit, place.pane)).command === recorderCommand);
    place = await placeNow(kit, place.pane);
    expect(await typeAndSubmit(writer, place, 'nobody sees this', typing)).toBe('pasted');
    await arrived('nobody sees this');
  });

  it('ACT2: a text that the terminal echoed was read by nobody, and gets no Enter', async () => {
    const got = join(kit.directory, 'echoed');
    const program = `stty sane; exec ${join(kit.directory, recorderCommand)} ${got}`;
    await kit.tmux('respawn-pane', '-k', '-t', place.pane, program);
    await until('another recorder', async () => (await placeNow(kit, place.pane)).command === recorderCommand);
    place = await placeNow(kit, place.pane);
    expect(await typeAndSubmit(writer, place, 'touch canary', typing)).toBe('pasted');
    expect(await kit.tmux('capture-pane', '-p', '-t', place.pane)).toContain('touch canary');
    // It reads lines, and none has ended.
    expect(readFileSync(got, 'utf8')).toBe('');
  });

  it('ACT2: an owner that changed is typed nothing, and gets no Enter', async () => {
    const never = { ...typing, recheck: async () => false };
    expect(await typeAndSubmit(writer, place, 'text', never)).toEqual({ kind: 'refused', why: 'other_process' });
    let checks = 0;
    const once = { ...typing, recheck: async () => ++checks === 1 };
    expect(await typeAndSubmit(writer, place, 'only typed', once)).toBe('pasted');
    await arrived('only typed');
  });

  it.each(['y', 'a b', '1, 2', 'y\n', '🙂', '。。。', '- [x] 100%', 'x'.repeat(150), '漢字を直してください'])(
    'ACT2: %s is seen',
    async (text) => {
      expect(await typeAndSubmit(writer, place, text, typing)).toBe('submitted');
      await arrived(`${text}\r`);
    },
  );
});
