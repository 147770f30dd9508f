// `agtmux agents check` and `agents learn`: how good a definition is, and a first one for an agent that nobody knows. Both
// work without a daemon.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import {
  type Checked,
  type CheckInput,
  checkDefinition,
  draftDefinition,
  paneToLearn,
  type SceneScreen,
  type ScreenLabel,
  scenes,
} from '../offline/definitions.ts';
import { lookAtPanes, type OfflineOptions, type PaneLook } from '../offline/list.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { type Action, type Context, configPath, must, sleep, userId } from './context.ts';
import { note, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { answerTo } from './question.ts';

const safe = (text: string): string => sanitizeLine(foreign(text));

export const agentsCheck: Action = async (parsed) => {
  const place = parsed.args[0] ?? '';
  const checked = definitionsIn(place).map(({ path, folder }) => ({
    path,
    checked: must(checkDefinition(inputOf(path, folder))),
  }));
  if (parsed.has('json')) print(JSON.stringify(checked.map(({ path, checked: one }) => ({ path, ...one }))));
  else for (const { path, checked: one } of checked) print(scoreLines(path, one).join('\n'));
  if (checked.some(({ checked: one }) => (one.score?.wrong ?? 0) > 0)) process.exitCode = 1;
};

/** A file with its folder of screens beside it, or every definition of a folder. */
function definitionsIn(place: string): readonly { readonly path: string; readonly folder: string }[] {
  if (!existsSync(place)) throw new AgtmuxError('E_FILE', `there is no ${safe(place)}`);
  if (!statSync(place).isDirectory()) {
    const beside = place.replace(/\.toml$/, '');
    return [{ path: place, folder: existsSync(join(beside, 'labels.json')) ? beside : dirname(place) }];
  }
  const files = readdirSync(place).filter((name) => name.endsWith('.toml'));
  if (files.length === 0)
    throw new AgtmuxError('E_FILE', `there is no definition in ${safe(place)}`, { next: 'a definition ends in .toml' });
  return files.sort().flatMap((name) => definitionsIn(join(place, name)));
}

function inputOf(path: string, folder: string): CheckInput {
  const file = join(folder, 'labels.json');
  const text = readFileSync(path, 'utf8');
  if (!existsSync(file)) return { path, text, screens: null };
  const read = (name: string): string => {
    const screen = join(folder, name);
    if (!existsSync(screen)) throw new AgtmuxError('E_FILE', `${safe(file)} names ${safe(name)}, which is not there`);
    return readFileSync(screen, 'utf8');
  };
  return { path, text, screens: { path: file, labels: readFileSync(file, 'utf8'), read } };
}

function scoreLines(path: string, { agent, score }: Checked): readonly string[] {
  if (score === null)
    return [`${safe(path)}: ${safe(agent)} can be read; there are no labelled screens beside it to score it on`];
  const { screens, right, unknown, wrong, weak } = score;
  const rows = screens.map(({ file, expected, read, outcome, rule, approve }) => {
    const keys = approve === null ? '' : `  approve presses ${safe(approve)}`;
    return `  ${outcome.padEnd(8)} ${safe(file).padEnd(28)} ${expected.padEnd(17)} ${read.padEnd(17)} ${safe(rule ?? 'no rule')}${keys}`;
  });
  return [
    `${safe(path)}: ${safe(agent)}: ${right} of ${screens.length} right, ${unknown} unknown, ${wrong} wrong`,
    `  ${''.padEnd(8)} ${'screen'.padEnd(28)} ${'was'.padEnd(17)} ${'read as'.padEnd(17)} rule`,
    ...rows,
    ...(weak.length === 0 ? [] : ['weak', ...weak.map((one) => `  ${safe(one)}`)]),
  ];
}

/** A scene is looked at more than once: what moves is no sign of it. */
const looksPerScene = 3;
const looksApartMs = 350;

export const agentsLearn: Action = async (parsed, context) => {
  const name = parsed.args[0] ?? '';
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name))
    throw new AgtmuxError('E_USAGE', `${safe(name)} is no name for an agent`, {
      next: 'use lower-case letters, digits, - and _',
    });
  const options = optionsOf(parsed, context);
  const pane = must(paneToLearn(await lookAtPanes(options, null), parsed.args[1]));
  if (pane.program === null)
    throw new AgtmuxError('E_REF_NOT_FOUND', `nothing but a shell runs in ${pane.pane}`, {
      next: 'start the agent there first',
    });
  if (pane.agent !== null)
    throw new AgtmuxError('E_INPUT', `${pane.pane} runs ${safe(pane.agent)}, which agtmux knows`, {
      next: 'lay a file over it: docs/definitions.md',
    });
  const folder = join(dirname(configPath()), 'agents');
  const path = join(folder, `${name}.toml`);
  if (existsSync(path))
    throw new AgtmuxError('E_FILE', `${path} is there already`, { next: 'move it away, or learn under another name' });
  note(`lead the agent in ${pane.pane} through these scenes`);
  note('press Enter here when each shows, or type s to skip it');
  const version = (await answerTo('Which version is it? ')) || 'unknown';
  const taken = await takeScenes(options, context, pane, join(folder, name), version);
  if (taken.length === 0) throw new AgtmuxError('E_INPUT', 'every scene was skipped', { next: 'begin with idle' });
  const interruptKey = taken.some(({ scene }) => scene === 'interrupt') ? await keyNamed() : 'Escape';
  writeFileSync(path, draftDefinition({ name, program: pane.program, version, screens: taken, interruptKey }));
  print(`wrote ${path}, and its screens beside it`);
  print(scoreLines(path, must(checkDefinition(inputOf(path, join(folder, name))))).join('\n'));
};

const optionsOf = (parsed: Parsed, { clock }: Context): OfflineOptions => ({
  clock,
  uid: userId(),
  variables: process.env,
  sockets: parsed.values('tmux-socket'),
});

async function keyNamed(): Promise<string> {
  const key = await answerTo("Which key interrupted it, by tmux's name? [Escape] ");
  return /^(?:Escape|C-[a-hk-ln-z])$/.test(key) ? key : 'Escape';
}

async function takeScenes(
  options: OfflineOptions,
  { clock }: Context,
  { pane }: PaneLook,
  folder: string,
  version: string,
): Promise<readonly SceneScreen[]> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const taken: SceneScreen[] = [];
  const labels: ScreenLabel[] = [];
  for (const { name, state, words, again } of scenes) {
    const asked = [`${name}: ${words}`, ...(again === null ? [] : [`${name}, once more: ${again}`])];
    let count = 0;
    for (const question of asked) {
      if ((await answerTo(`${question}. [Enter, or s] `)).startsWith('s')) break;
      for (let look = 1; look <= looksPerScene; look += 1) {
        if (look > 1) await sleep(clock, looksApartMs);
        const seen = (await lookAtPanes(options, pane)).find((one) => one.pane === pane);
        if (seen === undefined) throw new AgtmuxError('E_REF_NOT_FOUND', `${pane} is gone`, { next: 'begin again' });
        count += 1;
        const file = `${name}-${count}.txt`;
        writeFileSync(join(folder, basename(file)), `${seen.lines.join('\n')}\n`, { mode: 0o600 });
        labels.push({ file, state, title: seen.title, command: seen.command, version });
        taken.push({ scene: name, lines: seen.lines });
      }
    }
  }
  writeFileSync(join(folder, 'labels.json'), `${JSON.stringify(labels, null, 2)}\n`, { mode: 0o600 });
  return taken;
}
