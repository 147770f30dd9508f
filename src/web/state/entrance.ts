// Who this browser is to the web server: what it may do, and the version of the daemon behind it.

import { useSyncExternalStore } from 'react';
import type { Entrance } from '../requests.ts';

const unknown: Entrance = { role: 'observer', read_only: true, version: '' };

let entrance: Entrance = unknown;
/** What these pages came with. */
let loadedWith = '';
const listeners = new Set<() => void>();

export function setEntrance(next: Entrance): void {
  entrance = next;
  if (loadedWith === '') loadedWith = next.version;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useEntrance = (): Entrance => useSyncExternalStore(subscribe, () => entrance);

/** The daemon was replaced by another version since this page was loaded. */
export const isOutdated = ({ version }: Entrance): boolean => loadedWith !== '' && version !== loadedWith;

/** Why nothing can be done from here; null where it can. */
export const whyIdle = ({ role, read_only }: Entrance): string | null => {
  if (read_only) return 'This page is read-only (agtmux web --read-only).';
  return role === 'observer' ? 'This page belongs to an agent and is read-only.' : null;
};
