// The book of notices: what agents have to be told and did not hear as an answer. Each is given once, to its owner, with
// the next result of whatever tool (SHL7). A plain value: the keeper writes it down and hands it on.

import { limits } from '../model/limits.ts';
import type { ShellNotice } from '../model/shells.ts';

interface Waiting {
  /** Of the owner. */
  readonly key: string;
  readonly notices: readonly ShellNotice[];
  /** Older ones that gave way. */
  readonly dropped: number;
}

/** Who was told of something last stands last. */
export interface ShellNotices {
  readonly owners: readonly Waiting[];
}

export interface NoticeBounds {
  readonly notices: number;
  readonly owners: number;
}

const usual: NoticeBounds = { notices: limits.shellNoticesMax, owners: limits.shellNoticeOwnersMax };

export const emptyShellNotices: ShellNotices = { owners: [] };

const isSame = (one: ShellNotice, other: ShellNotice): boolean =>
  one.shell_id === other.shell_id &&
  one.attempt === other.attempt &&
  one.kind === other.kind &&
  one.by === other.by &&
  one.at === other.at;

const waitingFor = (book: ShellNotices, key: string): Waiting =>
  book.owners.find((one) => one.key === key) ?? { key, notices: [], dropped: 0 };

function withOwner(book: ShellNotices, waiting: Waiting, bounds: NoticeBounds): ShellNotices {
  const over = Math.max(0, waiting.notices.length - bounds.notices);
  const kept = { ...waiting, notices: waiting.notices.slice(over), dropped: waiting.dropped + over };
  const others = book.owners.filter((one) => one.key !== waiting.key);
  return { owners: [...others, kept].slice(-bounds.owners) };
}

export function addNotices(
  book: ShellNotices,
  key: string,
  notices: readonly ShellNotice[],
  bounds: NoticeBounds = usual,
): ShellNotices {
  const waiting = waitingFor(book, key);
  const fresh = notices.filter(
    (one, place) =>
      !waiting.notices.some((known) => isSame(known, one)) &&
      notices.findIndex((other) => isSame(one, other)) === place,
  );
  return fresh.length === 0 ? book : withOwner(book, { ...waiting, notices: [...waiting.notices, ...fresh] }, bounds);
}

/** All that waits for this owner, oldest first; it does not wait any more. */
export function takeNotices(
  book: ShellNotices,
  key: string,
): { readonly book: ShellNotices; readonly notices: readonly ShellNotice[] } {
  const { notices, dropped } = waitingFor(book, key);
  if (notices.length === 0) return { book, notices };
  const told = notices.map((notice, place) =>
    place === 0 && dropped > 0
      ? {
          ...notice,
          words: `(${dropped} earlier ${dropped === 1 ? 'notice was' : 'notices were'} dropped) ${notice.words}`,
        }
      : notice,
  );
  return { book: { owners: book.owners.filter((one) => one.key !== key) }, notices: told };
}

/** The reply that carried them was not heard: they wait again, before whatever came meanwhile. */
export function giveBackNotices(
  book: ShellNotices,
  key: string,
  notices: readonly ShellNotice[],
  bounds: NoticeBounds = usual,
): ShellNotices {
  const waiting = waitingFor(book, key);
  const back = notices.filter((one) => !waiting.notices.some((known) => isSame(known, one)));
  return back.length === 0 ? book : withOwner(book, { ...waiting, notices: [...back, ...waiting.notices] }, bounds);
}
