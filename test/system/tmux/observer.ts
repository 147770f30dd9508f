// A process with every kind of client attached, to be killed by a test. Says so when all of them are.

import { createRealClock } from '../../../src/platform/clock.ts';
import { controlArgv } from '../../../src/terminals/tmux/address.ts';
import { turnsOf } from '../../../src/terminals/tmux/client-turns.ts';
import { openCommandClient } from '../../../src/terminals/tmux/command-client.ts';
import { createLocalExecutor } from '../../kit/local-executor.ts';

const [path = '', streamFlags = ''] = process.argv.slice(2);
const executor = createLocalExecutor(process.env as Record<string, string>);
const address = { executor, socket: { kind: 'path', path } } as const;
for (const flags of ['no-output,ignore-size', streamFlags]) {
  const client = await openCommandClient({
    executor,
    clock: createRealClock(),
    argv: controlArgv(address, { session: '$0', flags, dieWithParent: true }),
    turns: turnsOf(address),
    nonce: 'observer',
    onEnd: () => undefined,
  });
  await client.request(['display-message -p ready']);
}
process.send?.('ready');
