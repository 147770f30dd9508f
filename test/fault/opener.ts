// Child: waits for a word on stdin, then tries to open the store of a directory. Says `serving`, or the code and the words
// of its refusal.
import { createInterface } from 'node:readline';
import { AgtmuxError } from '../../src/model/errors.ts';
import { loadStore } from '../../src/store/recover.ts';
import { sampleTime } from '../../src/store/samples.contract.ts';

const [dir = ''] = process.argv.slice(2);

process.stdout.write('here\n');
createInterface({ input: process.stdin }).once('line', async () => {
  try {
    await loadStore({ dir, now: () => sampleTime, ballastBytes: 0, visitor: () => () => {} });
    process.stdout.write('serving\n');
    setInterval(() => {}, 1_000_000);
  } catch (error) {
    if (!(error instanceof AgtmuxError)) throw error;
    process.stdout.write(`${error.code} ${error.message}\n`);
    process.exit(0);
  }
});
