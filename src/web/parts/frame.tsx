// What stands around every page: the rail with the pages, how the daemon is, the keys, and what the browser shows of it all
// in its title and on the app's badge.

import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type AgentItem, countsOf, needsYouCount } from '../../view/board.ts';
import { notKeptNotice } from '../../view/pane-words.ts';
import { ageLabel, statesInOrder, wordsOf } from '../../view/words.ts';
import { agentsOf } from '../state/agents.ts';
import { isOutdated, useEntrance, whyIdle } from '../state/entrance.ts';
import { go, useModel, useNow, usePlace } from '../state/hooks.ts';
import type { Model } from '../state/model.ts';
import { type PageName, pageNames, pathOf } from '../state/route.ts';
import { ConfirmAnswer } from './ask.tsx';
import { Dialog, Link } from './basics.tsx';
import { StateText } from './text.tsx';

// The icons of the rail, drawn by hand on a grid of 20. Decoration only: a word always stands beside them.

const shapes: Readonly<Record<PageName, string>> = {
  overview: 'M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z',
  agents: 'M5 7h10v9H5zM10 7V3M8 11v1M12 11v1M2.5 10v3M17.5 10v3',
  sessions: 'M3 4h14v10H8l-4 3v-3H3z',
  shells: 'M2.5 4h15v12h-15zM5.5 8l2.5 2-2.5 2M10 12.5h4',
  timeline: 'M3 5h7M6 10h8M9 15h8M3 2.5v15',
  audit: 'M5 2.5h10v15H5zM8 7h4M8 10h4M8 13h4',
  targets: 'M3 4h14v4H3zM3 12h14v4H3zM6 6h.01M6 14h.01',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
};

function Icon({ page }: { readonly page: PageName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={shapes[page]} />
    </svg>
  );
}

// The keys, in a dialog, and how to read the marks.

const keys: readonly (readonly [string, string])[] = [
  ['j  k', 'next and previous row'],
  ['Enter', 'open it'],
  ['a  r', 'approve or reject the request, which is shown first'],
  ['s', 'send a message to the agent of this page'],
  ['/', 'filter'],
  ['n', 'a new session'],
  ['1 … 8', 'the pages, from Overview to Settings'],
  ['?', 'this help'],
];

