// `make test-agents`: leads the real agents through the scenario, one after another, without and with hooks, then acts on
// each, has it use the shells of agtmux, leads each as a managed session, and writes what came out to .agents and
// docs/agents.md. Arguments choose agents; --mode chooses a mode, --acting plays the acting alone, and with --hooks on agents
// that have hooks, which is told and not kept; --shells plays the shells alone, and with --quick on a budget of seconds, which
// is told and not kept; --slowed plays that many turns of an agent that is held back, with --mode plain without hooks
// and with --machine together with its tmux and daemon, which is told and not kept; --sessions plays the managed
// sessions alone, and with --scene one scene of them, which is not kept; --outside plays agents in a terminal of their own,
// with hooks and in no pane, which is told and not kept, and with --quick only how they are answered. --record 80x24 keeps the screens of every step in a
// terminal of that size for fixtures, and compares nothing.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { programsMayAll } from '../kit/policy.ts';
import { Acting } from './acting.ts';
import { type ActionExecutor, stepNames } from './actor.ts';
import { claude } from './actors/claude.ts';
import { cline } from './actors/cline.ts';
import { codex, codexAlone } from './actors/codex.ts';
import { continueCli } from './actors/continue.ts';
import { copilot } from './actors/copilot.ts';
import { gemini } from './actors/gemini.ts';
import { grok } from './actors/grok.ts';
import { grokCli } from './actors/grok-cli.ts';
import { kimi } from './actors/kimi.ts';
import { opencode } from './actors/opencode.ts';
import { pi } from './actors/pi.ts';
import { qwen } from './actors/qwen.ts';
import { Outside } from './outside.ts';
import { Play } from './play.ts';
import { Restoring } from './restoring.ts';
import { keepActing, keepRun, modes, type RunMode, writeActingTable, writeTable } from './results.ts';
import { playAll } from './scenario.ts';
import { playSessions } from './sessions/main.ts';
import { writeSessionsTable } from './sessions/results.ts';
import { keepShelling, writeShellingTable } from './shell-results.ts';
import { ShellManager } from './shelling.ts';
import { playSlowed, type Slowness } from './slowed.ts';
import { Spending } from './spending.ts';
import { agentsDir, Stage } from './stage.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const actors: readonly ActionExecutor[] = [
  ...[claude, codex, codexAlone, gemini, copilot, opencode],
  ...[qwen, kimi, grok, cline, pi, continueCli, grokCli],
];

