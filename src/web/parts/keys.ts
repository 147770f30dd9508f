// The keys that work on every page: rows are walked by focus, so that what is selected is what a screen reader reads and
// what Enter opens.

import { useEffect, useRef } from 'react';
import { go } from '../state/hooks.ts';
import { pageNames, pathOf } from '../state/route.ts';

export interface Intent {
  readonly wish: 'approve' | 'reject';
  readonly runtime: string;
}

interface KeyDeeds {
  readonly wish: (wish: Intent) => void;
  readonly help: () => void;
}

/** Somebody is writing, or a dialog is open: letters are letters. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  const target = event.target instanceof Element ? event.target : null;
  // A browser leaves the focus in a dialog that was just closed until it paints again.
  if (target?.closest('dialog:not([open])') != null) return false;
  return target?.closest('input, textarea, select, [contenteditable], dialog, .xterm') != null;
}

const rows = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>('main [data-row]')];

/** A row is focused itself, or by its link. */
const focusable = (row: HTMLElement): HTMLElement =>
  row.tabIndex >= 0 ? row : (row.querySelector<HTMLElement>('a, button') ?? row);

const rowInFocus = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>('[data-row]') ?? null;

function step(by: 1 | -1): void {
  const all = rows();
  const now = rowInFocus();
  const place = now === null ? -1 : all.indexOf(now);
  const next = place < 0 ? all[0] : all[Math.min(all.length - 1, Math.max(0, place + by))];
  if (next === undefined) return;
  focusable(next).focus();
  next.scrollIntoView({ block: 'nearest' });
}

/** The row in focus, else the only agent of this page, else the first. */
const meantRuntime = (): string | null => {
  const row = rowInFocus() ?? document.querySelector<HTMLElement>('main [data-agent]') ?? rows()[0];
  return row?.dataset.row ?? row?.dataset.agent ?? null;
};

function wishOf(wish: Intent['wish'], deeds: KeyDeeds): void {
  const runtime = meantRuntime();
  if (runtime !== null) deeds.wish({ wish, runtime });
}

function openRow(event: KeyboardEvent): void {
  const row = rowInFocus();
  if (row === null || event.target !== row || row.dataset.href === undefined) return;
  event.preventDefault();
  go(row.dataset.href);
}

function focusOn(event: KeyboardEvent, selector: string): void {
  const field = document.querySelector<HTMLElement>(selector);
  if (field === null) return;
  event.preventDefault();
  field.focus();
}

const deedsOfKeys: Readonly<Record<string, (event: KeyboardEvent, deeds: KeyDeeds) => void>> = {
  j: () => step(1),
  k: () => step(-1),
  Enter: (event) => openRow(event),
  a: (_event, deeds) => wishOf('approve', deeds),
  r: (_event, deeds) => wishOf('reject', deeds),
  s: (event) => focusOn(event, '[data-message]'),
  '/': (event) => focusOn(event, '[data-filter]'),
  n: () => go(pathOf('sessions', 'new')),
  '?': (_event, deeds) => deeds.help(),
};

function press(event: KeyboardEvent, deeds: KeyDeeds): void {
  const page = /^[1-8]$/.test(event.key) ? pageNames[Number(event.key) - 1] : undefined;
  if (page !== undefined) go(pathOf(page));
  deedsOfKeys[event.key]?.(event, deeds);
}

export function useKeys(deeds: KeyDeeds): void {
  const latest = useRef(deeds);
  latest.current = deeds;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
      if (!isTaken(event)) press(event, latest.current);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
}
