// Windows of paired editors that told of their integrated terminals: what runs below those is known to be in them, can be
// brought to the front there, and is looked for without anything else speaking of it (IDN10a).

import { dirname } from 'node:path';
import type { EditorTerminals, EditorWindows as EditorWindowsOfKeys } from '../model/editors.ts';
import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { ProcSource } from '../sources/process/proc.ts';
import type { StatLine } from '../sources/process/stat.ts';
import type { ProcessTable } from '../sources/process/table.ts';
import { createEditorTerminals } from '../terminals/editor/editor.ts';
import type { TerminalBackend } from '../terminals/terminal.ts';

export interface EditorWindowsDependencies {
  readonly clock: Clock;
  readonly proc: Pick<ProcSource, 'identity' | 'isAlive' | 'lineage' | 'program'>;
  /** Where the daemon's own socket is, and those of windows. */
  readonly folder: string;
  /** Somebody told of terminals that were not known. */
  readonly onChange: () => void;
}

interface Window {
  readonly editor: string;
  readonly process: ProcessIdentity;
  readonly told: EditorTerminals;
}

export class EditorWindows implements EditorWindowsOfKeys {
  readonly #parts: EditorWindowsDependencies;
  /** By the socket: each window listens at one of its own. */
  readonly #windows = new Map<string, Window>();

  constructor(parts: EditorWindowsDependencies) {
    this.#parts = parts;
  }

  put(editor: string, pid: number, told: EditorTerminals): 'new' | 'known' | 'gone' | 'elsewhere' {
    const process = this.#parts.proc.identity(pid);
    if (process === null) return 'gone';
    if (dirname(told.socket) !== this.#parts.folder) return 'elsewhere';
    const own = this.#programOf(process);
    const terminals = told.terminals.filter((one) => this.#isBelow(one.pid, own));
    const isKnown = this.#windows.delete(told.socket);
    this.#windows.set(told.socket, { editor, process, told: { ...told, terminals } });
    for (const socket of this.#windows.keys()) {
      if (this.#windows.size > limits.editorWindowsMax) this.#windows.delete(socket);
    }
    this.#parts.onChange();
    return isKnown ? 'known' : 'new';
  }

  /** The window's process, and those above it of the same program: shells are started by another one of these. */
  #programOf({ boot, pid }: ProcessIdentity): ReadonlySet<number> {
    const { proc } = this.#parts;
    const lineage = proc.lineage(pid);
    const programs = lineage.map((one) => proc.program({ boot, pid: one.pid, start: one.startTicks })?.executable);
    const [own = null] = programs;
    // One that nobody may look at stands between its like, or is none of them.
    const end = programs.findIndex((one) => one != null && one !== own);
    const last = own === null ? 0 : programs.slice(0, end < 0 ? programs.length : end).lastIndexOf(own);
    return new Set(lineage.slice(0, last + 1).map((one) => one.pid));
  }

  #isBelow(shell: number, program: ReadonlySet<number>): boolean {
    const above = this.#parts.proc.lineage(shell).slice(1);
    return !program.has(shell) && above.some(({ pid }) => program.has(pid));
  }

  drop(editors: readonly string[]): void {
    for (const [socket, { editor }] of this.#windows) if (editors.includes(editor)) this.#windows.delete(socket);
  }

  /** The shells of all terminals; windows that are gone are let go. */
  roots(): readonly number[] {
    for (const [socket, { process }] of this.#windows) {
      if (!this.#parts.proc.isAlive(process)) this.#windows.delete(socket);
    }
    return [...this.#windows.values()].flatMap(({ told }) => told.terminals.map(({ pid }) => pid));
  }

  /**
   * These shells are below nobody, and so is in no pane what runs below them: an editor that was started in one shows something
   * else there.
   */
  outside(table: ProcessTable): ProcessTable {
    const roots = this.roots();
    const shells = roots.flatMap((pid) => table.processes.get(pid) ?? []);
    if (shells.length === 0) return table;
    const processes = new Map(table.processes);
    for (const shell of shells) processes.set(shell.pid, { ...shell, ppid: 0 });
    return { ...table, processes };
  }

  /** How far up a terminal of these stands above a process, the first of this list; null where none does. */
  rootIn(lineage: readonly Pick<StatLine, 'pid'>[]): number | null {
    const roots = new Set(this.roots());
    const at = lineage.findIndex(({ pid }) => roots.has(pid));
    return at < 0 ? null : at;
  }

  /** What the terminal with this shell can be asked by. */
  backendOf(rootPid: number): TerminalBackend | null {
    const { clock, proc } = this.#parts;
    const window = [...this.#windows.values()].find(({ told }) => told.terminals.some(({ pid }) => pid === rootPid));
    if (window === undefined) return null;
    const { socket, secret } = window.told;
    return createEditorTerminals({ clock, socket, secret, parentOf: (pid) => proc.lineage(pid)[0]?.ppid ?? null });
  }
}