/** As a user does it; nobody is asked. */
function installHooks(actor: ActionExecutor, stage: Stage): void {
  execFileSync(process.execPath, [join(root, 'bin/agtmux'), 'hooks', 'install', '--agent', actor.agent, '--yes'], {
    // Which version there is decides what is put in.
    env: { ...stage.live.env, PATH: `${join(agentsDir, 'bin')}:${stage.live.env.PATH}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function run(actor: ActionExecutor, mode: RunMode): Promise<boolean> {
  process.stdout.write(`${actor.label} ${actor.version}, ${mode}\n`);
  const stage = new Stage(join(agentsDir, 'captures', `${actor.label.replaceAll(/\W+/g, '-')}-${mode}`));
  const began = Date.now();
  let results: Play['results'] = [];
  try {
    const stream = await stage.open(actor, () => {
      if (mode === 'hooks') installHooks(actor, stage);
    });
    const play = new Play(actor, stage, stream);
    results = play.results;
    await playAll(play).catch((problem: unknown) => process.stderr.write(`${problem}\n${stage.screen()}\n`));
    play.giveUp(stepNames);
  } finally {
    await stage.close();
  }
  keepRun({ label: actor.label, version: actor.version, mode, began, steps: results });
  return results.length > 0 && results.every(({ verdict }) => verdict === 'seen' || verdict === 'n/a');
}

/** Keeps what the agent shows at every step in a terminal of this size, for fixtures; nothing is compared. */
async function record(actor: ActionExecutor, size: string): Promise<void> {
  process.stdout.write(`${actor.label} ${actor.version}, recorded in ${size}\n`);
  const stage = new Stage(join(agentsDir, 'captures', `${actor.label.replaceAll(/\W+/g, '-')}-record-${size}`), size);
  try {
    const stream = await stage.open(actor, () => undefined);
    await playAll(new Play(actor, stage, stream, true)).catch((problem: unknown) =>
      process.stderr.write(`${problem}\n${stage.screen()}\n`),
    );
  } finally {
    await stage.close();
  }
}

/** In a terminal of its own, where only its hooks and files tell of it; then answered over the channel that it has. */
async function runOutside(actor: ActionExecutor, isQuick: boolean): Promise<boolean> {
  process.stdout.write(`${actor.label} ${actor.version}, in no pane\n`);
  const stage = new Stage(join(agentsDir, 'captures', `${actor.label.replaceAll(/\W+/g, '-')}-outside`), '120x40', {
    isOutside: true,
  });
  let isRight = false;
  try {
    const stream = await stage.open(actor, () => {
      writePolicy(stage);
      installHooks(actor, stage);
    });
    const outside = new Outside(actor, stage, stream);
    isRight = await outside.play(isQuick);
  } catch (problem) {
    process.stderr.write(`${problem}\n${stage.screen()}\n`);
  } finally {
    await stage.close();
  }
  return isRight;
}

/** A test may be run by somebody without parents left; such a one counts as a program of the user's. */
function writePolicy(stage: Stage): void {
  const folder = join(stage.home, '.config/agtmux');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy.toml'), programsMayAll);
}

async function runActing(actor: ActionExecutor, hasHooks: boolean): Promise<boolean> {
  const how = hasHooks ? 'acting-hooks' : 'acting';
  process.stdout.write(`${actor.label} ${actor.version}, ${how}\n`);
  const stage = new Stage(join(agentsDir, 'captures', `${actor.label.replaceAll(/\W+/g, '-')}-${how}`));
  const began = Date.now();
  let results: Acting['results'] = [];
  try {
    const stream = await stage.open(actor, () => {
      writePolicy(stage);
      if (hasHooks) installHooks(actor, stage);
    });
    const acting = new Acting(actor, stage, stream);
    results = acting.results;
    await acting.play().catch((problem: unknown) => process.stderr.write(`${problem}\n${stage.screen()}\n`));
    acting.giveUp();
  } finally {
    await stage.close();
  }
  if (!hasHooks) keepActing({ label: actor.label, version: actor.version, began, steps: results });
  return results.length > 0 && results.every(({ verdict }) => verdict === 'right' || verdict === 'n/a');
}

/** Those that are heard of without a pane: they have hooks. */
const outsideAgents: readonly string[] = ['claude', 'codex', 'gemini', 'copilot', 'opencode'];

const usageLabels: readonly string[] = ['claude', 'codex, own process', 'gemini', 'copilot', 'opencode'];

/** What it has used, as agtmux tells it and as the mock model bills it. */
async function runUsage(actor: ActionExecutor): Promise<boolean> {
  process.stdout.write(`${actor.label} ${actor.version}, usage\n`);
  const stage = new Stage(join(agentsDir, 'captures', `${actor.label.replaceAll(/\W+/g, '-')}-usage`));
  try {
    await stage.open(actor, () => undefined);
    return await new Spending(actor, stage).play();
  } catch (problem) {
    process.stderr.write(`${problem}\n${stage.screen()}\n`);
    return false;
  } finally {
    await stage.close();
  }
}

/** These take MCP servers, and have tools that wait for an answer of a person. */
const shellActors: readonly ActionExecutor[] = [claude, codex, codexAlone, gemini, copilot, opencode];

async function runShells(actor: ActionExecutor, isQuick: boolean): Promise<boolean> {
  process.stdout.write(`${actor.label} ${actor.version}, shells\n`);
  const stage = new Stage(join(agentsDir, 'captures', `${actor.label.replaceAll(/\W+/g, '-')}-shells`));
  const began = Date.now();
  let results: ShellManager['results'] = [];
  try {
    const stream = await stage.open(actor, () => undefined);
    const shelling = new ShellManager(actor, stage, stream, isQuick);
    results = shelling.results;
    shelling.register();
    await shelling.play().catch((problem: unknown) => process.stderr.write(`${problem}\n${stage.screen()}\n`));
    shelling.giveUp();
  } finally {
    await stage.close();
  }
  if (!isQuick) keepShelling({ label: actor.label, version: actor.version, began, steps: results });
  return results.length > 0 && results.every(({ verdict }) => verdict === 'right' || verdict === 'n/a');
}

/** Of each agent, where nothing else is asked for. */
const slowedTurns = 10;

async function runSlowed(actor: ActionExecutor, slowness: Slowness): Promise<boolean> {
  const mode: RunMode = slowness.hasHooks ? 'hooks' : 'plain';
  process.stdout.write(`${actor.label} ${actor.version}, slowed, ${mode}\n`);
  const stage = new Stage(join(agentsDir, 'captures', `${actor.label.replaceAll(/\W+/g, '-')}-slowed-${mode}`));
  try {
    const stream = await stage.open(actor, () => {
      if (slowness.hasHooks) installHooks(actor, stage);
    });
    const wrong = await playSlowed(actor, stage, stream, slowness);
    for (const line of wrong) process.stdout.write(`  wrong  ${line}\n`);
    return wrong.length === 0;
  } catch (problem) {
    process.stderr.write(`${problem}\n${stage.screen()}\n`);
    return false;
  } finally {
    await stage.close();
  }
}

const { values, positionals } = parseArgs({
  options: {
    slowed: { type: 'string' },
    machine: { type: 'boolean', default: false },
    mode: { type: 'string' },
    acting: { type: 'boolean', default: false },
    hooks: { type: 'boolean', default: false },
    shells: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    sessions: { type: 'boolean', default: false },
    outside: { type: 'boolean', default: false },
    restore: { type: 'boolean', default: false },
    usage: { type: 'boolean', default: false },
    scene: { type: 'string' },
    record: { type: 'string' },
  },
  allowPositionals: true,
});
const chosen = actors.filter(
  ({ agent, label }) => positionals.length === 0 || [agent, label].some((one) => positionals.includes(one)),
);
let isGood = true;
if (values.usage) {
  const spenders = chosen.filter(({ agent, label }) => usageLabels.includes(label) && outsideAgents.includes(agent));
  for (const actor of spenders) isGood = (await runUsage(actor)) && isGood;
  process.exit(isGood ? 0 : 1);
}
if (values.restore) {
  const restored = chosen.filter(({ label }) => outsideAgents.includes(label));
  process.exit((await new Restoring().play(restored, installHooks)) ? 0 : 1);
}
if (values.outside) {
  const hooked = chosen.filter(({ agent }) => outsideAgents.includes(agent));
  for (const actor of hooked) isGood = (await runOutside(actor, values.quick)) && isGood;
  process.exit(isGood ? 0 : 1);
}
if (values.record !== undefined) {
  for (const actor of chosen) await record(actor, values.record);
  process.exit(0);
}
for (const actor of values.slowed === undefined ? [] : chosen)
  isGood =
    (await runSlowed(actor, {
      turns: Number(values.slowed),
      hasHooks: values.mode !== 'plain',
      isMachine: values.machine,
    })) && isGood;
for (const actor of values.sessions || values.slowed !== undefined ? [] : chosen) {
  if (!values.acting && values.mode === undefined && shellActors.includes(actor)) {
    isGood = (await runShells(actor, values.quick)) && isGood;
    if (!values.quick) writeShellingTable();
  }
  if (values.shells) continue;
  for (const mode of modes.filter((one) => !values.acting && (values.mode === undefined || one === values.mode))) {
    isGood = (await run(actor, mode)) && isGood;
    writeTable();
  }
  if (values.mode !== undefined) continue;
  if (!values.acting)
    isGood = (await runSlowed(actor, { turns: slowedTurns, hasHooks: true, isMachine: false })) && isGood;
  isGood = (await runActing(actor, values.hooks)) && isGood;
  if (!values.hooks) writeActingTable();
}
if (values.sessions || ((values.slowed ?? values.mode) === undefined && !values.acting)) {
  isGood = (await playSessions(positionals, values.scene ?? null)) && isGood;
  if (values.scene === undefined) writeSessionsTable();
}
process.exit(isGood ? 0 : 1);
