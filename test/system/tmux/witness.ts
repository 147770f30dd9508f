// Starts a link on a private tmux server and keeps everything it tells, to be held against tmux's own word.
import { paneId } from '../../../src/model/ids.ts';
import { createRealClock } from '../../../src/platform/clock.ts';
import { createRealRandom } from '../../../src/platform/random.ts';
import { createTerminalWatch } from '../../../src/platform/terminal-watch.ts';
import type { Executor } from '../../../src/targets/executor.ts';
import type { ClientRecords } from '../../../src/terminals/tmux/client-records.ts';
import type { LinkHealth } from '../../../src/terminals/tmux/health.ts';
import { TmuxLink } from '../../../src/terminals/tmux/link.ts';
import type { PaneScreen, TmuxPane, TmuxServer, Topology } from '../../../src/terminals/tmux/view.ts';
import { asHeld, type TmuxServerKit, until } from '../../kit/tmux-server.ts';

export interface LinkWitness {
  readonly link: TmuxLink;
  readonly topologies: readonly Topology[];
  readonly screens: readonly PaneScreen[];
  readonly healths: readonly LinkHealth[];
  readonly gone: readonly TmuxServer[];
  refreshes(): number;
  topology(): Topology | undefined;
  pane(id: string): TmuxPane | undefined;
  /** The last one told. */
  screen(id: string): PaneScreen | undefined;
  /** Resolves when the last topology is what `tmux list-panes -a` says now. */
  agrees(): Promise<void>;
}

const columns =
  '<row>#{pane_id}|#{pane_pid}|#{pane_tty}|#{session_id}|#{session_name}|#{window_id}|#{window_index}|#{window_name}|#{pane_index}|#{pane_title}';

export function watchLink(
  kit: TmuxServerKit,
  options: { readonly executor?: Executor; readonly ledger?: ClientRecords; readonly sweepMs?: number } = {},
): LinkWitness {
  const clock = createRealClock();
  const topologies: Topology[] = [];
  const screens: PaneScreen[] = [];
  const healths: LinkHealth[] = [];
  const gone: TmuxServer[] = [];
  let refreshes = 0;
  const link = new TmuxLink({
    address: { executor: options.executor ?? kit.executor, socket: { kind: 'path', path: kit.socketPath } },
    clock,
    random: createRealRandom(),
    now: () => clock.wallMs(),
    handlers: {
      onTopology: (topology) => topologies.push(topology),
      onScreen: (screen) => screens.push(screen),
      onRefresh: () => {
        refreshes += 1;
      },
      isSettled: () => true,
      onHealth: (health) => healths.push(health),
      onServerGone: (server) => gone.push(server),
    },
    sweepMs: options.sweepMs ?? 100,
    terminals: createTerminalWatch(process.platform),
    ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
  });
  link.start();
  const topology = (): Topology | undefined => topologies.at(-1);
  return {
    link,
    topologies,
    screens,
    healths,
    gone,
    refreshes: () => refreshes,
    topology,
    pane: (id) => topology()?.panes.get(paneId(id)),
    screen: (id) => screens.findLast((screen) => screen.pane === id),
    agrees: async () => {
      let words = '';
      let listed = '';
      await until('the link agrees with tmux', async () => {
        listed = recordsOf(asHeld(await kit.tmux('list-panes', '-a', '-F', columns), await kit.tmux('-V')));
        words = [...(topology()?.panes.values() ?? [])].map(rowOf).sort().join('\n');
        return words === listed;
      }).catch((error: Error) => {
        throw new Error(`${error.message}\ntold:\n${words}\nlisted:\n${listed}`);
      });
    },
  };
}

/** Names may hold newlines. */
function recordsOf(text: string): string {
  return text
    .split('<row>')
    .slice(1)
    .map((record) => record.replace(/\n$/, ''))
    .sort()
    .join('\n');
}

function rowOf(pane: TmuxPane): string {
  return [
    pane.pane,
    pane.panePid,
    pane.tty,
    pane.sessionId,
    pane.sessionName,
    pane.windowId,
    pane.windowIndex,
    pane.windowName,
    pane.paneIndex,
    pane.title,
  ].join('|');
}
