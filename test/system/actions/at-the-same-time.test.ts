// A person types while a message is sent, and a dialog is replaced while it is answered, on a real tmux and through the
// daemon: what is submitted is the message alone, and an answer reaches what it was given for. COUNT says how many.

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ActBody, ReceiptReply } from '../../../src/api/actions.ts';
import { repetitions } from '../../fault/children.ts';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { PromptAgent } from '../../kit/prompt-agent.ts';
import { randomOf } from '../../security/sanitize-inputs.ts';

const count = repetitions(100);
const warmUps = 5;
const execute = promisify(execFile);

let world: ActingWorld;

beforeEach(() => {
  world = new ActingWorld();
});

afterEach(async () => {
  await world.close();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const tmux = (...args: readonly string[]): Promise<unknown> =>
  execute('tmux', ['-u', '-f', '/dev/null', ...args], { env: world.env });

/** Keys as another program of the user's sends them, in their own time. */
const type = (pane: string, ...keys: readonly string[]): Promise<unknown> => tmux('send-keys', '-t', pane, ...keys);

/** A terminal in which a person has attached to the agent's session: a pane of another tmux server. */
async function attached(pane: string): Promise<{ type(...keys: readonly string[]): Promise<unknown> }> {
  world.tmux('select-window', '-t', pane);
  world.tmux('set-option', '-g', 'status', 'off');
  const attach = 'exec env -u TMUX tmux -u -f /dev/null attach -t work';
  await tmux(
    '-L',
    'person',
    'new-session',
    '-d',
    '-s',
    'person',
    '-x',
    '80',
    '-y',
    '24',
    attach,
    ';',
    'set',
    'status',
    'off',
  );
  await until(() => /attached/.test(world.tmux('list-clients', '-F', '#{client_flags} #{client_control_mode}')));
  return { type: (...keys) => tmux('-L', 'person', 'send-keys', '-t', 'person:', ...keys) };
}

const texts = ['fix the bug', 'a b', '1, 2', 'y\n', 'please look at this,\nand at that', 'one\n'.repeat(8), '🙂'];

describe('a person who types while a message is sent', () => {
  it(`ACT2 ${count} messages: what is submitted is the message alone, and what is told delivered was submitted`, async () => {
    await world.startDaemon();
    const agent = await PromptAgent.start(world, 'work', 40);
    await world.becomes(agent, /idle|completed/);
    const person = await attached(agent.pane);
    const random = randomOf(20_261_118);
    const tally = new Map<string, number>();
    const wrong: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const text = index % 3 === 0 ? (texts[random(texts.length)] ?? '') : `message ${index} of many`;
      const before = agent.submitted().length;
      const isQueued = index % 10 === 9;
      const delayMs = random(250);
      const typed = pause(delayMs).then(() =>
        index % 2 === 0 ? person.type('-l', 'rm ') : type(agent.pane, '-l', 'rm '),
      );
      const sent = await world.ask({ action: 'send', ref: agent.pane, text, when_ready: isQueued } as ActBody);
      await typed;
      const receipt = sent.outcome === 'queued' ? await dropped(agent) : sent;
      const news = agent.submitted().slice(before);
      tally.set(receipt.outcome, (tally.get(receipt.outcome) ?? 0) + 1);
      const isAlone = news.length === 1 && isThis(news[0] ?? '', text);
      if (news.length > 0 && !isAlone) wrong.push(`${index} after ${delayMs} ms: ${JSON.stringify(news)} for ${text}`);
      if (receipt.outcome === 'delivered' && !isAlone) wrong.push(`${index}: told delivered, ${JSON.stringify(news)}`);
      if (receipt.outcome === 'refused' && news.length > 0) wrong.push(`${index}: told refused, and submitted`);
      const isExplained = receipt.outcome !== 'unconfirmed' || /agtmux attach/.test(receipt.words ?? '');
      if (!isExplained) wrong.push(`${index}: ${receipt.words}`);
      await cleared(agent);
    }
    console.log(`messages while a person types: ${JSON.stringify(Object.fromEntries([...tally].sort()))}`);
    expect(wrong).toEqual([]);
    expect(tally.get('delivered') ?? 0).toBeGreaterThan(count / 4);
    // Nobody's keyboard is kept after it.
    expect(world.tmux('display-message', '-p', '-t', agent.pane, '#{pane_input_off}[#{@agtmux-held}]')).toBe('0[]');
  }, 3_600_000);

  /** It waits in the queue for the prompt to be empty; the person goes on, and it is taken out. */
  async function dropped(agent: PromptAgent): Promise<Pick<ReceiptReply, 'outcome' | 'words'>> {
    await cleared(agent);
    return { outcome: 'queued', words: null };
  }

  /** The person empties the prompt, and every message that waits goes out before the next one comes. */
  async function cleared(agent: PromptAgent): Promise<void> {
    await type(agent.pane, 'C-u');
    await until(async () => (await world.client.get('/v1/queue', {})).items.length === 0, 60_000);
    await until(async () => {
      await type(agent.pane, 'C-u');
      await pause(60);
      return /^❯\s*$/m.test(world.tmux('capture-pane', '-p', '-t', agent.pane));
    }, 60_000);
  }
});

/** A long one stands for itself by its mark. */
const isThis = (submitted: string, text: string): boolean =>
  submitted === text || (text.split('\n').length > 3 && /^\[Pasted text #\d+ \+\d+ lines\]$/.test(submitted));

describe('a dialog that is replaced while it is answered', () => {
  it(`ASK3 ${count} swaps: no approval reaches a dialog that had stood there for 2 ms`, async () => {
    slowTmux(8);
    const policy = 'trust_untraceable = true\nallow_approve = ["operator"]\nkinds = ["command"]\n';
    writeFileSync(join(world.dir, 'home/.config/agtmux/policy.toml'), policy);
    await world.startDaemon();
    const agent = await PromptAgent.start(world, 'work', 0);
    const random = randomOf(20_261_119);
    const tally = { approved: 0, refused: 0, unconfirmed: 0, swapped: 0 };
    const late: { readonly stoodMs: number; readonly slowMs: number }[] = [];
    const probe = slownessOf();
    let aimMs = 0;
    for (let index = -warmUps; index < count; index += 1) {
      const [asked, other] = [`touch made-${index}.txt && echo one`, `touch made-${index}.txt && rm -rf build`];
      await agent.show(asked);
      let askId = '';
      await until(async () => {
        const item = await world.itemIn(agent.pane);
        askId = item?.ask?.text.includes(asked) === true ? item.ask.ask_id : '';
        return askId !== '';
      }, 60_000);
      const before = agent.said().length;
      const at = Date.now();
      const approved = world.ask({ action: 'approve', ref: agent.pane, ask_id: askId } as ActBody);
      // Aimed at the moment of the key, as it was lately.
      const isSwap = index >= 0;
      const swapped = isSwap ? agent.swap(asked, other, Math.max(0, aimMs - 20 + random(30))) : async () => false;
      const receipt = await approved;
      const isSwapped = await swapped();
      if (!isSwap) expect(receipt).toMatchObject({ outcome: 'delivered', failure: null });
      const key = agent
        .said()
        .slice(before)
        .find((one) => one.key !== undefined);
      if (key?.command === asked) {
        const tookMs = (key.at ?? at) - at;
        aimMs = aimMs === 0 ? tookMs : aimMs * 0.7 + tookMs * 0.3;
      } else if (isSwap && key === undefined) aimMs += 2;
      if (isSwap) {
        tally.swapped += isSwapped ? 1 : 0;
        if (key === undefined) tally[receipt.outcome === 'refused' ? 'refused' : 'unconfirmed'] += 1;
        else if (key.command === asked) tally.approved += 1;
        else {
          const stoodMs = key.stoodMs ?? 0;
          late.push({ stoodMs, slowMs: probe.around((key.at ?? 0) - stoodMs, key.at ?? 0) });
        }
      }
      await agent.show(null);
      await until(async () => (await world.itemIn(agent.pane))?.ask === null, 60_000);
    }
    probe.end();
    console.log(`swapped dialogs: ${JSON.stringify({ ...tally, late })}`);
    // Where the machine lets tmux itself wait, what was drawn reaches it that much later.
    expect(late.filter(({ stoodMs, slowMs }) => stoodMs >= 2 + slowMs)).toEqual([]);
    expect(tally.approved).toBeGreaterThan(0);
    expect(tally.refused + tally.unconfirmed).toBeGreaterThan(0);
  }, 3_600_000);

  /** Asks tmux something again and again, past the slow way, and knows how long it took around some moment. */
  function slownessOf(): { around(fromMs: number, toMs: number): number; end(): void } {
    const env = { ...world.env, PATH: process.env.PATH };
    const client = spawn('tmux', ['-u', '-C', 'attach', '-t', 'work', '-f', 'no-output,ignore-size'], { env });
    const asked: { readonly from: number; to: number }[] = [];
    const ask = (): void => {
      asked.splice(0, asked.length - 2_000);
      asked.push({ from: Date.now(), to: Number.POSITIVE_INFINITY });
      client.stdin.write('display-message -p agtmux-probe\n');
    };
    client.stdin.on('error', () => undefined);
    client.stdout.on('data', (data: Buffer) => {
      const last = asked.at(-1);
      if (last === undefined || !data.includes('agtmux-probe')) return;
      last.to = Date.now();
      setTimeout(ask, 1);
    });
    ask();
    return {
      around: (fromMs, toMs) =>
        Math.max(
          0,
          ...asked
            .filter(({ from, to }) => from <= toMs + 5 && to >= fromMs - 5)
            .map(({ from, to }) => Math.min(to, Date.now()) - from),
        ),
      end: () => void client.kill(),
    };
  }

  /** Commands reach tmux so much later, as on another machine: the guard is all that sees what came up meanwhile. */
  function slowTmux(delayMs: number): void {
    const folder = join(world.dir, 'slow');
    mkdirSync(folder);
    const relay = join(folder, 'relay.mjs');
    writeFileSync(
      relay,
      `import { spawn } from 'node:child_process';
const tmux = spawn('tmux', process.argv.slice(2), { stdio: ['pipe', 'inherit', 'inherit'], env: { ...process.env, PATH: ${JSON.stringify(process.env.PATH)} } });
process.stdin.on('data', (data) => setTimeout(() => tmux.stdin.write(data), ${delayMs}));
process.stdin.on('end', () => setTimeout(() => tmux.stdin.end(), ${delayMs}));
tmux.on('exit', (code) => process.exit(code ?? 1));
process.on('SIGTERM', () => tmux.kill());
`,
    );
    const script = `#!/bin/sh\ncase " $* " in *" -C "*) exec ${process.execPath} ${relay} "$@";; esac\nPATH=${process.env.PATH}\nexec tmux "$@"\n`;
    writeFileSync(join(folder, 'tmux'), script, { mode: 0o755 });
    world.env.PATH = `${folder}:${world.env.PATH}`;
  }
});
