// The real agents in a terminal of their own, in no pane: what their hooks and files tell of them is compared with what their
// screen shows, and what they ask is answered over the channel that they have.

import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { ActionExecutor } from './actor.ts';
import { stepNames } from './actor.ts';
import { Person, type Said } from './person.ts';
import { Play } from './play.ts';
import { Parts, playAll } from './scenario.ts';
import type { Stage } from './stage.ts';
import type { StateStream } from './state-stream.ts';

/** Agents that can be answered where nothing can be typed, and by what. */
const channels: Readonly<Record<string, string>> = {
  claude: 'claude-hook',
  codex: 'codex-app-server',
  opencode: 'opencode-http',
};
const readMs = 3_000;
/** One that nothing else of these plays uses. */
const servedPort = 20_000 + (process.pid % 20_000);
/** An agent is listed this soon after its first call. */
const listedMs = 500;

export class Outside {
  readonly #actor: ActionExecutor;
  readonly #stage: Stage;
  readonly #stream: StateStream;
  readonly #person: Person;
  readonly #watch: FSWatcher;
  #calledAt: number | null = null;
  #isRight = true;

  constructor(actor: ActionExecutor, stage: Stage, stream: StateStream) {
    this.#actor = actor;
    this.#stage = stage;
    this.#stream = stream;
    this.#person = new Person(stage);
    this.#watch = watch(join(stage.live.stateDir, 'spool'), (_event, name) => {
      if (/^\d+-\d+-\d$/.test(name ?? '')) this.#calledAt ??= Date.now();
    });
  }

  /** `isQuick`: what it asks and is answered, and nothing else. */
  async play(isQuick: boolean): Promise<boolean> {
    try {
      const play = new Play(this.#actor, this.#stage, this.#stream);
      if (!isQuick)
        await playAll(play).catch((problem: unknown) => process.stderr.write(`${problem}\n${this.#stage.screen()}\n`));
      if (!isQuick) play.giveUp(stepNames);
      await this.#answers();
      this.#listed();
      const judged = play.results.every(({ verdict }) => ['seen', 'not sure', 'n/a'].includes(verdict));
      return judged && this.#isRight;
    } finally {
      this.#watch.close();
    }
  }

  #say(isRight: boolean, what: string, told: string): void {
    this.#isRight &&= isRight;
    process.stdout.write(`  ${(isRight ? 'right' : 'wrong').padEnd(13)}${what.padEnd(24)}${told}\n`);
  }

  #listed(): void {
    const first = this.#stream.told[0];
    const tookMs = first === undefined || this.#calledAt === null ? null : first.time - this.#calledAt;
    const isRight = tookMs !== null && tookMs <= listedMs;
    this.#say(isRight, 'listed', `${tookMs} ms after its first call, in ${first?.row.terminal ?? 'nothing'}`);
  }

  async #answers(): Promise<void> {
    const stage = this.#stage;
    const actor = this.#actor;
    if (actor.missing['approval asked'] !== undefined) return;
    // Who is killed leaves the terminal as it was.
    stage.keys('-R', 'C-j', 'stty', 'Space', 'sane', 'C-j');
    const from = Date.now();
    // Without a port of its own it opens no server that could be asked.
    const port = actor.agent === 'opencode' ? ` --port ${servedPort}` : '';
    await stage.submit(`${actor.command}${port}`);
    const { approval } = actor.shows;
    const parts = new Parts(actor, stage);
    await parts.begun();
    for (const [file, words] of [
      ['yes-1', ['approve']],
      ['no-1', ['reject']],
      ['yes-2', ['approve']],
    ] as const) {
      await parts.task(`command ${file}`);
      await stage.see(approval);
      const asked = await this.#stream.fits(from, (row) => row.ended === null && row.asks_open === 1, 15_000);
      if (asked === null) {
        this.#say(false, words[0], `its request was not told: ${JSON.stringify(this.#stream.current()?.row)}`);
        return;
      }
      // Nobody reads a request in less.
      await new Promise((resolve) => setTimeout(resolve, readMs));
      const said = await this.#person.types(...words, this.#stream.current()?.row.ref ?? '', '--yes');
      const channel = channels[actor.label];
      if (channel === undefined) {
        this.#say(said.receipt?.outcome === 'refused', words[0], toldOf(said));
        return;
      }
      if (said.receipt?.outcome === 'refused') {
        this.#say(false, words[0], toldOf(said));
        return;
      }
      stage.makeFile(file);
      await stage.shows((view) => !approval.test(view.split('\n').slice(-20).join('\n')), 'the dialog to be gone');
      await parts.settled();
      const hasBegun = stage.hasFile(`${file}.began`);
      const isRight = said.receipt?.outcome === 'delivered' && said.receipt.way === channel;
      this.#say(isRight && hasBegun === (words[0] === 'approve'), words[0], toldOf(said));
    }
  }
}

const toldOf = ({ receipt, text, tookMs }: Said): string =>
  receipt === null
    ? text
    : `${receipt.outcome} ${receipt.way ?? ''} ${receipt.failure?.code ?? ''} ${receipt.words ?? ''} ${tookMs} ms`;
