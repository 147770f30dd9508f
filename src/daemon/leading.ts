// The sessions of this daemon: the book put on the real ports, with the agents that can be led. Nothing is decided here.

import { access, constants, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ActGround } from '../act/ground.ts';
import { knownCaller } from '../act/known.ts';
import { acpWay } from '../agents/acp-way.ts';
import { agents } from '../agents/registry.ts';
import { hashText } from '../engine/canonical.ts';
import { agentName } from '../model/ids.ts';
import type { Exec } from '../platform/exec.ts';
import type { Files } from '../platform/files.ts';
import { createLedPrograms } from '../platform/led-process.ts';
import { createAskLoopback } from '../platform/loopback-http.ts';
import { createRealProcesses } from '../platform/processes.ts';
import { openEventStream } from '../platform/sse.ts';
import { connectWebSocket } from '../platform/web-socket.ts';
import { SessionBook } from '../sessions/book.ts';
import type { BookParts, LedAgent } from '../sessions/book-parts.ts';
import { dialects } from '../sessions/dialects.ts';
import { hostTarget } from '../targets/names.ts';
import type { Config } from './config.ts';
import type { Machines } from './machines.ts';
import { createProcessTruth } from './session-processes.ts';

export interface LeadingParts extends Pick<BookParts, 'offer' | 'onChange'> {
  readonly ground: ActGround;
  readonly files: Files;
  readonly exec: Exec;
  readonly stateDir: string;
  readonly home: string;
  readonly settings: { readonly current: Config };
  readonly machines: Pick<Machines, 'executorOf'>;
}

export function openSessions(parts: LeadingParts): Promise<SessionBook> {
  const { ground, files, exec, stateDir, home, settings, machines, offer, onChange } = parts;
  const { clock, now, random } = ground;
  return SessionBook.open({
    ports: {
      clock,
      now,
      random,
      home,
      programs: createLedPrograms(clock),
      processes: createProcessTruth(createRealProcesses(), () => machines.executorOf(hostTarget), clock),
      askLoopback: createAskLoopback(clock),
      openEvents: openEventStream,
      openSocket: connectWebSocket,
      findProgram,
      isDirectory,
      isSocket,
      markPrefix: hashText(stateDir).slice(-8),
    },
    files,
    exec,
    folder: join(stateDir, 'sessions'),
    target: hostTarget,
    agents: () => ledAgents(settings.current),
    dialects,
    callerOf: (claim) => knownCaller(ground, claim),
    policy: ground.policy,
    keepAudit: ground.keepAudit,
    offer,
    stateOf: ground.stateOf,
    onChange,
    warn: ground.warn,
  });
}

/** Those that agtmux knows, and those of the settings. */
function ledAgents({ sessions }: Config): readonly LedAgent[] {
  const known = agents.flatMap(({ name, sessions: ways }): LedAgent[] => (ways === undefined ? [] : [{ name, ways }]));
  const own = Object.entries(sessions.agents).map(([name, { command, env, model_flag }]): LedAgent => {
    const install = `check the command in [sessions.agents.${name}] of config.toml`;
    const way = acpWay({ command, env, install, ...(model_flag === undefined ? {} : { modelFlag: model_flag }) });
    return { name: agentName(name), ways: [way] };
  });
  return [...known, ...own];
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const isSocket = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isSocket(),
    () => false,
  );

/** As a shell would find it: a path as it is, a name in the PATH of the one who asked. */
async function findProgram(name: string, env: Readonly<Record<string, string>>): Promise<string | null> {
  const places = name.includes('/')
    ? [resolve(name)]
    : (env.PATH ?? '').split(':').map((folder) => join(folder || '/', name));
  for (const place of places) if (place.startsWith('/') && (await isProgram(place))) return place;
  return null;
}

const isProgram = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) =>
      found.isFile()
        ? access(path, constants.X_OK).then(
            () => true,
            () => false,
          )
        : false,
    () => false,
  );
