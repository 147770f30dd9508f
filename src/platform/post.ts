// One bounded POST to an address that the user, or their browser, chose. No redirect is followed, nothing of the answer is
// kept but its status, and no secret of the address is in what is told about it.

import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Clock } from './clock.ts';
import { errorCodeOf } from './files.ts';

interface PostRequest {
  /** http or https. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly deadlineMs: number;
}

interface PostOutcome {
  /** Null when nobody answered. */
  readonly status: number | null;
  /** Null when it was taken; else why not. */
  readonly problem: string | null;
}

export type Post = (post: PostRequest) => Promise<PostOutcome>;

/** Of JSON, where the headers do not say otherwise. */
export const createPost =
  (clock: Clock): Post =>
  ({ url, headers, body, deadlineMs }) =>
    new Promise<PostOutcome>((resolve) => {
      const ask = url.startsWith('https:') ? secureRequest : plainRequest;
      const asked = ask(url, {
        method: 'POST',
        agent: false,
        headers: {
          'content-type': 'application/json',
          ...headers,
          'content-length': Buffer.byteLength(body),
          'user-agent': 'agtmux',
        },
      });
      const settle = (problem: string | null, status: number | null = null): void => {
        cancel();
        resolve({ status, problem });
        asked.destroy();
      };
      const cancel = clock.after(deadlineMs, () => settle('it did not answer in time'));
      asked.on('error', (error) => settle(`it cannot be reached (${errorCodeOf(error) ?? 'EPROTO'})`));
      asked.on('response', ({ statusCode = 0 }) =>
        settle(statusCode >= 200 && statusCode < 300 ? null : `it answered with ${statusCode}`, statusCode),
      );
      asked.end(body);
      // Node throws for headers it will not send.
    }).catch((error: unknown) => ({ status: null, problem: `it cannot be sent (${errorCodeOf(error) ?? 'EINVAL'})` }));
