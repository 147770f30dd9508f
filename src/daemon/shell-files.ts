// Two small files for shells, so that a prompt and a press of Tab start no program: who needs a person in a few signs, and the names
// of agents, sessions, shells, targets and presets. Written when they change, gone when the daemon leaves.

import { join } from 'node:path';
import type { PaneRow } from '../api/panes.ts';
import type { TargetRow } from '../api/targets.ts';
import { hasAgent } from '../model/rows.ts';
import type { StateName } from '../model/states.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { Files } from '../platform/files.ts';
import type { DaemonParts } from './daemon-options.ts';

/** Prompts are read by people: a moment late is early enough. */
const writeMs = 200;
/** More nobody goes through with Tab. */
const namesMax = 1_000;

const marks: readonly (readonly [state: StateName, mark: string])[] = [
  ['waiting_approval', '▲'],
  ['waiting_input', '?'],
  ['error', '✕'],
];

/** `▲2 ?1`; empty when nobody needs a person. The process of the daemon stands in front: what is left of a dead one is old. */
export function promptLine(rows: readonly PaneRow[], pid: number): string {
  const living = rows.filter(hasAgent).filter(({ ended, parent }) => ended === null && parent === null);
  const counted = marks.map(([state, mark]) => [mark, living.filter((row) => row.state === state).length] as const);
  const words = counted.filter(([, count]) => count > 0).map(([mark, count]) => `${mark}${count}`);
  return `${pid} ${words.join(' ')}\n`;
}

/** What a shell can take as one word, whatever it holds: other names are typed. */
const plain = /^[A-Za-z0-9_.@%+/-]{1,64}$/;

/** One a line: its kind and the name. */
export function nameLines(
  rows: readonly PaneRow[],
  targets: readonly Pick<TargetRow, 'target'>[],
  shells: readonly string[],
  presets: readonly string[],
): string {
  const living = rows.filter(hasAgent).filter(({ ended }) => ended === null);
  const kinds = living.map(({ agent }) => agent);
  const agents = living.flatMap(({ nick, agent, identity }) => [
    ...(nick === null ? [] : [nick]),
    ...(kinds.filter((kind) => kind === agent).length === 1 ? [agent] : []),
    ...(identity.pane_id === null ? [] : [identity.pane_id]),
  ]);
  const names = [
    ...agents.map((name) => ['agent', name] as const),
    ...living.flatMap(({ session }) => (session === null ? [] : [['session', session.id] as const])),
    ...shells.map((name) => ['shell', name] as const),
    ...targets.map(({ target }) => ['target', target] as const),
    ...presets.map((name) => ['preset', name] as const),
  ];
  const lines = names.filter(([, name]) => plain.test(name)).map(([kind, name]) => `${kind} ${name}\n`);
  return [...new Set(lines)].slice(0, namesMax).join('');
}

export interface ShellFilesPorts {
  readonly clock: Clock;
  readonly files: Pick<Files, 'writeAtomic' | 'remove'>;
  readonly stateDir: string;
  readonly pid: number;
  readonly rows: () => readonly PaneRow[];
  readonly targets: () => readonly TargetRow[];
  readonly shells: () => readonly string[];
  readonly presets: () => readonly string[];
}

export class ShellFiles {
  readonly #ports: ShellFilesPorts;
  readonly #written = new Map<string, string>();
  #timer: Cancel | null = null;
  #isStopped = false;

  constructor(ports: ShellFilesPorts) {
    this.#ports = ports;
  }

  look(): void {
    if (this.#isStopped) return;
    this.#timer ??= this.#ports.clock.after(writeMs, () => {
      this.#timer = null;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    const { rows, targets, shells, presets, pid } = this.#ports;
    await this.#put('prompt', promptLine(rows(), pid));
    await this.#put('names', nameLines(rows(), targets(), shells(), presets()));
  }

  async #put(name: string, text: string): Promise<void> {
    if (this.#isStopped || this.#written.get(name) === text) return;
    this.#written.set(name, text);
    // A full disk is told elsewhere; it is tried again with the next change.
    await this.#ports.files.writeAtomic(join(this.#ports.stateDir, name), Buffer.from(text)).catch(() => {
      this.#written.delete(name);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.();
    for (const name of this.#written.keys()) {
      await this.#ports.files.remove(join(this.#ports.stateDir, name)).catch(() => false);
    }
  }
}

/** Of the daemon as it stands: what its rows are is asked when something has changed. */
export const openShellFiles = (
  { clock, machines, places, pid, settings }: DaemonParts,
  daemon: { rows(): readonly PaneRow[]; targets(): readonly TargetRow[] },
  shells: () => readonly { readonly shell_id: string }[],
): ShellFiles =>
  new ShellFiles({
    ...{ clock, files: machines.manager.files, stateDir: places.stateDir, pid },
    rows: () => daemon.rows(),
    targets: () => daemon.targets(),
    shells: () => shells().map(({ shell_id }) => shell_id),
    presets: () => Object.keys(settings.current.preset),
  });
