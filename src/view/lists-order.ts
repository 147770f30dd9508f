// The order of rows. Whatever is asked for, rows that tie stand by their place, so that a list never jumps by itself.

import type { Sort } from '../api/schemas.ts';
import type { PaneRow } from '../model/rows.ts';
import { precedenceOf } from '../model/states.ts';
import { wordsOf } from './words.ts';

type Compare = (one: PaneRow, other: PaneRow) => number;

export const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Panes without an agent have nothing to sort by and stand last. */
const last = Number.MAX_SAFE_INTEGER;

const byNeed: Compare = (one, other) => needOf(one) - needOf(other);
const byAge: Compare = (one, other) => (one.agent?.since ?? last) - (other.agent?.since ?? last);
const byState: Compare = (one, other) => rankOf(one) - rankOf(other);

const needOf = ({ agent }: PaneRow): number => (agent === null ? last : wordsOf(agent.state).order);
const rankOf = ({ agent }: PaneRow): number => (agent === null ? last : precedenceOf(agent.state));

const byAgent: Compare = (one, other) => {
  if (one.agent === null || other.agent === null) return Number(one.agent === null) - Number(other.agent === null);
  return compareText(one.agent.agent, other.agent.agent);
};

export const byName: Compare = (one, other) =>
  compareText(one.identity.session_name, other.identity.session_name) ||
  one.window_index - other.window_index ||
  one.pane_index - other.pane_index;

const byTarget: Compare = (one, other) => compareText(one.identity.target, other.identity.target);

export function compareRows(sort: Sort): Compare {
  switch (sort) {
    case 'needs':
      return (one, other) => byNeed(one, other) || byAge(one, other);
    case 'age':
      return byAge;
    case 'agent':
      return (one, other) => byAgent(one, other) || byNeed(one, other) || byAge(one, other);
    case 'target':
      return (one, other) => byTarget(one, other) || byName(one, other);
    case 'state':
      return (one, other) => byState(one, other) || byAge(one, other);
    case 'name':
      return byName;
  }
}

/** The last word between two rows that are otherwise equal. */
export const comparePlaces: Compare = (one, other) =>
  byTarget(one, other) || byName(one, other) || compareText(one.ref, other.ref);
