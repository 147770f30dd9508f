// The rules for an agent's screen as they are written: data that people may read, change and add to (RSV10). Here it is
// checked, word by word, and every pattern compiled; what it says about a screen is found out in classify.

import { type AskKind, askKinds } from '../../model/asks.ts';
import { limits } from '../../model/limits.ts';
import { isReasonCode, type ReasonCode, reasonFits } from '../../model/reasons.ts';
import { type Confidence, confidences, isStateName, type StateName } from '../../model/states.ts';
import { builtInPattern, type CompilePattern, linearPattern, type Pattern } from './pattern.ts';
import { parseRange, type VersionRange } from './versions.ts';

/** A part of the screen. Ends are found first, from below: the live interface stands at the bottom. */
export interface Region {
  readonly of: string;
  /** Begins below, or at, the last line that matches. */
  readonly after: Pattern | null;
  readonly from: Pattern | null;
  /** Ends above, or at, the last line that matches. */
  readonly before: Pattern | null;
  readonly to: Pattern | null;
  /** Without its anchor the region reaches to the edge instead of not being there. */
  readonly isOpen: boolean;
  /** Only so many lines that are not blank, counted from that side. */
  readonly top: number | null;
  readonly bottom: number | null;
  /** With fewer lines than this, blank ones counted, it is not there. */
  readonly rows: number | null;
}

/** All of it has to hold. Patterns are tried on each line; with `flow` on all lines as one, for text that wraps. */
export interface Condition {
  readonly in: string;
  readonly flow: boolean;
  /** False: the region must not be there at all. */
  readonly present: boolean;
  readonly all: readonly Pattern[];
  readonly any: readonly Pattern[];
  readonly none: readonly Pattern[];
}

/** Text taken from a region: the first group of the first line that matches, or all of it. */
export interface Pick {
  readonly in: string;
  readonly match: Pattern | null;
}

export interface AskRule {
  readonly kind: AskKind;
  readonly text: readonly Pick[];
  readonly options: {
    readonly in: string;
    /** Groups: what chooses it, and its words. With `split` the first group is a line of several. */
    readonly match: Pattern;
    readonly split: Pattern | null;
    /** Which lines below an option belong to it: those indented more than it; with `flush` also those that begin with it. */
    readonly wrap: 'none' | 'indented' | 'flush';
  } | null;
  /** One of them holds: not all of what is asked is in sight. */
  readonly cut: readonly Condition[];
  /** Written by a user, and held against no recordings of ours: it has to prove that its text is whole (ASK3). */
  readonly isOwn: boolean;
}

export interface Rule {
  readonly id: string;
  /** Greater wins. Two of the same that contradict each other prove nothing. */
  readonly priority: number;
  readonly versions: VersionRange;
  readonly where: readonly Condition[];
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  /** A free prompt without a finished answer in sight: work that was seen before it may have been given up (RSV13). */
  readonly unfinished: boolean;
  readonly detail: Pick | null;
  readonly ask: AskRule | null;
  readonly shells: Pick | null;
  readonly agents: Pick | null;
}

export interface RuleFile {
  readonly agent: string;
  readonly regions: ReadonlyMap<string, Region>;
  readonly rules: readonly Rule[];
  /** Lines it prints when it ends by itself. They prove no end, only that one was in good order (RSV8, RSV12). */
  readonly goodbye: readonly Pattern[];
  /** How the first line begins while a column of its own stands left of the interface, up to the bar between them. */
  readonly aside: Pattern | null;
  /** What stands at the end of lines and is no part of them: a scroll bar. */
  readonly trim: Pattern | null;
}

/** What is wrong, and a piece of the text near which it stands. */
export class RuleProblem extends Error {
  readonly near: string;
  constructor(message: string, near: string) {
    super(message);
    this.near = near;
  }
}

/** Regions that every screen has. */
export const builtInRegions = ['screen', 'title', 'command'] as const;

