// Which agent is run as a session, and over which protocol: as it is asked for, and as it was when a session was kept.

import type { ProtocolAdapter } from '../agents/protocol/adapter.ts';
import type { SessionLauncher } from '../agents/protocol/launch.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { AgentName } from '../model/ids.ts';
import type { SessionRequest } from '../model/sessions.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import type { SessionPorts } from './connection.ts';
import type { StoredSession } from './store.ts';

/** An agent that sessions can be started with, and the ways to do it. */
export interface ManagedAgent {
  readonly name: AgentName;
  readonly ways: readonly SessionLauncher[];
}

export interface KnownAgents {
  readonly ports: SessionPorts;
  /** As the settings say now. */
  readonly agents: () => readonly ManagedAgent[];
  readonly protocolAdapters: ReadonlyMap<string, ProtocolAdapter<unknown>>;
}

export interface Chosen {
  readonly agent: string;
  readonly way: SessionLauncher;
  readonly adapter: ProtocolAdapter<unknown>;
}

type Wanted = Pick<SessionRequest, 'agent' | 'driver' | 'cwd' | 'model' | 'auto_approve' | 'env'>;

const safe = (text: string): string => sanitizeLine(foreign(text));

export async function chooseLauncher(known: KnownAgents, wish: Wanted): Promise<Result<Chosen>> {
  const { agents, protocolAdapters } = known;
  const agent = agents().find(({ name }) => name === wish.agent);
  if (agent === undefined) {
    const names = agents().map(({ name }) => name);
    return fail(
      'E_REF_NOT_FOUND',
      `there is no agent ${safe(wish.agent)} for sessions; there are ${names.join(', ')}`,
      'use one of them, or add yours to [sessions.agents] in config.toml',
    );
  }
  const ways = agent.ways.filter(({ driver }) => protocolAdapters.has(driver));
  const way =
    wish.driver === null ? await bestOf(known, ways, wish) : ways.find(({ driver }) => driver === wish.driver);
  const adapter = way === undefined ? undefined : protocolAdapters.get(way.driver);
  if (way !== undefined && adapter !== undefined) return ok({ agent: agent.name, way, adapter });
  const drivers = ways.map(({ driver }) => driver).join(', ');
  return fail('E_INPUT', `${agent.name} has no driver ${safe(wish.driver ?? 'at all')}; there is ${drivers || 'none'}`);
}

/** The first whose program is there: of some agents there are versions with another name. Failing that, the first. */
async function bestOf(
  { ports }: KnownAgents,
  ways: readonly SessionLauncher[],
  { cwd, model, auto_approve, env }: Wanted,
): Promise<SessionLauncher | undefined> {
  for (const way of ways) {
    const launch = way.launch({
      cwd,
      model,
      auto_approve,
      resume: null,
      home: env.HOME ?? ports.home,
      env,
      secret: '',
    });
    const [program] = launch.command;
    if (program !== undefined && (await ports.findProgram(program, env)) !== null) return way;
  }
  return ways[0];
}

/** For a session whose agent, or the way to lead it, is not there any more: it can be read and removed, not resumed. */
const lostAdapter: ProtocolAdapter<null> = {
  name: 'lost',
  hasNoCreated: true,
  livesOn: false,
  open: () => ({ memory: null, events: [], messages: [], said: [] }),
  hear: () => ({ memory: null, events: [], messages: [], said: [] }),
  do: () => fail('E_UNSUPPORTED', 'the driver of this agent is no longer available'),
  asksBytes: () => 0,
  delivery: () => 'taken',
  wakeful: () => 'no_resume',
};

export function launcherOfRecord(
  { agents, protocolAdapters }: Pick<KnownAgents, 'agents' | 'protocolAdapters'>,
  { agent, driver }: StoredSession,
): Omit<Chosen, 'agent'> {
  const adapter = protocolAdapters.get(driver);
  // As the settings are when it is started again.
  const wayNow = (): SessionLauncher | undefined =>
    agents()
      .find(({ name }) => name === agent)
      ?.ways.find((one) => one.driver === driver);
  const install = `the settings have no ${agent} with the driver ${driver}`;
  const nothing = { command: [`${agent}-${driver}`], env: {}, address: null };
  const way: SessionLauncher = {
    driver,
    install: wayNow()?.install ?? install,
    launch: (wish) => wayNow()?.launch(wish) ?? nothing,
  };
  return { way, adapter: adapter ?? lostAdapter };
}
