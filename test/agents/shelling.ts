// The real agents and the MCP server of agtmux: registered as a user does it, called by the agent as its model says, and
// compared with what the model was told and with what the daemon knows.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShellItem, ShellList } from '../../src/api/shells.ts';
import { until } from '../kit/live.ts';
import type { ActionExecutor } from './actor.ts';
import type { Served } from './mock/server.ts';
import { Person } from './person.ts';
import { Parts } from './scenario.ts';
import { type ShellStepName, shellNames } from './shell-names.ts';
import type { Stage } from './stage.ts';
import type { StateStream } from './state-stream.ts';

export interface ShellingResult {
  readonly step: ShellStepName;
  readonly verdict: 'right' | 'wrong' | 'not provoked' | 'n/a';
  readonly tookMs: number | null;
  readonly note: string | null;
}

/** How an agent asks whether it may call a tool, and the keys that say yes. */
const dialogs: Readonly<Record<string, { readonly asks: RegExp; readonly keys: readonly string[] }>> = {
  claude: { asks: /Do you want to proceed\?/, keys: ['1'] },
  codex: { asks: /Allow the agtmux MCP server to run tool/, keys: ['Enter'] },
  gemini: { asks: /Allow execution of/, keys: ['Enter'] },
  copilot: { asks: /Do you want to/, keys: ['1'] },
  opencode: { asks: /Permission required/, keys: ['Enter'] },
};

/** What an agent does not do, with what was seen instead. */
const missing: Partial<Readonly<Record<string, Partial<Readonly<Record<ShellStepName, string>>>>>> = {
  copilot: {
    'cancelled by Esc':
      'Two Esc do not stop a call of a server: it waits for the answer, which comes within the budget.',
  },
  opencode: {
    'asks a person first': 'It calls the tools of servers unasked, unless its `permission` settings say otherwise.',
  },
  gemini: {
    'cancelled by Esc':
      'It tells the server nothing of it: the command goes on, and to the background when its time is over.',
  },
};

const quickSeconds = 6;
const usualSeconds = 55;
/** From the budget to the answer, under any load. */
const graceMs = 5_000;
const patienceMs = 120_000;
const holdMs = 1_500;
const triesMax = 5;

interface Called {
  /** What the model was told, with its layers of quotes taken off. */
  readonly result: string;
  /** Whether a person was asked. */
  readonly isAsked: boolean;
  /** From the yes, or from the call where nobody was asked, to the result. */
  readonly tookMs: number;
}

export class ShellManager {
  readonly results: ShellingResult[] = [];
  readonly #actor: ActionExecutor;
  readonly #stage: Stage;
  readonly #stream: StateStream;
  readonly #parts: Parts;
  readonly #person: Person;
  readonly #budgetMs: number;

  constructor(actor: ActionExecutor, stage: Stage, stream: StateStream, isQuick: boolean) {
    this.#actor = actor;
    this.#stage = stage;
    this.#stream = stream;
    this.#parts = new Parts(actor, stage);
    this.#person = new Person(stage);
    this.#budgetMs = (isQuick ? quickSeconds : usualSeconds) * 1000;
  }

