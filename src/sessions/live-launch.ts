// From a session to a program that can be led: how its agent is launched, whether that is there, and by what it is led.

import type { Launch, LaunchWish } from '../agents/session-way.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentSessionId } from '../model/ids.ts';
import type { Opening } from './dialect.ts';
import type { LiveParts } from './live-parts.ts';
import { ProcessRunner } from './runner.ts';
import { FoundRunner, HttpRunner } from './runner-http.ts';
import type { Runner, RunnerHandlers, RunPlan } from './runner-parts.ts';
import { placeOfAddress } from './runner-server.ts';
import { SocketRunner } from './runner-socket.ts';
import type { KeptSession } from './store-record.ts';

/** The name that `callers` knows agents by: whoever has it was started by one. */
const markName = 'AGTMUX_AGENT';
/** The session is in no pane, whoever started it. */
const paneVariables = ['TMUX', 'TMUX_PANE'];

export interface Planned extends RunPlan {
  readonly mark: string;
}

function launchOf(parts: LiveParts, record: KeptSession, resume: AgentSessionId | null, secret: string): Launch {
  const { env } = parts.secrets();
  const { cwd, model, auto_approve } = record;
  const wish: LaunchWish = { cwd, model, auto_approve, resume, home: env.HOME ?? parts.ports.home, env, secret };
  return parts.way.launch(wish);
}

function environmentOf(parts: LiveParts, launch: Launch, cwd: string, mark: string): Readonly<Record<string, string>> {
  const own = Object.entries(parts.secrets().env).filter(([name]) => !paneVariables.includes(name));
  return { ...Object.fromEntries(own), ...launch.env, PWD: cwd, [markName]: mark };
}

/** Everything that can be known to fail before anything is started. */
export async function planRun(
  parts: LiveParts,
  record: KeptSession,
  resume: AgentSessionId | null,
): Promise<Result<Planned>> {
  const { ports, handlers, way, dialect } = parts;
  const secret = ports.random.hex(16);
  const launch = launchOf(parts, record, resume, secret);
  const mark = `${ports.markPrefix}.${record.id}.${ports.random.hex(4)}`;
  const env = environmentOf(parts, launch, record.cwd, mark);
  const plan = { launch, cwd: record.cwd, env, secret, mark, outputPath: dialect.livesOn ? handlers.outputPath : null };
  if (launch.socket !== undefined) {
    if (await ports.isSocket(launch.socket)) return ok({ ...plan, program: null, outputPath: null });
    const words = `the shared server of ${record.agent} is not running: there is no ${launch.socket}`;
    return fail('E_AGENT_MISSING', words, `install or start it: ${way.install}`);
  }
  const name = launch.command[0] ?? '';
  if (!(await ports.isDirectory(record.cwd))) {
    return fail('E_INPUT', `there is no directory ${record.cwd}`, 'make it, or name another one with --cwd');
  }
  const program = await ports.findProgram(name, env);
  if (program === null) {
    return fail(
      'E_AGENT_MISSING',
      `${name} is not in the PATH, so ${record.agent} cannot be led`,
      `install it: ${way.install}`,
    );
  }
  return ok({ ...plan, program });
}

/** What is new about a start. */
export type Begun = Pick<Opening, 'prompt' | 'resume' | 'spawned_at' | 'rejoin'>;

export const openingOf = ({ cwd, model, auto_approve }: KeptSession, begun: Begun): Opening => ({
  cwd,
  model,
  auto_approve,
  ...begun,
});

/** Nothing of the process before holds for the one that is started now. */
export const freshRun = ({ mark }: Planned) =>
  ({ process: null, address: null, rejoin: null, is_led: true, mark, asleep_since: null }) as const;

export function openRunner({ ports }: LiveParts, plan: Planned, handlers: RunnerHandlers): Runner {
  const { launch } = plan;
  if (launch.socket !== undefined) return new SocketRunner(ports, launch.socket, handlers);
  return launch.address === null ? new ProcessRunner(ports, plan, handlers) : new HttpRunner(ports, plan, handlers);
}

/** The way back to one that lived on; null when there is nobody any more (SES5). */
export async function rejoinRunner(
  parts: LiveParts,
  record: KeptSession,
): Promise<((handlers: RunnerHandlers) => Runner) | null> {
  const { ports, handlers: kept } = parts;
  const secrets = parts.secrets();
  if (!parts.dialect.livesOn || !record.is_led) return null;
  const launch = launchOf(parts, record, record.agent_session, secrets.secret);
  const { socket } = launch;
  if (socket !== undefined) return (handlers) => new SocketRunner(ports, socket, handlers);
  const { address, process } = record;
  const place = address === null ? null : placeOfAddress(address);
  if (address === null || place === null || process === null || !(await ports.processes.isAlive(process))) return null;
  const { outputPath } = kept;
  const plan = { launch, program: null, cwd: record.cwd, env: {}, secret: secrets.secret, outputPath };
  return (handlers) => new FoundRunner(ports, plan, { address, place, identity: process }, handlers);
}
