// How components get at what the pages know: the model, the time, the address, and answers of the daemon that are not on
// the feed.

import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { ApiRequest } from '../../api/requests.ts';
import type { Failure, Result } from '../../model/errors.ts';
import { clock, every } from '../port.ts';
import { send } from '../requests.ts';
import { type Model, nowOf } from './model.ts';
import { type Place, placeAt } from './route.ts';
import { current, subscribe } from './store.ts';

export const useModel = (): Model => useSyncExternalStore(subscribe, current);

const ticks = new Set<() => void>();
let second = Math.floor(clock.wallMs() / 1000);
every(250, () => {
  const next = Math.floor(clock.wallMs() / 1000);
  if (next === second) return;
  second = next;
  for (const tick of ticks) tick();
});

function onTick(tick: () => void): () => void {
  ticks.add(tick);
  return () => ticks.delete(tick);
}

/** The daemon's time, once a second. */
export function useNow(): number {
  useSyncExternalStore(
    onTick,
    () => second,
    () => second,
  );
  return nowOf(current(), clock.wallMs());
}

const movers = new Set<() => void>();

function onMove(mover: () => void): () => void {
  movers.add(mover);
  window.addEventListener('popstate', mover);
  return () => {
    movers.delete(mover);
    window.removeEventListener('popstate', mover);
  };
}

export function go(path: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  for (const mover of movers) mover();
}

export function usePlace(): Place {
  return placeAt(useSyncExternalStore(onMove, () => location.pathname));
}

export interface Reading<Value> {
  readonly value: Value | null;
  /** The browser's time when it was read. */
  readonly at: number | null;
  readonly failure: Failure | null;
  readonly isReading: boolean;
  readonly again: () => void;
}

/** Reads an address, again whenever `version` changes, and keeps what it had while that takes. A null path reads nothing. */
export function useReading<Value>(request: ApiRequest<Value> | null, version: unknown = null): Reading<Value> {
  const path = request?.path ?? null;
  const asked = useRef(request);
  asked.current = request;
  const [known, setKnown] = useState<{ path: string; value: Value; at: number } | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isReading, setReading] = useState(path !== null);
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((count) => count + 1), []);
  const latest = useRef(0);
  // biome wants every dependency named: a new turn or version is a reason to read although neither is used inside.
  const reason = `${turn} ${String(version)}`;
  useEffect(() => {
    if (asked.current === null || path === null || reason === '') return;
    latest.current += 1;
    const mine = latest.current;
    setReading(true);
    void send(asked.current).then((read: Result<Value>) => {
      if (mine !== latest.current) return;
      setReading(false);
      setFailure(read.ok ? null : read.failure);
      if (read.ok) setKnown({ path, value: read.value, at: clock.wallMs() });
    });
  }, [path, reason]);
  const isMine = known !== null && known.path === path;
  return { value: isMine ? known.value : null, at: isMine ? known.at : null, failure, isReading, again };
}

/** True every so often: for what the feed does not tell of. */
export function useBeat(periodMs: number): number {
  const [beat, setBeat] = useState(0);
  useEffect(() => every(periodMs, () => setBeat((count) => count + 1)), [periodMs]);
  return beat;
}
