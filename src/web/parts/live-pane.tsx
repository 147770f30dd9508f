// The live terminal of an agent: read-only until typing is switched on, and honest about a lost connection.

import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { get } from '../../api/requests.ts';
import type { Failure } from '../../model/errors.ts';
import type { PasteDoubt } from '../../model/web.ts';
import { hasTouchKeyboard, keep, kept } from '../port.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useReading } from '../state/hooks.ts';
import { refusalText } from '../state/outcomes.ts';
import type { Screen, TextSize } from '../terminal/screen.ts';
import { openWire, type Wire, type WireEvent } from '../terminal/wire.ts';
import { Dialog, ReadingNote, Scroll } from './basics.tsx';
import { KeyBar, withCtrl } from './key-bar.tsx';
import { block } from './text.tsx';

interface Live {
  readonly status: 'loading' | 'live' | 'ended';
  readonly isTyping: boolean;
  readonly failure: Failure | null;
  /** A paste that waits for a person's word. */
  readonly asked: Asked | null;
}

type Asked = Omit<Extract<WireEvent, { type: 'doubt' }>, 'type'>;

const loading: Live = { status: 'loading', isTyping: false, failure: null, asked: null };

interface Shown {
  readonly live: Live;
  readonly wire: RefObject<Wire | null>;
  readonly screen: RefObject<Screen | null>;
  readonly dropAsked: () => void;
}

/** Screen and socket, for as long as this agent is looked at. `keysOf`: what is sent for what was pressed. */
function useLive(ref: string, host: RefObject<HTMLDivElement | null>, keysOf: (data: string) => string): Shown {
  const [live, setLive] = useState<Live>(loading);
  const wire = useRef<Wire | null>(null);
  const shown = useRef<Screen | null>(null);
  const pressed = useRef(keysOf);
  pressed.current = keysOf;
  useEffect(() => {
    let screen: Screen | null = null;
    let isOver = false;
    let isLive = false;
    const fit = (): void => screen?.fit();
    const heard = (event: WireEvent): void => {
      if (event.type === 'screen') {
        screen?.show(event.frame, event.shown);
        // Once, not with every picture: what is set without a change is kept until something is drawn anew, picture and all.
        if (!isLive) setLive((now) => ({ ...now, status: 'live', failure: null }));
        isLive = true;
      }
      if (event.type === 'typing') {
        screen?.setTyping(event.on);
        setLive((now) => ({ ...now, isTyping: event.on, failure: event.failure, asked: event.on ? now.asked : null }));
      }
      if (event.type === 'doubt') setLive((now) => ({ ...now, asked: event }));
      if (event.type === 'tooLarge') setLive((now) => ({ ...now, failure: event.failure }));
      if (event.type === 'ended') {
        screen?.setTyping(false);
        isLive = false;
        setLive({ status: 'ended', isTyping: false, failure: event.failure, asked: null });
      }
    };
    setLive(loading);
    void import('../terminal/screen.ts').then(({ createScreen }) => {
      if (isOver || host.current === null) return;
      const opened = openWire(ref, heard);
      wire.current = opened;
      screen = createScreen({
        host: host.current,
        onKeys: (data) => opened.keys(pressed.current(data)),
        onPaste: (text) => opened.paste(text, false),
        onLeave: () => opened.typing(false),
      });
      shown.current = screen;
      screen.setSize(keptSize());
    });
    window.addEventListener('resize', fit);
    return () => {
      isOver = true;
      window.removeEventListener('resize', fit);
      wire.current?.end();
      wire.current = null;
      screen?.end();
      shown.current = null;
    };
  }, [ref, host]);
  return { live, wire, screen: shown, dropAsked: () => setLive((now) => ({ ...now, asked: null })) };
}

// How large its characters are, kept in this browser. On a phone they can be read, and the place scrolls.

const sizes = { touch: 12, least: 8, most: 22, step: 2 } as const;

function keptSize(): TextSize {
  const text = kept('terminal-size');
  if (text === 'fit') return 'fit';
  const size = Number(text ?? Number.NaN);
  if (size >= sizes.least && size <= sizes.most) return size;
  return hasTouchKeyboard() ? sizes.touch : 'auto';
}

function SizeButtons({ screen }: Pick<Shown, 'screen'>): ReactNode {
  const [size, setSize] = useState(keptSize);
  const choose = (next: TextSize): void => {
    keep('terminal-size', next === 'auto' ? null : String(next));
    screen.current?.setSize(next);
    setSize(next);
  };
  const now = typeof size === 'number' ? size : sizes.touch;
  const isFitting = size === 'fit';
  return (
    <>
      <button
        type="button"
        className="quiet"
        aria-pressed={isFitting}
        onClick={() => choose(isFitting ? (hasTouchKeyboard() ? sizes.touch : 'auto') : 'fit')}
      >
        Fit width
      </button>
      <button
        type="button"
        className="quiet"
        aria-label="A− Smaller text"
        disabled={now <= sizes.least}
        onClick={() => choose(now - sizes.step)}
      >
        A−
      </button>
      <button
        type="button"
        className="quiet"
        aria-label="A+ Larger text"
        disabled={now >= sizes.most}
        onClick={() => choose(now + sizes.step)}
      >
        A+
      </button>
    </>
  );
}

