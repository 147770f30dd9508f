// `agtmux setup`: the first run. One step after the other shows what it would change, a line a file and all of it on request,
// asks, and does it by the same way as the command of its own; a step that cannot be done here says why and keeps no other
// from being done.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { post } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { safe } from './act.ts';
import { type SetupStep, setupSteps } from './commands-setup.ts';
import { askDaemon } from './connect.ts';
import { type Action, type Context, configPath } from './context.ts';
import { stop } from './daemon.ts';
import { hooksInstall } from './hooks.ts';
import { mcpInstall } from './mcp-install.ts';
import { menubarInstall } from './menubar.ts';
import { print } from './output.ts';
import { Parsed } from './parse.ts';
import { briefly, changeLine } from './plans.ts';
import { hasTerminal, isLeft, isWanted } from './question.ts';
import { daemonInstall, daemonUninstall } from './service.ts';
import { missingFolders, noteFolders } from './setup-folders.ts';
import { isTmuxInstalled, tmuxInstall, tmuxToLoad } from './tmux.ts';

interface Run {
  readonly context: Context;
  readonly isDry: boolean;
  readonly hasYes: boolean;
  /** The whole difference at once, as the commands of their own show it. */
  readonly hasDiff: boolean;
  readonly color: string | undefined;
}

/** What became of a step, for the last lines. */
type Outcome = 'done' | 'shown' | 'skipped' | { readonly problem: string };

interface Step {
  readonly words: string;
  readonly run: (run: Run) => Promise<Outcome>;
}

/** A step was not done: a script wants to know. */
const troubleStatus = 1;

const steps: Readonly<Record<SetupStep, Step>> = {
  hooks: {
    words: 'hooks: agents report what they do, at once',
    run: (run) => ownQuestion(run, hooksInstall),
  },
  tmux: { words: "tmux: marks and a summary in tmux's status line", run: tmux },
  mcp: {
    words: 'MCP: agents run commands in the background and see each other',
    run: (run) => ownQuestion(run, mcpInstall),
  },
  notifications: { words: 'notifications: a desktop notification when an agent needs you', run: notifications },
  menubar: { words: 'menu bar: which agents need you, always visible', run: menubar },
  service: { words: 'service: the daemon starts when you log in', run: service },
};

export const setup: Action = async (parsed, context) => {
  const run: Run = {
    context,
    isDry: parsed.has('dry-run'),
    hasYes: parsed.has('yes'),
    hasDiff: parsed.has('diff'),
    color: parsed.value('color'),
  };
  if (!run.isDry && !run.hasYes && !hasTerminal()) {
    throw new AgtmuxError('E_USAGE', 'nothing was written: setup asks before each change, and there is no terminal', {
      next: 'check `agtmux setup --dry-run`, then use --yes',
    });
  }
  const missing = missingFolders();
  const skipped = parsed.values('skip');
  const told: string[] = [];
  for (const name of setupSteps) {
    const isHere = name !== 'menubar' || process.platform === 'darwin';
    const outcome = !isHere || skipped.includes(name) ? 'skipped' : await step(name, run, missing);
    if (isHere) told.push(lineOf(name, outcome));
    if (typeof outcome === 'object') process.exitCode = troubleStatus;
  }
  print(
    [
      '',
      ...told,
      ...(run.isDry
        ? []
        : ['', 'Next: start an agent in tmux, then run `agtmux list`. `agtmux uninstall` undoes all of this.']),
    ].join('\n'),
  );
};

async function step(name: SetupStep, run: Run, missing: readonly string[]): Promise<Outcome> {
  print(`\n── ${steps[name].words}`);
  try {
    return await steps[name].run(run).finally(() => {
      // After each step: whoever stops in the middle can have all of it undone as well.
      if (!run.isDry) noteFolders(missing);
    });
  } catch (problem) {
    if (!(problem instanceof AgtmuxError) || isLeft(problem)) throw problem;
    return { problem: `${problem.message}; ${problem.next} [${problem.code}]` };
  }
}

function lineOf(name: SetupStep, outcome: Outcome): string {
  const [mark, words] =
    typeof outcome === 'string' ? [outcome === 'done' ? '✓' : '○', outcome] : ['✕', outcome.problem];
  return safe(`${mark} ${name.padEnd(14)}${words}`);
}

