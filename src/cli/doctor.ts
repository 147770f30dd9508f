// `agtmux doctor`: looks at everything agtmux stands on, and says of each what is wrong and how to mend it. Changes
// nothing and starts nothing.

import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { get } from '../api/requests.ts';
import type { TargetList } from '../api/targets.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { lookOnce } from '../offline/list.ts';
import { lookAtStore, stepsBack, wayBack } from '../offline/store.ts';
import { createRealExec } from '../platform/exec.ts';
import { createRealFiles, errorCodeOf } from '../platform/files.ts';
import { checkSocketPath } from '../platform/net.ts';
import { checkPrivateDirectory } from '../platform/private-directory.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { type PaintRole, paint } from '../view/paint.ts';
import { hasNoServer, healthWord } from '../view/pane-words.ts';
import { loadConfig } from './config.ts';
import { type Action, type Context, configPath, must, places, userId } from './context.ts';
import { hasColour, print } from './output.ts';
import { askRunning, isDown } from './running.ts';

interface Finding {
  readonly check: string;
  readonly outcome: 'ok' | 'note' | 'bad';
  readonly words: string;
  /** How to mend it. */
  readonly mend?: string;
}

type Check = (context: Context) => Promise<Omit<Finding, 'check'>>;

const good = (words: string): Omit<Finding, 'check'> => ({ outcome: 'ok', words });
const remark = (words: string): Omit<Finding, 'check'> => ({ outcome: 'note', words });
const bad = (words: string, mend: string): Omit<Finding, 'check'> => ({ outcome: 'bad', words, mend });

const checks: Readonly<Record<string, Check>> = {
  node: async () => good(process.versions.node),
  tmux: (context) => tmuxCheck(context),
  'state directory': () => directoryCheck(places().stateDir),
  'runtime directory': () => directoryCheck(places().runtimeDir),
  'disk space': async () => diskCheck(places().stateDir),
  settings: async () => good(loadConfig(configPath()) === null ? 'no file; the defaults apply' : configPath()),
  'event log': async () => storeCheck(places().stateDir),
  daemon: (context) => daemonCheck(context),
  'tmux servers': (context) => serversCheck(context),
};

/** Some check found something that must be mended. */
const badStatus = 1;

export const doctor: Action = async (parsed, context) => {
  const findings: Finding[] = [];
  for (const [check, look] of Object.entries(checks)) findings.push({ check, ...(await safely(look, context)) });
  if (parsed.has('json')) print(JSON.stringify({ schema_version: 1, healthy: isHealthy(findings), checks: findings }));
  else print(findings.flatMap((finding) => linesOf(finding, hasColour(parsed))).join('\n'));
  if (!isHealthy(findings)) process.exitCode = badStatus;
};

const isHealthy = (findings: readonly Finding[]): boolean => findings.every(({ outcome }) => outcome !== 'bad');

/** A check that fails is a finding. */
async function safely(look: Check, context: Context): Promise<Omit<Finding, 'check'>> {
  try {
    return await look(context);
  } catch (problem) {
    if (!(problem instanceof AgtmuxError)) throw problem;
    return bad(`${problem.message} [${problem.code}]`, problem.next);
  }
}

const marks = { ok: '✓', note: '·', bad: '✕' } as const;
const roles: Readonly<Record<Finding['outcome'], PaintRole>> = { ok: 'good', note: 'dim', bad: 'bad' };
const checkColumns = 19;

function linesOf({ check, outcome, words, mend }: Finding, colour: boolean): readonly string[] {
  const mark = colour ? paint(marks[outcome], roles[outcome]) : marks[outcome];
  const first = `${mark} ${check.padEnd(checkColumns)}${sanitizeLine(foreign(words))}`;
  return mend === undefined ? [first] : [first, `  ${' '.repeat(checkColumns)}→ ${sanitizeLine(foreign(mend))}`];
}

const commandMs = 5_000;
const outputBytesMax = 4_096;

