// Web Push as its receivers see it: what is encrypted for whom, what it says, what a button proves, and who is forgotten.

import { describe, expect, it } from 'vitest';
import { decrypted, newBrowserKeys, vapidProblem } from '../../test/kit/push-service.ts';
import { sampleNotice } from '../../test/system/api/kit-notices.ts';
import type { ActionRequest, CallerClaim, Receipt } from '../model/actions.ts';
import type { DesktopText, NoticeRow } from '../model/notices.ts';
import type { PushDocument } from '../model/push.ts';
import type { Post } from '../platform/post.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles } from '../platform/simulated/files.ts';
import { createSimulatedRandom } from '../platform/simulated/random.ts';
import type { Message } from './channel.ts';
import { PushChannel } from './push.ts';

const message: Message = {
  id: 'n1',
  title: '▲ claude in web-shop: approve',
  body: sampleNotice.body,
  plain: 'claude wants to run a command (host/work:1.2)',
  isUrgent: true,
  notice: sampleNotice,
};
const claim: CallerClaim = { pid: null, hops: 0 };
const origin = 'https://push.example.org';
const path = '/state/web-push.json';

async function world(text: DesktopText = 'names') {
  const files = createSimulatedFiles({ clock: createSimulatedClock() });
  await files.mkdirPrivate('/state');
  const keys = newBrowserKeys();
  const sent: Parameters<Post>[0][] = [];
  const done: ActionRequest[] = [];
  const state = { text, status: 201, notice: sampleNotice as NoticeRow | null };
  const open = () =>
    PushChannel.open({
      files,
      path,
      random: createSimulatedRandom(7),
      log: { warn: () => undefined },
      post: async (request) => {
        sent.push(request);
        return { status: state.status, problem: state.status < 300 ? null : `it answered with ${state.status}` };
      },
      text: () => state.text,
      openNotice: (id) => (id === 'n1' ? state.notice : null),
      act: async (request) => {
        done.push(request);
        return { outcome: 'delivered', failure: null } as Receipt;
      },
    });
  const push = await open();
  const { p256dh, auth } = keys;
  const address = { endpoint: `${origin}/one`, p256dh, auth };
  const documents = () => sent.map(({ body }) => JSON.parse(decrypted(Buffer.from(body), keys)) as PushDocument);
  return { files, keys, sent, done, state, open, push, address, documents };
}

describe('what a browser is told', () => {
  it('the stand-in reads the example of RFC 8291', () => {
    const keys = {
      privateKey: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    };
    const body =
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN';
    expect(decrypted(Buffer.from(body, 'base64url'), keys)).toBe('When I grow up, I want to be a watermelon');
  });

  it('NOT9 is encrypted for it alone, signed by the daemon, and says little', async () => {
    const { push, address, sent, documents } = await world();
    await push.subscribe('s1', address, true);
    expect(await push.tell(message)).toEqual({ ok: true, handle: null });
    const [request] = sent;
    expect(Buffer.from(request?.body ?? '').includes('claude')).toBe(false);
    expect(request?.headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high', ttl: '14400' });
    expect(vapidProblem(request?.headers.authorization ?? '', origin, push.publicKey)).toBeNull();
    expect(documents()).toEqual([
      {
        type: 'notice',
        id: 'n1',
        title: message.title,
        body: message.plain,
        runtime_id: 'r1',
        answer: null,
        is_urgent: true,
      },
    ]);
    // What is not delivered yet is replaced by what came of it.
    await push.withdraw('n1');
    expect(documents()[1]).toEqual({ type: 'withdrawn', id: 'n1', words: null });
    expect(sent[1]?.headers.topic).toBe(request?.headers.topic);
  });

  it('NOT9a has buttons only where the whole ask is shown, to a page that may act', async () => {
    const { push, address, state, documents } = await world('ask');
    const last = async (one: Message = message) => {
      await push.tell(one);
      const document = documents().at(-1);
      return document?.type === 'notice' ? document : null;
    };
    await push.subscribe('s1', address, true);
    expect(await last()).toMatchObject({ body: 'rm -rf build', answer: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const with_ = (part: Partial<NoticeRow>): Message => ({ ...message, notice: { ...sampleNotice, ...part } });
    expect((await last(with_({ is_whole: false })))?.answer).toBeNull();
    expect((await last(with_({ event: 'waiting_input' })))?.answer).toBeNull();
    expect(await last({ ...message, body: 'x'.repeat(301) })).toMatchObject({ body: message.plain, answer: null });
    state.text = 'names';
    expect((await last())?.answer).toBeNull();
    state.text = 'ask';
    await push.subscribe('s1', address, false);
    expect((await last())?.answer).toBeNull();
  });

  it('NOT9a a button answers what was shown, to this browser, and nothing that has changed since', async () => {
    const { push, address, state, done, documents } = await world('ask');
    await push.subscribe('s1', address, true);
    await push.tell(message);
    const [document] = documents();
    const answer = document?.type === 'notice' ? (document.answer ?? '') : '';
    const pressed = { notice_id: 'n1', press: 'approve', answer } as const;
    expect(await push.answer('s2', pressed, claim)).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
    state.notice = { ...sampleNotice, body: 'rm -rf /' };
    expect(await push.answer('s1', pressed, claim)).toMatchObject({ ok: false, failure: { code: 'E_STATE_CHANGED' } });
    state.notice = null;
    expect(await push.answer('s1', pressed, claim)).toMatchObject({ ok: false });
    expect(done).toEqual([]);
    state.notice = sampleNotice;
    expect(await push.answer('s1', pressed, claim)).toMatchObject({ ok: true, value: { outcome: 'delivered' } });
    const asked = {
      action: 'approve',
      ref: 'runtime:r1',
      ask_id: sampleNotice.ask_id,
      conditions: { if_runtime: 'r1' },
    };
    expect(done).toEqual([asked]);
  });

  it('NOT9 keys and addresses outlive the daemon in a private file; who is signed out or gone is forgotten', async () => {
    const { push, address, state, files, open, sent } = await world();
    await push.subscribe('s1', address, true);
    await push.subscribe('s2', { ...address, endpoint: `${origin}/two` }, true);
    expect((await files.stat(path))?.mode).toBe(0o600);
    const next = await open();
    expect([next.publicKey, next.has('s1'), next.has('s2')]).toEqual([push.publicKey, true, true]);
    await next.keepOnly(new Set(['s1']));
    expect([next.has('s1'), next.has('s2')]).toEqual([true, false]);
    state.status = 410;
    expect(await next.tell(message)).toEqual({ ok: false, problem: 'it answered with 410' });
    expect([next.has('s1'), sent.length]).toEqual([false, 1]);
    expect(await next.tell(message)).toMatchObject({ ok: false });
    expect(sent.length).toBe(1);
  });

  it('NOT9 takes no address that is none, and none without encryption', async () => {
    const { push, address } = await world();
    for (const bad of [{ endpoint: 'http://push.example.org/' }, { endpoint: 'x' }, { p256dh: 'short' }, { auth: '' }])
      expect(await push.subscribe('s1', { ...address, ...bad }, true)).toMatchObject({ ok: false });
    expect(push.has('s1')).toBe(false);
  });

  it('NOT9b is not told what was answered while it was made', async () => {
    const { push, address, sent } = await world();
    await push.subscribe('s1', address, true);
    expect(await push.tell({ ...message, isWanted: () => false })).toMatchObject({ ok: true, isTooLate: true });
    expect(sent).toEqual([]);
  });
});
