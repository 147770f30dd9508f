// OpenCode's own event stream. It is served only when the program was started with a port of its own; without one nothing
// listens, and the plugin or the screen has to do.

import { agentSessionId } from '../../model/ids.ts';
import type { Finding, NativeAnswer, NativeReader, NativeSource, RunView } from '../contract.ts';
import { fieldsIn } from '../fields.ts';
import { EventReader } from './events.ts';

const nothing: NativeAnswer = { findings: [] };

export const natives: readonly NativeSource[] = [
  {
    id: 'events',
    source: 'stream',
    environment: [],
    remote: false,
    plan(run) {
      const port = portOf(run);
      return port === null ? [] : [{ kind: 'sse', port, path: '/event' }];
    },
    open: () => streamReader(),
  },
];

function streamReader(): NativeReader {
  let reader = new EventReader();
  let epoch: number | null = null;
  let number = 0;
  let session: string | null = null;
  const begin = (now: number): void => {
    reader = new EventReader();
    epoch = now;
    number = 0;
    session = null;
  };
  return {
    take(input, runs, now) {
      if (input.kind === 'opened') begin(now);
      if (input.kind !== 'message') return nothing;
      // Only one program can listen on a port: with two that claim it, nobody knows which one speaks (BND1).
      const run = runs.length === 1 ? runs[0] : undefined;
      const event = eventOf(input.text);
      if (run === undefined || event === null) return nothing;
      // A reader that came too late to see the connection open counts from its first message.
      if (epoch === null) begin(now);
      const found = reader.read(event, now);
      const findings: Finding[] = [];
      const root = reader.rootOf(event);
      if (found.length > 0 && root !== null && root !== session) {
        session = root;
        findings.push({ fact: { kind: 'runtime.session', agent_session: agentSessionId(root) }, time: now });
      }
      findings.push(...found);
      const numbered = findings.map((finding) => {
        number += 1;
        return { ...finding, runtime_id: run.runtime_id, seq: { epoch: epoch ?? now, number } };
      });
      return { findings: numbered };
    },
  };
}

/** `--port 4096` or `--port=4096`; 0 means any, and which one it became is not told. */
function portOf({ programs }: RunView): number | null {
  for (const { argv } of programs) {
    const end = argv.indexOf('--');
    const words = end < 0 ? argv : argv.slice(0, end);
    const at = words.findIndex((word) => word === '--port' || word.startsWith('--port='));
    if (at < 0) continue;
    const text = words[at] === '--port' ? words[at + 1] : words[at]?.slice('--port='.length);
    const port = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
    if (port >= 1 && port <= 65_535) return port;
  }
  return null;
}

/** The data of one event; the name of its field may still stand before it. */
function eventOf(text: string): ReturnType<typeof fieldsIn> | null {
  try {
    return fieldsIn(JSON.parse(text.replace(/^data:/, '')));
  } catch {
    return null;
  }
}
