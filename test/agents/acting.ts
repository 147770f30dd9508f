// What agtmux does to the real agents: messages, answers, interrupts and signals, each given as a person gives them and
// compared with what the agent did: what its model was told, which commands ran, and what stands on its screen.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StateName } from '../../src/model/states.ts';
import { type ActingName, actingNames } from './act-names.ts';
import type { ActionExecutor } from './actor.ts';
import { Person, type Said } from './person.ts';
import { Parts } from './scenario.ts';
import type { Stage } from './stage.ts';
import type { StateStream } from './state-stream.ts';

export interface ActingResult {
  readonly step: ActingName;
  readonly verdict: 'right' | 'wrong' | 'not provoked' | 'n/a';
  /** What the receipt said. */
  readonly told: string;
  readonly tookMs: number | null;
  readonly note: string | null;
}

/** What became of a step: null when everything was as it should be. */
interface Seen {
  readonly said: Said | null;
  readonly wrong: string | null;
}

const holdMs = 1_500;
const arrivesMs = 60_000;
const dialogLines = 12;
const settledStates: readonly StateName[] = ['idle', 'completed'];
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One line in every direction a shell, tmux or a terminal could misread. */
const manyLines = [
  'lines "double" and \'single\' quotes; a semicolon;',
  '  $HOME $(date) `date` \\n \\\\ %5 #{pane_id} #[fg=red] 100%',
  '',
  '日本語の文章です。한국어 文字 é ü',
  'the last line',
].join('\n');

export class Acting {
  readonly results: ActingResult[] = [];
  readonly #actor: ActionExecutor;
  readonly #stage: Stage;
  readonly #stream: StateStream;
  readonly #parts: Parts;
  readonly #person: Person;
  #messages = 0;

  constructor(actor: ActionExecutor, stage: Stage, stream: StateStream) {
    this.#actor = actor;
    this.#stage = stage;
    this.#stream = stream;
    this.#parts = new Parts(actor, stage);
    this.#person = new Person(stage);
  }

