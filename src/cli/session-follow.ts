// `agtmux session follow`: what is said in a session, as it comes. Words that grow are printed as they grow, also after
// something else came in between; a message that changes is told again.

import { createClient } from '../api/client.ts';
import type { SessionEvent } from '../api/client-types.ts';
import { get } from '../api/requests.ts';
import type { ManagedItem, MessageItem } from '../api/sessions.ts';
import { askLines, autoWarning, machineLabel, messageHead, messageText } from '../view/sessions.ts';
import { safe } from './act.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, daemonSocket } from './context.ts';
import { escapeEffects, note, output, print, whileRead } from './output.ts';
import type { Parsed } from './parse.ts';
import { pathOf } from './session-path.ts';

export const sessionFollow: Action = async (parsed, context) => {
  const [ref = ''] = parsed.args;
  // A daemon that is not there is started, and a session that is not there is told at once.
  await askDaemon(context, get(pathOf(ref)), { isQuiet: true });
  await followSession(parsed, context, ref);
};

export async function followSession(parsed: Parsed, context: Context, ref: string): Promise<void> {
  const leaving = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => leaving.abort());
  const client = createClient({ socketPath: daemonSocket, clock: context.clock });
  const teller = parsed.has('json') ? new JsonTeller() : new TextTeller();
  const follow = async (): Promise<void> => {
    for await (const event of client.session(ref, { signal: leaving.signal })) teller.tell(event);
  };
  await whileRead(context.clock, parsed.has('json') ? 'json' : 'text', follow);
}

/** One event a line. */
class JsonTeller {
  tell(event: SessionEvent): void {
    switch (event.type) {
      case 'messages':
        for (const message of event.data.messages) print(escapeEffects({ type: 'message', message }));
        break;
      case 'session':
        print(escapeEffects({ type: 'session', session: event.data.session }));
        break;
      case 'gone':
        print(escapeEffects({ type: 'gone' }));
        break;
      case 'lost':
        print(escapeEffects({ type: 'lost', message: event.error.message }));
        break;
    }
  }
}

class TextTeller {
  /** What was printed of each message. */
  readonly #printed = new Map<string, string>();
  #current: string | null = null;
  #state = '';

  tell(event: SessionEvent): void {
    switch (event.type) {
      case 'messages':
        for (const message of event.data.messages) this.#message(message);
        break;
      case 'session':
        this.#session(event.data.session);
        break;
      case 'gone':
        this.#line('-- the session was removed');
        break;
      case 'lost':
        this.#endLine();
        note(`${safe(event.error.message)}; waiting for it`);
        break;
    }
  }

  #message(message: MessageItem): void {
    const { id, text } = message;
    const head = messageHead(message);
    const known = this.#printed.get(id);
    const whole = `${head}\n${text}`;
    if (known === whole) return;
    this.#printed.set(id, whole);
    const isGrown = known !== undefined && whole.startsWith(known);
    const more = isGrown ? whole.slice(known.length) : text;
    if (!isGrown || this.#current !== id) {
      this.#endLine();
      output().write(`${head}: ${isGrown ? '… ' : ''}`);
    }
    output().write(messageText(more));
    this.#current = id;
  }

  #session(session: ManagedItem): void {
    const now = JSON.stringify([session.state, session.reason, session.pending_ask?.ask_id]);
    if (now === this.#state) return;
    const isFirst = this.#state === '';
    this.#state = now;
    if (isFirst && session.auto_approve) this.#line(`-- ${autoWarning}`);
    const why = session.words === null ? '' : `: ${safe(session.words)}`;
    this.#line(`-- ${machineLabel(session)}${why}`);
    for (const line of askLines(session)) this.#line(line);
  }

  #line(text: string): void {
    this.#endLine();
    print(text);
  }

  #endLine(): void {
    if (this.#current !== null) output().write('\n');
    this.#current = null;
  }
}
