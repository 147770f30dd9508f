// The daemon as a program: takes its ports from the system, starts, serves its socket, and ends in good order when it is
// told to. Everything it does is in daemon.ts.

import { homedir, userInfo } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { buildVersion } from '../api/version.ts';
import { EditorKeys } from '../auth/editor-keys.ts';
import { policyPathOf } from '../auth/policy-path.ts';
import { isMarker } from '../auth/program-names.ts';
import { readSettings, Settings } from '../config/settings.ts';
import { launcherText } from '../install/mcp-launcher.ts';
import { AgtmuxError, errors, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { createRealChannels } from '../platform/channel.ts';
import { createRealClock } from '../platform/clock.ts';
import { configPathOf, type Places, placesOf, socketRecordOf } from '../platform/environment.ts';
import { createRealExec } from '../platform/exec.ts';
import { createRealFiles } from '../platform/files.ts';
import { createLog, type Log } from '../platform/log.ts';
import { ensurePrivateDirectory } from '../platform/private-directory.ts';
import { createRealRandom } from '../platform/random.ts';
import { createTerminalWatch } from '../platform/terminal-watch.ts';
import { serveApi } from '../server/server.ts';
import { webServerDocument } from '../server/web/stored-web-server.ts';
import { WebServer } from '../server/web/web-server.ts';
import { storePaths } from '../store/database.ts';
import { importFile } from '../store/documents.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { Daemon } from './daemon.ts';
import { StateDirectoryWatch } from './state-directory-watch.ts';

function must<Value>(result: Result<Value>): Value {
  if (result.ok) return result.value;
  throw new AgtmuxError(result.failure.code, result.failure.message, { next: result.failure.next });
}

// It runs for months: what a storm of changes needs for a moment must not be kept for good.
setFlagsFromString('--semi-space-growth-factor=1');
// Nor is garbage let pile up to several times what is alive: on a busy day it is collected twice a minute, 50 ms each time, most of
// that beside the work.
setFlagsFromString('--heap-growing-percent=25');
// Of a megabyte of young objects little survives: to wake four threads for it costs more than it saves.
setFlagsFromString('--no-parallel-scavenge');

const clock = createRealClock();
const files = createRealFiles();
const uid = process.getuid?.() ?? 0;
const { env } = process;

const configPath = configPathOf({ env, home: homedir() });

async function preparePlaces(): Promise<Places> {
  const places = must(placesOf({ env, platform: process.platform, uid, home: homedir() }));
  process.umask(0o077);
  must(await ensurePrivateDirectory(files, places.stateDir, uid));
  must(await ensurePrivateDirectory(files, places.runtimeDir, uid));
  return places;
}

/** As the system has it written down; HOME is what whoever started us wants it to be. */
function userHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    // Some containers have no entry for their user.
    return homedir();
  }
}

/** Where this user's state is when nobody chooses another place. */
function ownStateDir(): string | null {
  const own = placesOf({ env: {}, platform: process.platform, uid, home: userHome() });
  return own.ok ? own.value.stateDir : null;
}

/** Programs stand beside the bundle; from the sources they are one folder further up. */
function besideBundle(name: string): string {
  const up = import.meta.url.endsWith('.ts') ? '../../bin/' : '../bin/';
  return fileURLToPath(new URL(`${up}${name}`, import.meta.url));
}

/** Without what an agent or a pane left in it: whoever started the daemon may have been in one. */
const ownEnvironment = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || isMarker(name) || /^TMUX(?:_PANE)?$/.test(name) ? [] : [[name, value]],
    ),
  );

/** The pages are built beside the bundle. */
const pagesFolder = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../dist/web' : './web', import.meta.url));

/** The program that agents call stands beside the bundle; from the sources it is one folder further up. */
async function hookProgram(): Promise<string | null> {
  for (const place of ['../bin/agtmux-hook', '../../bin/agtmux-hook']) {
    const path = fileURLToPath(new URL(place, import.meta.url));
    const found = await files.read(path, { bytesMax: limits.configBytesMax }).catch(() => null);
    if (found !== null) return Buffer.from(found.bytes).toString();
  }
  return null;
}

const hooksOf = ({ stateDir }: Places) => ({
  here: { home: homedir(), platform: process.platform, uid, stateDir },
  program: hookProgram,
});

