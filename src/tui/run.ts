// The TUI as it runs: the feed into the model, keys into the model, commands out of it, and the picture onto the terminal.
// What comes by itself is drawn at most four times a second, what a person presses at once; nothing is drawn for its own
// sake, and nothing ticks but the ages.

import type { ApiClient } from '../api/client.ts';
import type { FeedEvent } from '../api/client-types.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { pad, width } from '../text/width.ts';
import { wrapped } from '../view/asks.ts';
import type { ScreenSize } from '../view/shells-panel.ts';
import { cutLine, type SpanLine, span } from '../view/shells-spans.ts';
import { type AppMessage, type AppModel, type AppStep, type Effect, openApp, topOf, updateApp } from './app.ts';
import type { KeyHelp, Place, Ports, Stream, World } from './contract.ts';
import { isTooSmall, layoutOf, smallest } from './layout.ts';
import { type Colours, paintedLine, repaint } from './painter.ts';
import type { Opened } from './screens.ts';
import type { Terminal } from './terminal.ts';
import { emptyWorld } from './world.ts';

// The whole terminal as lines: the screen on top, a line when the daemon is gone, the line of what was just said, the keys
// at the bottom; or the help, or what is wrong with the terminal. Always exactly as many lines as it has. Pure.

export function viewApp(model: AppModel): readonly SpanLine[] {
  const { size } = model;
  const top = topOf(model);
  if (isTooSmall(size)) return exactly(tooSmall(size), size);
  if (top === null) return exactly([], size);
  if (model.help !== null) return exactly(helpView(model, top, model.help), size);
  const { above, below, room } = layoutOf(model, top);
  const body = exactly(top.screen.view(top.model, { ...model.world, size: room }, room), room);
  return exactly([...above, ...body, ...below], size);
}

/** Cut or filled to the size. */
function exactly(lines: readonly SpanLine[], size: ScreenSize): readonly SpanLine[] {
  const empty: SpanLine = [];
  return Array.from({ length: size.lines }, (_, row) => cutLine(lines[row] ?? empty, size.columns));
}

const tooSmall = ({ columns, lines }: ScreenSize): readonly SpanLine[] => [
  [span('Too small.', 'title')],
  [span(`${columns}x${lines}, needs`)],
  [span(`${smallest.columns}x${smallest.lines}.`)],
  [span('q quits.')],
];

const frameKeys: readonly KeyHelp[] = [
  { keys: 'S', words: 'background shells ([Shell] panel)' },
  { keys: 'ctrl+r', words: 'move the foreground command to the background' },
  { keys: '?', words: 'this help' },
  { keys: 'q, esc', words: 'back; q on the first screen quits' },
  { keys: 'M', words: 'mouse on and off; off, the terminal selects text' },
  { keys: 'ctrl+l', words: 'redraw the screen' },
  { keys: 'ctrl+z', words: 'suspend; fg resumes' },
  { keys: 'ctrl+c', words: 'leave' },
];

function helpView({ world, size }: AppModel, { screen, model }: Opened, first: number): readonly SpanLine[] {
  const keys = [...screen.keys(model, world).filter((one) => one.keys !== ''), ...frameKeys];
  const widest = Math.min(16, Math.max(...keys.map((one) => width(one.keys))));
  const lines = keys.flatMap((one) =>
    wrapped(one.words, size.columns - widest - 4).map(
      (words, row): SpanLine => [span(`  ${pad(row === 0 ? one.keys : '', widest)}  `, 'title'), span(words)],
    ),
  );
  const room = size.lines - 3;
  const start = Math.max(0, Math.min(first, lines.length - room));
  const more = lines.length > start + room ? ' · ↓ more' : '';
  return [
    [span(`Keys: ${screen.title}`, 'title')],
    [],
    ...Array.from({ length: room }, (_, row): SpanLine => lines[start + row] ?? []),
    [span(`any other key goes back${more}`, 'dim')],
  ];
}

