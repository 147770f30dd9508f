// What the browser gives: time, timers, requests, what is kept between visits. The one file of these pages that touches
// them; everything else is told, so that it can be tested without a browser.

import type { followFeed } from '../api/client-feed.ts';

type Clock = Parameters<typeof followFeed>[0]['clock'];
export type Cancel = () => void;

const after = (delayMs: number, callback: () => void): Cancel => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};

export const clock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after,
};

/** Of the clock that a person in front of this browser reads, east of Greenwich. */
export const offsetMinutes = (): number => -new Date().getTimezoneOffset();

export function every(periodMs: number, callback: () => void): Cancel {
  const timer = setInterval(callback, periodMs);
  return () => clearInterval(timer);
}

/** What is kept in this browser. A browser that refuses to keep anything works too, for this visit. */
const fallback = new Map<string, string>();

export function keep(name: string, value: string | null): void {
  if (value === null) fallback.delete(name);
  else fallback.set(name, value);
  try {
    if (value === null) localStorage.removeItem(`agtmux.${name}`);
    else localStorage.setItem(`agtmux.${name}`, value);
  } catch {
    // Private windows may forbid it.
  }
}

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(`agtmux.${name}`) ?? fallback.get(name) ?? null;
  } catch {
    return fallback.get(name) ?? null;
  }
}

/** Another tab kept something. */
export function onKept(heard: (name: string) => void): Cancel {
  const listen = ({ key }: StorageEvent): void => heard((key ?? '').replace(/^agtmux[.]/, ''));
  window.addEventListener('storage', listen);
  return () => window.removeEventListener('storage', listen);
}

export function socketUrl(path: string): string {
  return `${location.origin.replace(/^http/, 'ws')}${path}`;
}

/** A keyboard on glass: its Enter is the only way to a new line, and it has no Ctrl, Esc, Tab or arrows. */
export const hasTouchKeyboard = (): boolean => window.matchMedia('(hover: none) and (pointer: coarse)').matches;

/** How much of the page's foot a keyboard on glass lies over, told now and at each change. A page that is zoomed hides nothing. */
export function onCovered(heard: (px: number) => void): Cancel {
  const seen = window.visualViewport;
  if (seen === null) return () => undefined;
  const tell = (): void =>
    heard(seen.scale > 1 ? 0 : Math.max(0, Math.round(window.innerHeight - seen.height - seen.offsetTop)));
  tell();
  seen.addEventListener('resize', tell);
  seen.addEventListener('scroll', tell);
  return () => {
    seen.removeEventListener('resize', tell);
    seen.removeEventListener('scroll', tell);
  };
}

/** Too narrow for two columns of text. */
export const isNarrow = (): boolean => window.matchMedia('(max-width: 900px)').matches;

/** False: the browser did not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