  /** Before the agent starts; the daemon runs. */
  register(): void {
    const folder = join(this.#stage.home, '.config/agtmux');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.toml'), `[mcp]\nbudget_seconds = ${this.#budgetMs / 1000}\n`);
    this.#stage.note(this.#stage.agtmux('mcp', 'install', '--agent', this.#actor.agent, '--yes'));
  }

  async play(): Promise<void> {
    const stage = this.#stage;
    await stage.submit(this.#actor.command);
    if (this.#actor.missing['trust dialog'] === undefined) {
      await stage.see(this.#actor.shows.trust);
      // Keys that come while it still draws are lost, or worse.
      await new Promise((resolve) => setTimeout(resolve, holdMs));
      await this.#actor.press.trust(stage);
    }
    await this.#parts.settled();
    await this.#first();
    await this.#long();
    await this.#killed();
    await this.#cancelled();
  }

  /** Steps that could not be played because an earlier one could not. */
  giveUp(): void {
    const done = new Set(this.results.map(({ step }) => step));
    for (const step of shellNames.filter((one) => !done.has(one)))
      this.#add({ step, verdict: 'not provoked', tookMs: null, note: 'an earlier step failed' });
  }

  #say(step: ShellStepName, wrong: string | null, tookMs: number | null = null): void {
    const note = missing[this.#actor.agent]?.[step];
    if (note !== undefined) {
      this.#add({ step, verdict: 'n/a', tookMs: null, note });
      return;
    }
    this.#stage.capture(step);
    this.#add({ step, verdict: wrong === null ? 'right' : 'wrong', tookMs, note: wrong });
  }

  #add(result: ShellingResult): void {
    const { step, verdict, tookMs, note } = result;
    this.results.push(result);
    const time = tookMs === null ? '' : `${tookMs} ms`;
    process.stdout.write(`  ${verdict.padEnd(13)}${step.padEnd(32)}${time}${note === null ? '' : ` (${note})`}\n`);
    if (verdict !== 'right' && verdict !== 'n/a') this.#stage.note(JSON.stringify(result));
  }

  /** Has the model call a tool, says yes where the agent asks, and waits for what the model is told. */
  async #calls(words: string, results = 1): Promise<Called> {
    for (let tries = 1; tries < triesMax; tries += 1) {
      const called = await this.#tries(words, results);
      if (called !== null) return called;
      // Some take a prompt before their servers are there.
      await new Promise((resolve) => setTimeout(resolve, holdMs));
    }
    throw new Error(`the model was not offered what it needs for ${words}`);
  }

  /** Null when the tool was not offered to the model. */
  async #tries(words: string, results: number): Promise<Called | null> {
    const { mock } = this.#stage;
    const from = mock.served.length;
    const word = words.split(' ')[0];
    await this.#parts.task(words);
    let yesAt: number | null = null;
    const told = (): readonly Served[] =>
      mock.served.slice(from).filter((one) => one.task === word && one.result !== null && one.reply !== 'errand');
    const hasNone = (): boolean =>
      mock.served.slice(from).some((one) => one.task === word && one.reply === 'text' && one.result === null);
    await this.#waits(() => {
      yesAt = this.#allows(yesAt);
      return told().length >= results || hasNone();
    }, `the result of ${words}`);
    if (told().length < results) return null;
    const call = mock.served.slice(from).findLast((one) => one.task === word && one.reply === 'tool');
    const last = told().at(-1);
    await this.#parts.settled();
    const result = (last?.result ?? '').replaceAll(/\\+n/g, '\n').replaceAll(/\\+"/g, '"');
    this.#stage.note(`${words}: ${result}`);
    return { result, isAsked: yesAt !== null, tookMs: (last?.time ?? 0) - (yesAt ?? call?.time ?? 0) };
  }

  /** When a yes was given last. A dialog needs a moment to go, and is not answered twice meanwhile. */
  #allows(yesAt: number | null): number | null {
    const dialog = dialogs[this.#actor.agent];
    if (dialog === undefined || (yesAt !== null && Date.now() - yesAt < holdMs)) return yesAt;
    if (!dialog.asks.test(this.#stage.screen())) return yesAt;
    this.#stage.capture('asked');
    this.#stage.keys(...dialog.keys);
    return Date.now();
  }

  async #waits(holds: () => boolean, words: string): Promise<void> {
    await until(holds, patienceMs, 50).catch(() => {
      this.#stage.capture('trouble');
      throw new Error(`waited ${patienceMs} ms in vain for ${words}`);
    });
  }

  #shells(): readonly ShellItem[] {
    const said = this.#stage.agtmux('shell', 'list', '--all', '--json');
    return (JSON.parse(said) as ShellList).items;
  }

  #labelled(label: string): ShellItem | undefined {
    return this.#shells().find((shell) => shell.label === label);
  }

  async #first(): Promise<void> {
    const short = await this.#calls('shellrun short');
    const tools = this.#stage.mock.served.flatMap((one) => one.tools);
    const isOffered = tools.some((name) => name.endsWith('shell_run'));
    this.#say('offered to the model', isOffered ? null : `only ${[...new Set(tools)].join(', ')}`);
    this.#say('asks a person first', short.isAsked ? null : 'it ran without being asked about');
    const isRight = short.result.includes('hello from the shell') && short.result.includes('Completed');
    this.#say('short command', isRight ? null : `the model was told ${short.result}`, short.tookMs);
  }

  async #long(): Promise<void> {
    const { result, tookMs } = await this.#calls('shellrun ninety');
    const shell = this.#labelled('ninety');
    const isRunning = result.includes('Running') && shell?.status === 'running';
    const isInTime = tookMs >= this.#budgetMs - 1_000 && tookMs <= this.#budgetMs + graceMs;
    const wrong = isRunning ? `it took ${tookMs} ms` : `the model was told ${result}`;
    this.#say('long command answers in time', isRunning && isInTime ? null : wrong, tookMs);
    const run = this.#stream.current()?.row.runtime_id ?? null;
    const owner = shell?.owner.runtime_id ?? null;
    this.#say('shell known as its own', run !== null && owner === run ? null : `it is ${owner}'s, not ${run}'s`);
    const pages = await this.#calls(`shellpages ${shell?.shell_id}`, 2);
    const isSecond = pages.result.includes('line 4') && !pages.result.includes('line 3');
    this.#say('log read page by page', isSecond ? null : `the second page was ${pages.result}`, pages.tookMs);
  }

  async #killed(): Promise<void> {
    const shell = this.#labelled('ninety');
    const said = await this.#person.types('shell', 'kill', shell?.shell_id ?? '', '--yes');
    const ended = this.#labelled('ninety');
    const { result, tookMs } = await this.#calls('shellsummary');
    const isTold = result.includes(`the user killed ${shell?.shell_id}`) || /"by": ?"user"/.test(result);
    const isRight = ended?.status === 'failed' && ended.ended_by === 'user' && isTold;
    this.#say('told that a person killed it', isRight ? null : `${said.text}; the model was told ${result}`, tookMs);
    const again = await this.#calls('shellsummary');
    const isSilent = !again.result.includes('killed by') && !again.result.includes('the user killed');
    this.#say('told once', isSilent ? null : `the model was told again: ${again.result}`);
  }

  async #cancelled(): Promise<void> {
    if (missing[this.#actor.agent]?.['cancelled by Esc'] !== undefined) {
      this.#say('cancelled by Esc', null);
      return;
    }
    await this.#parts.task('shellrun held');
    let yesAt: number | null = null;
    await this.#waits(() => {
      yesAt = this.#allows(yesAt);
      return this.#labelled('held')?.status === 'running';
    }, 'the command to begin');
    // The dialog is gone, and what the keys mean now is on the screen.
    await this.#stage.see(this.#actor.shows.busy);
    await new Promise((resolve) => setTimeout(resolve, holdMs));
    this.#stage.capture('held');
    const before = Date.now();
    await this.#actor.press.interrupt(this.#stage);
    await this.#waits(() => this.#labelled('held')?.status !== 'running', 'the command to end');
    const shell = this.#labelled('held');
    const isRight = shell?.ended_by === 'agent';
    this.#say(
      'cancelled by Esc',
      isRight ? null : `it ended by ${shell?.ended_by}: ${shell?.words}`,
      Date.now() - before,
    );
    await this.#parts.settled();
  }
}