type Fields = Readonly<Record<string, unknown>>;

interface RuleContext {
  readonly regions: ReadonlyMap<string, Region>;
  readonly compile: CompilePattern;
}

/** What the parts of one rule are read with: names of regions are checked, patterns made. */
interface InRule {
  readonly id: string;
  readonly region: (name: string) => string;
  readonly pattern: (value: unknown) => Pattern | null;
  readonly isOwn: boolean;
}

/** The file as data, already parsed from JSON or TOML. Throws RuleProblem. `base` lends its regions to a user's file. */
export function readRuleFile(
  data: unknown,
  base: RuleFile | null = null,
  compile: CompilePattern = base === null ? builtInPattern : linearPattern,
): RuleFile {
  const file = fieldsOf(data, 'the file', '');
  known(
    file,
    ['schema', 'agent', 'title', 'note', 'regions', 'rules', 'goodbye', 'aside', 'trim', 'disable', 'replace'],
    '',
  );
  if (file.schema !== 1) throw new RuleProblem('schema must be 1', 'schema');
  const agent = textOf(file, 'agent', 'agent');
  if (base !== null && base.agent !== agent) throw new RuleProblem(`this file is for ${base.agent}`, agent);
  const regions = new Map(file.replace === true ? [] : (base?.regions ?? []));
  for (const [name, spec] of Object.entries(optionalFields(file, 'regions')))
    regions.set(name, readRegion(name, spec, compile));
  checkRegions(regions);
  const list = file.rules ?? [];
  if (!Array.isArray(list) || list.length > limits.screenRulesMax)
    throw new RuleProblem('rules must be a list', 'rules');
  const own = list.map((spec: unknown, place) => readRule(spec, place, { regions, compile }));
  const ids = own.map((rule) => rule.id);
  const twice = ids.find((id, place) => ids.indexOf(id) !== place);
  if (twice !== undefined) throw new RuleProblem(`two rules are called ${twice}`, twice);
  const disabled = textsOf(file, 'disable');
  const unknown = disabled.find((id) => base?.rules.every((rule) => rule.id !== id) ?? true);
  if (unknown !== undefined) throw new RuleProblem(`disable names no built-in rule: ${unknown}`, unknown);
  const kept =
    file.replace === true ? [] : (base?.rules ?? []).filter(({ id }) => !ids.includes(id) && !disabled.includes(id));
  const rules = [...own, ...kept].sort((one, other) => other.priority - one.priority);
  const goodbye = textsOf(file, 'goodbye').flatMap((text) => patternOf(text, 'goodbye', compile) ?? []);
  return {
    agent,
    regions,
    rules,
    goodbye: goodbye.length > 0 ? goodbye : (base?.goodbye ?? []),
    aside: patternOf(file.aside, 'aside', compile) ?? base?.aside ?? null,
    trim: patternOf(file.trim, 'trim', compile) ?? base?.trim ?? null,
  };
}

function readRegion(name: string, spec: unknown, compile: CompilePattern): Region {
  const near = `"${name}"`;
  if ((builtInRegions as readonly string[]).includes(name)) throw new RuleProblem(`region ${name} is built in`, near);
  const fields = fieldsOf(spec, `region ${name}`, near);
  known(fields, ['of', 'after', 'from', 'before', 'to', 'open', 'top', 'bottom', 'rows', 'note'], name);
  if (fields.after !== undefined && fields.from !== undefined)
    throw new RuleProblem(`region ${name}: after or from, not both`, near);
  if (fields.before !== undefined && fields.to !== undefined)
    throw new RuleProblem(`region ${name}: before or to, not both`, near);
  return {
    of: fields.of === undefined ? 'screen' : textOf(fields, 'of', name),
    after: patternOf(fields.after, name, compile),
    from: patternOf(fields.from, name, compile),
    before: patternOf(fields.before, name, compile),
    to: patternOf(fields.to, name, compile),
    isOpen: fields.open === true,
    top: countOf(fields, 'top', name),
    bottom: countOf(fields, 'bottom', name),
    rows: countOf(fields, 'rows', name),
  };
}

