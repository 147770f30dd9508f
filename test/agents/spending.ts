// What `agtmux usage` says the real agents have used, held against the bill of the mock model, to the token: turns with and
// without tools, a conversation that is resumed, and one that is compacted, forked or handed to a subagent.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ActionExecutor } from './actor.ts';
import type { Bill } from './mock/wire.ts';
import { Parts } from './scenario.ts';
import type { Stage } from './stage.ts';

interface Ways {
  /** The command that goes on with the last conversation. */
  readonly resume: string;
  /** The same in a conversation of its own, where there is such a way. */
  readonly fork?: string;
  readonly compact?: string;
  /** It has a tool that hands a task to a subagent. */
  readonly hasSubagents?: true;
  /** Its records tell of it only when it ends. */
  readonly isTrusted?: true;
}

const ways: Readonly<Record<string, Ways>> = {
  claude: {
    resume: 'claude --permission-mode manual --continue',
    fork: 'claude --permission-mode manual --continue --fork-session',
    compact: '/compact',
    hasSubagents: true,
  },
  codex: { resume: 'codex --no-daemon resume --last', fork: 'codex --no-daemon fork --last', compact: '/compact' },
  gemini: { resume: 'gemini -m gemini-2.5-pro --resume latest', compact: '/compress' },
  copilot: { resume: 'copilot --continue' },
  opencode: { resume: 'opencode --continue', compact: '/compact' },
};

/** Agents lose keys that come right after a dialog was drawn. */
const settleMs = 1_500;

export class Spending {
  readonly #actor: ActionExecutor;
  readonly #stage: Stage;
  readonly #parts: Parts;
  #number = 0;

  constructor(actor: ActionExecutor, stage: Stage) {
    this.#actor = actor;
    this.#stage = stage;
    this.#parts = new Parts(actor, stage);
  }

  async play(): Promise<boolean> {
    const way = ways[this.#actor.agent];
    if (way === undefined) return true;
    await this.#talk(this.#actor.command, way);
    await this.#talk(way.resume, way);
    if (way.fork !== undefined) await this.#talk(way.fork, {});
    return this.#compare();
  }

  /** Starts it, has it answer in words and by a tool, and ends it. */
  async #talk(command: string, { compact, hasSubagents }: Partial<Ways>): Promise<void> {
    const stage = this.#stage;
    const { shows, press } = this.#actor;
    await stage.submit(command);
    await this.#parts.begun();
    await this.#turn('say');
    this.#number += 1;
    const file = `spent-${this.#number}`;
    stage.makeFile(file);
    await this.#parts.task(`command ${file}`);
    if (this.#actor.missing['approval asked'] === undefined) {
      await stage.shows((view) => shows.approval.test(view) || stage.hasFile(`${file}.began`), 'the dialog');
      for (let times = 0; times < 5 && !stage.hasFile(`${file}.began`); times += 1) {
        await new Promise((resolve) => setTimeout(resolve, settleMs));
        if (!stage.hasFile(`${file}.began`)) await press.approve(stage);
        await new Promise((resolve) => setTimeout(resolve, settleMs));
      }
    }
    await stage.holds(() => stage.hasFile(`${file}.began`), 'the command to begin');
    await this.#parts.settled();
    if (hasSubagents === true) await this.#turn('agent');
    if (compact !== undefined) {
      const before = stage.mock.served.length;
      await stage.submit(compact);
      await stage.holds(() => stage.mock.served.length > before, 'the model to be asked for a summary');
      await this.#parts.settled();
      await this.#turn('say');
    }
    await press.clear(stage);
    await press.exit(stage);
    await stage.holds(() => stage.isShell(), 'the shell to be back');
    stage.keys('-R');
    stage.keys('Enter');
  }

  async #turn(words: string): Promise<void> {
    const { served } = this.#stage.mock;
    const before = served.length;
    await this.#parts.task(words);
    const isAnswered = (): boolean => served.slice(before).some(({ task, bill }) => task === words && bill !== null);
    await this.#stage.holds(isAnswered, `an answer to ${words}`);
    await this.#parts.settled();
  }

  #compare(): boolean {
    const { stateDir, dir } = this.#stage.live;
    const printed = this.#stage.agtmux('usage', '--by', 'model', '--since', '30d', '--json');
    const { total, broken_lines } = JSON.parse(printed) as { total: Record<string, number>; broken_lines: number };
    const path = join(stateDir, 'usage.db');
    if (!existsSync(path)) throw new Error(`no usage.db in ${dir}: ${readdirSync(stateDir).join(' ')}`);
    const database = new DatabaseSync(path, { readOnly: true });
    const counted = database.prepare('SELECT input, output, cache_read FROM answers').all() as unknown as {
      input: number;
      output: number;
      cache_read: number;
    }[];
    database.close();
    const billed = this.#stage.mock.served.flatMap(({ bill, reply, path: asked, prompt }) =>
      bill === null ? [] : [{ bill, reply, asked, prompt }],
    );
    const own = billed.filter(({ reply }) => reply !== 'errand');
    const sumOf = (list: readonly { readonly bill: Bill }[]): Bill =>
      list.reduce(
        (sum, { bill }) => ({
          fresh: sum.fresh + bill.fresh,
          cached: sum.cached + bill.cached,
          output: sum.output + bill.output,
        }),
        { fresh: 0, cached: 0, output: 0 },
      );
    const told = { fresh: total.input ?? 0, cached: total.cache_read ?? 0, output: total.output ?? 0 };
    const wordsOf = ({ fresh, cached, output }: Bill): string => `${fresh}+${cached} in, ${output} out`;
    const isEqual = (one: Bill): boolean => wordsOf(one) === wordsOf(told);
    const isRight = isEqual(sumOf(own)) || isEqual(sumOf(billed));
    process.stdout.write(
      `  ${isRight ? 'right' : 'wrong'}        told ${wordsOf(told)} in ${counted.length} rows; billed ${wordsOf(sumOf(own))} for ${own.length} answers, ${wordsOf(sumOf(billed))} with ${billed.length - own.length} errands; ${broken_lines} broken lines\n`,
    );
    if (!isRight) {
      const isCounted = ({ bill }: { readonly bill: Bill }): boolean =>
        counted.some(({ input, output }) => input === bill.fresh && output === bill.output);
      for (const one of billed) {
        const mark = isCounted(one) ? 'counted' : 'not counted';
        process.stdout.write(
          `    ${mark} ${one.reply} ${wordsOf(one.bill)} ${one.prompt?.slice(0, 60).replace(/\n/g, ' ')}\n`,
        );
      }
      for (const { input, output, cache_read } of counted) {
        const isBilled = billed.some(({ bill }) => bill.fresh === input && bill.output === output);
        if (!isBilled) process.stdout.write(`    never billed: ${input}+${cache_read} in, ${output} out\n`);
      }
    }
    return isRight;
  }
}
