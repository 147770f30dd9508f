// How Claude Code is worked at the keyboard. Numbered lists take their digit at once; those without numbers are walked
// from the top, since where they begin differs from dialog to dialog and from version to version.

import type { AskOption } from '../../model/asks.ts';
import type { AnswerableAsk, KeyStep, Keys } from '../contract.ts';
import { answersTo, type DialogWords } from '../keys/dialogs.ts';
import { hasBlank, marked, plainPath } from '../keys/file-ref.ts';
import { digit, escapeKey, press, walk } from '../keys/key-steps.ts';
import { isNumbered, isPlain } from '../keys/options.ts';
import { boxPrompt } from '../keys/prompts.ts';
import { resumeBy } from '../keys/resume.ts';
import { modelOption } from '../keys/start-options.ts';

/** These refuse and are a field for what to do instead: approvals of 2.0, plans of all versions. "No, and tell .." is none. */
const instead = [/^Type here to tell Claude what to/, /^Tell Claude what to change/];

const words: DialogWords = {
  once: [
    /^Yes$/,
    /^Yes, (?:and )?manually approve edits$/,
    /^Yes, proceed$/,
    /^Yes, I trust this folder$/,
    /^Use this MCP server$/,
  ],
  no: [/^No\b/, /^Continue without using this MCP server/, ...instead],
  instead,
  // Without its full stop it belongs to a list of which several can be ticked: a digit would only tick.
  own: [/^Type something\.$/],
  menus: [[/^Exit and stop tasks$/, /^Move to background and exit$/, /^Stay$/]],
};

function choose(ask: AnswerableAsk, option: AskOption): readonly KeyStep[] | null {
  if (isNumbered(ask)) return digit(option);
  return isPlain(ask) ? walk(['Home'], ask.options.indexOf(option)) : null;
}

/** Escape refuses everywhere but in the questions of its start, where it has other meanings than the option beside it. */
const refuse = (ask: AnswerableAsk, no: AskOption): readonly KeyStep[] | null =>
  ask.kind === 'trust' && no.label !== 'No, exit' ? choose(ask, no) : escapeKey;

export const keys: Keys = {
  interrupt: [press('Escape')],
  collapsed: String.raw`\[(?:Pasted text #\d+(?: \+\d+ lines)?|\.\.\.Truncated text #\d+ \+\d+ lines\.\.\.)\]`,
  enterPauseMs: 0,
  prompt: boxPrompt,
  ...answersTo(words, { choose, refuse, isHarmless: () => true }),
  fileRef: (path, lines) => {
    // It reads the number sign as the beginning of lines, and has no way to write a quote.
    if (/["#]/.test(path)) return plainPath(path, lines);
    const range = lines === null ? '' : `#L${lines.from}${lines.from === lines.to ? '' : `-${lines.to}`}`;
    return marked(hasBlank(path) ? `@"${path}${range}"` : `@${path}${range}`, null);
  },
  resume: resumeBy('claude', (session) => ['--resume', session], ['--continue']),
  start: ['claude'],
  startOptions: [
    modelOption,
    { names: ['--fallback-model'], hasValue: true },
    { names: ['--effort'], hasValue: true },
    { names: ['--agent'], hasValue: true },
    { names: ['--add-dir'], hasValue: true },
    {
      names: ['--permission-mode'],
      hasValue: true,
      skipsPermissions: ['bypassPermissions', 'dontAsk', 'acceptEdits', 'auto'],
    },
    { names: ['--dangerously-skip-permissions'], skipsPermissions: true },
    { names: ['--allow-dangerously-skip-permissions'], skipsPermissions: true },
  ],
};
