// A TCP relay on loopback that behaves like a bad network: it delays, freezes (half-open: nothing passes, nobody is told)
// and cuts. For tests of everything that goes through ssh.

import { connect, createServer, type Socket } from 'node:net';

export interface Relay {
  readonly port: number;
  /** How many connections were begun so far, also those that were refused. */
  readonly dials: () => number;
  /** Nothing passes from now on; connections stay open on both sides. */
  freeze(): void;
  thaw(): void;
  /** Ends every connection at once; new ones are refused until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** `delayMs` is the round trip: half of it is added each way. */
export async function startRelay(toPort: number, delayMs = 0): Promise<Relay> {
  const pairs = new Set<Pair>();
  const held: (() => void)[] = [];
  let frozen = false;
  let refusing = false;
  let dials = 0;

  const pass = (from: Socket, to: Socket): void => {
    // Chunks keep their order: timers of one length fire in the order they were set.
    const later = (work: () => void): void => {
      const step = (): void => {
        if (frozen) held.push(work);
        else work();
      };
      if (delayMs > 0) setTimeout(step, delayMs / 2);
      else step();
    };
    from.on('data', (chunk) => later(() => to.writable && to.write(chunk)));
    from.on('end', () => later(() => to.end()));
    from.on('error', () => later(() => to.destroy()));
  };

  const server = createServer({ allowHalfOpen: true }, (near) => {
    dials += 1;
    if (refusing) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port: toPort, host: '127.0.0.1', allowHalfOpen: true });
    const pair = { near, far };
    near.setNoDelay(true);
    far.setNoDelay(true);
    pairs.add(pair);
    near.once('close', () => {
      pairs.delete(pair);
      if (!frozen) far.destroy();
    });
    far.once('close', () => {
      if (!frozen) near.destroy();
    });
    pass(near, far);
    pass(far, near);
  });
  const destroyAll = (): void => {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
    pairs.clear();
    held.length = 0;
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');

  return {
    port: address.port,
    dials: () => dials,
    freeze: () => {
      frozen = true;
    },
    thaw: () => {
      frozen = false;
      for (const work of held.splice(0)) work();
    },
    cut: () => {
      refusing = true;
      destroyAll();
    },
    mend: () => {
      refusing = false;
    },
    close: async () => {
      frozen = false;
      destroyAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
