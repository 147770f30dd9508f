// What a saved screen says about its agent, by the same rules as the daemon uses, without one. Behind `agtmux explain
// --screen`.

import { agents } from '../agents/registry.ts';
import { classify, type Reading, type Trial } from '../agents/screen/classify.ts';
import { readRuleFile } from '../agents/screen/rule-file.ts';
import { readUserRules } from '../agents/screen/user-file.ts';
import { type Failure, fail, ok, type Result } from '../model/errors.ts';

export interface SavedScreen {
  readonly agent: string;
  /** As captured, with or without colours. Foreign text. */
  readonly text: string;
  readonly title: string;
  readonly command: string | null;
  readonly version: string | null;
  /** The user's rules for this agent, if there are any. */
  readonly userRules: { readonly path: string; readonly text: string } | null;
}

export interface ScreenReport {
  readonly reading: Reading;
  readonly tried: readonly Trial[];
  /** What is wrong with the user's rules; the built-in ones were used then. */
  readonly trouble: Failure | null;
}

/** Colours, cursor movements, titles, and the single characters that would do something instead of showing something. */
const effects =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]|[\u0000-\u0008\u000b-\u001f\u007f]/gu;

export const agentNames = (): readonly string[] => agents.map(({ name }) => name);

/** Those that sessions can be started with. */
export const managedAgentNames = (): readonly string[] =>
  agents.filter(({ sessions }) => sessions !== undefined).map(({ name }) => name);

export function readScreen({ agent, text, title, command, version, userRules }: SavedScreen): Result<ScreenReport> {
  const adapter = agents.find(({ name }) => name === agent);
  if (adapter === undefined) {
    return fail('E_USAGE', `there is no agent ${agent}`, `use one of: ${agentNames().join(', ')}`);
  }
  const builtIn = readRuleFile(adapter.screen);
  const own = userRules === null ? null : readUserRules(userRules.text, userRules.path, builtIn);
  const tried: Trial[] = [];
  const lines = text.replace(effects, '').split('\n');
  const reading = classify(own?.ok === true ? own.value : builtIn, { lines, title, command }, version, tried);
  return ok({ reading, tried, trouble: own?.ok === false ? own.failure : null });
}
