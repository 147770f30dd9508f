// Being told while nobody looks, in a real Chromium at a real daemon. Headless Chromium reaches no push service of its own,
// so subscribing gives an address of the stand-in, which checks encryption and signature as a real one and its browser
// would; what it was sent goes to the service worker by the browser's own tools.
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PushDocument } from '../../src/model/push.ts';
import { until } from '../kit/live.ts';
import type { LookAlike } from '../kit/look-alike.ts';
import { type Pushed, PushStandIn, pushCertificate } from '../kit/push-service.ts';
import { act } from '../kit/scenes.ts';
import { DesktopWorld } from '../system/notify/kit.ts';
import { WebWorld } from './kit.ts';
import { axeFindings } from './pages-kit.ts';

let push: PushStandIn;
let world: WebWorld;
let desktop: DesktopWorld;
let agent: LookAlike;
beforeAll(async () => {
  push = await PushStandIn.open();
  desktop = new DesktopWorld('on = ["waiting_approval"]\nchannels = []\n');
  desktop.env.NODE_EXTRA_CA_CERTS = pushCertificate;
  world = await WebWorld.open(desktop);
  agent = await desktop.agent();
});
afterAll(async () => {
  await world.close();
  await push.close();
});

/** Stands in for Chromium's own subscription; everything else of the browser is as it is. */
function standIn(address: { readonly endpoint: string; readonly p256dh: string; readonly auth: string }): void {
  const { endpoint, p256dh, auth } = address;
  let key: ArrayBuffer | null = null;
  const bytesOf = (text: string): ArrayBuffer =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0)).buffer;
  const subscription = {
    options: {
      get applicationServerKey() {
        return key;
      },
    },
    toJSON: () => ({ endpoint, keys: { p256dh, auth } }),
    unsubscribe: async () => {
      key = null;
      return true;
    },
  };
  Object.assign(PushManager.prototype, {
    getSubscription: async () => (key === null ? null : subscription),
    subscribe: async ({ applicationServerKey }: { applicationServerKey: string }) => {
      key = bytesOf(applicationServerKey);
      return subscription;
    },
  });
}

interface Notified {
  readonly title: string;
  readonly body: string;
  readonly actions: readonly string[];
}

/** What the service worker has shown and not closed. */
const shown = (page: Page): Promise<readonly Notified[]> =>
  page.evaluate(async () => {
    const all = (await (await navigator.serviceWorker.ready).getNotifications()) as (Notification & {
      actions: { action: string }[];
    })[];
    return all.map(({ title, body, actions }) => ({ title, body, actions: actions.map(({ action }) => action) }));
  });

/** Hands over what the stand-in has read, as the push service of a browser would. */
async function deliverer(page: Page): Promise<(document: PushDocument) => Promise<void>> {
  const wire = await page.context().newCDPSession(page);
  const registration = new Promise<string>((resolve) => {
    wire.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [one] = registrations;
      if (one !== undefined) resolve(one.registrationId);
    });
  });
  await wire.send('ServiceWorker.enable');
  const registrationId = await registration;
  const { origin } = new URL(page.url());
  return (document) =>
    wire
      .send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(document) })
      .then(() => undefined);
}

/** The press of a button, as the worker hears it: no tool of the browser presses one. */
async function press(context: BrowserContext, action: 'approve' | 'reject'): Promise<void> {
  const [worker] = context.serviceWorkers();
  await worker?.evaluate(async (pressed) => {
    const scope = globalThis as unknown as {
      registration: ServiceWorkerRegistration;
      NotificationEvent: new (type: string, init: object) => Event;
      dispatchEvent(event: Event): void;
    };
    const [notification] = await scope.registration.getNotifications();
    scope.dispatchEvent(new scope.NotificationEvent('notificationclick', { notification, action: pressed }));
  }, action);
}

const nextPush = async (after: number): Promise<Pushed> => {
  await expect.poll(() => push.pushed.length).toBeGreaterThan(after);
  return push.pushed[after] as Pushed;
};

async function signedInPhone(): Promise<{ readonly page: Page; readonly context: BrowserContext }> {
  const { page, context } = await world.page('phone');
  await context.grantPermissions(['notifications']);
  const { endpoint, keys } = push;
  await context.addInitScript(standIn, { endpoint, p256dh: keys.p256dh, auth: keys.auth });
  await page.goto(new URL('/settings/notifications', page.url()).href);
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  return { page, context };
}

