// A scripted agent that speaks the Agent Client Protocol on stdin and stdout. Like a real one it takes its time to begin, and
// it can take up its conversations again. Every prompt it is told is written to the file that FAKE_LOG names.

import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const log = process.env.FAKE_LOG ?? '/dev/null';
const note = (words: string): void => appendFileSync(log, `${words}\n`);
const send = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const reply = (id: unknown, result: object): void => send({ id, result });
/** What a real agent does between a request and its reply. */
const stepMs = 40;

note(`start ${process.pid}`);

function hearPrompt(id: unknown, sessionId: unknown, text: string): void {
  note(`told ${text}`);
  const answer = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'done' } };
  const pauseMs = text.startsWith('paced') ? stepMs * 5 : 1;
  send({ method: 'session/update', params: { sessionId, update: answer } });
  setTimeout(() => reply(id, { stopReason: 'end_turn' }), pauseMs);
}

function hear(id: unknown, method: string, params: Readonly<Record<string, unknown>>): void {
  switch (method) {
    case 'initialize':
      reply(id, { protocolVersion: 1, agentCapabilities: { loadSession: true } });
      return;
    case 'session/new':
      reply(id, { sessionId: `conversation-${process.pid}` });
      return;
    case 'session/load':
      reply(id, {});
      return;
    case 'session/prompt': {
      const [part] = params.prompt as readonly { readonly text: string }[];
      hearPrompt(id, params.sessionId, part?.text ?? '');
      return;
    }
    default:
      return;
  }
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (typeof method !== 'string') return;
  // A prompt counts as told when it is read; the steps before it take their time.
  if (method === 'session/prompt') hear(id, method, params);
  else setTimeout(() => hear(id, method, params ?? {}), stepMs);
});
lines.on('close', () => process.exit(0));