function Help({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keys and marks" onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd className="key">{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p className="marks">
        {statesInOrder.map((state) => (
          <StateText key={state} state={state} />
        ))}
      </p>
      <p className="dim small">A ~ before the word means: not certain. A dot after “done” means: not seen yet.</p>
      <div className="dialog-buttons">
        <button type="button" className="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

// The keys that work on every page: rows are walked by focus, so that what is selected is what a screen reader reads and
// what Enter opens.

interface Intent {
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

function useKeys(deeds: KeyDeeds): void {
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

export const pageTitles: Readonly<Record<PageName, string>> = {
  overview: 'Overview',
  agents: 'Agents',
  sessions: 'Sessions',
  shells: 'Shells',
  timeline: 'Timeline',
  audit: 'Audit',
  targets: 'Targets',
  settings: 'Settings',
};

function badgeOf(page: PageName, model: Model, items: readonly AgentItem[]): number {
  if (page === 'overview') return needsYouCount(items);
  if (page === 'shells') return model.shells.filter(({ status }) => status === 'running').length;
  if (page === 'targets') return model.targets.filter(({ health }) => health !== 'ok').length;
  return 0;
}

const badgeWords: Partial<Record<PageName, string>> = {
  overview: 'need you',
  shells: 'running',
  targets: 'problems',
};

function Rail({ model, items }: { readonly model: Model; readonly items: readonly AgentItem[] }): ReactNode {
  const place = usePlace();
  return (
    <nav className="rail" aria-label="Pages">
      <p className="brand" aria-hidden="true">
        agtmux
      </p>
      <ul>
        {pageNames.map((page) => {
          const count = badgeOf(page, model, items);
          return (
            <li key={page}>
              <Link to={pathOf(page)} isCurrent={place.page === page}>
                <Icon page={page} />
                <span className="rail-word">{pageTitles[page]}</span>
                {count === 0 ? null : (
                  <span className={`badge ${page === 'shells' ? 'calm' : ''}`}>
                    {count}
                    <span className="unseen"> {badgeWords[page]}</span>
                  </span>
                )}
              </Link>
            </li>
          );
        })}
      </ul>
      <RailFoot model={model} items={items} />
    </nav>
  );
}

function RailFoot({ model, items }: { readonly model: Model; readonly items: readonly AgentItem[] }): ReactNode {
  const counts = countsOf(items);
  const words = { connecting: 'connecting', live: 'live', lost: 'not connected', shut: 'signed out' } as const;
  return (
    <div className="rail-foot">
      <p className="small dim">
        {counts.running} {wordsOf('running').word} · {counts.idle} {wordsOf('idle').word}
      </p>
      <p className={`link l-${model.link}`}>
        <span className="dot" aria-hidden="true" /> {words[model.link]}
      </p>
    </div>
  );
}

/** Says that what is shown is old, and how old, while the daemon does not answer. */
function LostNote({ model }: { readonly model: Model }): ReactNode {
  const now = useNow() - model.aheadMs;
  if (model.link !== 'lost' || model.heardAt === null) return null;
  return (
    <p className="banner" role="alert">
      The daemon does not respond. The data shown is {ageLabel(now - model.heardAt)} old. Any agtmux command starts it;
      this page then continues.
    </p>
  );
}

/** Says on every page that a restart would forget what is shown. */
function NotKeptNote({ model }: { readonly model: Model }): ReactNode {
  const words = notKeptNotice(model.targets.values());
  return words === null ? null : (
    <p className="banner" role="alert">
      {words}
    </p>
  );
}

function UpgradeNote(): ReactNode {
  if (!isOutdated(useEntrance())) return null;
  return (
    <p className="banner is-calm" role="status">
      agtmux was replaced by another version.{' '}
      <button type="button" onClick={() => location.reload()}>
        Load its pages
      </button>
    </p>
  );
}

/** Whoever follows a link reads on at the top of the page it leads to. */
function useFocusOnPage(place: string): void {
  const last = useRef(place);
  useEffect(() => {
    if (last.current === place) return;
    last.current = place;
    const isNowhere = document.activeElement === null || document.activeElement === document.body;
    if (isNowhere) document.getElementById('main')?.focus();
    window.scrollTo(0, 0);
  }, [place]);
}

/** In the title, and on the icon of the installed app. */
function useBadge(items: readonly AgentItem[], title: string): void {
  const count = needsYouCount(items);
  useEffect(() => {
    document.title = `${count === 0 ? '' : `(${count}) `}${title} · agtmux`;
    if (!('setAppBadge' in navigator)) return;
    void (count === 0 ? navigator.clearAppBadge() : navigator.setAppBadge(count)).catch(() => undefined);
  }, [count, title]);
}

export function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  const model = useModel();
  const { page, id } = usePlace();
  const items = agentsOf(model, useNow());
  const [wish, setWish] = useState<Intent | null>(null);
  const [isHelp, setHelp] = useState(false);
  const isIdle = whyIdle(useEntrance()) !== null;
  // Nothing is offered that would be refused.
  useKeys({ wish: (wished) => setWish(isIdle ? null : wished), help: () => setHelp(true) });
  useFocusOnPage(`${page} ${id}`);
  useBadge(items, page === 'nowhere' ? 'Not found' : pageTitles[page]);
  const meant = wish === null ? undefined : items.find(({ runtime_id }) => runtime_id === wish.runtime);
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <Rail model={model} items={items} />
      <main id="main" tabIndex={-1} className={model.link === 'lost' ? 'is-old' : undefined}>
        <LostNote model={model} />
        <NotKeptNote model={model} />
        <UpgradeNote />
        {children}
      </main>
      {wish !== null && meant !== undefined && meant.ask !== null ? (
        <ConfirmAnswer item={meant} wish={wish.wish} onClose={() => setWish(null)} />
      ) : null}
      {isHelp ? <Help onClose={() => setHelp(false)} /> : null}
    </div>
  );
}
