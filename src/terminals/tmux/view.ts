// What tmux shows of itself: servers and panes, as plain records. Names and titles are foreign text.

import { type PaneId, type ServerKey, serverKey, type TargetId } from '../../model/ids.ts';

export interface TmuxServer {
  readonly socketPath: string;
  readonly pid: number;
  /** Seconds since 1970 by the target's own clock, as tmux tells it. */
  readonly startTime: number;
  readonly version: string;
}

/** One string for one life of one tmux server (IDN2). */
export function serverKeyOf(target: TargetId, server: Pick<TmuxServer, 'socketPath' | 'pid' | 'startTime'>): ServerKey {
  return serverKey(`${target}|${server.socketPath}|${server.pid}|${server.startTime}`);
}

export interface TmuxPane {
  readonly pane: PaneId;
  readonly panePid: number;
  /** Path of its terminal, `/dev/pts/3`. */
  readonly tty: string;
  readonly sessionId: string;
  readonly sessionName: string;
  /** Of a window that several sessions show, as those of a group do: the names of the others. */
  readonly otherSessions?: readonly string[];
  readonly windowId: string;
  readonly windowIndex: number;
  readonly windowName: string;
  readonly paneIndex: number;
  /** The pane is the active one of the active window of an attached session. */
  readonly visible: boolean;
  /** Terminals of the clients attached to its session, parted by commas; left out when there is none. */
  readonly viewers?: string;
  readonly dead: boolean;
  readonly deadStatus: number | null;
  readonly deadSignal: string | null;
  readonly inMode: boolean;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly currentCommand: string;
  readonly cwd: string;
}

/** One complete look at one server. */
export interface Topology {
  readonly server: TmuxServer;
  readonly panes: ReadonlyMap<PaneId, TmuxPane>;
}

/** The visible screen of a pane, as capture-pane tells it. */
export interface PaneScreen {
  readonly pane: PaneId;
  readonly lines: readonly string[];
  readonly capturedAt: number;
}
