// The channel `webhook`: a server of the user's that gets the JSON document by POST.

import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { Post } from '../platform/post.ts';
import { DocumentChannel } from './document-channel.ts';
import type { NoticeSettings } from './settings.ts';

interface WebhookParts {
  readonly post: Post;
  readonly settings: () => NoticeSettings['webhook'];
}

export class WebhookChannel extends DocumentChannel {
  readonly name = 'webhook';
  readonly #parts: WebhookParts;

  constructor(parts: WebhookParts) {
    super();
    this.#parts = parts;
  }

  async send(document: string): Promise<Result<null>> {
    const webhook = this.#parts.settings();
    if (webhook === undefined) return fail('E_CONFIG', 'no webhook is set: [webhook] url = "..."');
    const { url, headers } = webhook;
    const deadlineMs = limits.noticeWebhookMs;
    const how = { 'content-type': 'application/json' };
    const { problem } = await this.#parts.post({ url, headers: { ...headers, ...how }, body: document, deadlineMs });
    return problem === null ? ok(null) : fail('E_TARGET_DOWN', problem);
  }
}