/** Every region rests on the screen, through however many others, and never on itself. */
function checkRegions(regions: ReadonlyMap<string, Region>): void {
  for (const [name, region] of regions) {
    let at: string = region.of;
    for (let steps = 0; at !== 'screen' && at !== 'title'; steps += 1) {
      const next = regions.get(at);
      if (next === undefined) throw new RuleProblem(`region ${name} is part of ${at}, which does not exist`, at);
      if (steps > regions.size) throw new RuleProblem(`region ${name} is part of itself`, name);
      at = next.of;
    }
  }
}

function readRule(spec: unknown, place: number, { regions, compile }: RuleContext): Rule {
  const fields = fieldsOf(spec, `rule ${place + 1}`, 'rules');
  const id = textOf(fields, 'id', `rule ${place + 1}`);
  const names = ['id', 'priority', 'versions', 'where', 'proves', 'detail', 'ask', 'shells', 'agents', 'note'];
  known(fields, names, id);
  const where = fields.where;
  if (!Array.isArray(where) || where.length === 0)
    throw new RuleProblem(`rule ${id}: where must be a list of conditions`, id);
  if (typeof fields.priority !== 'number') throw new RuleProblem(`rule ${id}: priority must be a number`, id);
  const range = parseRange(fields.versions === undefined ? '*' : textOf(fields, 'versions', id));
  if (range === null) throw new RuleProblem(`rule ${id}: versions is like ">=2.1 <3"`, id);
  const region = (name: string): string => {
    if (!regions.has(name) && !(builtInRegions as readonly string[]).includes(name))
      throw new RuleProblem(`rule ${id}: there is no region ${name}`, id);
    return name;
  };
  const pattern = (value: unknown): Pattern | null => patternOf(value, id, compile);
  const inRule: InRule = { id, region, pattern, isOwn: compile !== builtInPattern };
  const pick = (value: unknown): Pick | null => (value === undefined ? null : readPick(value, inRule));
  return {
    id,
    priority: fields.priority,
    versions: range,
    where: where.map((one: unknown) => readCondition(one, inRule)),
    ...readProof(fieldsOf(fields.proves, `rule ${id}: proves`, id), id),
    detail: pick(fields.detail),
    ask: fields.ask === undefined ? null : readAsk(fieldsOf(fields.ask, `rule ${id}: ask`, id), inRule),
    shells: pick(fields.shells),
    agents: pick(fields.agents),
  };
}

function readProof(fields: Fields, id: string): Proof {
  known(fields, ['state', 'reason', 'confidence', 'unfinished'], id);
  const state = textOf(fields, 'state', id);
  const reason = textOf(fields, 'reason', id);
  const confidence = fields.confidence === undefined ? 'high' : confidences.find((one) => one === fields.confidence);
  if (!isStateName(state)) throw new RuleProblem(`rule ${id}: there is no state ${state}`, id);
  if (!isReasonCode(reason) || !reasonFits(reason, state))
    throw new RuleProblem(`rule ${id}: reason ${reason} does not go with ${state}`, id);
  if (confidence === undefined) throw new RuleProblem(`rule ${id}: confidence is high, medium or low`, id);
  if (fields.unfinished !== undefined && (fields.unfinished !== true || state !== 'idle'))
    throw new RuleProblem(`rule ${id}: unfinished is true or left out, and goes with idle`, id);
  return { state, reason, confidence, unfinished: fields.unfinished === true };
}

interface Proof {
  readonly state: StateName;
  readonly reason: ReasonCode;
  readonly confidence: Confidence;
  readonly unfinished: boolean;
}

