// `agtmux restore`: shows what a lost tmux server had, asks once, and says what became of each agent (RST1, RST5).

import { get, post } from '../api/requests.ts';
import type { NewRestore, RestorePlanReply, RestoreReply } from '../api/restore.ts';
import { AgtmuxError } from '../model/errors.ts';
import type { RestoreChoice } from '../model/restore.ts';
import { paint } from '../view/paint.ts';
import { ageLabel } from '../view/words.ts';
import { askOnce, safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { errorOutput, hasColour, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { answerTo, hasTerminal, isYes } from './question.ts';
import { tableText } from './rows.ts';

type Item = RestorePlanReply['items'][number];

export const restore: Action = async (parsed, context) => {
  const isQuiet = parsed.has('json');
  const { body, reply: plan } = await askDaemon(context, get('/v1/restore'), { isQuiet });
  if (parsed.has('dry-run')) {
    if (isQuiet) print(body);
    else printPlan(plan, parsed);
    return;
  }
  const isNothing = plan.items.every(({ choice }) => choice === 'leave');
  if (!isQuiet) printPlan(plan, parsed);
  if (isNothing) {
    if (isQuiet) print(JSON.stringify({ ...plan, items: [] }));
    return;
  }
  const decided = parsed.has('yes') ? { choices: {}, allow: false } : await ask(plan);
  if (decided === null) throw new AgtmuxError('E_USAGE', 'nothing was restored', { next: 'answer y, or use --yes' });
  const wanted: NewRestore = {
    choices: decided.choices,
    shown: plan.items.map(({ runtime_id }) => runtime_id),
    allow_skip_permissions: decided.allow || parsed.has('allow-skip-permissions'),
  };
  const told = await askOnce(context, post('/v1/restore', wanted, { silenceMs: restoreMs }));
  if (isQuiet) print(told.body);
  else printEnds(told.reply);
  if (told.reply.items.some(({ outcome }) => outcome === 'refused')) process.exitCode = 1;
};

/** Many agents on a machine that has just started. */
const restoreMs = 300_000;

const words: Readonly<Record<RestoreChoice, string>> = { resume: 'resume', shell: 'shell only', leave: 'leave' };

function printPlan({ items, windows, sessions, generated_at }: RestorePlanReply, parsed: Parsed): void {
  if (items.length === 0) {
    print('Nothing to restore: no tmux server with agents is gone.');
    return;
  }
  const now = Date.parse(generated_at);
  const count = items.length === 1 ? '1 agent was' : `${items.length} agents were`;
  print(`${count} here, lost ${ageLabel(now - Math.max(...items.map((item) => Date.parse(item.lost_at))))} ago:\n`);
  const columns = [
    { title: 'WHERE' },
    { title: 'AGENT' },
    { title: 'WHAT' },
    { title: 'DIRECTORY', flexible: true },
    { title: 'HOW', flexible: true },
  ];
  const rows = items.map((item) => [
    item.place,
    item.agent,
    words[item.choice],
    item.cwd,
    item.why ?? item.command ?? '',
  ]);
  print(tableText(columns, rows));
  for (const line of skippingLines(items)) print(hasColour(parsed) ? paint(line, 'bad') : line);
  if (items.some(({ choice }) => choice !== 'leave')) {
    const where = sessions.map(safe).join(', ');
    print(`\n${windows} window${windows === 1 ? '' : 's'} in ${where}; layouts and directories as they were.`);
  }
}

const skippingLines = (items: readonly Item[]): readonly string[] =>
  items
    .filter(({ skipping }) => skipping.length > 0)
    .map(({ place, agent, skipping }) => `! ${safe(agent)} in ${safe(place)} ran with ${safe(skipping.join(' '))}`);

interface Decided {
  readonly choices: Record<string, RestoreChoice>;
  readonly allow: boolean;
}

/** Null: no. */
async function ask({ items }: RestorePlanReply): Promise<Decided | null> {
  if (!hasTerminal()) {
    throw new AgtmuxError('E_USAGE', 'restoring needs confirmation, and there is no terminal to ask on', {
      next: 'use --yes, or --dry-run to see what would be done',
    });
  }
  const count = (choice: RestoreChoice): number => items.filter((item) => item.choice === choice).length;
  const parts = [`resume ${count('resume')}`, `open ${count('shell')} with a shell only`, `leave ${count('leave')}`];
  const answer = await answerTo(`Restore: ${parts.join(', ')}? [y/N/c to choose] `);
  const isChoosing = /^c(hoose)?$/i.test(answer);
  if (!isYes(answer) && !isChoosing) return null;
  const choices = isChoosing ? await chooseEach(items) : {};
  const skipping = items.filter(
    (item) => item.skipping.length > 0 && (choices[item.runtime_id] ?? 'resume') === 'resume',
  );
  if (skipping.length === 0) return { choices, allow: false };
  for (const line of skippingLines(skipping)) errorOutput().write(`${line}\n`);
  return { choices, allow: isYes(await answerTo('Give these options again, so that they act without asking? [y/N] ')) };
}

async function chooseEach(items: readonly Item[]): Promise<Record<string, RestoreChoice>> {
  const choices: Record<string, RestoreChoice> = {};
  const meant: Readonly<Record<string, RestoreChoice>> = { s: 'shell', l: 'leave' };
  for (const { runtime_id, agent, place, choice } of items) {
    if (choice === 'leave') continue;
    const offered = choice === 'resume' ? '[R/s/l]' : '[S/l]';
    const answer = await answerTo(`${safe(agent)} in ${safe(place)}: ${words[choice]}? ${offered} `);
    const other = meant[answer.charAt(0).toLowerCase()];
    if (other !== undefined) choices[runtime_id] = other;
  }
  return choices;
}

const outcomes: Readonly<Record<RestoreReply['items'][number]['outcome'], string>> = {
  resumed: 'resumed',
  started: 'started, not seen yet',
  shell: 'shell only',
  left: 'left',
  refused: 'refused',
};

function printEnds({ items }: RestoreReply): void {
  for (const { place, agent, outcome, became, words: why } of items) {
    const as = became === null ? '' : ` as runtime:${safe(became)}`;
    print(`${outcomes[outcome]}: ${safe(agent)} in ${safe(place)}${as}${why === null ? '' : `; ${safe(why)}`}`);
  }
}
