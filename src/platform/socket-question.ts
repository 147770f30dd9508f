// One question over a unix socket of this user and its answer, for programs that frame both as text. Bounded in time and
// size; whoever does not answer tells nothing.

import { connect } from 'node:net';
import type { Clock } from './clock.ts';

export interface SocketQuestion {
  /** A path, or a NUL and a name. */
  readonly path: string;
  readonly text: string;
  /** What an answer ends with; null where none is given. */
  readonly closing: string | null;
  readonly deadlineMs: number;
  readonly charsMax: number;
}

/** The answer, empty where none is given; null where there was none, or not in time. */
export function askSocket(
  clock: Pick<Clock, 'after'>,
  { path, text, closing, deadlineMs, charsMax }: SocketQuestion,
): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    let told = '';
    const done = (answer: string | null): void => {
      cancel();
      socket.destroy();
      resolve(answer);
    };
    const cancel = clock.after(deadlineMs, () => done(null));
    socket.setEncoding('utf8');
    socket.on('error', () => done(null));
    socket.on('close', () => done(null));
    socket.on('data', (piece: string) => {
      told += piece;
      if (told.length > charsMax) done(null);
      else if (closing !== null && told.endsWith(closing)) done(told);
    });
    socket.write(text, () => {
      if (closing === null) socket.end(() => done(''));
    });
  });
}