function readCondition(spec: unknown, { id, region, pattern }: InRule): Condition {
  const fields = fieldsOf(spec, `rule ${id}: a condition`, id);
  known(fields, ['in', 'flow', 'present', 'all', 'any', 'none'], id);
  const patterns = (name: string): readonly Pattern[] => textsOf(fields, name).flatMap((text) => pattern(text) ?? []);
  return {
    in: region(textOf(fields, 'in', id)),
    flow: fields.flow === true,
    present: fields.present !== false,
    all: patterns('all'),
    any: patterns('any'),
    none: patterns('none'),
  };
}

function readPick(spec: unknown, { id, region, pattern }: InRule): Pick {
  const fields = fieldsOf(spec, `rule ${id}: what to take`, id);
  known(fields, ['in', 'match'], id);
  return { in: region(textOf(fields, 'in', id)), match: pattern(fields.match) };
}

function readAsk(fields: Fields, inRule: InRule): AskRule {
  const { id, region, pattern, isOwn } = inRule;
  known(fields, ['kind', 'text', 'options', 'cut'], id);
  const kind = askKinds.find((one) => one === fields.kind);
  if (kind === undefined) throw new RuleProblem(`rule ${id}: ask.kind is one of ${askKinds.join(', ')}`, id);
  const texts = Array.isArray(fields.text) ? fields.text : [fields.text];
  const text = texts.map((one: unknown) => readPick(one, inRule));
  const cuts = fields.cut ?? [];
  if (!Array.isArray(cuts)) throw new RuleProblem(`rule ${id}: ask.cut must be a list of conditions`, id);
  const cut = cuts.map((one: unknown) => readCondition(one, inRule));
  if (fields.options === undefined) return { kind, text, options: null, cut, isOwn };
  const options = fieldsOf(fields.options, `rule ${id}: ask.options`, id);
  known(options, ['in', 'match', 'split', 'wrap'], id);
  const match = pattern(options.match);
  if (match === null) throw new RuleProblem(`rule ${id}: ask.options needs match`, id);
  const split = pattern(options.split);
  const wrap = options.wrap === false ? 'none' : options.wrap === 'flush' ? 'flush' : 'indented';
  return { kind, text, options: { in: region(textOf(options, 'in', id)), match, split, wrap }, cut, isOwn };
}

function patternOf(value: unknown, near: string, compile: CompilePattern): Pattern | null {
  if (value === undefined) return null;
  if (typeof value !== 'string' || value.length > limits.screenPatternCharsMax)
    throw new RuleProblem(`${near}: a pattern must be a short text`, near);
  try {
    return compile(value);
  } catch (problem) {
    throw new RuleProblem(`${near}: ${problem instanceof Error ? problem.message : 'bad pattern'}`, value);
  }
}

function fieldsOf(value: unknown, name: string, near: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RuleProblem(`${name} must be a table of names and values`, near);
  return value as Fields;
}

const optionalFields = (fields: Fields, name: string): Fields =>
  fields[name] === undefined ? {} : fieldsOf(fields[name], name, name);

function textOf(fields: Fields, name: string, near: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new RuleProblem(`${near}: ${name} must be a text`, near);
  return value;
}

function textsOf(fields: Fields, name: string): readonly string[] {
  const value = fields[name] ?? [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string'))
    throw new RuleProblem(`${name} must be a list of texts`, name);
  return value as string[];
}

function countOf(fields: Fields, name: string, near: string): number | null {
  const value = fields[name];
  if (value === undefined) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1)
    throw new RuleProblem(`${near}: ${name} must be a whole number from 1`, near);
  return value;
}

/** A word nobody reads is a mistake: a rule that silently does less than it says would be worse than none. */
function known(fields: Fields, names: readonly string[], near: string): void {
  const odd = Object.keys(fields).find((name) => !names.includes(name));
  if (odd !== undefined) throw new RuleProblem(`${near === '' ? '' : `${near}: `}${odd} is not a known key`, odd);
}
