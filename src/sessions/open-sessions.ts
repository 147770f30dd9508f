// The sessions of this daemon: the book put on the real ports, with the agents that can be led. Nothing is decided here.

import { access, constants, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ActionDependencies } from '../actions/dependencies.ts';
import { acpLauncher } from '../agents/protocol/launch.ts';
import { protocolAdapters } from '../agents/protocol-adapters.ts';
import { agents } from '../agents/registry.ts';
import { authenticate } from '../auth/authenticate.ts';
import type { Config } from '../config/config.ts';
import { hashText } from '../engine/canonical.ts';
import { agentName } from '../model/ids.ts';
import type { TargetController } from '../observe/target-controller.ts';
import type { Exec } from '../platform/exec.ts';
import type { Files } from '../platform/files.ts';
import { createAskLoopback } from '../platform/loopback-http.ts';
import { createManagedPrograms } from '../platform/managed-process.ts';
import { createRealProcesses } from '../platform/processes.ts';
import { openEventStream } from '../platform/sse.ts';
import { connectWebSocket } from '../platform/web-socket.ts';
import { hostTarget } from '../targets/names.ts';
import type { ManagedAgent } from './launchers.ts';
import { type ManagerContext, SessionManager } from './manager.ts';
import { createProcessChecks } from './session-processes.ts';

export interface OpenSessionsParts extends Pick<ManagerContext, 'offer' | 'onChange'> {
  readonly ground: ActionDependencies;
  readonly files: Files;
  readonly exec: Exec;
  readonly stateDir: string;
  readonly home: string;
  readonly settings: { readonly current: Config };
  readonly machines: Pick<TargetController, 'executorOf'>;
}

export function openSessions(parts: OpenSessionsParts): Promise<SessionManager> {
  const { ground, files, exec, stateDir, home, settings, machines, offer, onChange } = parts;
  const { clock, now, random } = ground;
  return SessionManager.open({
    ports: {
      clock,
      now,
      random,
      home,
      programs: createManagedPrograms(clock),
      processes: createProcessChecks(createRealProcesses(), () => machines.executorOf(hostTarget), clock),
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
    agents: () => managedAgents(settings.current),
    protocolAdapters,
    callerOf: (claim) => authenticate(ground, claim),
    policy: ground.policy,
    keepAudit: ground.keepAudit,
    offer,
    stateOf: ground.stateOf,
    onChange,
    warn: ground.warn,
  });
}

/** Those that agtmux knows, and those of the settings. */
function managedAgents({ sessions }: Config): readonly ManagedAgent[] {
  const known = agents.flatMap(({ name, sessions: ways }): ManagedAgent[] =>
    ways === undefined ? [] : [{ name, ways }],
  );
  const own = Object.entries(sessions.agents).map(([name, { command, env, model_flag }]): ManagedAgent => {
    const install = `check the command in [sessions.agents.${name}] of config.toml`;
    const way = acpLauncher({ command, env, install, ...(model_flag === undefined ? {} : { modelFlag: model_flag }) });
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