export interface TuiParts {
  readonly terminal: Terminal;
  readonly api: ApiClient;
  readonly clock: {
    wallMs(): number;
    monotonicMs(): number;
    after(ms: number, callback: () => void): () => void;
  };
  readonly env: Readonly<Record<string, string>>;
  readonly self: World['self'];
  readonly colours: Colours;
  readonly offsetMinutes: number;
  readonly place: Place;
  /** Starts the daemon where none runs; resolves when it answers. */
  readonly startDaemon: () => Promise<void>;
  /** Brings the person to a pane, with the terminal in its hands; resolves with what there is to say when they are back. */
  readonly attach: (ref: string) => Promise<string>;
  /** Their own editor on this text; null with the reason where nothing came of it. */
  readonly edit: (text: string) => Promise<{ readonly text: string | null; readonly words: string }>;
  /** Job control: ctrl-z, fg. */
  readonly suspension: {
    listen(listener: { onStop(): void; onContinue(): void }): () => void;
    stop(): Promise<void>;
  };
  /** Whoever wants the TUI to end. */
  readonly signal: AbortSignal;
}

/** Resolves when the person leaves; the terminal is as it was then. */
export async function runTui(parts: TuiParts): Promise<void> {
  await new Tui(parts).run();
}

const asProblem = (problem: unknown): AgtmuxError =>
  problem instanceof AgtmuxError ? problem : new AgtmuxError('E_INTERNAL', String(problem), { cause: problem });

class Tui {
  readonly #parts: TuiParts;
  readonly #leaving = new AbortController();
  readonly #streams = new Map<string, AbortController>();
  /** What the first screen asked for when it was opened. */
  readonly #opening: readonly Effect[];
  #model: AppModel;
  /** What the feed told since the last picture. */
  #news: FeedEvent[] = [];
  #drawn: readonly string[] | null = null;
  /** Somebody else has the terminal. */
  #isAway = false;
  #lastDrawMs = Number.NEGATIVE_INFINITY;
  #cancelDraw: (() => void) | null = null;
  #cancelTick: () => void = () => undefined;
  #cancelFrame: (() => void) | null = null;
  #defect: { readonly problem: unknown } | null = null;

  constructor(parts: TuiParts) {
    this.#parts = parts;
    const { terminal, clock, offsetMinutes, self, place } = parts;
    const world = emptyWorld({ nowMs: clock.wallMs(), offsetMinutes, self, size: terminal.size() });
    const { model, effects } = openApp({ size: terminal.size(), world }, place);
    this.#model = model;
    this.#opening = effects;
  }

