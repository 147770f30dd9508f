// `agtmux event`: hands in event envelopes, one JSON object a line, and tells what became of each. For hooks
// that a person wrote: what it says counts for the agent that started it, and for no other.

import { post } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { verdictReasons } from '../model/verdicts.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { readStandardInput } from './input.ts';
import { print } from './output.ts';

/** Some were refused: a script wants to know. */
const refusedStatus = 2;

export const event: Action = async (parsed, context) => {
  const events = await readEvents();
  let refused = 0;
  for (let start = 0; start < events.length; start += limits.batchEventsMax) {
    const request = post('/v1/events', events.slice(start, start + limits.batchEventsMax));
    const { verdicts } = (await askDaemon(context, request, { isQuiet: true })).reply;
    for (const [place, { verdict, reason, detail }] of verdicts.entries()) {
      if (verdict === 'refused') refused += 1;
      const line = start + place + 1;
      const words = `${verdictReasons[reason].words}${detail === undefined ? '' : `: ${detail}`}`;
      if (parsed.has('json'))
        print(JSON.stringify({ event: line, verdict, reason, ...(detail === undefined ? {} : { detail }) }));
      else print(sanitizeLine(foreign(`${line} ${verdict} (${reason}): ${words}`)));
    }
  }
  if (refused > 0) process.exitCode = refusedStatus;
};

async function readEvents(): Promise<readonly unknown[]> {
  if (process.stdin.isTTY) {
    throw new AgtmuxError('E_USAGE', 'event reads JSON lines from standard input, which is a terminal', {
      next: 'pipe them in: `... | agtmux event`',
    });
  }
  const lines = (await readStandardInput()).split('\n');
  return lines.flatMap((line, place) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      throw new AgtmuxError('E_INPUT', `line ${place + 1} is not JSON; nothing was sent`);
    }
  });
}