describe('a phone that nobody looks at', () => {
  it('NOT9 NOT5 is told, answers from the notification under the guard, and is not told on when it was settled', async () => {
    const { page, context } = await signedInPhone();
    await page.getByRole('checkbox', { name: /tell this browser/ }).click();
    await page.getByText('This browser is told, also while no page is open.').waitFor();
    const settings = await world.daemon.live.client.get('/v1/notifications/settings', {});
    expect(settings.channels).toContain('push');
    push.publicKey = await page.evaluate(async () => {
      const key = localStorage.getItem('agtmux.key') ?? '';
      const reply = await fetch('/web/push', { headers: { 'x-agtmux-key': key } });
      return ((await reply.json()) as { public_key: string }).public_key;
    });
    const deliver = await deliverer(page);

    // Says little before it may say more.
    await desktop.asks(agent, 'toolu_1');
    const little = await nextPush(0);
    expect(little.problem).toBeNull();
    expect(little.document).toMatchObject({ type: 'notice', answer: null });
    expect(JSON.stringify(little.document)).not.toContain('made-a.txt');
    await deliver(little.document);
    await expect.poll(() => shown(page)).toHaveLength(1);
    expect((await shown(page))[0]).toMatchObject({ title: expect.stringContaining('approve'), actions: [] });

    // Settled elsewhere: taken back.
    await act(agent, 'settled');
    const taken = await nextPush(1);
    expect(taken.document).toMatchObject({ type: 'withdrawn' });
    await deliver(taken.document);
    await expect.poll(() => shown(page)).toEqual([]);

    // Allowed: the whole ask, with buttons, answered from there.
    await page.getByRole('checkbox', { name: /show what is asked/ }).click();
    await page.getByText('Saved').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await desktop.asks(agent, 'toolu_2');
    const whole = await nextPush(2);
    expect(whole.document).toMatchObject({
      type: 'notice',
      body: expect.stringContaining('touch made-a.txt && sleep 8'),
      answer: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    await deliver(whole.document);
    await expect.poll(() => shown(page)).toHaveLength(1);
    expect((await shown(page))[0]?.actions).toEqual(['approve', 'reject']);
    await press(context, 'approve');
    await until(() => agent.typed() === '1');
    await act(agent, 'settled');
    const answers = async () => {
      const { items } = await world.daemon.live.client.get('/v1/audit', { count: 50 });
      return items.filter(({ action }) => action === 'approve').map(({ actor, result }) => `${actor}: ${result}`);
    };
    await expect.poll(answers).toHaveLength(1);
    expect((await answers())[0]).toMatch(/^human: web session [0-9a-f]{8}: delivered$/);

    // Nothing of it in any cache.
    const kept = await page.evaluate(async () => {
      const texts: string[] = [];
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) texts.push((await (await cache.match(request))?.text()) ?? '');
      }
      return texts.join('\n');
    });
    const words = whole.document.type === 'notice' ? whole.document.body : '';
    expect(words).not.toBe('');
    expect(kept).not.toContain(words);
  });

  it('NOT9 a proof is for the browser it came to, and a browser that signs out is told nothing more', async () => {
    const visitor = await world.daemon.enter();
    const notice_id = push.pushed.at(-1)?.document.id ?? '';
    const body = { notice_id, press: 'approve', answer: 'a'.repeat(64) };
    const asked = { method: 'POST', body } as const;
    expect((await visitor.ask('/web/push/answer', asked)).status).toBe(409);
    const { endpoint, keys } = push;
    const address = { endpoint: `${endpoint}-other`, p256dh: keys.p256dh, auth: keys.auth };
    await visitor.json('/web/push', { method: 'POST', body: address });
    expect(await visitor.json('/web/push')).toMatchObject({ is_on: true });
    await visitor.json('/web/leave', { method: 'POST', body: {} });
    expect((await visitor.ask('/web/push/answer', asked)).status).toBe(401);
    await expect.poll(async () => (await world.daemon.enter()).json('/web/push')).toMatchObject({ is_on: false });
  });
});
