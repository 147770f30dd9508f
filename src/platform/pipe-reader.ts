// Whether anyone still reads the pipe that we print into. Node can only find out by writing; GNU tail waits for exactly that,
// and ends by SIGPIPE when the reader leaves.

import { spawn } from 'node:child_process';
import type { Cancel } from './clock.ts';

/** Calls back once the reader of our output has left. Where tail is another one it ends otherwise, and says nothing. */
export function onReaderGone(callBack: () => void): Cancel {
  const argv = [`--pid=${process.pid}`, '-f', '/dev/null'];
  const watcher = spawn('tail', argv, { stdio: ['ignore', 'inherit', 'ignore'] });
  watcher.on('error', () => undefined);
  watcher.on('exit', (_, signal) => {
    if (signal === 'SIGPIPE') callBack();
  });
  watcher.unref();
  return () => watcher.kill();
}