const optionsOf = (run: Run, ...names: readonly string[]): Parsed =>
  wholeOptionsOf(run, ...names, ...(run.hasDiff ? [] : [briefly]));

function wholeOptionsOf({ color }: Run, ...names: readonly string[]): Parsed {
  const said = names.map((name) => [name, ['']] as const);
  return new Parsed([], new Map([...said, ...(color === undefined ? [] : [['color', [color]] as const])]));
}

/** A command that shows the difference and asks by itself. */
async function ownQuestion(run: Run, install: Action): Promise<Outcome> {
  if (run.isDry) {
    await install(optionsOf(run, 'dry-run'), run.context);
    return 'shown';
  }
  try {
    await install(optionsOf(run, ...(run.hasYes ? ['yes'] : [])), run.context);
    return 'done';
  } catch (problem) {
    // It was answered with no.
    if (problem instanceof AgtmuxError && problem.code === 'E_USAGE' && problem.message === 'nothing was written')
      return 'skipped';
    throw problem;
  }
}

/** A command that can show what it would do. */
async function asked(run: Run, install: Action): Promise<Outcome> {
  await install(optionsOf(run, 'dry-run'), run.context);
  if (run.isDry) return 'shown';
  if (!(await isAgreed(run, install))) return 'skipped';
  await install(optionsOf(run), run.context);
  return 'done';
}

/** `install` shows the whole difference, where only a line a change was printed. */
async function isAgreed(run: Run, install: Action | null, question = 'Do this?'): Promise<boolean> {
  if (run.hasYes) return true;
  const showAll = () => install?.(wholeOptionsOf(run, 'dry-run'), run.context);
  return isWanted(question, install === null || run.hasDiff ? null : showAll);
}

/** A tmux that runs reads its settings when it starts: without the second question nothing would be seen until then. */
async function tmux(run: Run): Promise<Outcome> {
  const isThere = await isTmuxInstalled();
  if (isThere && run.isDry) return 'shown';
  const outcome = isThere ? 'done' : await asked(run, tmuxInstall);
  if (outcome !== 'done') return outcome;
  const waiting = await tmuxToLoad(run.context);
  if (waiting !== null && (await isAgreed(run, null, 'Load it into the running tmux now?'))) await waiting.load();
  return outcome;
}

/** Most people have neither of the two programs. */
async function menubar(run: Run): Promise<Outcome> {
  try {
    return await asked(run, menubarInstall);
  } catch (problem) {
    if (!(problem instanceof AgtmuxError) || problem.code !== 'E_UNSUPPORTED') throw problem;
    print(safe(`not available: ${problem.message}`));
    return 'skipped';
  }
}

async function service(run: Run): Promise<Outcome> {
  await daemonInstall(optionsOf(run, 'dry-run'), run.context);
  if (run.isDry) return 'shown';
  if (!(await isAgreed(run, daemonInstall))) return 'skipped';
  // The one that this setup started would keep the service's own out.
  await stop(run.context);
  try {
    await daemonInstall(optionsOf(run), run.context);
    return 'done';
  } catch (problem) {
    if (!(problem instanceof AgtmuxError) || problem.code !== 'E_DAEMON_DOWN') throw problem;
    // A service that nobody starts would only be in the way.
    await daemonUninstall(optionsOf(run), run.context);
    print(safe(`not available: ${problem.message}`));
    print('the daemon starts with the first command that needs it');
    return 'skipped';
  }
}

async function notifications(run: Run): Promise<Outcome> {
  const path = join(dirname(configPath()), 'notifications.toml');
  if (existsSync(path)) {
    print(safe(`${path} exists and is not changed; see \`agtmux notify\``));
    return 'skipped';
  }
  const line = 'channels = [ "browser", "desktop" ]';
  print(run.hasDiff ? [safe(`+++ ${path}`), `+ ${line}`].join('\n') : safe(changeLine(path, 'create', line)));
  print('  try it with `agtmux notify test`; `agtmux notify set --text ask` shows the request, with buttons');
  if (run.isDry) return 'shown';
  if (!(await isAgreed(run, null))) return 'skipped';
  const request = post('/v1/notifications/settings', { channels: ['browser', 'desktop'] });
  const { path: written } = (await askDaemon(run.context, request)).reply;
  print(safe(`written: ${written}`));
  return 'done';
}
