// Addresses of the pages, read and written in one place. Pure.

export const pageNames = [
  'overview',
  'agents',
  'sessions',
  'shells',
  'timeline',
  'audit',
  'targets',
  'settings',
] as const;
export type PageName = (typeof pageNames)[number];

export interface Place {
  readonly page: PageName | 'nowhere';
  /** An agent, a session or a shell; null for the page of all of them. */
  readonly id: string | null;
  /** The tab of that page, as its address says. */
  readonly tab: string | null;
}

const isPage = (text: string): text is PageName => (pageNames as readonly string[]).includes(text);

const nowhere: Place = { page: 'nowhere', id: null, tab: null };

export function placeAt(path: string): Place {
  const parts = path.split('/').filter((part) => part !== '');
  const [page = 'overview', id, tab] = parts;
  if (!isPage(page) || parts.length > 3) return nowhere;
  try {
    return { page, id: id === undefined ? null : decodeURIComponent(id), tab: tab ?? null };
  } catch {
    return nowhere;
  }
}

export function pathOf(page: PageName, id: string | null = null, tab: string | null = null): string {
  if (page === 'overview') return '/';
  return ['', page, ...(id === null ? [] : [encodeURIComponent(id)]), ...(tab === null ? [] : [tab])].join('/');
}
