// Notifications of browsers that are not looking: each is encrypted for one browser and handed to that browser's push
// service, which can read none of it (RFC 8291, 8292). The keys are the daemon's own, in a private file with the addresses.
// A button carries a proof of what was shown; it answers that ask as it was read, or nothing (NOT9).

import { createECDH, createHmac, timingSafeEqual } from 'node:crypto';
import { buildPushPayload } from '@block65/webcrypto-web-push';
import { z } from 'zod';
import type { ActionRequest, CallerClaim, Receipt } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { DesktopText, NoticeRow } from '../model/notices.ts';
import type { PushAddress, PushAnswer, PushDocument, PushService } from '../model/push.ts';
import { FileError, type Files } from '../platform/files.ts';
import type { Log } from '../platform/log.ts';
import type { Post } from '../platform/post.ts';
import type { RandomSource } from '../platform/random.ts';
import { width } from '../text/width.ts';
import type { Message, NotificationChannel, NotifyResult } from './channel.ts';

const bytesOf = (count: number) =>
  z.string().refine((text) => /^[\w-]+$/.test(text) && Buffer.from(text, 'base64url').length === count);
/** 256 bits as hex. */
const secretForm = z.string().regex(/^[0-9a-f]{64}$/);

const addressShape = {
  endpoint: z.url({ protocol: /^https$/ }).max(limits.pathCharsMax),
  p256dh: bytesOf(65),
  auth: bytesOf(16),
};

const keptSchema = z.strictObject({
  version: z.literal(1),
  public_key: bytesOf(65),
  private_key: bytesOf(32),
  /** Proofs of what was shown are made with it. */
  secret: secretForm,
  receivers: z
    .array(z.strictObject({ session: z.string().max(limits.idCharsMax), may_answer: z.boolean(), ...addressShape }))
    .max(limits.webSessionsMax),
});

type Kept = z.infer<typeof keptSchema>;
type Receiver = Kept['receivers'][number];

export interface PushParts {
  readonly files: Files;
  /** `web-push.json` in the state directory. */
  readonly path: string;
  readonly random: Pick<RandomSource, 'hex'>;
  readonly log: Pick<Log, 'warn'>;
  readonly post: Post;
  readonly text: () => DesktopText;
  /** Null once it is over. */
  readonly openNotice: (id: string) => NoticeRow | null;
  readonly act: (request: ActionRequest, claim: CallerClaim) => Promise<Receipt>;
}

/** Whom a push service may write to about us. It is asked for by the standard, and Apple takes no made-up machine. */
const subject = 'mailto:agtmux@example.org';
/** Apple takes the permission away from pages that are sent something and show nothing. */
const mustShow = /(?:^|\.)push\.apple\.com$/;
interface PushRequest {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const gone: ReadonlySet<number> = new Set([404, 410]);

export class PushChannel implements NotificationChannel, PushService {
  readonly name = 'push';
  readonly #parts: PushParts;
  #kept: Kept;
  #waiting = 0;
  #isClosed = false;
  #saving: Promise<void> = Promise.resolve();

  private constructor(parts: PushParts, kept: Kept) {
    this.#parts = parts;
    this.#kept = kept;
  }

  static async open(parts: PushParts): Promise<PushChannel> {
    return new PushChannel(parts, (await readKept(parts)) ?? newKept(parts.random));
  }

  get publicKey(): string {
    return this.#kept.public_key;
  }

  has(session: string): boolean {
    return this.#kept.receivers.some((one) => one.session === session);
  }

  async subscribe(session: string, address: PushAddress, hasButtons: boolean): Promise<Result<null>> {
    const checked = z.strictObject(addressShape).safeParse(address);
    if (!checked.success) return fail('E_INPUT', 'this is no address of a push service', 'try another browser');
    const others = this.#kept.receivers.filter(
      (one) => one.session !== session && one.endpoint !== checked.data.endpoint,
    );
    const receivers = [...others, { session, may_answer: hasButtons, ...checked.data }];
    this.#kept = { ...this.#kept, receivers: receivers.slice(-limits.webSessionsMax) };
    return this.#save();
  }

  async unsubscribe(session: string): Promise<void> {
    await this.#keep((one) => one.session !== session);
  }

  async keepOnly(sessions: ReadonlySet<string>): Promise<void> {
    await this.#keep((one) => sessions.has(one.session));
  }

  async tell(message: Message): Promise<NotifyResult> {
    const { receivers } = this.#kept;
    if (receivers.length === 0) return { ok: false, problem: 'no browser has asked for it (Settings of a page)' };
    const told = await this.#toAll(receivers, (one) => this.#documentOf(message, one), message);
    if (told === 'too late') return { ok: true, handle: null, isTooLate: true };
    return told === null ? { ok: true, handle: null } : { ok: false, problem: told };
  }

