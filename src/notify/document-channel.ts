// What the channels `command` and `webhook` share: each notice is one JSON document. One at a time and never more than a few
// waiting, so that a slow one costs nobody anything.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { NoticeChannel } from '../model/notices.ts';
import type { Message, NotificationChannel, NotifyResult } from './channel.ts';

/** What they are given; within a major version it only gains. */
function documentOf(type: 'notice' | 'withdrawn', id: string, message: Message | null): string {
  const notice = message?.notice ?? null;
  const about =
    notice === null
      ? {}
      : {
          event: notice.event,
          agent: notice.agent,
          project: notice.project,
          cwd: notice.cwd,
          place: notice.place,
          ref: `runtime:${notice.runtime_id}`,
          ask_id: notice.ask_id,
          ask_kind: notice.ask_kind,
        };
  const said = message === null ? {} : { title: message.title, body: message.body };
  return `${JSON.stringify({ schema_version: 1, type, notice_id: id, ...about, ...said })}\n`;
}

export abstract class DocumentChannel implements NotificationChannel {
  abstract readonly name: NoticeChannel;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  abstract send(document: string): Promise<Result<null>>;

  async tell(message: Message): Promise<NotifyResult> {
    const sent = await this.#inTurn(documentOf('notice', message.id, message), message.isWanted);
    if (sent.ok && sent.value === 'too late') return { ok: true, handle: null, isTooLate: true };
    return sent.ok ? { ok: true, handle: null } : { ok: false, problem: sent.failure.message };
  }

  async withdraw(id: string): Promise<void> {
    await this.#inTurn(documentOf('withdrawn', id, null));
  }

  close(): void {
    this.#isClosed = true;
  }

  async #inTurn(document: string, isWanted = (): boolean => true): Promise<Result<null | 'too late'>> {
    if (this.#waiting >= limits.noticesWaitingMax)
      return fail('E_QUEUE_FULL', 'too many notifications are waiting for it');
    this.#waiting += 1;
    const sent = this.#turn.then((): Promise<Result<null | 'too late'>> | Result<null | 'too late'> => {
      if (this.#isClosed) return fail('E_ENDED', 'the daemon is stopping');
      return isWanted() ? this.send(document) : ok('too late');
    });
    this.#turn = sent.catch(() => undefined);
    try {
      return await sent;
    } finally {
      this.#waiting -= 1;
    }
  }
}
