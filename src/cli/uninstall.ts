// `agtmux uninstall`: the last run. Takes out what was put into files of others, ends the service and the daemon, and
// removes what is agtmux's own; every file of the user's is as it was. What agents call goes last, after nobody calls it.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { get } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { safe } from './act.ts';
import { type Action, type Context, configPath, places } from './context.ts';
import { stop } from './daemon.ts';
import { hooksRemove } from './hooks.ts';
import { mcpUninstall } from './mcp-install.ts';
import { menubarUninstall } from './menubar.ts';
import { print } from './output.ts';
import { Parsed } from './parse.ts';
import { answerTo, hasTerminal, isYes } from './question.ts';
import { askRunning, isDown } from './running.ts';
import { daemonUninstall } from './service.ts';
import { notedFolders, removeEmpty } from './setup-folders.ts';
import { tmuxRemove } from './tmux.ts';

export const uninstall: Action = async (parsed, context) => {
  const { stateDir } = places();
  mustBeOurs(stateDir);
  await mustBeIdle();
  const hasState = existsSync(join(stateDir, 'agtmux.db'));
  const color = parsed.value('color');
  const removers = removersHere(hasState);
  const options = (...names: readonly string[]): Parsed =>
    new Parsed(
      [],
      new Map([
        ...names.map((name) => [name, ['']] as const),
        ...(color === undefined ? [] : [['color', [color]] as const]),
      ]),
    );
  for (const [words, remove] of removers) {
    print(`\n── ${words}`);
    await remove(options('dry-run'), context);
  }
  const own = ownFiles(parsed.has('settings'));
  print(['\n── files of agtmux itself', ...own.map((path) => safe(`rm -r ${path}`))].join('\n'));
  if (!hasState) print(unlooked);
  if (parsed.has('dry-run')) return;
  if (!parsed.has('yes')) await confirm();
  // Who may not stop it would be refused at the end, with all hooks gone; what removes them starts it again.
  await stop(context);
  for (const [, remove] of removers) await remove(options('yes'), context);
  await removeOwn(own, context);
  print('removed; to remove the program run `npm uninstall -g agtmux`, or delete the checkout');
};

const unlooked =
  'there is no state of agtmux here, so agents were not checked; if one still calls it: `agtmux hooks remove`, `agtmux mcp uninstall`';

/** Where nothing of ours ever ran, no daemon is started to find that out. */
function removersHere(hasState: boolean): readonly (readonly [words: string, remove: Action])[] {
  const inFiles = [
    ['hooks', hooksRemove],
    ['MCP', mcpUninstall],
  ] as const;
  const menubar = [['menu bar', quietly(menubarUninstall)]] as const;
  return [
    ...(hasState ? inFiles : []),
    ['tmux', tmuxRemove],
    ['service', daemonUninstall],
    ...(process.platform === 'darwin' ? menubar : []),
  ];
}

/** Without a menu bar program there is nothing to take out of it. */
const quietly =
  (remove: Action): Action =>
  async (parsed, context) => {
    try {
      await remove(parsed, context);
    } catch (problem) {
      if (!(problem instanceof AgtmuxError) || problem.code !== 'E_UNSUPPORTED') throw problem;
    }
  };

/** A folder that the user named may hold more than ours; home and what is above it is never taken for ours. */
function mustBeOurs(stateDir: string): void {
  if (!existsSync(stateDir)) return;
  const isAboveHome = `${homedir()}/`.startsWith(`${stateDir.replace(/\/+$/, '')}/`);
  const isKnown =
    existsSync(join(stateDir, 'agtmux.db')) || basename(stateDir) === 'agtmux' || readdirSync(stateDir).length === 0;
  if (isAboveHome || !isKnown) {
    throw new AgtmuxError('E_UNSAFE_DIR', `${stateDir} does not look like a state directory of agtmux`, {
      next: 'check AGTMUX_STATE_DIR; nothing was removed',
    });
  }
}

async function mustBeIdle(): Promise<void> {
  try {
    const { shells } = (await askRunning(get('/v1/status'))).reply;
    if (shells.running > 0) {
      throw new AgtmuxError('E_STATE_CHANGED', `${shells.running} background shells are still running`, {
        next: 'kill them with `agtmux shell kill`, or wait; nothing was removed',
      });
    }
    const { items } = (await askRunning(get('/v1/targets'))).reply;
    const far = items.filter(({ kind }) => kind === 'ssh').map(({ target }) => target);
    if (far.length > 0) {
      print(
        safe(`hooks on other machines are kept: run \`agtmux hooks remove --target NAME\` first (${far.join(', ')})`),
      );
    }
  } catch (problem) {
    if (!isDown(problem)) throw problem;
  }
}

async function confirm(): Promise<void> {
  if (!hasTerminal()) {
    throw new AgtmuxError(
      'E_USAGE',
      'nothing was removed: this needs confirmation, and there is no terminal to ask on',
      {
        next: 'check `agtmux uninstall --dry-run`, then use --yes',
      },
    );
  }
  if (isYes(await answerTo('Remove all of this? [y/N] '))) return;
  throw new AgtmuxError('E_USAGE', 'nothing was removed', { next: 'answer y, or use --yes' });
}

/** What is agtmux's own; with `isAll` also what the user wrote for it. */
function ownFiles(isAll: boolean): readonly string[] {
  const { stateDir, runtimeDir, socketPath } = places();
  const config = dirname(configPath());
  const notifications = join(config, 'notifications.toml');
  const settings = isAll
    ? [configPath(), notifications, join(config, 'policy.toml'), join(config, 'rules')]
    : [notifications].filter(isMadeHere);
  // A runtime directory that is named by hand may hold more.
  const runtime = basename(runtimeDir) === 'agtmux' ? [runtimeDir] : [socketPath, join(runtimeDir, 'starting')];
  return [...settings, ...runtime, stateDir].filter((path) => existsSync(path));
}

/** What only a person can have written there: programs, addresses, rules (NOT7). */
const byHand = /^\s*(?:\[|command\b|webhook\b|rules\s*=\s*\[\s*\{)/m;

function isMadeHere(path: string): boolean {
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  return text.startsWith('# Made by agtmux.\n') && !byHand.test(text);
}

async function removeOwn(own: readonly string[], context: Context): Promise<void> {
  await stop(context);
  const folders = [...notedFolders(), dirname(configPath())];
  for (const path of own) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (cause) {
      throw new AgtmuxError('E_FILE', `${path} cannot be removed`, { next: 'remove it by hand', cause });
    }
  }
  removeEmpty(folders);
}
