// The icons of the rail, drawn by hand on a grid of 20. Decoration only: a word always stands beside them.

import type { ReactNode } from 'react';
import type { PageName } from '../state/route.ts';

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

export function Icon({ page }: { readonly page: PageName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={shapes[page]} />
    </svg>
  );
}
