// Which agent, led in which way: as it is wished for, and as it was when a session was kept.

import type { SessionWay } from '../agents/session-way.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import type { SessionWish } from '../model/sessions.ts';
import { foreign, gateLine } from '../text/gate.ts';
import type { BookParts } from './book-parts.ts';
import type { Dialect } from './dialect.ts';
import type { KeptSession } from './store-record.ts';

export interface Chosen {
  readonly agent: string;
  readonly way: SessionWay;
  readonly dialect: Dialect<unknown>;
}

type Known = Pick<BookParts, 'agents' | 'dialects' | 'ports'>;

type Wanted = Pick<SessionWish, 'agent' | 'driver' | 'cwd' | 'model' | 'auto_approve' | 'env'>;

const safe = (text: string): string => gateLine(foreign(text));

export async function chooseWay(known: Known, wish: Wanted): Promise<Result<Chosen>> {
  const { agents, dialects } = known;
  const agent = agents().find(({ name }) => name === wish.agent);
  if (agent === undefined) {
    const names = agents().map(({ name }) => name);
    return fail(
      'E_REF_NOT_FOUND',
      `no agent that can be led is called ${safe(wish.agent)}; there are ${names.join(', ')}`,
      'name one of them, or add yours to [sessions.agents] of the settings',
    );
  }
  const ways = agent.ways.filter(({ driver }) => dialects.has(driver));
  const way =
    wish.driver === null ? await bestOf(known, ways, wish) : ways.find(({ driver }) => driver === wish.driver);
  const dialect = way === undefined ? undefined : dialects.get(way.driver);
  if (way !== undefined && dialect !== undefined) return ok({ agent: agent.name, way, dialect });
  const drivers = ways.map(({ driver }) => driver).join(', ');
  return fail(
    'E_INPUT',
    `${agent.name} cannot be led by ${safe(wish.driver ?? 'anything')}; there is ${drivers || 'no way'}`,
  );
}

/** The first whose program is there: of some agents there are versions with another name. Failing that, the first. */
async function bestOf(
  { ports }: Known,
  ways: readonly SessionWay[],
  { cwd, model, auto_approve, env }: Wanted,
): Promise<SessionWay | undefined> {
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
const lostDialect: Dialect<null> = {
  name: 'lost',
  hasNoCreated: true,
  livesOn: false,
  open: () => ({ memory: null, events: [], messages: [], said: [] }),
  hear: () => ({ memory: null, events: [], messages: [], said: [] }),
  do: () => fail('E_UNSUPPORTED', 'the way to lead this agent is not there any more'),
  asksBytes: () => 0,
  delivery: () => 'taken',
  wakeful: () => 'no_resume',
};

export function wayOfRecord(
  { agents, dialects }: Pick<Known, 'agents' | 'dialects'>,
  { agent, driver }: KeptSession,
): Omit<Chosen, 'agent'> {
  const dialect = dialects.get(driver);
  // As the settings are when it is started again.
  const wayNow = (): SessionWay | undefined =>
    agents()
      .find(({ name }) => name === agent)
      ?.ways.find((one) => one.driver === driver);
  const install = `the settings have no ${agent} that is led by ${driver}`;
  const nothing = { command: [`${agent}-${driver}`], env: {}, address: null };
  const way: SessionWay = {
    driver,
    install: wayNow()?.install ?? install,
    launch: (wish) => wayNow()?.launch(wish) ?? nothing,
  };
  return { way, dialect: dialect ?? lostDialect };
}
