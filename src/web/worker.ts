// The service worker of the pages: keeps their shell, so that the installed app opens without the daemon and says since
// when. It keeps the one page and the files of its build, and never what the daemon says (SEC2d).

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