  async play(): Promise<void> {
    await this.#start();
    await this.#message('send', 'one line');
    await this.#message('send of many lines', manyLines);
    await this.#approval();
    await this.#rejection();
    await this.#message('send after reject', 'after the reject');
    await this.#edit();
    await this.#question();
    await this.#message('send after answers', 'after the answers');
    await this.#interrupt();
    await this.#message('send after interrupt', 'after the interrupt');
    await this.#step('kill TERM', async () => {
      const said = await this.#person.types('kill', this.#stage.pane, '--signal', 'TERM', '--yes');
      await this.#stage.holds(() => this.#stage.isShell(), 'the shell to be back');
      return { said, wrong: notDelivered(said) };
    });
  }

  /** Steps that could not be played because an earlier one could not. */
  giveUp(): void {
    const done = new Set(this.results.map(({ step }) => step));
    for (const step of actingNames.filter((one) => !done.has(one)))
      this.#add({ step, verdict: 'not provoked', told: '', tookMs: null, note: 'an earlier step failed' });
  }

  async #step(step: ActingName, act: () => Promise<Seen>): Promise<void> {
    const missing = this.#actor.cannot[step];
    if (missing !== undefined) {
      this.#add({ step, verdict: 'n/a', told: '', tookMs: null, note: missing });
      return;
    }
    try {
      const { said, wrong } = await act();
      this.#stage.capture(step);
      const told = said === null ? '' : toldOf(said);
      this.#add({ step, verdict: wrong === null ? 'right' : 'wrong', told, tookMs: said?.tookMs ?? null, note: wrong });
    } catch (problem) {
      this.#stage.capture(`${step}-trouble`);
      const note = problem instanceof Error ? problem.message : String(problem);
      this.#add({ step, verdict: 'not provoked', told: '', tookMs: null, note });
      throw problem;
    }
  }

  #add(result: ActingResult): void {
    const { step, verdict, told, tookMs, note } = result;
    this.results.push(result);
    const time = tookMs === null ? '' : ` ${tookMs} ms`;
    process.stdout.write(
      `  ${verdict.padEnd(13)}${step.padEnd(32)}${told}${time}${note === null ? '' : ` (${note})`}\n`,
    );
    if (verdict === 'wrong' || verdict === 'not provoked') this.#stage.note(JSON.stringify(result));
  }

  async #start(): Promise<void> {
    const stage = this.#stage;
    const actor = this.#actor;
    await stage.submit(actor.command);
    await this.#step('send into the trust dialog', () => this.#refusedBy(actor.shows.trust, () => this.#sends('yes')));
    if (actor.cannot['trust dialog answered'] !== undefined) await actor.press.trust(stage);
    await this.#step('trust dialog answered', async () => {
      const isApproval = this.#stream.current()?.row.state === 'waiting_approval';
      const said = await this.#person.types(
        ...(isApproval ? ['approve', stage.pane, '--yes'] : ['answer', stage.pane, '--option', '1', '--yes']),
      );
      const wrong = said.receipt?.outcome === 'refused' ? notDelivered(said) : null;
      // Some start anew after it, for longer than agtmux looks: what counts is that nobody has to help.
      if (wrong !== null) await actor.press.trust(stage);
      await this.#parts.settled();
      return { said, wrong };
    });
    // Whoever is not sent anything first still has to be ready for the first task.
    await this.#parts.settled();
  }

  #sends(text: string): Promise<Said> {
    return this.#person.types('send', this.#stage.pane, '--file', this.#person.note(text));
  }

  /** Until the daemon tells one of these states for the agent that runs now, and has held on to it. */
  async #told(states: readonly StateName[]): Promise<void> {
    const isTold = (): boolean => {
      const row = this.#stream.current()?.row;
      return row !== undefined && row.ended === null && row.state !== null && states.includes(row.state);
    };
    await this.#stage.holds(isTold, `the state ${states.join(' or ')}`);
    await pause(holdMs);
  }

  /** The dialog as it stands there: above it and in it some have clocks and pictures that move by themselves. */
  #still(): string {
    const lines = this.#stage
      .screen()
      .split('\n')
      .filter((line) => line.trim() !== '' && this.#actor.restless?.test(line) !== true);
    return lines
      .slice(-dialogLines)
      .join('\n')
      .replace(/[\u2800-\u28ff\d.]/g, '')
      .replace(/ +/g, ' ');
  }

  /** With a dialog open: refused, and the dialog is as it was. */
  async #refusedBy(pattern: RegExp, act: () => Promise<Said>): Promise<Seen> {
    await this.#stage.see(pattern);
    await this.#told(['waiting_approval', 'waiting_input']);
    const before = this.#still();
    const said = await act();
    await pause(holdMs);
    const after = this.#still();
    if (said.receipt?.outcome !== 'refused') return { said, wrong: `not refused: ${said.text}` };
    return { said, wrong: before === after ? null : `the screen changed:\n${before}\n${after}` };
  }

  /** Exactly these words are what the model is told. */
  async #message(step: ActingName, words: string): Promise<void> {
    await this.#step(step, async () => {
      await this.#parts.settled();
      await this.#told(settledStates);
      this.#messages += 1;
      const text = `message ${this.#messages} ${words} do:say`;
      const { served } = this.#stage.mock;
      const from = served.length;
      const said = await this.#sends(text);
      const arrived = () =>
        served
          .slice(from)
          .find(({ prompt, reply }) => reply === 'text' && prompt?.includes(`message ${this.#messages} `));
      const deadline = Date.now() + arrivesMs;
      while (arrived() === undefined && Date.now() < deadline) await pause(30);
      const prompt = arrived()?.prompt ?? null;
      if (prompt === null) {
        this.#stage.capture(`${step}-lost`);
        await this.#actor.press.clear(this.#stage);
        return { said, wrong: `nothing arrived: ${said.text}` };
      }
      await this.#parts.settled();
      // OpenCode puts a blank behind a paste that it shows folded.
      const wrong = prompt.trimEnd() === text ? null : `arrived as ${JSON.stringify(prompt)}`;
      return { said, wrong: wrong ?? notDelivered(said) };
    });
  }

  async #approval(): Promise<void> {
    const { pane } = this.#stage;
    const { approval } = this.#actor.shows;
    const hasBegun = (): boolean => this.#stage.hasFile('go-1.began');
    await this.#parts.task('command go-1');
    await this.#step('send into an approval', () => this.#refusedBy(approval, () => this.#sends('1')));
    await this.#step('interrupt of an approval', () =>
      this.#refusedBy(approval, () => this.#person.types('interrupt', pane)),
    );
    await this.#step('approve', async () => {
      if (hasBegun()) return { said: null, wrong: 'the command runs already' };
      const said = await this.#person.types('approve', pane, '--yes');
      await this.#stage.holds(hasBegun, 'the command to begin');
      return { said, wrong: notDelivered(said) };
    });
    await this.#step('approve once more', async () => {
      const said = await this.#person.types('approve', pane, '--yes');
      return { said, wrong: said.receipt?.outcome === 'refused' ? null : `not refused: ${said.text}` };
    });
    this.#stage.makeFile('go-1');
    await this.#parts.settled();
  }

  /** The very same command: whoever was given a lasting yes would not ask. */
  async #rejection(): Promise<void> {
    const stage = this.#stage;
    const actor = this.#actor;
    for (const name of ['go-1', 'go-1.began']) stage.removeFile(name);
    await this.#told(settledStates);
    await this.#step('asks again', async () => {
      await this.#parts.task('command go-1');
      await stage.shows((view) => actor.shows.approval.test(view) || stage.hasFile('go-1.began'), 'the dialog');
      return { said: null, wrong: stage.hasFile('go-1.began') ? 'it ran without being asked about' : null };
    });
    await this.#step('reject', async () => {
      await this.#told(['waiting_approval']);
      const said = await this.#person.types('reject', stage.pane, '--yes');
      await this.#parts.settled();
      await pause(holdMs);
      return { said, wrong: stage.hasFile('go-1.began') ? 'the command ran' : notDelivered(said) };
    });
  }

  async #edit(): Promise<void> {
    const stage = this.#stage;
    const path = join(stage.project, 'new.txt');
    if (this.#actor.cannot['send into an edit'] === undefined) await this.#parts.task(`edit ${path}`);
    await this.#step('send into an edit', () => this.#refusedBy(/new\.txt/, () => this.#sends('1')));
    await this.#step('approve of an edit', async () => {
      if (stage.hasFile('new.txt')) return { said: null, wrong: 'the file was written already' };
      const said = await this.#person.types('approve', stage.pane, '--yes');
      await stage.holds(() => stage.hasFile('new.txt'), 'the file');
      await this.#parts.settled();
      const isWritten = readFileSync(path, 'utf8') === 'written by the agent\n';
      return { said, wrong: isWritten ? notDelivered(said) : 'the file holds something else' };
    });
  }

  async #question(): Promise<void> {
    const { pane } = this.#stage;
    const { question } = this.#actor.shows;
    await this.#told(settledStates);
    await this.#parts.task('question');
    await this.#step('program sends into a question', () =>
      this.#refusedBy(question, () => this.#person.runs('send', pane, '--file', this.#person.note('Green'))),
    );
    await this.#step('answer with an option', () => this.#answered('Violet', ['--option', this.#actor.violet ?? '2']));
    if (this.#actor.cannot['answer in own words'] === undefined) {
      await this.#told(settledStates);
      await this.#parts.task('question');
      await this.#stage.see(question);
      await this.#told(['waiting_input']);
    }
    await this.#step('answer in own words', () => this.#answered('blue like the sea', ['--text', 'blue like the sea']));
  }

  /** The model is told this answer, and not the other one. */
  async #answered(words: string, options: readonly string[]): Promise<Seen> {
    const { served } = this.#stage.mock;
    const from = served.length;
    const said = await this.#person.types('answer', this.#stage.pane, '--yes', ...options);
    if (notDelivered(said) !== null) {
      await this.#actor.press.answer(this.#stage);
      await this.#parts.settled();
      return { said, wrong: notDelivered(said) };
    }
    const answers = () => served.slice(from).flatMap(({ result }) => result ?? []);
    await this.#stage.holds(() => answers().length > 0, 'the answer');
    await this.#parts.settled();
    const [answer = ''] = answers();
    const isRight = answer.includes(words) && !answer.includes('Green');
    return { said, wrong: isRight ? null : `answered ${answer}` };
  }

  async #interrupt(): Promise<void> {
    const stage = this.#stage;
    await this.#step('interrupt', async () => {
      const before = stage.mock.count('slow', 'slow');
      await this.#told(settledStates);
      await this.#parts.task('slow');
      await this.#parts.asked('slow', 'slow', 1, before);
      await this.#told(['running']);
      const said = await this.#person.types('interrupt', stage.pane);
      await this.#parts.settled();
      await this.#told(settledStates);
      return { said, wrong: stage.isShell() ? 'it has ended' : notDelivered(said) };
    });
  }
}

const toldOf = ({ receipt }: Said): string => {
  if (receipt === null) return 'nothing';
  const { outcome, way, failure } = receipt;
  return [outcome, ...(way === null ? [] : [way]), ...(failure === null ? [] : [failure.code])].join(' ');
};

const notDelivered = (said: Said): string | null =>
  said.receipt?.outcome === 'delivered' ? null : `not delivered: ${said.text}`;
