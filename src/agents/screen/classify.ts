// What a screen says about the state of its agent, by rules alone (RSV10). Only what the rules prove: a screen that none
// of them fits is unknown, and two that contradict each other with the same weight prove nothing (RSV4).

import type { AskOption } from '../../model/asks.ts';
import { limits } from '../../model/limits.ts';
import type { ReasonCode } from '../../model/reasons.ts';
import { type Confidence, classOf, type StateName } from '../../model/states.ts';
import type { SeenAsk } from '../contract.ts';
import { isNeverAgent, type Sign, signOfOther } from './not-agents.ts';
import type { Pattern } from './pattern.ts';
import { indentOf, type Regions, regionsOf, type Screen, unframed } from './regions.ts';
import type { AskRule, Condition, Pick, Rule, RuleFile } from './rule-file.ts';
import { fits } from './versions.ts';
import { mustBeWhole, whyNotWhole } from './whole.ts';

export interface Reading {
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  readonly detail: string | null;
  readonly ask: SeenAsk | null;
  /** Why not all of what is asked is known to be in sight; null where it is. */
  readonly cutBecause: string | null;
  /** A free prompt without a finished answer in sight. */
  readonly unfinished: boolean;
  /** Null where the screen says nothing about work in the background. */
  readonly background: { readonly shells: number; readonly agents: number } | null;
  /** The rule that decided; null when none did. */
  readonly rule: string | null;
}

export interface Trial {
  readonly rule: string;
  readonly matched: boolean;
  /** What was missing or in the way. */
  readonly why: string | null;
}

const nothing = (reason: ReasonCode, rule: string | null, confidence: Confidence = 'low'): Reading => ({
  state: 'unknown',
  reason,
  confidence,
  detail: null,
  ask: null,
  cutBecause: null,
  unfinished: false,
  background: null,
  rule,
});

/** With `trials` every rule is tried and told about; without, reading stops at the first that decides. */
export function classify(
  file: RuleFile,
  screen: Screen,
  version: string | null,
  trials: Trial[] | null = null,
): Reading {
  const regions = regionsOf(file, screen);
  const other = otherThanAgent(screen, regions);
  if (other !== null) trials?.push({ rule: other.rule, matched: true, why: null });
  if (other !== null && trials === null) return nothing(other.reason, other.rule, 'high');
  const matched: Rule[] = [];
  for (const rule of file.rules) {
    const best = matched[0];
    if (trials === null && best !== undefined && rule.priority < best.priority) break;
    const why = fits(rule.versions, version) ? unmet(rule, regions) : 'is for other versions';
    trials?.push({ rule: rule.id, matched: why === null, why });
    if (why === null) matched.push(rule);
  }
  if (other !== null) return nothing(other.reason, other.rule, 'high');
  const decided = matched[0];
  if (decided === undefined)
    return nothing((regions.lines('screen') ?? []).length === 0 ? 'starting' : 'unsupported_signal', null);
  const rival = matched.find(
    (rule) => rule.priority === decided.priority && classOf(rule.state) !== classOf(decided.state),
  );
  if (rival !== undefined) return nothing('unsupported_signal', `${decided.id} against ${rival.id}`);
  return readingOf(decided, regions);
}

/** Whatever a dead agent left on the screen: a shell or a pager in the foreground is no agent (IDN8). */
function otherThanAgent({ command, isAlive }: Screen, regions: Regions): Sign | null {
  if (isAlive === true) return null;
  if (command === null) return signOfOther(regions.lines('screen') ?? []);
  return isNeverAgent(command) ? { rule: 'built-in.shell', reason: 'agent_not_running' } : null;
}

function readingOf(rule: Rule, regions: Regions): Reading {
  const detail = rule.detail === null ? null : pickText(rule.detail, regions);
  const count = (pick: Pick | null): number =>
    pick === null ? 0 : Number.parseInt(pickText(pick, regions) ?? '0', 10) || 0;
  const found = rule.ask === null ? null : askOf(rule.ask, regions);
  return {
    state: rule.state,
    reason: rule.reason,
    confidence: rule.confidence,
    detail: detail === null ? null : detail.slice(0, limits.detailCharsMax),
    ask: found?.ask ?? null,
    cutBecause: found?.cutBecause ?? null,
    unfinished: rule.unfinished,
    background:
      rule.shells === null && rule.agents === null ? null : { shells: count(rule.shells), agents: count(rule.agents) },
    rule: rule.id,
  };
}

/** Null when everything holds; else the first thing that does not. */
function unmet(rule: Rule, regions: Regions): string | null {
  for (const condition of rule.where) {
    const why = unmetIn(condition, regions);
    if (why !== null) return why;
  }
  return null;
}

