// Recognises an agent from a small table of facts: the names of its program, its packages, and which of its commands and
// options are not a conversation. The tables stand in the agents' folders.

import { agentName } from '../model/ids.ts';
import type { Confidence } from '../model/states.ts';
import type { Identified, Identify, ProgramView, RunMode } from './contract.ts';
import { lastPart, type Program, programOf } from './program.ts';
import type { Pattern } from './screen/pattern.ts';

/** A pattern that is tried on a path. */
type PathPattern = Pick<Pattern, 'test' | 'exec'>;

export interface AgentShape {
  readonly name: string;
  /** What its program is called on the PATH and as a process. */
  readonly commands: readonly string[];
  /** Parts of a path that nothing else has: its packages, its install folders. */
  readonly places: readonly PathPattern[];
  /** What in a place carries the version, as the first group; tried on the program's path. */
  readonly versions: readonly PathPattern[];
  /** What a name alone proves: without a place, for a native program, for a script or a title. Null: nothing. */
  readonly byName: { readonly native: Confidence | null; readonly script: Confidence | null };
  /** Paths that bear the name and are something else. */
  readonly notPlaces?: readonly PathPattern[];
  /** Where two programs have one name: which of them it is. */
  readonly kind?: 'any' | 'native' | 'script';
  /** Names that its process gives itself by rewriting its own command line. */
  readonly titles?: readonly string[];
  /** Names under which its starter calls the runtime. */
  readonly runtimeNames?: readonly string[];
  /** First words that do one job and end. */
  readonly headlessCommands: readonly string[];
  readonly headlessFlags: readonly string[];
  /** A first word that is no command is a prompt for one job. */
  readonly headlessPositional?: boolean;
  /** First words and options that are no run at all: servers, settings, versions. */
  readonly errandCommands: readonly string[];
  readonly errandFlags: readonly string[];
  /** Options whose value is the next word. */
  readonly valueFlags: readonly string[];
  /** A last word on cases that a list cannot tell; false means it is something else. */
  readonly accepts?: (program: Program, firstWord: string | null, inPlace: boolean) => boolean;
}

export function identifyByShape(shape: AgentShape): Identify {
  const agent = agentName(shape.name);
  return (view: ProgramView): Identified | null => {
    const program = programOf(view, shape.runtimeNames);
    if (program === null) return null;
    const confidence = confidenceOf(shape, program);
    if (confidence === null) return null;
    const mode = modeOf(shape, program);
    return mode === null ? null : { agent, mode, version: versionOf(shape, program), confidence };
  };
}

function confidenceOf(shape: AgentShape, program: Program): Confidence | null {
  if (shape.notPlaces?.some((place) => place.test(program.path)) === true) return null;
  if ((shape.kind === 'native') !== (program.kind === 'native') && (shape.kind ?? 'any') !== 'any') return null;
  const inPlace = isInPlace(shape, program.path);
  if (shape.accepts?.(program, firstWordOf(shape, program.args), inPlace) === false) return null;
  switch (program.kind) {
    case 'native': {
      // One executable plays several parts by the name it is called with: a sandbox, a search tool. Those are no runs.
      if (!goesByName(shape, program.calledAs)) return null;
      if (inPlace) return 'high';
      return shape.commands.includes(lastPart(program.path)) ? weaker(shape.byName.native, program) : null;
    }
    case 'script':
      if (inPlace) return 'high';
      return shape.commands.includes(program.calledAs) ? shape.byName.script : null;
    case 'title':
      if (shape.titles?.includes(program.calledAs) === true) return 'medium';
      return shape.commands.includes(program.calledAs) ? shape.byName.script : null;
  }
}

/** What an agent's package brings along in its own node_modules is not the agent. */
function isInPlace(shape: AgentShape, path: string): boolean {
  const own = path.slice(Math.max(0, path.lastIndexOf('/node_modules/')));
  return shape.places.some((place) => place.test(own));
}

/** Some installers call the file by its version; the program is then also called so when started by its path. */
function goesByName(shape: AgentShape, calledAs: string): boolean {
  return shape.commands.includes(calledAs) || /^\d+\.\d+\.\d+/.test(calledAs);
}

/** What somebody typed proves less than the executable itself. */
function weaker(confidence: Confidence | null, program: Program): Confidence | null {
  return confidence === 'high' && !program.certain ? 'medium' : confidence;
}

function modeOf(shape: AgentShape, program: Program): RunMode | null {
  const flags = flagsOf(program.args);
  const word = firstWordOf(shape, program.args);
  if (flags.some((flag) => shape.errandFlags.includes(flag))) return null;
  if (word !== null && shape.errandCommands.includes(word)) return null;
  if (flags.some((flag) => shape.headlessFlags.includes(flag))) return 'headless';
  if (word !== null && (shape.headlessPositional === true || shape.headlessCommands.includes(word))) return 'headless';
  return 'interactive';
}

/** Options before a bare `--`, without a value that is glued on. */
function flagsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  const open = end < 0 ? args : args.slice(0, end);
  return open.filter((word) => word.startsWith('-')).map((word) => word.split('=', 1)[0] ?? word);
}

function firstWordOf(shape: AgentShape, args: readonly string[]): string | null {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--') return null;
    if (!word.startsWith('-')) return word;
    if (shape.valueFlags.includes(word)) at += 1;
  }
  return null;
}

function versionOf(shape: AgentShape, program: Program): string | null {
  for (const pattern of shape.versions) {
    const found = pattern.exec(program.path)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}

/** Where package managers write a version beside a package's name: pnpm, mise, Homebrew, Nix. */
export function packageVersions(name: string): readonly RegExp[] {
  return [new RegExp(`[/+-]${name}[@/-]v?(\\d+\\.\\d+\\.\\d+[0-9A-Za-z.-]*)`)];
}
