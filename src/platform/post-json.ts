// One bounded POST of JSON to an address that the user chose. No redirect is followed, nothing of the answer is kept but
// whether it was taken, and no secret of the address is in what is told about it.

import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';

export interface JsonPost {
  /** http or https. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly deadlineMs: number;
}

/** Null when it was taken; else why not. */
export type PostJson = (post: JsonPost) => Promise<string | null>;

export const createPostJson =
  (clock: Clock): PostJson =>
  ({ url, headers, body, deadlineMs }) =>
    new Promise<string | null>((resolve) => {
      const ask = url.startsWith('https:') ? secureRequest : plainRequest;
      const asked = ask(url, {
        method: 'POST',
        agent: false,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'agtmux',
        },
      });
      const settle = (problem: string | null): void => {
        cancel();
        resolve(problem);
        asked.destroy();
      };
      const cancel = clock.after(deadlineMs, () => settle('it did not answer in time'));
      asked.on('error', (error) => settle(`it cannot be reached (${errorCodeOf(error) ?? 'EPROTO'})`));
      asked.on('response', ({ statusCode = 0 }) =>
        settle(statusCode >= 200 && statusCode < 300 ? null : `it answered with ${statusCode}`),
      );
      asked.end(body);
      // Node throws for headers it will not send.
    }).catch((error: unknown) => `it cannot be sent (${errorCodeOf(error) ?? 'EINVAL'})`);
