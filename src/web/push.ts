// Being told while no page is open: asks the browser for an address at its push service, and tells the daemon. What the
// browser has and what the daemon knows are compared at every visit, since either may have lost it.

import type { NoticeSettingsReply } from '../api/notices.ts';
import { post } from '../api/requests.ts';
import { type Failure, failure, ok, type Result } from '../model/errors.ts';
import { installedWorker } from './install.ts';
import { keep, kept } from './port.ts';
import { send, webRequests } from './requests.ts';

/** Whether this browser can be told at all. */
export const canPush = (): boolean => 'PushManager' in window && 'serviceWorker' in navigator && isSecureContext;

export const isPushed = (): boolean => kept('push') === 'on';

const refused = (message: string, next: string): { readonly ok: false; readonly failure: Failure } => ({
  ok: false,
  failure: failure('E_INPUT', message, next),
});

/** At every visit of a browser that wanted it: a new sign-in is a new session, which knows no address. */
export async function renewPush(): Promise<void> {
  if (isPushed() && canPush() && Notification.permission === 'granted') await subscribed();
}

/** `mayChoose`: turns the channel on as well, which a page for viewing may not. */
export async function startPush(mayChoose: boolean): Promise<Result<NoticeSettingsReply | null>> {
  if ((await Notification.requestPermission()) !== 'granted')
    return refused('this browser blocks notifications of this page', 'allow them in its settings');
  const done = await subscribed();
  if (!done.ok) return done;
  keep('push', 'on');
  return mayChoose ? send(post('/v1/notifications/settings', { turn_on: ['push'] })) : ok(null);
}

export async function stopPush(): Promise<Result<null>> {
  keep('push', null);
  const told = await send(webRequests.stopPush());
  await (await (await installedWorker())?.pushManager.getSubscription())?.unsubscribe();
  return told.ok ? ok(null) : told;
}

async function subscribed(): Promise<Result<unknown>> {
  const registration = await installedWorker();
  if (registration === null) return refused('this page has no service worker', 'open it by localhost or HTTPS');
  const known = await send(webRequests.push());
  if (!known.ok) return known;
  const { public_key } = known.value;
  try {
    const { endpoint, keys } = (await subscriptionOf(registration.pushManager, public_key)).toJSON();
    const { p256dh = '', auth = '' } = keys ?? {};
    return await send(webRequests.startPush({ endpoint: endpoint ?? '', p256dh, auth }));
  } catch (problem) {
    const words = problem instanceof Error ? problem.message : 'for no reason that it tells';
    return refused(`the browser gave no address to send to: ${words}`, 'check that it reaches its push service');
  }
}

/** One for other keys is of a daemon that lost its own. */
async function subscriptionOf(manager: PushManager, publicKey: string): Promise<PushSubscription> {
  const now = await manager.getSubscription();
  if (now !== null && textOf(now.options.applicationServerKey) === publicKey) return now;
  await now?.unsubscribe();
  return manager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
}

const textOf = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer())))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
