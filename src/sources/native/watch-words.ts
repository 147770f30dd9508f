// A watch in other forms: its key among all, its words for people, and whether it can be followed at all. What a plan names
// may come from an agent's environment, so it is checked like everything foreign.

import { isAbsolute } from 'node:path';
import type { Watch } from '../../agents/contract.ts';

/** Two that name the same thing have the same key, however far back they begin. */
export function watchKey(watch: Watch): string {
  switch (watch.kind) {
    case 'file':
    case 'journal':
      return JSON.stringify([watch.kind, watch.path]);
    case 'find':
      return JSON.stringify([watch.kind, watch.folder, watch.name]);
    case 'sse':
      return JSON.stringify([watch.kind, watch.port, watch.path]);
    case 'websocket':
      return JSON.stringify([watch.kind, watch.socketPath]);
  }
}

export function watchWords(watch: Watch): string {
  switch (watch.kind) {
    case 'file':
    case 'journal':
      return `${watch.kind} ${watch.path}`;
    case 'find':
      return `files ${watch.name} below ${watch.folder}`;
    case 'sse':
      return `events of 127.0.0.1:${watch.port}${watch.path}`;
    case 'websocket':
      return `web socket ${watch.socketPath}`;
  }
}

/** Why it cannot be followed; null when it can. */
export function watchTrouble(watch: Watch): string | null {
  switch (watch.kind) {
    case 'file':
    case 'journal':
      return pathTrouble(watch.path);
    case 'find':
      return pathTrouble(watch.folder) ?? patternTrouble(watch.name);
    case 'sse':
      if (!Number.isInteger(watch.port) || watch.port < 1 || watch.port > 65_535) return 'no port';
      return /^\/[\x21-\x7e]*$/.test(watch.path) ? null : 'no path of a server';
    case 'websocket':
      return pathTrouble(watch.socketPath);
  }
}

function pathTrouble(path: string): string | null {
  if (!isAbsolute(path)) return 'not an absolute path';
  return path.includes('\0') ? 'not a path' : null;
}

function patternTrouble(text: string): string | null {
  try {
    new RegExp(text);
    return null;
  } catch {
    return 'no pattern';
  }
}
