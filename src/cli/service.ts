// `agtmux daemon install|uninstall`: the daemon as a service of the user's session, under systemd or launchd.

import { mkdirSync, readFileSync, realpathSync, unlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import { createRealExec } from '../platform/exec.ts';
import { errorCodeOf } from '../platform/files.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { Action, Context } from './context.ts';
import { printShown } from './output.ts';
import { briefly, changeLine, linesWords } from './plans.ts';

/** What the service is told of this environment; the rest is the session's own. */
const variableNames = ['AGTMUX_STATE_DIR', 'AGTMUX_RUNTIME_DIR', 'AGTMUX_CONFIG', 'AGTMUX_TMUX_SOCKETS', 'TMUX_TMPDIR'];
const launchdLabel = 'dev.agtmux.daemon';

export interface ServiceFacts {
  readonly platform: 'linux' | 'darwin';
  readonly home: string;
  readonly configHome: string | undefined;
  readonly uid: number;
  /** The daemon in the foreground. */
  readonly argv: readonly string[];
  readonly path: string;
  readonly variables: readonly (readonly [name: string, value: string])[];
}

export interface Service {
  readonly file: string;
  readonly text: string;
  /** Whether a text is one that agtmux wrote, here or elsewhere, and nobody changed. */
  readonly isOurs: (text: string) => boolean;
  readonly install: readonly (readonly string[])[];
  readonly uninstall: readonly (readonly string[])[];
}

export function serviceOf(facts: ServiceFacts): Service {
  return facts.platform === 'linux' ? systemdUnit(facts) : launchdPlist(facts);
}

function systemdUnit({ home, configHome, argv, path, variables }: ServiceFacts): Service {
  const quote = (text: string): string => `"${text.replaceAll(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
  const word = (text: string): string => quote(text).replaceAll('$', '$$$$');
  const environment = [['PATH', path] as const, ...variables].map(
    ([name, value]) => `Environment=${quote(`${name}=${value}`)}`,
  );
  const text = `[Unit]
Description=agtmux: the state of every coding agent in tmux

[Service]
ExecStart=${argv.map(word).join(' ')}
${environment.join('\n')}
Restart=on-failure
RestartSec=2
UMask=0077

[Install]
WantedBy=default.target
`;
  const name = 'agtmux.service';
  const systemctl = (...words: string[]): readonly string[] => ['systemctl', '--user', ...words];
  return {
    file: `${configHome ?? `${home}/.config`}/systemd/user/${name}`,
    text,
    isOurs: sameBut(text, new RegExp(`^ExecStart=".*" "daemon" "run"\\n(?:Environment="(?:${ourNames})=.*"\\n)*`, 'm')),
    install: [systemctl('daemon-reload'), systemctl('enable', '--now', name)],
    uninstall: [systemctl('disable', '--now', name)],
  };
}

function launchdPlist({ home, uid, argv, path, variables }: ServiceFacts): Service {
  const xml = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  const string = (text: string): string => `<string>${xml(text)}</string>`;
  const pairs = [['PATH', path] as const, ...variables];
  const file = `${home}/Library/LaunchAgents/${launchdLabel}.plist`;
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${string(launchdLabel)}
  <key>ProgramArguments</key>
  <array>
${argv.map((word) => `    ${string(word)}`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${pairs.map(([name, value]) => `    <key>${xml(name)}</key>${string(value)}`).join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>Umask</key><integer>63</integer>
</dict>
</plist>
`;
  const domain = `gui/${uid}`;
  return {
    file,
    text,
    isOurs: sameBut(
      text,
      new RegExp(
        `(?: +<string>.*</string>\\n)+ +</array>|(?: +<key>(?:${ourNames})</key><string>.*</string>\\n)+`,
        'g',
      ),
    ),
    install: [['launchctl', 'bootstrap', domain, file]],
    uninstall: [['launchctl', 'bootout', `${domain}/${launchdLabel}`]],
  };
}

const ourNames = ['PATH', ...variableNames].join('|');

/** The same text where what differs from machine to machine is left out. */
const sameBut =
  (text: string, parts: RegExp) =>
  (other: string): boolean =>
    other.replace(parts, '') === text.replace(parts, '');

/** What somebody wrote into it is theirs (INS4): it is neither replaced nor removed. */
function heldOf({ file, text, isOurs }: Service): string | null {
  let held: string;
  try {
    held = readFileSync(file, 'utf8');
  } catch (cause) {
    if (errorCodeOf(cause) === 'ENOENT') return null;
    throw new AgtmuxError('E_FILE', `cannot read ${file} (${errorCodeOf(cause) ?? 'unknown error'})`, { cause });
  }
  if (held === text || isOurs(held)) return held;
  throw new AgtmuxError('E_FILE', `${file} was changed since agtmux wrote it, or was never written by agtmux`, {
    next: 'move it away (with systemd put your own lines into `systemctl --user edit agtmux`), then try again',
  });
}

export const daemonInstall: Action = async (parsed, context) => {
  const service = serviceOf(factsHere());
  const held = heldOf(service);
  if (parsed.has('dry-run') && parsed.has(briefly)) {
    const lines = linesWords(service.text.trimEnd().split('\n').length, 0);
    const how = held === null ? 'create' : 'change';
    const file = held === service.text ? `  already there: ${service.file}` : changeLine(service.file, how, lines);
    printShown([file, ...service.install.map((argv) => `  run     ${argv.join(' ')}`)].join('\n'));
    return;
  }
  if (parsed.has('dry-run')) {
    printShown([`# ${service.file}`, service.text, ...service.install.map((argv) => `# ${argv.join(' ')}`)].join('\n'));
    return;
  }
  try {
    mkdirSync(dirname(service.file), { recursive: true });
    writeFileSync(service.file, service.text, { mode: 0o644 });
  } catch (cause) {
    throw new AgtmuxError('E_FILE', `cannot write ${service.file} (${errorCodeOf(cause) ?? 'unknown error'})`, {
      cause,
    });
  }
  for (const argv of service.install) await runOrThrow(context, argv, `the service is written to ${service.file}, but`);
  printShown(`installed: ${service.file}`);
};

export const daemonUninstall: Action = async (parsed, context) => {
  const service = serviceOf(factsHere());
  const held = heldOf(service);
  if (parsed.has('dry-run')) {
    const steps = [...service.uninstall.map((argv) => argv.join(' ')), `rm ${service.file}`];
    printShown(held !== null ? steps.join('\n') : 'no service is installed');
    return;
  }
  // A service that never ran cannot be ended; its file goes all the same.
  for (const argv of service.uninstall) await runOnce(context, argv);
  try {
    unlinkSync(service.file);
    printShown(`removed: ${service.file}`);
  } catch (cause) {
    if (errorCodeOf(cause) !== 'ENOENT') throw new AgtmuxError('E_FILE', `cannot remove ${service.file}`, { cause });
    printShown('no service was installed');
  }
};

function factsHere(): ServiceFacts {
  const { platform, env, execPath } = process;
  if (platform !== 'linux' && platform !== 'darwin') {
    throw new AgtmuxError('E_USAGE', `services are not supported on ${platform}`);
  }
  return {
    platform,
    home: homedir(),
    configHome: env.XDG_CONFIG_HOME,
    uid: process.getuid?.() ?? 0,
    argv: [execPath, realpathSync(process.argv[1] ?? ''), 'daemon', 'run'],
    path: env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    variables: variableNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const])),
  };
}

const commandMs = 20_000;
const outputBytesMax = 65_536;

async function runOnce({ clock }: Context, argv: readonly string[]): Promise<string | null> {
  const [program = '', ...args] = argv;
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const result = await createRealExec(clock).run({ program, args, env, deadlineMs: commandMs, outputBytesMax });
  if (result.status === 0) return null;
  const said = sanitizeLine(foreign(Buffer.from(result.stderr).toString().trim()), { columnsMax: 200 });
  return `${program} ${result.spawnError === null ? `refused: ${said}` : `is not installed (${result.spawnError})`}`;
}

async function runOrThrow(context: Context, argv: readonly string[], before: string): Promise<void> {
  const trouble = await runOnce(context, argv);
  if (trouble !== null) {
    throw new AgtmuxError('E_DAEMON_DOWN', `${before} ${trouble}`, {
      next: 'start the daemon with `agtmux daemon start`',
    });
  }
}
