// Small parts that every page uses: links, dialogs, tabs, empty states, outcomes, and the note of how old something is.

import { type MouseEvent, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { ageLabel } from '../../view/words.ts';
import { copyText } from '../port.ts';
import { go, type Reading, useNow } from '../state/hooks.ts';
import { refusalText, setOutcome, useOutcome } from '../state/outcomes.ts';
import { current } from '../state/store.ts';

interface LinkProps {
  readonly to: string;
  readonly className?: string;
  readonly label?: string;
  readonly isCurrent?: boolean;
  readonly children: ReactNode;
}

/** A link of ours: followed without loading the page again, and an ordinary link for everything else. */
export function Link({ to, className, label, isCurrent, children }: LinkProps): ReactNode {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={to}
      className={className}
      aria-label={label}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}

export function PageHead({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactNode {
  return (
    <header className="page-head">
      <h1>{title}</h1>
      <div className="page-tools">{children}</div>
    </header>
  );
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    // The first button would cancel; what is meant to be pressed or filled in says so.
    box.current?.querySelector<HTMLElement>('[data-first]')?.focus();
    // Back to where the person was: the next key is meant for the same row.
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={box} className="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly tabs: readonly (readonly [Name, string])[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

export function Tabs<Name extends string>({ label, tabs, chosen, onChoose }: TabsProps<Name>): ReactNode {
  const step = (by: number): void => {
    const place = tabs.findIndex(([name]) => name === chosen);
    const next = tabs[(place + by + tabs.length) % tabs.length];
    if (next !== undefined) onChoose(next[0]);
  };
  const box = useRef<HTMLDivElement>(null);
  // Where not all of them fit, the chosen one is to be seen. Only the row is moved: the page stays where it is.
  useEffect(() => {
    const row = box.current;
    const tab = chosen === '' ? null : row?.querySelector('[aria-selected="true"]');
    if (row == null || tab == null) return;
    const [outer, inner] = [row.getBoundingClientRect(), tab.getBoundingClientRect()];
    row.scrollLeft += Math.max(0, inner.right - outer.right) - Math.max(0, outer.left - inner.left);
  }, [chosen]);
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={box}>
      {tabs.map(([name, words]) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => onChoose(name)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowRight') step(1);
            if (event.key === 'ArrowLeft') step(-1);
          }}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

/** What to do so that something appears here. */
interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** Nothing else stands on the page: it is its heading. */
  readonly isPage?: boolean;
}

export function Empty({ title, children, isPage = false }: EmptyProps): ReactNode {
  const Title = isPage ? 'h1' : 'p';
  return (
    <div className="empty">
      <Title className="empty-title">{title}</Title>
      {children}
    </div>
  );
}

export function Command({ children }: { readonly children: string }): ReactNode {
  const id = `copy:${children}`;
  const outcome = useOutcome(id);
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(children);
    setOutcome(id, { tone: 'good', words: isCopied ? 'Copied' : 'Select it and copy' });
  };
  return (
    <span className="command">
      <code>{children}</code>
      <button type="button" className="quiet" aria-label={`Copy ${children}`} onClick={() => void copy()}>
        {outcome?.words ?? 'Copy'}
      </button>
    </span>
  );
}

/** What became of the last deed here. Read aloud when it changes. */
export function OutcomeLine({ id }: { readonly id: string }): ReactNode {
  const outcome = useOutcome(id);
  return (
    <p className={`outcome t-${outcome?.tone ?? 'none'}`} role="status">
      {outcome === null ? null : (
        <>
          {outcome.tone === 'busy' ? <span className="spinner" aria-hidden="true" /> : null}
          {outcome.words}
        </>
      )}
    </p>
  );
}

/** Waits, fails, or shows how old it is; never pretends. */
export function ReadingNote({ reading }: { readonly reading: Reading<unknown> }): ReactNode {
  const now = useNow() - current().aheadMs;
  if (reading.value === null && reading.isReading)
    return (
      <p className="waiting" role="status">
        <span className="spinner" aria-hidden="true" /> Loading…
      </p>
    );
  if (reading.failure === null) return null;
  const age = reading.at === null ? '' : ` What is shown is ${ageLabel(now - reading.at)} old.`;
  return (
    <p className="trouble" role="alert">
      {refusalText(reading.failure)}
      {age}{' '}
      <button type="button" className="quiet" onClick={reading.again}>
        Try again
      </button>
    </p>
  );
}

interface ScrollProps {
  readonly label: string;
  readonly className?: string;
  readonly ref?: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}

/** Larger than its place: scrolled by itself, and therefore reached by keys. */
export function Scroll({ label, className = 'scroll', ref, children }: ScrollProps): ReactNode {
  return (
    <section className={className} aria-label={label} tabIndex={0} ref={ref}>
      {children}
    </section>
  );
}
