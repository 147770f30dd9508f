// The one place where the pages keep what they know. Whoever listens is told at once, and then at most every few
// milliseconds, however fast the feed is.

import { clock } from '../port.ts';
import { emptyModel, type Model, type Told, tell } from './model.ts';

/** Twenty-five pictures a second are enough for a page; the first change is never held back. */
const pauseMs = 40;

type Listener = () => void;

let model: Model = emptyModel;
let shown: Model = model;
const listeners = new Set<Listener>();
let isPausing = false;

function show(): void {
  if (isPausing || shown === model) return;
  shown = model;
  for (const listener of listeners) listener();
  isPausing = true;
  clock.after(pauseMs, () => {
    isPausing = false;
    show();
  });
}

export function told(event: Told): void {
  model = tell(model, event, clock.wallMs());
  show();
}

export const current = (): Model => shown;

export function subscribe(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
