// The bell: hooks inside the tmux server ring a channel of our own when panes, windows or sessions come, go or change,
// and a second client waits for it. The user's hooks are not touched: ours stand at private places of the same lists.

import { limits } from '../../model/limits.ts';
import type { RandomSource } from '../../platform/random.ts';
import type { CommandClient, ReplyBlock } from './command-client.ts';

/**
 * What rings. Titles do not: the gate tells them in every sweep, and a spinner in a title would ring ten times a second
 * a pane. Respawning a pane has no hook in any version; the sweep compares pids (IDN4).
 */
const hooks = [
  'after-kill-pane',
  'after-new-window',
  'after-split-window',
  'client-attached',
  'client-detached',
  'client-session-changed',
  'pane-died',
  'pane-exited',
  'pane-mode-changed',
  'session-closed',
  'session-created',
  'session-renamed',
  'session-window-changed',
  'window-layout-changed',
  'window-linked',
  'window-pane-changed',
  'window-renamed',
  'window-unlinked',
] as const;

const firstPlace = 9_137;
/** Daemons of several state directories may share a server: each takes a place by chance, so that none asks another. */
const placeCount = 800;

const ownHook = /^([a-z-]+)\[(\d+)\] "?wait-for -S (agtmux-(\d+)-[0-9a-f]+)"?$/;

export interface Bell {
  /** Takes the hooks away. Resolves also when tmux no longer answers. */
  close(): Promise<void>;
  /** Stops waiting; the hooks stay. */
  abandon(): void;
}

/** `command` installs and removes, `waiter` waits and does nothing else. */
export async function hangBell(
  clients: { readonly command: CommandClient; readonly waiter: CommandClient },
  random: RandomSource,
  onRing: () => void,
): Promise<Bell> {
  const { command, waiter } = clients;
  const [own] = await waiter.request(['display-message -p "#{client_pid}"']);
  // The name tells whose bell it is, so that the bells of the dead can be told from those of the living.
  const name = `agtmux-${textOf(own) || '0'}-${random.hex(4)}`;
  const place = await cleanPlaces(command, firstPlace + (random.uint32() % placeCount));
  await command.request(hooks.map((hook) => `set-hook -g "${hook}[${place}]" "wait-for -S ${name}"`));
  let isClosed = false;
  const wait = (): void => {
    waiter.request([`wait-for ${name}`], { deadlineMs: null }).then(
      () => {
        if (isClosed) return;
        onRing();
        wait();
      },
      // The waiter is gone; whoever owns it hears of that by its end.
      () => undefined,
    );
  };
  wait();
  const abandon = (): void => {
    isClosed = true;
    waiter.close();
  };
  return {
    abandon,
    async close() {
      abandon();
      const unset = hooks.map((hook) => `set-hook -gu "${hook}[${place}]"`);
      await command.request(unset, { deadlineMs: limits.sweepAnswerMs }).catch(() => undefined);
    },
  };
}

/** Removes hooks whose owner is no longer a client of this server, and finds a place that nobody uses, from `first` on. */
async function cleanPlaces(command: CommandClient, first: number): Promise<number> {
  const [sessionHooks, windowHooks, clients] = await command.request([
    'show-hooks -g',
    'show-hooks -gw',
    'list-clients -F "#{client_pid}"',
  ]);
  const alive = new Set(textOf(clients).split('\n'));
  const taken = new Set<number>();
  const stale: string[] = [];
  for (const line of `${textOf(sessionHooks)}\n${textOf(windowHooks)}`.split('\n')) {
    const index = Number(/^[a-z-]+\[(\d+)\]/.exec(line)?.[1] ?? Number.NaN);
    const match = ownHook.exec(line);
    if (match !== null && !alive.has(match[4] ?? '')) stale.push(`set-hook -gu "${match[1]}[${match[2]}]"`);
    else if (Number.isSafeInteger(index)) taken.add(index);
  }
  if (stale.length > 0) await command.request(stale);
  let place = first;
  while (taken.has(place)) place += 1;
  return place;
}

function textOf(block: ReplyBlock | undefined): string {
  return block === undefined || block.isError ? '' : Buffer.from(block.body).toString();
}
