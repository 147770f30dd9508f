// `agtmux wait`: until one agent is in one of these states, or can never be.

import { createClient } from '../api/client.ts';
import type { PaneItem } from '../api/panes.ts';
import { get } from '../api/requests.ts';
import { schemaVersion } from '../api/version.ts';
import { AgtmuxError } from '../model/errors.ts';
import { latestOf, reachedOf } from '../view/waiting.ts';
import { parseState } from '../view/words.ts';
import { safe } from './act.ts';
import { askDaemon } from './connect.ts';
import { type Action, daemonSocket } from './context.ts';
import { type DurationBounds, durationOf } from './duration.ts';
import { escapeEffects, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { refOf } from './refs.ts';

const timeoutBounds: DurationBounds = { minMs: 1, maxMs: 7 * 86_400_000, words: 'from 1ms to 168h' };

export const wait: Action = async (parsed, context) => {
  const wanted = wantedOf(parsed);
  const timeoutMs = durationOf('timeout', parsed.value('timeout'), timeoutBounds);
  const request = get('/v1/explain', { ref: await refOf(context, parsed.args[0]) });
  const { item } = (await askDaemon(context, request, { isQuiet: true })).reply;
  const over = new AbortController();
  const cancel = timeoutMs === null ? () => undefined : context.clock.after(timeoutMs, () => over.abort());
  const client = createClient({ socketPath: daemonSocket, clock: context.clock });
  try {
    for await (const event of client.events({ scope: 'panes', signal: over.signal })) {
      const now = latestOf(event, item);
      const reached = now === undefined ? null : reachedOf(now, item, wanted);
      if (reached === null) continue;
      tell(parsed, reached, now ?? item);
      return;
    }
  } finally {
    cancel();
  }
  throw new AgtmuxError(
    'E_TIMEOUT',
    `${safe(item.ref)} was not ${wanted.join(' or ')} within ${parsed.value('timeout')}`,
  );
};

function wantedOf(parsed: Parsed): readonly string[] {
  const said = parsed.values('for').flatMap((text) => text.split(','));
  const wanted = said.map((text) => {
    if (text === 'ended') return text;
    const state = parseState(safe(text));
    if (state.ok) return state.value;
    throw new AgtmuxError('E_FILTER', `${state.failure.message}, ended`);
  });
  if (wanted.length > 0) return wanted;
  throw new AgtmuxError('E_USAGE', 'wait needs a state to wait for', { next: 'use --for completed,waiting_approval' });
}

function tell(parsed: Parsed, reached: string, item: PaneItem): void {
  if (parsed.has('json')) print(escapeEffects({ schema_version: schemaVersion, reached, item }));
  else print(`${reached}: ${safe(item.ref)}${item.ask === null ? '' : `; ${safe(item.ask.text)}`}`);
}
