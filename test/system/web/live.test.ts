// A pane in a page, with a real daemon and a real tmux: the picture is the one tmux shows, nothing of what the program sent
// comes through but what it shows, slow pages and loud panes hold up nobody, and typing reaches the agent that is meant.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Terminal } from '@xterm/headless';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaneSays } from '../../../src/api/web.ts';
import { limits } from '../../../src/model/limits.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act, acts } from '../../kit/scenes.ts';
import { DaemonWorld, type PaneView, Visitor } from '../../web/kit-server.ts';

const program = fileURLToPath(new URL('../../../bin/agtmux', import.meta.url));
/** A gigabyte takes minutes on a small machine: COUNT=1024 for all of it. */
const floodMegabytes = Math.min(Number(process.env.COUNT ?? 48), 1_024);

let world: DaemonWorld;
let me: Visitor;

beforeAll(async () => {
  world = await DaemonWorld.open();
  me = await world.enter();
});

afterAll(async () => {
  await world.close();
});

/** What the daemon makes its pictures of. */
const ours = '\u001b\\[(?:\\d*(?:;\\d*)*[mHK]|\\?(?:7l|25[hl]))';

/** The terminal of a page: draws what it is sent, and says so when it has. */
class Screen {
  readonly #terminal = new Terminal({ cols: 80, rows: 24, scrollback: 0, allowProposedApi: true });
  /** What it would send back to the program, and what it would be called. */
  readonly effects: string[] = [];

  constructor(view: PaneView) {
    this.#terminal.onData((data) => this.effects.push(data));
    this.#terminal.onTitleChange((title) => this.effects.push(title));
    view.onScreen = (said) => this.#draw(said);
  }

  #draw({ full, width, height, data }: Extract<PaneSays, { type: 'screen' }>): Promise<void> {
    if (full) {
      this.#terminal.resize(width, height);
      this.#terminal.reset();
    }
    return new Promise((resolve) => this.#terminal.write(data, resolve));
  }

