// Windows of other terminals than tmux, as actions need them: which one an agent without a pane is in at this moment, what
// that shows, and a way to type a message or to bring it to the front. Asked only when somebody acts; nothing is watched.

import type { FreshLook, Identify, Keys } from '../agents/contract.ts';
import { plainLines } from '../agents/keys/styled-text.ts';
import { classify } from '../agents/screen/classify.ts';
import type { RuleFile } from '../agents/screen/rule-file.ts';
import type { RuntimeIdentity } from '../model/events.ts';
import type { AgentName } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Processes } from '../platform/processes.ts';
import { variablesOf } from '../sources/native/run-view.ts';
import type { ProcSource } from '../sources/process/proc.ts';
import type { StatLine } from '../sources/process/stat.ts';
import type { Executor } from '../targets/executor.ts';
import { createCheckedWriter, surfaceAddress } from '../terminals/checked-writer.ts';
import { createKitty } from '../terminals/kitty/kitty.ts';
import { createScreen, isScreenSession } from '../terminals/screen/screen.ts';
import type { SurfacePlace, TerminalBackend } from '../terminals/terminal.ts';
import type { PaneAddress, PaneWriter } from '../terminals/tmux/pane-writer.ts';
import type { EditorWindows } from './editor-windows.ts';

export interface TerminalReachParts {
  readonly clock: Clock;
  readonly proc: ProcSource;
  readonly processes: Pick<Processes, 'read'>;
  /** This machine's; null before it is known. */
  readonly executor: () => Executor | null;
  readonly windows: Pick<EditorWindows, 'rootIn' | 'backendOf'>;
  readonly identify: Identify;
  readonly rulesOf: (agent: AgentName) => RuleFile | null;
  readonly keysOf: (agent: AgentName) => Keys | null;
}

const wanted = new Set(['KITTY_LISTEN_ON', 'STY', 'WINDOW', 'SCREENDIR']);

export class TerminalReach {
  readonly #parts: TerminalReachParts;

  constructor(parts: TerminalReachParts) {
    this.#parts = parts;
  }

  /** The window that this very process runs in; null where its terminal cannot be asked or does not know it. */
  async placeOf({ process }: RuntimeIdentity): Promise<SurfacePlace | null> {
    const { proc, processes } = this.#parts;
    if (process === null || process.boot !== proc.boot) return null;
    const lineage = proc.lineage(process.pid);
    if (lineage[0]?.startTicks !== process.start) return null;
    const raw = processes.read(`/proc/${process.pid}/environ`, limits.environBytesMax) ?? '';
    const backend = this.#backendOf(lineage, variablesOf(raw, wanted));
    if (backend === null) return null;
    for (const surface of (await backend.list()) ?? []) {
      const root = lineage.find(({ pid }) => pid === surface.rootPid);
      // Its terminal started it: another one has windows of the same number.
      if (root === undefined || root.ppid !== surface.terminalPid) continue;
      // As long as that took it may have ended.
      if (!proc.isAlive(process)) return null;
      return { backend, surface, root: { boot: proc.boot, pid: root.pid, start: root.startTicks } };
    }
    return null;
  }

  /** Messages can be typed where it is, as far as its terminal goes. */
  isTypable({ process }: RuntimeIdentity): boolean {
    const lineage = process === null ? [] : this.#parts.proc.lineage(process.pid);
    if (process === null || lineage[0]?.startTicks !== process.start) return false;
    const inEditor = this.#parts.windows.rootIn(lineage);
    const at = lineage.findIndex(({ name }, index) => index > 0 && (name === 'kitty' || screenNames.has(name)));
    if (inEditor !== null && (at < 0 || inEditor < at)) return true;
    return at >= 0 && lineage[at]?.name === 'kitty';
  }

  /** The nearest terminal above it: what is around that one shows something else. */
  #backendOf(lineage: readonly StatLine[], environment: Readonly<Record<string, string>>): TerminalBackend | null {
    const at = lineage.findIndex(({ name }, index) => index > 0 && (name === 'kitty' || screenNames.has(name)));
    const inEditor = this.#parts.windows.rootIn(lineage);
    const shell = inEditor === null ? undefined : lineage[inEditor];
    if (inEditor !== null && shell !== undefined && (at < 0 || inEditor < at)) {
      return this.#parts.windows.backendOf(shell.pid);
    }
    const giver = lineage[at];
    const root = lineage[at - 1];
    if (giver === undefined || root === undefined) return null;
    const { KITTY_LISTEN_ON: address = '', STY: session = '', WINDOW: id = '', SCREENDIR: folder = '' } = environment;
    if (giver.name === 'kitty') {
      return address === '' ? null : createKitty({ clock: this.#parts.clock, address, pid: giver.pid });
    }
    const executor = this.#parts.executor();
    if (executor === null || !isScreenSession(session) || Number.parseInt(session, 10) !== giver.pid) return null;
    if (!/^\d{1,4}$/.test(id)) return null;
    const own = folder.startsWith('/') ? folder : null;
    return createScreen({ executor, session, folder: own, pid: giver.pid, windows: [{ id, rootPid: root.pid }] });
  }

  /** What its window shows at this moment, by the rules of its agent. */
  async look(identity: RuntimeIdentity): Promise<FreshLook | null> {
    const { rulesOf, keysOf, proc, identify } = this.#parts;
    const rules = rulesOf(identity.agent);
    const place = await this.placeOf(identity);
    if (rules === null || place === null || identity.process === null) return null;
    const keys = keysOf(identity.agent);
    const hasColours = keys !== null && (keys.marked ?? keys.prompt) !== undefined;
    const seen = await place.backend.capture(place.surface, hasColours);
    if (seen === null) return null;
    const lines = hasColours ? plainLines(seen) : seen;
    const program = proc.program(identity.process);
    const version = program === null ? null : (identify(program)?.version ?? null);
    const view = { lines, title: place.surface.title, command: null, isAlive: true };
    const { state, ask } = classify(rules, view, version);
    return { state, ask, lines, ...(keys?.prompt === undefined ? {} : { prompt: keys.prompt(seen) }) };
  }

  /** Where it can be typed at, and by what; null where it has not the keyboard of its window, or nothing is typed there. */
  async handleOf(identity: RuntimeIdentity): Promise<{ place: PaneAddress; writer: PaneWriter } | null> {
    const place = await this.#keyboardOf(identity);
    if (place === null || place.backend.send === null) return null;
    const placeNow = (): Promise<SurfacePlace | null> => this.#keyboardOf(identity);
    return { place: surfaceAddress(place), writer: createCheckedWriter({ placeNow, place }) };
  }

  /** On every terminal between it and its window it is in the foreground, and nothing is stopped. */
  async #keyboardOf(identity: RuntimeIdentity): Promise<SurfacePlace | null> {
    const place = await this.placeOf(identity);
    if (place === null || identity.process === null) return null;
    let tty = 0;
    for (const { pid, state, ttyNumber, pgid, tpgid } of this.#parts.proc.lineage(identity.process.pid)) {
      if (state === 'T' || state === 't') return null;
      if (ttyNumber !== 0 && ttyNumber !== tty) {
        tty = ttyNumber;
        if (pgid !== tpgid) return null;
      }
      if (pid === place.root.pid) return place;
    }
    return null;
  }
}

const screenNames: ReadonlySet<string> = new Set(['screen', 'SCREEN']);
