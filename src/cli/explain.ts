// `agtmux explain`: why a state is what it is. Of a living agent the daemon tells; of a saved screen the rules alone, and
// no daemon is needed.

import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { get } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { reasons } from '../model/reasons.ts';
import { readScreen, type SavedScreen, type ScreenReport } from '../offline/list.ts';
import { foreign, sanitizeLine, sanitizeRevealed } from '../text/sanitize.ts';
import { stateLabel } from '../view/words.ts';
import { askDaemon } from './connect.ts';
import { type Action, configPath, must } from './context.ts';
import { readText } from './input.ts';
import { note, print, viewQuery } from './output.ts';
import type { Parsed } from './parse.ts';
import { refOf } from './refs.ts';

export const explain: Action = async (parsed, context) => {
  const screen = parsed.value('screen');
  const [ref] = parsed.args;
  if (screen !== undefined) return explainScreen(parsed, screen);
  if (ref === undefined) {
    throw new AgtmuxError('E_USAGE', 'explain needs an agent, or a saved screen', {
      next: 'name one, as in `agtmux explain %5`; run `agtmux list` to see them',
    });
  }
  const view = viewQuery(parsed);
  const request = get('/v1/explain', {
    ref: await refOf(context, ref),
    ...(parsed.has('rules') && !parsed.has('json') ? { rules: true } : {}),
    ...view,
  });
  print((await askDaemon(context, request, { isQuiet: parsed.has('json') })).body);
};

async function explainScreen(parsed: Parsed, file: string): Promise<void> {
  const agent = parsed.value('agent');
  if (agent === undefined)
    throw new AgtmuxError('E_USAGE', '--screen needs --agent', {
      next: 'name the agent of that screen, as in --agent claude',
    });
  const version = parsed.value('agent-version');
  if (version !== undefined && !/^\d+(\.\d+)*/.test(version)) {
    throw new AgtmuxError('E_USAGE', `${sanitizeLine(foreign(version))} is not a version`, {
      next: 'for example 2.1.325',
    });
  }
  const screen: SavedScreen = {
    agent,
    text: await readText(file),
    title: parsed.value('title') ?? '',
    command: parsed.value('command') ?? null,
    version: version ?? null,
    userRules: userRulesOf(agent),
  };
  const report = must(readScreen(screen));
  if (report.trouble !== null) note(`${report.trouble.message}; ${report.trouble.next}`);
  print(parsed.has('json') ? JSON.stringify(documentOf(report)) : linesOf(report).join('\n'));
}

function documentOf({ reading, tried }: ScreenReport) {
  const { state, reason, confidence, ask, rule, detail, background } = reading;
  return { state, reason_code: reason, confidence, ask, rule, detail, background, tried };
}

function linesOf({ reading, tried }: ScreenReport): readonly string[] {
  const safe = (text: string): string => sanitizeRevealed(foreign(text));
  const { state, reason, confidence, rule, ask, detail } = reading;
  const lines = [
    `${stateLabel({ state, confidence })}`,
    `  because   ${reasons[reason].words} (${reason})${detail === null ? '' : `: ${safe(detail)}`}`,
    `  by        ${rule === null ? 'no rule' : sanitizeLine(foreign(rule))}, ${confidence} confidence`,
  ];
  if (ask !== null) {
    lines.push(`  asks      ${ask.kind}`, ...ask.text.split('\n').map((line) => `    ${safe(line)}`));
    lines.push(...ask.options.map(({ id, label }) => `    [${safe(id)}] ${safe(label)}`));
  }
  lines.push('  tried');
  for (const one of tried)
    lines.push(
      `    ${one.matched ? 'fits   ' : 'no     '} ${sanitizeLine(foreign(one.rule))}${one.why === null ? '' : `: ${sanitizeLine(foreign(one.why))}`}`,
    );
  return lines;
}

/** The same files as the daemon follows; a missing one is no trouble. */
function userRulesOf(agent: string): SavedScreen['userRules'] {
  if (!/^[a-z0-9-]+$/.test(agent)) return null;
  for (const ending of ['toml', 'json']) {
    const path = `${dirname(configPath())}/rules/${agent}.${ending}`;
    try {
      return { path, text: readFileSync(path, 'utf8') };
    } catch (problem) {
      if ((problem as NodeJS.ErrnoException).code !== 'ENOENT')
        note(`${path} cannot be read; the built-in rules are used`);
    }
  }
  return null;
}
