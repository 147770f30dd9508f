// `agtmux agents learn`: leads the user of an unknown agent through its scenes, keeps the screens of each, and drafts a first
// definition of them. Works without a daemon.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import type { StateName } from '../model/states.ts';
import {
  type CheckInput,
  checkDefinition,
  draftDefinition,
  nameToLearn,
  paneToLearn,
  type SceneName,
  type SceneScreen,
  type ScreenLabel,
  scenes,
  scenesTaken,
} from '../offline/definitions.ts';
import { lookAtPanes, type OfflineOptions, type PaneLook } from '../offline/list.ts';
import { type Action, type Context, configPath, must, sleep, userId } from './context.ts';
import { askLines, inputOf, safe, scoreLines } from './definitions.ts';
import { note, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { answerTo, hasTerminal, isWanted } from './question.ts';

/** A scene is looked at more than once: what moves is no sign of it. */
const looksPerScene = 3;
const looksApartMs = 350;
/** Nobody reads a question so fast: what comes sooner was typed before it. */
const readMs = 150;
/** So many of the lowest lines are shown of what was taken. */
const linesShown = 3;

export const agentsLearn: Action = async (parsed, context) => {
  const name = must(nameToLearn(safe(parsed.args[0] ?? '')));
  const options = optionsOf(parsed, context);
  const pane = must(paneToLearn(await lookAtPanes(options, null), parsed.args[1], process.env.TMUX_PANE));
  if (pane.program === null)
    throw new AgtmuxError('E_REF_NOT_FOUND', `nothing but a shell runs in ${pane.pane}`, {
      next: 'start the agent there first',
    });
  if (pane.agent !== null && pane.agent !== name)
    throw new AgtmuxError('E_INPUT', `${pane.pane} runs ${safe(pane.agent)}, which agtmux knows`, {
      next: 'lay a file over it: docs/definitions.md',
    });
  const folder = join(dirname(configPath()), 'agents');
  const path = join(folder, `${name}.toml`);
  const isThere = existsSync(path);
  const gallery = new Gallery(join(folder, name));
  if (isThere && gallery.taken.length === 0)
    throw new AgtmuxError('E_FILE', `${path} is there already`, { next: 'move it away, or learn under another name' });
  if (gallery.taken.length > 0) note(`${gallery.folder} has screens: only scenes that are missing there are asked for`);
  note(`lead the agent in ${pane.pane} through these scenes`);
  note('press Enter here when each shows, type s to skip it, or r to take the one before again');
  const version = await answerTo('Which version is it? ');
  if (version === '') note('without a version no key is pressed: name it in `measured` later, and write [keys]');
  await new Tour(options, context, pane, version).lead(gallery);
  const screens = gallery.taken;
  if (screens.length === 0) throw new AgtmuxError('E_INPUT', 'every scene was skipped', { next: 'begin with idle' });
  const interruptKey = screens.some(({ scene }) => scene === 'interrupt') ? await keyNamed() : 'Escape';
  const input = { name, program: pane.program, version: version || null, screens, interruptKey };
  // What a person would approve is shown once to somebody who has the dialog itself in sight.
  const first = draftDefinition(input);
  const draft = (await isShownWhole(path, first.text, gallery))
    ? first
    : draftDefinition({ ...input, isAskPartial: true });
  const checked = must(checkDefinition({ ...inputFor(gallery, path), text: draft.text }));
  const isWrong = (checked.score?.wrong ?? 0) > 0;
  const place = isThere || isWrong ? join(gallery.folder, `${name}.toml`) : path;
  writeFileSync(place, draft.text);
  print(`wrote ${place}, and its screens in ${gallery.folder}`);
  if (isThere) print(`${path} stays as it is: take over from the draft what you want`);
  else if (isWrong)
    print(`it is not in force: it reads some of its own screens wrongly. Mend it, check it, and move it to ${path}`);
  print(scoreLines(place, checked).join('\n'));
  if (draft.missing.length > 0) print(['not drafted', ...draft.missing.map((one) => `  ${safe(one)}`)].join('\n'));
  if (isWrong) process.exitCode = 1;
};

const inputFor = ({ folder }: Gallery, path: string): CheckInput => inputOf(path, folder, '');

/** Shows each request as it would be shown before an approval, and asks whether it is all of it. */
async function isShownWhole(path: string, text: string, gallery: Gallery): Promise<boolean> {
  const { score } = must(checkDefinition({ ...inputFor(gallery, path), text }));
  const asks = (score?.screens ?? []).filter(({ approve, ask }) => approve !== null && ask !== null);
  const words = [...new Set(asks.map(({ ask }) => (ask === null ? '' : askLines(ask).join('\n'))))];
  if (words.length === 0) return true;
  note('this is what is shown before somebody approves:');
  for (const one of words) for (const line of one.split('\n')) note(line);
  return isWanted('Is that all of what it asked, to the last word?');
}

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

interface Taken extends ScreenLabel {
  readonly scene: SceneName;
  readonly lines: readonly string[];
}

/** The screens of an agent and what was going on on each, on disk as soon as they were taken. */
class Gallery {
  readonly folder: string;
  #rows: readonly Taken[];

  constructor(folder: string) {
    this.folder = folder;
    const path = join(folder, 'labels.json');
    const labels = existsSync(path) ? readFileSync(path, 'utf8') : '[]';
    const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
    this.#rows = must(scenesTaken({ path, labels, read }));
  }

  get taken(): readonly SceneScreen[] {
    return this.#rows;
  }

  /** In place of what was taken of it before. */
  put(scene: SceneName, rows: readonly Omit<Taken, 'file' | 'scene'>[], from: number): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const files = rows.map((row, at): Taken => ({ ...row, scene, file: `${scene}-${from + at + 1}.txt` }));
    for (const { file, lines } of files)
      writeFileSync(join(this.folder, basename(file)), `${lines.join('\n')}\n`, { mode: 0o600 });
    const names = new Set(files.map(({ file }) => file));
    this.#rows = [...this.#rows.filter(({ file }) => !names.has(file)), ...files];
    const labels = this.#rows.map(({ scene: _scene, lines: _lines, ...label }) => label);
    writeFileSync(join(this.folder, 'labels.json'), `${JSON.stringify(labels, null, 2)}\n`, { mode: 0o600 });
  }
}