  async withdraw(id: string): Promise<void> {
    await this.#toAll(
      this.#kept.receivers,
      ({ endpoint }) => {
        const words = mustShow.test(new URL(endpoint).hostname) ? 'Answered elsewhere.' : null;
        return { type: 'withdrawn', id, words };
      },
      { id, isUrgent: false },
    );
  }

  close(): void {
    this.#isClosed = true;
  }

  async answer(
    session: string,
    { notice_id, press, answer }: PushAnswer,
    claim: CallerClaim,
  ): Promise<Result<Receipt>> {
    const notice = this.#parts.openNotice(notice_id);
    if (notice === null || notice.ask_id === null)
      return fail('E_STATE_CHANGED', 'the request was answered elsewhere, or is over');
    const proof = this.#proofOf(session, notice);
    if (proof === null || !isSame(proof, answer))
      return fail('E_STATE_CHANGED', 'the request has changed since it was shown', 'look at the agent');
    const { runtime_id, ask_id } = notice;
    const conditions = { if_runtime: runtime_id };
    return ok(await this.#parts.act({ action: press, ref: `runtime:${runtime_id}`, ask_id, conditions }, claim));
  }

  #documentOf(message: Message, { session, may_answer }: Receiver): PushDocument {
    const { id, title, body, plain, isUrgent, notice } = message;
    const isShown = this.#parts.text() === 'ask' && body !== '' && width(body) <= limits.noticeBodyColumnsMax;
    const answer = isShown && may_answer && notice !== null ? this.#proofOf(session, notice) : null;
    return {
      type: 'notice',
      id,
      title,
      body: isShown ? body : plain,
      runtime_id: notice?.runtime_id ?? null,
      answer,
      is_urgent: isUrgent,
    };
  }

  /** Of what was read, by whom: the same ask with other words has another one. Null where there are no buttons (NOT5). */
  #proofOf(session: string, { notice_id, event, is_whole, ask_id, body }: NoticeRow): string | null {
    if (event !== 'waiting_approval' || !is_whole || ask_id === null) return null;
    const shown = JSON.stringify([session, notice_id, ask_id, body]);
    return createHmac('sha256', this.#kept.secret).update(shown).digest('hex');
  }

  /** Null when one of them took it. */
  async #toAll(
    receivers: readonly Receiver[],
    documentOf: (receiver: Receiver) => PushDocument,
    { id, isUrgent, isWanted = () => true }: Pick<Message, 'id' | 'isUrgent' | 'isWanted'>,
  ): Promise<string | null | 'too late'> {
    if (this.#isClosed) return 'the daemon is stopping';
    if (this.#waiting >= limits.noticesWaitingMax) return 'too many notifications are waiting for it';
    this.#waiting += 1;
    try {
      // One that is not delivered yet is replaced by what came of it.
      const topic = createHmac('sha256', this.#kept.secret).update(id).digest('base64url').slice(0, 32);
      const requests = await Promise.all(
        receivers.map((one) => this.#requestFor(one, documentOf(one), topic, isUrgent)),
      );
      if (!isWanted()) return 'too late';
      const problems = await Promise.all(requests.map((request) => this.#send(request)));
      return problems.includes(null) ? null : (problems[0] ?? null);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #requestFor(
    { endpoint, p256dh, auth }: Receiver,
    document: PushDocument,
    topic: string,
    isUrgent: boolean,
  ): Promise<PushRequest> {
    const { public_key: publicKey, private_key: privateKey } = this.#kept;
    const options = { ttl: limits.pushKeptSeconds, topic, urgency: isUrgent ? ('high' as const) : ('normal' as const) };
    const made = await buildPushPayload(
      { data: JSON.stringify(document), options },
      { endpoint, expirationTime: null, keys: { p256dh, auth } },
      { subject, publicKey, privateKey },
    );
    return { endpoint, headers: made.headers, body: made.body };
  }

  async #send({ endpoint, headers, body }: PushRequest): Promise<string | null> {
    const { status, problem } = await this.#parts.post({
      url: endpoint,
      headers,
      body,
      deadlineMs: limits.noticeWebhookMs,
    });
    // The person has taken it back, in the browser itself.
    if (status !== null && gone.has(status)) await this.#keep((one) => one.endpoint !== endpoint);
    return problem;
  }

  async #keep(isKept: (receiver: Receiver) => boolean): Promise<void> {
    const receivers = this.#kept.receivers.filter(isKept);
    if (receivers.length === this.#kept.receivers.length) return;
    this.#kept = { ...this.#kept, receivers };
    await this.#save();
  }

  #save(): Promise<Result<null>> {
    const { files, path, log } = this.#parts;
    const body = Buffer.from(`${JSON.stringify(this.#kept)}\n`);
    const saved = this.#saving.then(async (): Promise<Result<null>> => {
      try {
        await files.writeAtomic(path, body);
        return ok(null);
      } catch (problem) {
        if (!(problem instanceof FileError)) throw problem;
        log.warn('the addresses of browsers could not be stored', { problem: problem.message });
        return fail('E_FILE', problem.message, 'check the permissions of the state directory');
      }
    });
    this.#saving = saved.then(() => undefined);
    return saved;
  }
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

async function readKept({ files, path, log }: PushParts): Promise<Kept | null> {
  try {
    const found = await files.read(path, { bytesMax: limits.webFileBytesMax });
    return found === null ? null : keptSchema.parse(JSON.parse(Buffer.from(found.bytes).toString()));
  } catch (problem) {
    // Browsers that are open ask anew; the others are told nothing until their page is opened.
    log.warn('the keys for browsers could not be read, and are made anew', { problem: String(problem) });
    return null;
  }
}

function newKept(random: Pick<RandomSource, 'hex'>): Kept {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  // Numbers: a leading zero is left out.
  const privateKey = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()]).subarray(-32);
  return {
    version: 1,
    public_key: pair.getPublicKey('base64url'),
    private_key: privateKey.toString('base64url'),
    secret: random.hex(32),
    receivers: [],
  };
}
