// Whether an agent that is gone took its leave: it put the terminal back in order, cleared its title or printed its
// goodbye (RSV12). A killed one does none of these. That it is gone is known from its process alone (RSV8).

import type { RuleFile } from '../agents/screen/rule-file.ts';
import type { AgentName, PaneId, RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ReplyBlocks } from '../terminals/tmux/command-client.ts';
import { titleFormat } from '../terminals/tmux/topology.ts';

/** How a pane's terminal looks. */
export interface TerminalLook {
  /** The alternate screen, which full-screen programs leave when they end by themselves. */
  readonly isAlternate: boolean;
  readonly title: string;
}

export interface ExitDetectorParts {
  /** Null when the pane is gone or tmux does not answer. */
  readonly terminalLookOf: (pane: PaneId) => Promise<TerminalLook | null>;
  readonly capture: (pane: PaneId) => Promise<readonly string[]>;
  readonly rulesOf: (agent: AgentName) => RuleFile | null;
}

/** Asks tmux how a pane's terminal looks. */
export async function terminalLookOf(
  command: (text: string) => Promise<ReplyBlocks>,
  pane: PaneId,
): Promise<TerminalLook | null> {
  const [block] = await command(`display-message -p -t ${pane} "#{alternate_on} ${titleFormat}"`);
  if (block === undefined || block.isError) return null;
  const text = Buffer.from(block.body).toString().split('\n', 1)[0] ?? '';
  return { isAlternate: text.startsWith('1'), title: text.slice(2).trim() };
}

export interface Leaver {
  readonly runtime_id: RuntimeId;
  readonly agent: AgentName;
  readonly pane: PaneId | null;
}

export class ExitDetector {
  readonly #parts: ExitDetectorParts;
  readonly #worn = new Map<RuntimeId, TerminalLook>();
  readonly #asking = new Set<RuntimeId>();

  constructor(parts: ExitDetectorParts) {
    this.#parts = parts;
  }

  /** That it is gone is certain; whether it took its leave is asked before the end is told, so that none looks failed. */
  async end(leaver: Leaver, tell: (tookLeave: boolean) => void): Promise<void> {
    if (this.#asking.has(leaver.runtime_id)) return;
    this.#asking.add(leaver.runtime_id);
    try {
      tell(await this.#tookLeave(leaver));
    } finally {
      this.#asking.delete(leaver.runtime_id);
    }
  }

  /** Forgets all others. */
  keepOnly(runtimes: ReadonlySet<RuntimeId>): void {
    for (const id of this.#worn.keys()) if (!runtimes.has(id)) this.#worn.delete(id);
  }

  /** Notes how the terminal looks while the agent is alive. */
  async note({ runtime_id, pane }: Leaver): Promise<void> {
    if (pane === null) return;
    const dress = await this.#parts.terminalLookOf(pane).catch(() => null);
    if (dress !== null) this.#worn.set(runtime_id, dress);
  }

  async #tookLeave({ runtime_id, pane, agent }: Leaver): Promise<boolean> {
    const worn = this.#worn.get(runtime_id);
    this.#worn.delete(runtime_id);
    const now = pane === null ? null : await this.#parts.terminalLookOf(pane).catch(() => null);
    if (pane === null || now === null) return false;
    if (now.isAlternate) return false;
    if (worn?.isAlternate === true) return true;
    if (worn !== undefined && worn.title !== '' && now.title === '') return true;
    const patterns = this.#parts.rulesOf(agent)?.goodbye ?? [];
    if (patterns.length === 0) return false;
    const lines = await this.#parts.capture(pane).catch(() => []);
    const last = lines.filter((line) => line.trim() !== '').slice(-limits.goodbyeLinesMax);
    return last.some((line) => patterns.some((pattern) => pattern.test(line)));
  }
}