async function tmuxCheck({ clock }: Context): Promise<Omit<Finding, 'check'>> {
  const env = { PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin' };
  const result = await createRealExec(clock).run({
    program: 'tmux',
    args: ['-V'],
    env,
    deadlineMs: commandMs,
    outputBytesMax,
  });
  if (result.status !== 0) return bad('tmux is not in the PATH', 'install tmux 3.2 or newer');
  const said = Buffer.from(result.stdout).toString().trim();
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(said) ?? [];
  const isOld = Number(major) < 3 || (Number(major) === 3 && Number(minor) < 2);
  // Builds from its own repository are called `tmux master`.
  return isOld && /\d/.test(said) ? bad(said, 'upgrade tmux to 3.2 or newer') : good(said);
}

async function directoryCheck(path: string): Promise<Omit<Finding, 'check'>> {
  const files = createRealFiles();
  const standing = nearest(path);
  const trouble = troubleWriting(standing);
  if (trouble !== null) {
    return bad(
      `${standing} cannot be written (${trouble})`,
      `make sure that you own it and can write to it; ${path} is needed`,
    );
  }
  if (standing !== path) return remark(`${path} is created by the first command`);
  must(await checkPrivateDirectory(files, path, userId()));
  return good(path);
}

/** The path itself, or what is there of the way to it. */
function nearest(path: string): string {
  let standing = path;
  while (!isThere(standing) && standing !== dirname(standing)) standing = dirname(standing);
  return standing;
}

const isThere = (path: string): boolean => statOf(path) !== null;

function statOf(path: string): ReturnType<typeof statSync> | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** By looking alone: doctor changes nothing. */
function troubleWriting(path: string): string | null {
  try {
    if (statOf(path)?.isDirectory() === false) return 'ENOTDIR';
    accessSync(path, constants.W_OK | constants.X_OK);
    return null;
  } catch (problem) {
    return errorCodeOf(problem) ?? 'unknown error';
  }
}

function diskCheck(path: string): Omit<Finding, 'check'> {
  try {
    const { bavail, bsize } = statfsSync(nearest(path));
    const free = bavail * bsize;
    const words = `${Math.floor(free / 1_048_576)} MB free`;
    return free < limits.diskFreeBytesMin ? bad(words, `free disk space at ${path}`) : good(words);
  } catch (problem) {
    return remark(`not known yet (${errorCodeOf(problem) ?? 'unknown error'})`);
  }
}

/** Its schema, and the copy from before the last upgrade: the way back to an older agtmux. */
function storeCheck(stateDir: string): Omit<Finding, 'check'> {
  const store = lookAtStore(stateDir);
  const { schema, newest, copies } = store;
  if (schema === null) return remark('none yet; the daemon creates it');
  if (schema > newest) {
    return bad(
      `schema ${schema}, this agtmux supports schemas up to ${newest} [E_STORE_NEWER]`,
      `use the newer agtmux that wrote it${wayBack(store)}`,
    );
  }
  const kept = copies.map(
    (one) =>
      `, backup from before the upgrade from schema ${one.schema} (${mebibytes(one.bytes)}); to go back, ${stepsBack(store.path, one)}`,
  );
  return good(`schema ${schema}${kept.join('')}`);
}

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MB`;

async function daemonCheck({ version }: Context): Promise<Omit<Finding, 'check'>> {
  must(checkSocketPath(places().socketPath, process.platform));
  try {
    const daemon = (await askRunning(get('/v1/status'))).reply;
    if (daemon.version !== version) {
      return bad(`version ${daemon.version}, this is ${version}`, 'run `agtmux daemon restart`');
    }
    if (daemon.trouble !== null) return bad(daemon.trouble, 'see its log: `agtmux logs`');
    return good(`pid ${daemon.pid}, version ${daemon.version}, at ${daemon.socket_path}`);
  } catch (problem) {
    if (isDown(problem)) return remark('not running; the next command that needs it starts it');
    throw problem;
  }
}

async function serversCheck({ clock }: Context): Promise<Omit<Finding, 'check'>> {
  const targets = await targetsOf(clock);
  const ill = targets.filter((target) => target.health !== 'ok');
  const words = targets
    .map((item) => {
      const panes = hasNoServer(item) ? '' : ` (${item.panes} pane${item.panes === 1 ? '' : 's'})`;
      return `${item.target} ${healthWord(item)}${panes}`;
    })
    .join(', ');
  if (ill.length > 0) return bad(words, ill.map(({ target, trouble }) => `${target}: ${trouble ?? 'wait'}`).join('; '));
  return targets.some(({ panes }) => panes > 0)
    ? good(words)
    : remark('none is running; start one with `tmux new -s work`');
}

async function targetsOf(
  clock: Context['clock'],
): Promise<readonly Pick<TargetList['items'][number], 'target' | 'health' | 'panes' | 'trouble' | 'tmux_version'>[]> {
  try {
    return (await askRunning(get('/v1/targets'))).reply.items;
  } catch (problem) {
    if (!isDown(problem)) throw problem;
    return (await lookOnce({ clock, uid: userId(), variables: process.env, sockets: [] })).targets;
  }
}
