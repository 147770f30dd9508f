// Being put aside by job control: ctrl-z and fg. Whoever holds the terminal gives it back first, then all of the job stops,
// as the shell expects it.

import type { Clock } from './clock.ts';

export interface SuspensionListener {
  /** Somebody wants us to stop (SIGTSTP); it happens when `stop` is called. */
  onStop(): void;
  /** We run again, also after a stop that nobody asked about. */
  onContinue(): void;
}

export interface Suspension {
  listen(listener: SuspensionListener): () => void;
  /** Resolves when we run again; soon where there is no shell that could bring us back, since nothing stops then. */
  stop(): Promise<void>;
}

/** Whoever still runs after this was not stopped. */
const stopMs = 100;

export function createSuspension(clock: Pick<Clock, 'after'>): Suspension {
  const wanted = new Set<() => void>();
  const onStop = (): void => {
    for (const listener of wanted) listener();
  };
  return {
    listen: (listener) => {
      const tell = (): void => listener.onStop();
      const tellAgain = (): void => listener.onContinue();
      wanted.add(tell);
      process.on('SIGTSTP', onStop);
      process.on('SIGCONT', tellAgain);
      return () => {
        wanted.delete(tell);
        process.off('SIGTSTP', onStop);
        process.off('SIGCONT', tellAgain);
      };
    },
    stop: () =>
      new Promise((resolve) => {
        const over = (): void => {
          cancel();
          process.off('SIGCONT', over);
          if (wanted.size > 0) process.on('SIGTSTP', onStop);
          resolve();
        };
        const cancel = clock.after(stopMs, over);
        process.on('SIGCONT', over);
        // Nobody listens: the signal does what it does to every program.
        process.off('SIGTSTP', onStop);
        process.kill(0, 'SIGTSTP');
      }),
  };
}
