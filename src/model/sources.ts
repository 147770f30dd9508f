// Where facts come from: one closed table with the rank of each source, how it orders its events, and whether it
// reports levels (what is true now) or edges (what just happened). ORD1, RSV2.

export type SourceOrder = 'numbered' | 'timed';
export type SourceStyle = 'level' | 'edge';

export interface SourceRule {
  /** 4 process truth, 3 the agent's own word, 2 transcript, 1 screen and title (RSV2). */
  readonly rank: 1 | 2 | 3 | 4;
  /** Declared once: an event that lacks its source's key is refused (ORD1). */
  readonly order: SourceOrder;
  readonly style: SourceStyle;
  readonly means: string;
}

export const sources = {
  process: { rank: 4, order: 'timed', style: 'level', means: 'the process table and tmux: what exists' },
  wrapper: { rank: 4, order: 'timed', style: 'edge', means: 'start and exact exit status seen by `agtmux wrap`' },
  native: { rank: 3, order: 'timed', style: 'level', means: "the agent's own live state: registry file, OSC 7501" },
  stream: { rank: 3, order: 'numbered', style: 'edge', means: "the agent's own event stream or control socket" },
  driver: { rank: 3, order: 'numbered', style: 'level', means: 'a managed session, over its protocol' },
  hook: { rank: 3, order: 'timed', style: 'edge', means: 'hook calls of the agent, through the spool' },
  notify: { rank: 3, order: 'timed', style: 'edge', means: 'notify programs called by the agent' },
  reconciler: {
    rank: 3,
    order: 'timed',
    style: 'level',
    means: 'a contradiction confirmed by a second observation (RSV2, RSV3)',
  },
  transcript: { rank: 2, order: 'timed', style: 'level', means: "the agent's transcript file" },
  screen: { rank: 1, order: 'timed', style: 'level', means: "the agent's live interface on the visible screen" },
  title: { rank: 1, order: 'timed', style: 'level', means: 'the title the program set' },
  operator: { rank: 4, order: 'timed', style: 'edge', means: 'what a person chose in agtmux: activate, seen, name' },
  retention: { rank: 4, order: 'timed', style: 'edge', means: 'the join of pruned events, written by the store' },
} as const satisfies Record<string, SourceRule>;

export type SourceName = keyof typeof sources;
export const sourceNames = Object.keys(sources) as readonly SourceName[];

export function isSourceName(text: string): text is SourceName {
  return Object.hasOwn(sources, text);
}

export function rankOf(source: SourceName): SourceRule['rank'] {
  return sources[source].rank;
}