function unmetIn(condition: Condition, regions: Regions): string | null {
  const { present, all, any, none, flow } = condition;
  const lines = regions.lines(condition.in);
  if (!present) return lines === null ? null : `${condition.in} is there`;
  if (lines === null) return `${condition.in} is not there`;
  const tested = flow ? [regions.flow(condition.in) ?? ''] : lines;
  const found = (pattern: Pattern): boolean => tested.some((line) => pattern.test(line));
  const missing = all.find((pattern) => !found(pattern));
  if (missing !== undefined) return `${condition.in} lacks ${missing.source}`;
  if (any.length > 0 && !any.some(found))
    return `${condition.in} has none of ${any.map((one) => one.source).join(' | ')}`;
  const wrong = none.find(found);
  return wrong === undefined ? null : `${condition.in} has ${wrong.source}`;
}

function pickText(pick: Pick, regions: Regions): string | null {
  const lines = regions.lines(pick.in);
  if (lines === null) return null;
  if (pick.match === null) return textOf(lines);
  for (const line of lines) {
    const found = pick.match.exec(line);
    if (found !== null) return (found[1] ?? found[0] ?? '').trim();
  }
  return null;
}

const plainBorder = /^\s*\+[-=+]{3,}\+\s*$/;

/** Nothing but parts of a frame or of a scroll bar. */
const frameOnly = /^[─━╌┄═╭╮╰╯┌┐└┘█▀▄\s]*$/u;
/** A line of another column, right of an empty one: what a sidebar says. */
const besideColumns = 60;
const isBeside = (line: string): boolean =>
  line.length > besideColumns && /^[│┃║]?$/u.test(line.slice(0, besideColumns).trim());

/** Lines without frames, blank ones at the edges left out. Bars are a frame where a border of `+---+` is in sight. */
function textOf(lines: readonly string[], isWhole = false): string | null {
  const isPlain = lines.some((line) => plainBorder.test(line));
  const text = lines
    .filter((line) => !plainBorder.test(line) && (isWhole || !isBeside(line)))
    .map((line) => unframed(isPlain ? line.replace(/^\s*\| ?|\s*\|\s*$/g, '') : line))
    .filter((line) => !frameOnly.test(line))
    .join('\n')
    .trim();
  return text === '' ? null : text;
}

function askOf(rule: AskRule, regions: Regions): { readonly ask: SeenAsk; readonly cutBecause: string | null } {
  const text = rule.text
    .map((pick) => (mustBeWhole(rule) ? wholeText(pick, regions) : pickText(pick, regions)))
    .filter((one) => one !== null)
    .join('\n');
  const isSaid = rule.cut.some((condition) => unmetIn(condition, regions) === null);
  const cutBecause = isSaid
    ? 'the dialog itself shows it'
    : text.length > limits.askCharsMax
      ? `it is longer than ${limits.askCharsMax} characters`
      : whyNotWhole(rule, regions, text);
  const ask = { kind: rule.kind, text: text.slice(0, limits.askCharsMax), options: optionsOf(rule, regions) };
  return { ask: cutBecause === null ? ask : { ...ask, cut: true }, cutBecause };
}

/** Every line that matches, not only the first: a command wraps. */
function wholeText(pick: Pick, regions: Regions): string | null {
  const lines = regions.lines(pick.in);
  if (lines === null || pick.match === null) return lines === null ? null : textOf(lines, true);
  const { match } = pick;
  const taken = lines.flatMap((line) => {
    const found = match.exec(line);
    return found === null ? [] : [(found[1] ?? found[0] ?? '').trimEnd()];
  });
  return taken.length === 0 ? null : taken.join('\n').trim();
}

function optionsOf({ options }: AskRule, regions: Regions): readonly AskOption[] {
  const lines = options === null ? null : regions.lines(options.in);
  if (options === null || lines === null) return [];
  const found: { id: string; label: string; indent: number }[] = [];
  for (const line of lines) {
    const match = options.match.exec(line);
    const last = found.at(-1);
    if (match !== null && options.split !== null) {
      const labels = options.split.split(match[1] ?? match[0] ?? '').filter((one) => one.trim() !== '');
      found.push(...labels.map((label, place) => ({ id: String(place + 1), label: label.trim(), indent: 0 })));
    } else if (match?.[1] !== undefined && match[2] !== undefined) {
      found.push({ id: match[1], label: unframed(match[2]), indent: indentOf(line) });
    } else if (last !== undefined && options.wrap !== 'none') {
      const more = indentOf(line) - last.indent;
      // What stands apart, below a blank line, is no part of the option any more.
      if (unframed(line) === '') last.indent = Number.POSITIVE_INFINITY;
      else if (more > 0 || (more === 0 && options.wrap === 'flush')) last.label = `${last.label} ${unframed(line)}`;
    }
  }
  return found.slice(0, limits.askOptionsMax).map(({ id, label }) => ({ id, label }));
}
