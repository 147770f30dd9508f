// Hooks, and entries in an agent's own settings, out of a definition: which event means which state, and where our hooks and
// our MCP server are put. Files are only ever named, never run.

import type { StateFact } from '../../model/events.ts';
import { agentSessionId, mainScope } from '../../model/ids.ts';
import type { ReasonCode } from '../../model/reasons.ts';
import { classOf, type StateName } from '../../model/states.ts';
import { jsonHooksFile } from '../config-text/json-hooks.ts';
import { isOurCommand } from '../config-text/own-file.ts';
import { tomlTableFile } from '../config-text/toml-table.ts';
import type { Finding, HookCall, HookInstall, HookReader, InstallPlace, McpInstall } from '../contract.ts';
import { idOf, textOf } from '../fields.ts';
import { isOurProgram, serverEntry, serverName } from '../mcp/server-entry.ts';
import type { HookWords, McpWords } from './schema.ts';

type Meaning = HookWords['map'][number];

/** What is meant where a definition names the state alone. */
export const usualReasons: Readonly<Record<StateName, ReasonCode>> = {
  running: 'turn_running',
  waiting_approval: 'approval_asked',
  waiting_input: 'question_asked',
  completed: 'turn_completed',
  idle: 'prompt_ready',
  error: 'api_error',
  unknown: 'unsupported_signal',
};

const has = (call: HookCall, name: string, value: string): boolean => {
  const held = call.payload !== null && Object.hasOwn(call.payload, name) ? call.payload[name] : undefined;
  return typeof held === 'object' ? false : String(held) === value;
};

const fits = (call: HookCall, { event, when = {}, unless = {} }: Meaning): boolean =>
  event === call.event &&
  Object.entries(when).every(([name, value]) => has(call, name, value)) &&
  !Object.entries(unless).some(([name, value]) => has(call, name, value));

export function hooksOf({ map, session }: HookWords): HookReader {
  const meaningOf = (call: HookCall): Meaning | undefined => map.find((one) => fits(call, one));
  return {
    events: [...new Set(map.map(({ event }) => event))],
    stored: ['hook_event_name', session],
    session: ({ payload }) => {
      const id = idOf(payload?.[session]);
      return id === null ? null : agentSessionId(id);
    },
    prompt: (call) => {
      const field = meaningOf(call)?.prompt;
      return field === undefined ? null : textOf(call.payload?.[field]);
    },
    read: (call) => {
      const meaning = meaningOf(call);
      return meaning === undefined ? [] : factsOf(meaning).map((fact) => ({ fact, time: call.time }));
    },
  };
}

function factsOf({ state, reason, goodbye }: Meaning): readonly Finding['fact'][] {
  const bye: readonly Finding['fact'][] = goodbye ? [{ kind: 'runtime.goodbye' }] : [];
  if (state === undefined) return bye;
  const told: StateFact = {
    kind: 'state.observed',
    state,
    reason: reason ?? usualReasons[state],
    confidence: 'high',
  };
  const isOver = classOf(state) === 'settled' || state === 'error';
  return [...(isOver ? ([{ kind: 'turn.ended', scope: mainScope }] as const) : []), told, ...bye];
}

/** `~/.mine/settings.json` below the home that is asked about. */
const placeOf = ({ home }: InstallPlace, file: string): string => `${home}${file.slice(1)}`;
const folderOf = ({ home }: InstallPlace, file: string): string => `${home}/${file.split('/')[1] ?? ''}`;

export function hookInstallOf({ file, map }: HookWords): HookInstall | null {
  if (file === undefined) return null;
  return {
    folder: (context) => folderOf(context, file),
    files: (context) => [
      jsonHooksFile({
        path: placeOf(context, file),
        events: [...new Set(map.map(({ event }) => event))],
        entry: (event) => ({ hooks: [{ type: 'command', command: context.command(event), timeout: 5 }] }),
        isOurs: (own) => isOurCommand(context, own),
      }),
    ],
    notes: ['it loads them at its next start'],
  };
}

export function mcpOf({ file, at }: McpWords): McpInstall {
  return {
    folder: (context) => folderOf(context, file),
    files: (context) => {
      const [path, program] = [placeOf(context, file), context.programPath];
      return file.endsWith('.json')
        ? [serverEntry(path, at, { command: program, args: [] })]
        : [tomlTableFile({ path, table: [at, serverName], value: { command: program }, isOurs: isOurProgram })];
    },
    notes: ['it loads it at its next start'],
  };
}