  async run(): Promise<void> {
    const { terminal, signal, suspension } = this.#parts;
    const leave = (): void => this.#leaving.abort();
    signal.addEventListener('abort', leave, { once: true });
    this.#enter();
    const unlisten = suspension.listen({
      onStop: () => void this.#suspend(),
      onContinue: () => this.#again(),
    });
    const left = new Promise<void>((resolve) => {
      this.#leaving.signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) leave();
    });
    try {
      const following = this.#follow();
      this.#obey({ model: this.#model, effects: this.#opening });
      this.#tickLater();
      await Promise.race([left, following]);
    } finally {
      leave();
      unlisten();
      this.#cancelDraw?.();
      this.#cancelTick();
      this.#cancelFrame?.();
      for (const stream of this.#streams.values()) stream.abort();
      terminal.leave();
    }
    if (this.#defect !== null) throw this.#defect.problem;
  }

  #enter(): void {
    this.#parts.terminal.enter({
      onInput: (inputs) =>
        this.#safely(() => {
          // Whoever asks for a new picture sees one that something else has spoilt.
          if (inputs.some((input) => input.is === 'key' && input.key === 'ctrl+l')) this.#drawn = null;
          for (const input of inputs) this.#take({ is: 'input', input, nowMs: this.#parts.clock.wallMs() });
          this.#draw();
        }),
      onResize: () =>
        this.#safely(() => {
          this.#drawn = null;
          this.#take({ is: 'size', size: this.#parts.terminal.size() });
          this.#draw();
        }),
      onGone: () => this.#leaving.abort(),
    });
    this.#drawn = null;
    this.#model = updateApp(this.#model, { is: 'size', size: this.#parts.terminal.size() }).model;
    this.#draw();
  }

  async #suspend(): Promise<void> {
    if (this.#isAway || this.#leaving.signal.aborted) return;
    this.#isAway = true;
    this.#parts.terminal.leave();
    await this.#parts.suspension.stop();
    this.#isAway = false;
    this.#again();
  }

  /** Somebody else had the terminal: it is taken anew, with everything on it. */
  #again(): void {
    if (this.#isAway || this.#leaving.signal.aborted) return;
    this.#parts.terminal.leave();
    this.#safely(() => this.#enter());
  }

  /** A defect ends the TUI in good order: the terminal is given back before anyone is told. */
  #safely(work: () => void): void {
    try {
      work();
    } catch (problem) {
      this.#defect ??= { problem };
      this.#leaving.abort();
    }
  }

  /** The feed, for as long as we are here: after every loss the daemon is started again, and tells everything anew. */
  async #follow(): Promise<void> {
    const { api } = this.#parts;
    const { signal } = this.#leaving;
    let delayMs: number = limits.clientRetryMs;
    while (!signal.aborted) {
      try {
        for await (const event of api.events({ scope: 'all', signal })) {
          if (event.type === 'lost') throw event.error;
          delayMs = limits.clientRetryMs;
          if (event.type === 'connected') continue;
          this.#news.push(event);
          // The first picture, or the first one after a loss: a person waits for it.
          if (event.type === 'snapshot') this.#draw();
          else this.#drawSoon();
        }
      } catch (problem) {
        if (signal.aborted) return;
        const { code, message } = asProblem(problem);
        if (code === 'E_VERSION' || code === 'E_INTERNAL') throw problem;
        await this.#restart(code === 'E_DAEMON_DOWN' ? '' : message);
      }
      if (signal.aborted) return;
      await this.#sleep(delayMs, signal);
      delayMs = Math.min(delayMs * 2, limits.tuiRetryMsMax);
    }
  }

  async #restart(words: string): Promise<void> {
    const { link } = this.#model.world;
    const sinceMs = link.is === 'lost' ? link.sinceMs : this.#parts.clock.wallMs();
    // Before the first answer there is nothing to have lost.
    if (link.is !== 'connecting' || words !== '')
      this.#background({ is: 'link', link: { is: 'lost', sinceMs, words } });
    try {
      await this.#parts.startDaemon();
    } catch (problem) {
      const { message } = asProblem(problem);
      this.#background({ is: 'link', link: { is: 'lost', sinceMs, words: message } });
    }
  }

  readonly #sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const over = (): void => {
        cancel();
        signal.removeEventListener('abort', over);
        resolve();
      };
      const cancel = this.#parts.clock.after(ms, over);
      signal.addEventListener('abort', over, { once: true });
      if (signal.aborted) over();
    });

  #background(message: AppMessage): void {
    this.#take(message);
    this.#drawSoon();
  }

  #take(message: AppMessage): void {
    this.#takeNews();
    this.#obey(updateApp(this.#model, message));
  }

  /** As one, before anything else is decided: nothing is ever drawn or done on less than is known. */
  #takeNews(): void {
    if (this.#news.length === 0) return;
    const events = this.#news;
    this.#news = [];
    this.#obey(updateApp(this.#model, { is: 'feed', events, nowMs: this.#parts.clock.wallMs() }));
  }

  #obey({ model, effects }: AppStep): void {
    this.#model = model;
    for (const effect of effects) this.#carryOut(effect);
    this.#keepStreams();
    this.#keepFrames();
  }

  get #ports(): Ports {
    const { api, env, clock } = this.#parts;
    return { api, env, wallMs: () => clock.wallMs(), sleep: this.#sleep };
  }

  #carryOut({ to, command }: Effect): void {
    const { clock } = this.#parts;
    switch (command.do) {
      case 'quit':
        this.#leaving.abort();
        break;
      case 'mouse':
        this.#parts.terminal.setMouse(this.#model.hasMouse);
        break;
      case 'bell':
        this.#parts.terminal.write('\u0007');
        break;
      case 'edit':
        void this.#edit(to, command);
        break;
      case 'suspend':
        void this.#suspend();
        break;
      case 'copy': {
        const text = Buffer.from(command.text).toString('base64');
        this.#parts.terminal.write(`\u001b]52;c;${text}\u0007`);
        break;
      }
      case 'call':
        void command.run(this.#ports).then(
          (own) => this.#answer({ is: 'own', to, own, nowMs: clock.wallMs(), late: command.late?.(own) ?? null }),
          (problem: unknown) => {
            const own = command.failed(asProblem(problem));
            this.#answer({ is: 'own', to, own, nowMs: clock.wallMs(), late: command.late?.(own) ?? null });
          },
        );
        break;
      case 'attach':
        void this.#attach(command.ref);
        break;
    }
  }

  /** What a person waits for is drawn at once, like their own keys. */
  #answer(message: AppMessage): void {
    if (this.#leaving.signal.aborted) return;
    this.#safely(() => {
      this.#take(message);
      this.#draw();
    });
  }

  async #attach(ref: string): Promise<void> {
    const { terminal } = this.#parts;
    this.#isAway = true;
    terminal.leave();
    const said = await this.#parts.attach(ref).catch((problem: unknown) => {
      const { message, next, code } = asProblem(problem);
      return `${message}; ${next} [${code}]`;
    });
    this.#isAway = false;
    if (this.#leaving.signal.aborted) return;
    this.#take({ is: 'said', text: said, role: null });
    this.#enter();
  }

  async #edit(to: number, { text, done }: Extract<Effect['command'], { do: 'edit' }>): Promise<void> {
    this.#isAway = true;
    this.#parts.terminal.leave();
    const made = await this.#parts
      .edit(text)
      .catch((problem: unknown) => ({ text: null, words: asProblem(problem).message }));
    this.#isAway = false;
    if (this.#leaving.signal.aborted) return;
    this.#take({ is: 'own', to, own: done(made.text, made.words), nowMs: this.#parts.clock.wallMs() });
    if (made.text === null) this.#take({ is: 'said', text: made.words, role: null });
    this.#enter();
  }

  #drawSoon(): void {
    if (this.#cancelDraw !== null) return;
    const restMs = this.#lastDrawMs + limits.tuiFrameMs - this.#parts.clock.monotonicMs();
    if (restMs <= 0) {
      this.#draw();
      return;
    }
    this.#cancelDraw = this.#parts.clock.after(restMs, () => this.#safely(() => this.#draw()));
  }

  #draw(): void {
    this.#cancelDraw?.();
    this.#cancelDraw = null;
    this.#takeNews();
    if (this.#isAway || this.#leaving.signal.aborted) return;
    this.#lastDrawMs = this.#parts.clock.monotonicMs();
    const lines = viewApp(this.#model).map((line) => paintedLine(line, this.#parts.colours));
    const text = repaint(this.#drawn, lines);
    this.#drawn = lines;
    if (text !== '') this.#parts.terminal.write(text);
  }

  /** Ages under a minute are told in seconds, older ones in minutes: no need to look more often than that. */
  #tickLater(): void {
    const { clock } = this.#parts;
    this.#cancelTick = clock.after(this.#tickMs(), () =>
      this.#safely(() => {
        this.#background({ is: 'tick', nowMs: clock.wallMs() });
        this.#tickLater();
      }),
    );
  }

  #tickMs(): number {
    const { rows, link, shells, nowMs } = this.#model.world;
    if (link.is === 'lost' || shells.some(({ status }) => status === 'running')) return limits.tuiTickMs;
    for (const { since } of rows.values()) {
      if (since !== null && nowMs - Date.parse(since) < 60_000) return limits.tuiTickMs;
    }
    return limits.tuiSlowTickMs;
  }

  #keepFrames(): void {
    const top = topOf(this.#model);
    const moves = top?.screen.moves?.(top.model, this.#model.world) === true;
    if (!moves) {
      this.#cancelFrame?.();
      this.#cancelFrame = null;
      return;
    }
    this.#cancelFrame ??= this.#parts.clock.after(limits.tuiFrameMs, () => {
      this.#cancelFrame = null;
      this.#safely(() => this.#background({ is: 'frame' }));
    });
  }

  /** Those of the screen on top go on; all others end. */
  #keepStreams(): void {
    const top = topOf(this.#model);
    const wanted = new Map<string, Stream<unknown>>();
    for (const stream of top?.screen.streams?.(top.model, this.#model.world) ?? []) {
      wanted.set(`${top?.id}:${stream.key}`, stream);
    }
    for (const [key, running] of this.#streams) {
      if (wanted.has(key)) continue;
      running.abort();
      this.#streams.delete(key);
    }
    for (const [key, stream] of wanted) {
      if (top !== null && !this.#streams.has(key)) void this.#stream(key, top.id, stream);
    }
  }

  async #stream(key: string, to: number, stream: Stream<unknown>): Promise<void> {
    const own = new AbortController();
    this.#streams.set(key, own);
    try {
      for await (const one of stream.start(this.#ports, own.signal)) {
        if (own.signal.aborted) return;
        this.#background({ is: 'own', to, own: one, nowMs: this.#parts.clock.wallMs() });
      }
    } catch (problem) {
      if (own.signal.aborted) return;
      const nowMs = this.#parts.clock.wallMs();
      this.#background({ is: 'own', to, own: stream.failed(asProblem(problem)), nowMs });
    }
  }
}