  lines(): readonly string[] {
    const buffer = this.#terminal.buffer.active;
    return Array.from({ length: this.#terminal.rows }, (_, row) => buffer.getLine(row)?.translateToString(true) ?? '');
  }

  get cursor(): string {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return `${cursorX},${cursorY}`;
  }

  /** Whether a cell is drawn in a colour of its own. */
  colourAt(row: number, column: number): number | undefined {
    return this.#terminal.buffer.active.getLine(row)?.getCell(column)?.getFgColor();
  }
}

const tidied = (lines: readonly string[]): string =>
  lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
/** Behind a word, for whoever trims what tmux says. */
const shownBy = (pane: string): string =>
  tidied(
    world.live.tmux('display-message', '-p', 'screen', ';', 'capture-pane', '-p', '-t', pane).split('\n').slice(1),
  );
const shownIn = (screen: Screen): string => tidied(screen.lines());

function cursorBy(pane: string): string {
  const [x, y] = world.live.tmux('display-message', '-p', '-t', pane, '#{cursor_x},#{cursor_y}').split(',').map(Number);
  return `${Math.min(x ?? 0, 79)},${y}`;
}

/** Picture and cursor together: tmux may be asked in the middle of one. */
async function isEqual(screen: Screen, pane: string): Promise<void> {
  await until(() => shownIn(screen) === shownBy(pane) && screen.cursor === cursorBy(pane)).catch(() => {
    expect([shownIn(screen), screen.cursor]).toEqual([shownBy(pane), cursorBy(pane)]);
  });
}

async function look(agent: LookAlike): Promise<{ readonly view: PaneView; readonly screen: Screen }> {
  const { ref } = await world.itemOf(agent);
  let screen: Screen | null = null;
  const view = await me.pane(ref, (made) => {
    screen = new Screen(made);
  });
  return { view, screen: screen as unknown as Screen };
}

describe('the picture of a pane', () => {
  it.each(['claude', 'codex', 'gemini'] as const)(
    'is the one tmux shows, for every recorded screen of %s',
    async (kind) => {
      const agent = await world.agent(kind);
      const { view, screen } = await look(agent);
      for (const what of [...acts, ...acts]) {
        await act(agent, what);
        await isEqual(screen, agent.pane);
      }
      expect(view.said.filter((one) => one.type === 'screen').length).toBeGreaterThan(acts.length);
      view.close();
    },
  );

  it('SEC3 holds nothing of what the program sent but what it shows, in its colours', async () => {
    const agent = await world.agent('claude');
    const { view, screen } = await look(agent);
    const hostile = [
      '\u001b]0;evil title\u0007',
      '\u001b]52;c;ZXZpbA==\u0007',
      '\u001b]8;;http://evil.example\u0007a link\u001b]8;;\u0007',
      '\u001b[c\u001b[6n\u001b[>c\u001bZ\u001b[5n',
      '\u001bP$q"p\u001b\\\u001b_evil\u001b\\\u001b^evil\u001b\\',
      '\u001b[?1000h\u001b[?2004h\u001b[?1049h\u001b[31mred\u001b[0m',
      'shown',
    ];
    await agent.show(hostile.join('\n'), 'evil');
    await until(() => shownIn(screen).includes('shown'));
    await isEqual(screen, agent.pane);
    expect(screen.effects).toEqual([]);
    const data = view.said.map((one) => (one.type === 'screen' ? one.data : '')).join('');
    const rest = data.replaceAll(new RegExp(ours, 'g'), '');
    expect(rest).not.toMatch(/\p{Cc}/u);
    const row = screen.lines().findIndex((line) => line.includes('red'));
    expect(screen.colourAt(row, screen.lines()[row]?.indexOf('red') ?? 0)).toBe(1);
    view.close();
  });

  it('goes on when the pane has another size', async () => {
    const agent = await world.agent('claude', 'sized', 'settled');
    const { view, screen } = await look(agent);
    await isEqual(screen, agent.pane);
    world.live.tmux('resize-window', '-t', 'sized:', '-x', '61', '-y', '17');
    await until(
      () => view.last('screen')?.width === 61 || view.said.some((one) => one.type === 'screen' && one.width === 61),
    );
    await until(() => shownIn(screen) === shownBy(agent.pane));
    view.close();
  });

  it('ends with the agent, and is not shown under its name when another takes its place', async () => {
    const agent = await world.agent('claude', 'ending', 'settled');
    const { view } = await look(agent);
    LookAlike.startInstead(world.live, 'codex', agent.pane);
    await until(() => view.last('end') !== undefined);
    expect(view.last('end')?.code).toMatch(/E_RUNTIME_STALE|E_ENDED/);
    await until(() => view.isClosed);
  });

  it('is refused for what has none, in words', async () => {
    const view = await me.pane('runtime:nobody');
    await until(() => view.isClosed);
    expect(view.last('end')).toMatchObject({ code: 'E_REF_NOT_FOUND' });
  });
});

describe('a pane that prints and prints', () => {
  it('neither waits for a page that never draws nor floods one that does', async () => {
    const agent = await world.agent('claude', 'loud', 'settled');
    const [fast, slow] = [await look(agent), await look(agent)];
    await until(() => slow.view.said.length > 0);
    slow.view.isSlow = true;
    const before = (await world.live.client.get('/v1/status')).memory_bytes;
    const began = performance.now();
    const line = `${'x'.repeat(99)}\\n`;
    const source = `const b=Buffer.from('${line}'.repeat(10486));let n=${floodMegabytes};const f=()=>{if(n--===0){process.stdout.write('\\nthe end of it');return;}process.stdout.write(b,f)};f()`;
    await agent.call([{ argv: ['sh', '-c', `${process.execPath} -e "${source}" > /dev/tty`], input: '' }]);
    const tookMs = performance.now() - began;
    await until(() => shownIn(fast.screen).includes('the end of it'));
    await isEqual(fast.screen, agent.pane);
    const screens = fast.view.said.filter((one) => one.type === 'screen').length;
    const slowScreens = slow.view.said.filter((one) => one.type === 'screen').length;
    const grown = ((await world.live.client.get('/v1/status')).memory_bytes - before) / 2 ** 20;
    console.log(
      `flood: ${floodMegabytes} MB in ${Math.round(tookMs)} ms, ${screens} pictures, ${slowScreens} for the slow one, ${Math.round(grown)} MB more`,
    );
    expect(screens).toBeLessThan(tookMs / limits.streamUpdateMs + 40);
    // Those on the way when it stopped drawing, and no more.
    expect(slowScreens).toBeLessThanOrEqual(limits.webScreensAhead + 2);
    expect(grown).toBeLessThan(60);
    // It draws again: the newest picture comes at once.
    slow.view.isSlow = false;
    slow.view.say({ type: 'ack', seq: slow.view.last('screen')?.seq ?? 1 });
    await isEqual(slow.screen, agent.pane);
    for (const { view } of [fast, slow]) view.close();
  });
});

interface AuditRow {
  readonly actor: string;
  readonly action: string;
  readonly result: string;
  readonly detail: Readonly<Record<string, unknown>>;
}
const audit = async (): Promise<readonly AuditRow[]> =>
  (await world.live.client.get('/v1/audit', { count: 20 })).items as readonly AuditRow[];

describe('typing', () => {
  it('ACT1 is off until it is switched on, reaches the agent byte for byte, and leaves rows of who and how much', async () => {
    const agent = await world.agent('claude', 'typing', 'settled');
    const { view } = await look(agent);
    view.say({ type: 'keys', data: 'too early' });
    await until(() => view.last('typing') !== undefined);
    expect(view.last('typing')).toMatchObject({ on: false, failure: { code: 'E_ROLE' } });
    view.say({ type: 'typing', on: true });
    await until(() => view.last('typing')?.on === true);
    const keys = ['h', 'é', '日', '\u001b[A', '\u0003', '; rm -rf #{x} \'"$(y)', '\t', '\u007f', '-X', '\r'];
    for (const data of keys) view.say({ type: 'keys', data });
    await until(() => agent.typed().endsWith('\r'));
    expect(agent.typed()).toBe(keys.join(''));
    view.say({ type: 'typing', on: false });
    await until(() => view.last('typing')?.on === false);
    const [last, first] = (await audit()).filter(({ action }) => action === 'type');
    expect(first).toMatchObject({ result: 'delivered', detail: { typing: 'on' } });
    expect(last).toMatchObject({
      result: 'delivered',
      detail: { typing: 'off', bytes: Buffer.byteLength(keys.join('')) },
    });
    expect(last?.actor).toBe(`human: web session ${me.cookie.split('=')[1]?.split('.')[0]}`);
    view.close();
  });

  it('ACT2 ACT2e a paste is one paste where the program asks for the marks, and asked about first where it does not', async () => {
    const agent = await world.agent('claude', 'pasting', 'settled');
    const { view, screen } = await look(agent);
    view.say({ type: 'typing', on: true });
    await until(() => view.last('typing')?.on === true);
    const paste = async (id: number, data: string, sure = false): Promise<string | null | undefined> => {
      view.say({ type: 'paste', id, data, sure });
      await until(() => view.last('paste')?.id === id);
      return view.last('paste')?.doubt;
    };
    const shows = async (words: string, bytes: string): Promise<void> => {
      await agent.show(words, null, bytes);
      await until(() => shownIn(screen).includes(words));
    };
    const lines = 'one\n  two\r\nthree "#{x}" \\';
    // Nothing that was seen says whether it wants them: tmux before 3.7 does not tell.
    expect(await paste(1, lines)).toBe('unknown');
    expect(await paste(2, 'no line end')).toBeNull();
    await until(() => agent.typedBytes() === 'no line end');
    await shows('it asks for marks', '\u001b[?2004h');
    expect(await paste(3, lines)).toBeNull();
    const marked = 'no line end\u001b[200~one\r  two\rthree "#{x}" \\\u001b[201~';
    await until(() => agent.typedBytes() === marked);
    await shows('it does not any more', '\u001b[?2004l');
    expect(await paste(4, 'rm -rf /\n')).toBe('off');
    await agent.show('it resets the terminal', null, '\u001b[?1;2004h\u001bc');
    await shows('it was reset', '');
    expect(await paste(5, 'rm -rf /\n')).toBe('off');
    expect(agent.typedBytes()).toBe(marked);
    // A person has seen the question.
    expect(await paste(6, 'a\nb', true)).toBeNull();
    await until(() => agent.typedBytes() === `${marked}a\rb`);
    view.say({ type: 'paste', id: 7, data: 'x\u001b[201~\ry', sure: true });
    await until(() => view.last('typing')?.on === false);
    expect(view.last('typing')).toMatchObject({ on: false, failure: { code: 'E_INPUT' } });
    expect(agent.typedBytes()).toBe(`${marked}a\rb`);
    view.close();
  });

  it('ACT1 stops when another program has the keyboard', async () => {
    const agent = await world.agent('claude', 'gone', 'settled');
    const { view } = await look(agent);
    view.say({ type: 'typing', on: true });
    await until(() => view.last('typing')?.on === true);
    const before = agent.typed();
    const other = LookAlike.startInstead(world.live, 'codex', agent.pane);
    for (let count = 0; count < 20; count += 1) view.say({ type: 'keys', data: 'rm -rf /\r' });
    await until(() => view.isClosed || view.last('typing')?.on === false);
    expect(other.typed()).toBe('');
    expect(agent.typed().replaceAll('rm -rf /\r', '')).toBe(before);
    view.close();
  });

  it('ACT6 is for people: not for pages that a program asked for, nor for those that only look', async () => {
    const agent = await world.agent('claude', 'roles', 'settled');
    const { ref } = await world.itemOf(agent);
    const roles = [
      [await world.enter('', 'program'), 'operator'],
      [await world.enter('--read-only'), 'observer'],
    ] as const;
    for (const [visitor, role] of roles) {
      expect(visitor.entered.role).toBe(role);
      const view = await visitor.pane(ref);
      view.say({ type: 'typing', on: true });
      await until(() => view.last('typing') !== undefined);
      expect(view.last('typing')).toMatchObject({ on: false, failure: { code: 'E_ROLE' } });
      view.say({ type: 'keys', data: 'x' });
      await until(() => view.said.filter(({ type }) => type === 'typing').length === 2);
      view.close();
    }
    expect(agent.typed()).toBe('');
  });
});

describe('who asks for a link', () => {
  it('ACT6 an agent gets none that can act, only one to look with', async () => {
    const agent = await world.agent('codex', 'asking', 'settled');
    await world.itemOf(agent);
    mkdirSync(join(world.live.dir, 'out'), { recursive: true });
    const ask = async (words: string, name: string): Promise<string> => {
      const out = join(world.live.dir, 'out', name);
      const line = `${process.execPath} ${program} web --json ${words} > ${out} 2>&1`;
      await agent.call([{ argv: ['sh', '-c', line], input: '' }]);
      return readFileSync(out, 'utf8');
    };
    expect(JSON.parse(await ask('', 'acting'))).toMatchObject({ error: { code: 'E_ROLE' } });
    expect(JSON.parse(await ask('--stop', 'stopping'))).toMatchObject({ error: { code: 'E_ROLE' } });
    const exposed = await ask('--read-only --listen 127.0.0.7 --unencrypted', 'exposed');
    expect(JSON.parse(exposed)).toMatchObject({ error: { code: 'E_ROLE' } });
    const link = JSON.parse(await ask('--read-only', 'looking')) as { url: string };
    const visitor = await Visitor.enter(link.url);
    expect(visitor.entered).toMatchObject({ role: 'observer', read_only: true });
    const body = { action: 'send', ref: 'claude', text: 'x' };
    expect((await visitor.ask('/v1/act', { method: 'POST', body })).status).toBe(403);
    const rows = (await audit()).filter(({ action, result }) => action === 'web' && result === 'refused');
    expect(rows).toHaveLength(3);
    expect(rows.every(({ actor }) => actor.startsWith('observer: an agent, '))).toBe(true);
  });

  it('ACT6 a page that a person asked for approves as that person, and the audit says that it was a page', async () => {
    const agent = await world.agent('claude', 'approving', 'waiting_approval');
    const { ref } = await world.itemOf(agent);
    await until(async () => (await world.itemOf(agent)).state === 'waiting_approval');
    const approve = { action: 'approve', ref, any_ask: true };
    const program = await world.enter('', 'program');
    const refused = await program.json<{ failure: { code: string } }>('/v1/act', { method: 'POST', body: approve });
    expect(refused.failure.code).toBe('E_ROLE');
    const receipt = await me.json<{ outcome: string }>('/v1/act', { method: 'POST', body: approve });
    expect(receipt.outcome).not.toBe('refused');
    expect((await audit())[0]).toMatchObject({
      action: 'approve',
      actor: expect.stringMatching(/^human: web session /),
    });
    await until(() => agent.typed() !== '');
  });
});