interface Stop {
  readonly scene: SceneName;
  readonly state: StateName;
  readonly question: string;
  /** How many screens of the scene stand before these. */
  readonly from: number;
}

const stops: readonly Stop[] = scenes.flatMap(({ name, state, words, again }) => [
  { scene: name, state, question: `${name}: ${words}`, from: 0 },
  ...(again === null ? [] : [{ scene: name, state, question: `${name}, once more: ${again}`, from: looksPerScene }]),
]);

/** The same program, whatever it was started with. */
const isSameProgram = (one: PaneLook['program'], other: PaneLook['program']): boolean =>
  one !== null && other !== null && one.argv.slice(0, 2).join('\n') === other.argv.slice(0, 2).join('\n');

/** Leads through the scenes, and takes what the pane shows as long as the agent runs there. */
class Tour {
  readonly #options: OfflineOptions;
  readonly #clock: Context['clock'];
  readonly #pane: PaneLook;
  readonly #version: string;

  constructor(options: OfflineOptions, { clock }: Context, pane: PaneLook, version: string) {
    this.#options = options;
    this.#clock = clock;
    this.#pane = pane;
    this.#version = version;
  }

  async lead(gallery: Gallery): Promise<void> {
    const known = new Set(gallery.taken.map(({ scene }) => scene));
    const open = stops.filter(({ scene }) => !known.has(scene));
    const skipped = new Set<SceneName>();
    for (let at = 0; at < open.length; at += 1) {
      const stop = open[at];
      if (stop === undefined || skipped.has(stop.scene)) continue;
      const answer = await this.#answer(`${stop.question}. [Enter, s, or r] `);
      if (answer.startsWith('s')) skipped.add(stop.scene);
      else if (answer.startsWith('r')) {
        skipped.delete(open[at - 1]?.scene ?? stop.scene);
        at = Math.max(-1, at - 2);
      } else if (!(await this.#take(gallery, stop))) at -= 1;
    }
  }

  /** At a terminal, an Enter that was pressed before the question was there is none of its answers. */
  async #answer(question: string): Promise<string> {
    for (;;) {
      const asked = this.#clock.monotonicMs();
      const answer = await answerTo(question);
      if (!hasTerminal() || answer !== '' || this.#clock.monotonicMs() - asked >= readMs) return answer;
      note('that was typed before the question: look at the agent, and press Enter when it shows');
    }
  }

  /** False where there was nothing to take: the agent does not run there just now. */
  async #take(gallery: Gallery, { scene, state, from }: Stop): Promise<boolean> {
    const rows: Omit<Taken, 'file' | 'scene'>[] = [];
    for (let look = 0; look < looksPerScene; look += 1) {
      if (look > 0) await sleep(this.#clock, looksApartMs);
      const { pane, program } = this.#pane;
      const seen = (await lookAtPanes(this.#options, pane)).find((one) => one.pane === pane);
      if (seen === undefined) throw new AgtmuxError('E_REF_NOT_FOUND', `${pane} is gone`, { next: 'begin again' });
      if (!isSameProgram(seen.program, program)) {
        note(`nothing was taken: ${safe(seen.command)} runs in ${pane} and not the agent; start it there again`);
        return false;
      }
      rows.push({ state, title: seen.title, command: seen.command, version: this.#version || null, lines: seen.lines });
    }
    const low = (rows.at(-1)?.lines ?? []).filter((line) => line.trim() !== '').slice(-linesShown);
    for (const line of low) note(`taken: ${safe(line)}`);
    const same = gallery.taken.find(
      (one) =>
        one.scene !== scene && rows.every(({ lines }) => lines.join('\n').trimEnd() === one.lines.join('\n').trimEnd()),
    );
    if (same !== undefined) note(`it looks as ${same.scene} did: type r if that is a mistake`);
    gallery.put(scene, rows, from);
    return true;
  }
}
