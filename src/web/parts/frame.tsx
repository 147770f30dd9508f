// What stands around every page: the rail with the pages, how the daemon is, the keys, and what the browser shows of it all
// in its title and on the app's badge.

import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type AgentItem, countsOf, needsYouCount } from '../../view/board.ts';
import { notKeptNotice } from '../../view/pane-words.ts';
import { ageLabel, wordsOf } from '../../view/words.ts';
import { agentsOf } from '../state/agents.ts';
import { isOutdated, useEntrance, whyIdle } from '../state/entrance.ts';
import { useModel, useNow, usePlace } from '../state/hooks.ts';
import type { Model } from '../state/model.ts';
import { type PageName, pageNames, pathOf } from '../state/route.ts';
import { ConfirmAnswer } from './ask.tsx';
import { Link } from './basics.tsx';
import { Help } from './help.tsx';
import { Icon } from './icons.tsx';
import { type Intent, useKeys } from './keys.ts';

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
