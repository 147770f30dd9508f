// Makes an app of the pages: starts the service worker, and knows whether the browser offers to install them.

import { useSyncExternalStore } from 'react';

/** What Chromium hands a page that may be installed; no other browser does. */
interface InstallOffer extends Event {
  prompt(): Promise<unknown>;
}

let offer: InstallOffer | null = null;
const listeners = new Set<() => void>();

function setOffer(next: InstallOffer | null): void {
  offer = next;
  for (const listener of listeners) listener();
}

/** The policy of the pages takes a script's address from this one place, and there is one. */
interface ScriptPolicy {
  createScriptURL(address: string): string;
}
interface PolicyFactory {
  createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy;
}

function workerAddress(): string {
  const { trustedTypes } = window as { readonly trustedTypes?: PolicyFactory };
  const rules: ScriptPolicy = { createScriptURL: () => '/worker.js' };
  return (trustedTypes?.createPolicy('agtmux', rules) ?? rules).createScriptURL('');
}

/** Null where the browser has none: on a plain address of the network, and in some private windows. */
async function startWorker(): Promise<ServiceWorkerRegistration | null> {
  if (!('serviceWorker' in navigator)) return null;
  return navigator.serviceWorker.register(workerAddress()).catch(() => null);
}

let worker: Promise<ServiceWorkerRegistration | null> = Promise.resolve(null);

export const installedWorker = (): Promise<ServiceWorkerRegistration | null> => worker;

export function startInstalling(): void {
  worker = startWorker();
  window.addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    setOffer(event as InstallOffer);
  });
  window.addEventListener('appinstalled', () => setOffer(null));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** How to install these pages now; null where the browser has not offered it. */
export function useInstall(): (() => void) | null {
  const offered = useSyncExternalStore(subscribe, () => offer);
  if (offered === null) return null;
  return () => {
    setOffer(null);
    void offered.prompt().catch(() => undefined);
  };
}
