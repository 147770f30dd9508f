// A real sshd on loopback for tests: own keys, own configuration, own directory, no part of the machine's own ssh. The
// client's configuration is a file with one alias a machine.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

export interface TestSshd {
  readonly port: number;
  readonly directory: string;
  /** Give this to `ssh -F`. */
  readonly configFile: string;
  readonly pid: number;
  /** Adds an alias that leads to another port (a relay), or with other lines of configuration. */
  addAlias(alias: string, port?: number, lines?: readonly string[]): Promise<void>;
  /** Process ids of the sessions that this sshd serves now, all generations. */
  sessionPids(): Promise<number[]>;
  close(): Promise<void>;
}

export interface SshdOptions {
  /** The first alias; further ones by `addAlias`. */
  readonly alias?: string;
  readonly lines?: readonly string[];
  /** Variables of every session. HOME is the directory of this sshd; TMUX_TMPDIR keeps tests apart from the user. */
  readonly environment?: Readonly<Record<string, string>>;
}

const program = '/usr/sbin/sshd';
/** A variable of every session that says which sshd it belongs to. */
const mark = 'AGTMUX_TEST_SSHD';
const keyProgram = 'ssh-keygen';

export async function startSshd(options: SshdOptions = {}): Promise<TestSshd> {
  const directory = await mkdtemp(join(tmpdir(), 'agtmux-sshd-'));
  const path = (name: string): string => join(directory, name);
  for (const name of ['host_key', 'user_key', 'other_key']) {
    execFileSync(keyProgram, ['-q', '-t', 'ed25519', '-N', '', '-f', path(name)]);
  }
  await writeFile(path('authorized_keys'), await readFile(path('user_key.pub')));
  // As root sshd wants its empty directory, which otherwise the system's own service makes.
  if (userInfo().uid === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const { child, port } = await startOnFreePort(directory, options);
  const hostKey = (await readFile(path('host_key.pub'), 'utf8')).split(' ').slice(0, 2).join(' ');
  // Checked by one name whatever the port, so that a relay is the same machine.
  await writeFile(path('known_hosts'), `agtmux-test ${hostKey}\n`);
  const configFile = path('ssh_config');
  let config = '';
  const addAlias = async (alias: string, aliasPort = port, lines: readonly string[] = []): Promise<void> => {
    const own = [...lines, 'HostName 127.0.0.1', `Port ${aliasPort}`, `User ${userInfo().username}`];
    const shared = [
      `IdentityFile ${path('user_key')}`,
      'IdentitiesOnly yes',
      'IdentityAgent none',
      `UserKnownHostsFile ${path('known_hosts')}`,
      'GlobalKnownHostsFile /dev/null',
      'HostKeyAlias agtmux-test',
      'StrictHostKeyChecking yes',
    ];
    config += `Host ${alias}\n${[...own, ...shared].map((line) => `  ${line}\n`).join('')}`;
    await writeFile(configFile, config, { mode: 0o600 });
  };
  await addAlias(options.alias ?? 'vm1');
  const pid = child.pid ?? 0;
  return {
    port,
    directory,
    configFile,
    pid,
    addAlias,
    sessionPids: () => descendantsOf(pid),
    close: async () => {
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      const left = await descendantsOf(pid);
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      else return;
      await gone;
      for (const session of [...left, ...(await startedFrom(directory))]) killQuietly(session);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Another process may take the port between the look and the start; then another is tried. */
async function startOnFreePort(
  directory: string,
  options: SshdOptions,
): Promise<{ child: ChildProcess; port: number }> {
  const path = (name: string): string => join(directory, name);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const port = await freePort();
    await writeFile(path('sshd_config'), serverConfig(directory, port, options));
    const child = spawn(program, ['-D', '-e', '-f', path('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr?.on('data', (chunk: Uint8Array) => {
      said = `${said}${new TextDecoder().decode(chunk)}`.slice(-4_000);
    });
    if (await answers(port, () => child.exitCode !== null)) return { child, port };
    if (!said.includes('Address already in use')) throw new Error(`sshd did not start: ${said}`);
  }
  throw new Error('no free port for sshd');
}

function serverConfig(directory: string, port: number, options: SshdOptions): string {
  const path = (name: string): string => join(directory, name);
  const isRoot = userInfo().uid === 0;
  // One line for all: sshd takes the first SetEnv and passes over the others.
  // A home of its own: what the shell of the person who runs the tests does at its start can take a minute.
  const variables = Object.entries({ HOME: directory, ...options.environment, [mark]: directory }).map((entry) =>
    entry.join('='),
  );
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${path('host_key')}`,
    `AuthorizedKeysFile ${path('authorized_keys')}`,
    `PidFile ${path('sshd.pid')}`,
    'StrictModes no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PubkeyAuthentication yes',
    ...(isRoot ? ['UsePAM no', 'PermitRootLogin yes'] : []),
    'UseDNS no',
    'PrintMotd no',
    'MaxStartups 100',
    `SetEnv ${variables.join(' ')}`,
    ...(options.lines ?? []),
    '',
  ].join('\n');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = address !== null && typeof address === 'object' ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

async function answers(port: number, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('close', () => socket.destroy());
      socket.once('connect', () => socket.destroy());
    });
    if (open) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

async function descendantsOf(root: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (stat !== '') parents.set(Number(name), parent);
  }
  const found = new Set([root]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return [...found];
}

/** What was started in its sessions, also when the session is over: sshd lets programs live on that read nothing. */
async function startedFrom(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')));
  return pids.filter((_, place) => environments[place]?.split('\0').includes(`${mark}=${directory}`)).map(Number);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It left by itself.
  }
}
