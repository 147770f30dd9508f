// `make test-agents`: leads the real agents through the scenario, one after another, without and with hooks, and writes
// what came out to .agents/results.json and docs/agents.md. Arguments choose agents; --mode chooses a mode.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Actor, stepNames } from './actor.ts';
import { claude } from './actors/claude.ts';
import { codex, codexAlone } from './actors/codex.ts';
import { copilot } from './actors/copilot.ts';
import { gemini } from './actors/gemini.ts';
import { opencode } from './actors/opencode.ts';
import { Play } from './play.ts';
import { keepRun, modes, type RunMode, writeTable } from './results.ts';
import { playAll } from './scenario.ts';
import { agentsDir, Stage } from './stage.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const actors: readonly Actor[] = [claude, codex, codexAlone, gemini, copilot, opencode];

/** As a user does it; nobody is asked. */
function installHooks(actor: Actor, stage: Stage): void {
  execFileSync(process.execPath, [join(root, 'bin/agtmux'), 'hooks', 'install', '--agent', actor.agent, '--yes'], {
    env: stage.live.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function run(actor: Actor, mode: RunMode): Promise<boolean> {
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

const { values, positionals } = parseArgs({ options: { mode: { type: 'string' } }, allowPositionals: true });
const chosen = actors.filter(
  ({ agent, label }) => positionals.length === 0 || [agent, label].some((one) => positionals.includes(one)),
);
let isGood = true;
for (const actor of chosen) {
  for (const mode of modes.filter((one) => values.mode === undefined || one === values.mode)) {
    isGood = (await run(actor, mode)) && isGood;
    writeTable();
  }
}
process.exit(isGood ? 0 : 1);