async function openWebServer(
  service: Daemon,
  { stateDir }: Places,
  log: Log,
  onTrouble: (error: Error) => void,
): Promise<WebServer> {
  const { documents } = service;
  const read = (text: string) => {
    const document = webServerDocument(text);
    return document === null ? null : [document];
  };
  const trouble = await importFile(documents, files, {
    path: `${stateDir}/web.json`,
    bytesMax: limits.webFileBytesMax,
    read,
  });
  if (trouble !== null) log.warn('the web sessions could not be read', { problem: trouble });
  return WebServer.start({
    service,
    clock,
    random: createRealRandom(),
    files,
    documents,
    pagesFolder: pagesFolder(),
    environment: ownEnvironment(),
    onTrouble,
    warn: (words, fields) => log.warn(words, fields),
  });
}

/** The web server, and who holds the key of an editor. */
async function openEntrances(
  daemon: Daemon,
  places: Places,
  log: Log,
  onTrouble: (error: Error) => void,
): Promise<{ readonly web: WebServer; readonly editors: EditorKeys }> {
  const editors = await EditorKeys.load({
    acting: daemon.acting,
    documents: daemon.documents,
    windows: daemon.editorWindows,
    random: createRealRandom(),
    now: () => daemon.now(),
    warn: (words, fields) => log.warn(words, fields),
  });
  return { web: await openWebServer(daemon, places, log, onTrouble), editors };
}

async function run(): Promise<void> {
  const places = await preparePlaces();
  const first = must(await readSettings(files, configPath));
  const log = createLog({
    clock,
    level: first.log.level,
    sink: (line) => process.stderr.write(`${line}\n`),
    gate: (text) => sanitizeLine(foreign(text)),
  });
  const settings = new Settings({ files, clock, path: configPath, first, log });
  let tellStop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    tellStop = resolve;
  });
  const sockets = env.AGTMUX_TMUX_SOCKETS?.split(':').filter((name) => name !== '');
  const daemon = await Daemon.start({
    version: buildVersion ?? 'unbuilt',
    pid: process.pid,
    places,
    home: homedir(),
    clock,
    log,
    memoryBytes: () => process.memoryUsage.rss(),
    onStop: () => tellStop(),
    machines: {
      manager: {
        files,
        random: createRealRandom(),
        exec: createRealExec(clock),
        channels: createRealChannels(clock),
        runtimeDir: places.runtimeDir,
        uid,
        variables: env,
        ...(sockets === undefined ? {} : { hostSockets: sockets }),
      },
      clientsFile: `${places.stateDir}/clients.json`,
      terminals: createTerminalWatch(process.platform),
    },
    settings,
    hooks: hooksOf(places),
    mcpProgram: async () => launcherText({ node: process.execPath, program: besideBundle('agtmux'), env }),
    rulesFolder: `${dirname(configPath)}/rules`,
    definitionsFolder: `${dirname(configPath)}/agents`,
    noticesPath: `${dirname(configPath)}/notifications.toml`,
    platform: process.platform,
    policyPath: await policyPathOf({ files, ...places, home: userHome(), ownStateDir: ownStateDir(), configPath }),
    wrapperPath: besideBundle('agtmux-wrap'),
    shellPath: besideBundle('agtmux-shell'),
  });
  const onTrouble = (error: Error): void => log.debug('a connection', { trouble: error.message });
  const entrances = await openEntrances(daemon, places, log, onTrouble);
  const ground = new StateDirectoryWatch(clock, storePaths(places.stateDir).lock, () => {
    log.error('the state directory is gone', { dir: places.stateDir });
    tellStop();
  });
  await ground.start();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => tellStop());
  await files.writeAtomic(socketRecordOf(places.stateDir), Buffer.from(`${places.socketPath}\n`)).catch(onTrouble);
  // Last: whoever gets an answer may end it in the next moment, or take its directory away.
  const listener = must(await serveApi(daemon, places.socketPath, { clock, onTrouble, ...entrances }));
  log.info('ready', { socket: places.socketPath, pid: process.pid });
  await stopped;
  log.info('stopping');
  ground.stop();
  await daemon.leave();
  await entrances.web.close();
  await listener.close();
  await daemon.close();
  process.exit(0);
}

run().catch((problem: unknown) => {
  const known =
    problem instanceof AgtmuxError
      ? problem
      : new AgtmuxError('E_INTERNAL', String(problem instanceof Error ? problem.stack : problem));
  process.stderr.write(`agtmux: ${known.message}; ${known.next} [${known.code}]\n`);
  process.exit(errors[known.code].exit);
});