/** Ctrl of the bar, which holds for the next key. */
function useCtrl() {
  const [isCtrl, show] = useState(false);
  // Two keys may come before the page is drawn again.
  const held = useRef(false);
  const setCtrl = (isHeld: boolean): void => {
    held.current = isHeld;
    show(isHeld);
  };
  const keysOf = (data: string): string => {
    const isHeld = held.current;
    if (isHeld) setCtrl(false);
    return isHeld ? withCtrl(data) : data;
  };
  return { isCtrl, setCtrl, keysOf };
}

export function LivePane({ refText }: { readonly refText: string }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const { isCtrl, setCtrl, keysOf } = useCtrl();
  const { live, wire, screen, dropAsked } = useLive(refText, host, keysOf);
  const [isHistory, setHistory] = useState(false);
  const [isTouch] = useState(hasTouchKeyboard);
  const entrance = useEntrance();
  const why = entrance.role === 'operator' ? 'Only a person may type into a pane.' : whyIdle(entrance);
  return (
    <section className="live" aria-label="Live terminal">
      <div className="live-head">
        <span className={`link l-${live.status === 'live' ? 'live' : live.status === 'ended' ? 'lost' : 'connecting'}`}>
          <span className="dot" aria-hidden="true" />{' '}
          {live.status === 'live' ? 'live' : live.status === 'ended' ? 'not connected' : 'loading'}
        </span>
        <span className="dim small hide-narrow">
          {live.isTyping ? 'Your keys go to the pane. Ctrl+] ends it.' : 'Read-only.'}
        </span>
        <span className="spring" />
        <SizeButtons screen={screen} />
        <button type="button" className="quiet" onClick={() => setHistory(true)}>
          History
        </button>
        <button
          type="button"
          role="switch"
          aria-checked={live.isTyping}
          className={live.isTyping ? 'switch is-on' : 'switch'}
          disabled={why !== null || live.status !== 'live'}
          title={why ?? undefined}
          onClick={() => wire.current?.typing(!live.isTyping)}
        >
          Typing
        </button>
      </div>
      <div className="live-screen" ref={host} />
      {isTouch && live.isTyping ? (
        <KeyBar
          isCtrl={isCtrl}
          onCtrl={() => {
            setCtrl(!isCtrl);
            screen.current?.focus();
          }}
          onKeys={(data) => wire.current?.keys(keysOf(data))}
        />
      ) : null}
      {live.failure === null ? null : (
        <p className="trouble" role="alert">
          {refusalText(live.failure)}{' '}
          <button type="button" className="quiet" onClick={() => wire.current?.again()}>
            Try again
          </button>
        </p>
      )}
      {live.asked === null ? null : (
        <PasteDialog
          asked={live.asked}
          onClose={dropAsked}
          onPaste={(text) => {
            dropAsked();
            wire.current?.paste(text, true);
          }}
        />
      )}
      {isHistory ? <History refText={refText} onClose={() => setHistory(false)} /> : null}
    </section>
  );
}

const doubtWords: Readonly<Record<PasteDoubt, string>> = {
  off: 'The program in this pane did not enable bracketed paste. It may treat each line as typed and submit it separately.',
  unknown:
    'agtmux cannot tell whether the program in this pane accepts a paste as one text: tmux reports it from version 3.7 on. If it does not, each line is submitted separately.',
};

interface PasteDialogProps {
  readonly asked: Asked;
  readonly onClose: () => void;
  readonly onPaste: (text: string) => void;
}

/** Lines that might be submitted one by one are shown before they go out. */
function PasteDialog({ asked: { text, doubt }, onClose, onPaste }: PasteDialogProps): ReactNode {
  const lines = text.replace(/\r?\n$/, '').split(/\r\n|\r|\n/);
  return (
    <Dialog
      title={lines.length === 1 ? 'Paste a line with its line break?' : `Paste ${lines.length} lines?`}
      onClose={onClose}
    >
      <p>{doubtWords[doubt]}</p>
      <Scroll className="log" label="Text to paste">
        <pre>{block(lines.join('\n'))}</pre>
      </Scroll>
      <div className="dialog-buttons">
        <button type="button" data-first onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="primary" onClick={() => onPaste(text)}>
          Paste
        </button>
      </div>
    </Dialog>
  );
}

const historyLines = 2_000;

/** What it printed so far, as text. */
function History({ refText, onClose }: { readonly refText: string; readonly onClose: () => void }): ReactNode {
  const reading = useReading(get('/v1/output', { ref: refText, lines: historyLines }));
  const end = useRef<HTMLElement>(null);
  const { value } = reading;
  useEffect(() => {
    if (value !== null) end.current?.scrollTo(0, end.current.scrollHeight);
  }, [value]);
  return (
    <Dialog title="What it printed" onClose={onClose}>
      <ReadingNote reading={reading} />
      {value === null ? null : (
        <>
          {value.words === undefined ? null : <p className="dim">{value.words}</p>}
          <Scroll className="log" label="Output" ref={end}>
            <pre>{block(value.lines.join('\n'))}</pre>
          </Scroll>
        </>
      )}
      <div className="dialog-buttons">
        <button type="button" className="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
