// The service worker of the pages: keeps their shell, so that the installed app opens without the daemon and says since
// when; and shows what the daemon has to tell while no page is open. It keeps the one page and the files of its build, and
// never what the daemon says (SEC2d).

import type { PushDocument } from '../model/push.ts';

// Loaded as a classic script by itself: it imports types alone.
declare const self: ServiceWorkerGlobalScope;

const shellCache = 'agtmux-shell';
/** The one page; every address shows it. */
const shellPath = '/';
/** A daemon behind a bad line is waited for no longer than this; then the kept shell is shown. */
const shellWaitMs = 4_000;

/** Files whose names change with what is in them. */
const isBuilt = (path: string): boolean => /^\/assets\/[^/]+-[\w-]{8,}\.\w+$/.test(path);

/** Another program may have the port by now: its pages are neither kept nor replaced. */
const isOurs = (response: Response): boolean =>
  response.ok && (response.headers.get('content-security-policy') ?? '').includes('trusted-types agtmux');

const filesOf = (page: string): readonly string[] =>
  [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].flatMap(([, path]) => (path === undefined ? [] : [path]));

/** A newer page comes with newer files, and the older ones are not asked for again. */
async function keepShell(response: Response): Promise<void> {
  const cache = await caches.open(shellCache);
  const page = await response.clone().text();
  if ((await (await cache.match(shellPath))?.text()) === page) return;
  for (const request of await cache.keys()) await cache.delete(request);
  await cache.addAll(filesOf(page));
  // Last: a shell is kept when all that it loads is.
  await cache.put(shellPath, response);
}

async function install(): Promise<void> {
  const response = await fetch(shellPath, { cache: 'no-cache' });
  if (!isOurs(response)) throw new Error('this is no page of agtmux');
  await keepShell(response);
  await self.skipWaiting();
}

async function shellFor(request: Request, event: FetchEvent): Promise<Response> {
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(shellWaitMs) });
    if (isOurs(response)) event.waitUntil(keepShell(response.clone()));
    return response;
  } catch (problem) {
    const kept = await (await caches.open(shellCache)).match(shellPath);
    if (kept === undefined) throw problem;
    return kept;
  }
}

async function builtFile(request: Request): Promise<Response> {
  const cache = await caches.open(shellCache);
  const kept = await cache.match(request.url);
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  // The terminal, which is loaded when it is wanted.
  if (isOurs(response)) await cache.put(request.url, response.clone());
  return response;
}

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin) return;
  if (request.mode === 'navigate') event.respondWith(shellFor(request, event));
  else if (isBuilt(pathname)) event.respondWith(builtFile(request));
});

// What the daemon has to tell while no page is open. It was sanitized there; here it becomes a notification, and a button
// answers with the proof that came with it. The cookie goes along by itself.

interface Shown {
  readonly id: string;
  readonly runtime_id: string | null;
  readonly answer: string | null;
}

const pictures = { icon: '/icon-192.png', badge: '/badge-96.png' };
const buttons = [
  { action: 'approve', title: 'Approve' },
  { action: 'reject', title: 'Reject' },
];

/** The types of the browser leave them out. */
interface WithButtons extends NotificationOptions {
  readonly actions: readonly { readonly action: string; readonly title: string }[];
}

async function pushed(document: PushDocument): Promise<void> {
  const { registration } = self;
  if (document.type === 'withdrawn') {
    const { id, words } = document;
    for (const shown of await registration.getNotifications({ tag: id })) shown.close();
    if (words !== null)
      await registration.showNotification('agtmux', { ...pictures, body: words, tag: id, silent: true });
    return;
  }
  const { id, title, body, runtime_id, answer, is_urgent } = document;
  const data: Shown = { id, runtime_id, answer };
  // Browsers without buttons, as on an iPhone, show none; a press opens the agent.
  const options: WithButtons = {
    ...pictures,
    body,
    tag: id,
    data,
    requireInteraction: is_urgent,
    actions: answer === null ? [] : buttons,
  };
  await registration.showNotification(title, options);
}

async function answered(press: string, { id, runtime_id, answer }: Shown): Promise<void> {
  const why = await refusalOf({ notice_id: id, press, answer });
  if (why === null) return;
  const data: Shown = { id, runtime_id, answer: null };
  const title = `Not done: ${press}`;
  await self.registration.showNotification(title, { ...pictures, body: why, tag: id, data });
}

/** Null when it was done. */
async function refusalOf(body: object): Promise<string | null> {
  try {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const response = await fetch('/web/push/answer', { method: 'POST', headers, body: JSON.stringify(body) });
    const { outcome, failure, error } = (await response.json()) as {
      readonly outcome?: string;
      readonly failure?: { readonly message: string } | null;
      readonly error?: { readonly message: string };
    };
    if (response.ok && outcome !== 'refused') return null;
    return error?.message ?? failure?.message ?? 'the daemon refused it';
  } catch {
    return 'the daemon does not respond; open the agent and answer there';
  }
}

async function openAgent(runtime: string | null): Promise<void> {
  const path = runtime === null ? '/' : `/agents/${encodeURIComponent(runtime)}`;
  const [open] = await self.clients.matchAll({ type: 'window' });
  if (open === undefined) await self.clients.openWindow(path);
  else {
    await open.focus();
    await open.navigate(path);
  }
}

self.addEventListener('push', (event) => {
  const document = event.data?.json() as PushDocument | undefined;
  if (document !== undefined) event.waitUntil(pushed(document));
});

self.addEventListener('notificationclick', (event) => {
  const { action, notification } = event;
  const shown = notification.data as Shown | null;
  notification.close();
  if (action === '' || shown === null || shown.answer === null)
    event.waitUntil(openAgent(shown === null ? null : shown.runtime_id));
  else event.waitUntil(answered(action, shown));
});
