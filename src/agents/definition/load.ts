// Makes an agent of a definition, through the contract that every agent keeps. What a file cannot say, a protocol client or
// a reader of its own files, is plugged in by code in the agent's folder and takes the place of what the file would give.

import { agentName } from '../../model/ids.ts';
import { type Agent, type Capabilities, contractVersion, type Identify } from '../contract.ts';
import { acpLauncher } from '../protocol/launch.ts';
import { builtInPattern, type CompilePattern } from '../screen/pattern.ts';
import seen from '../seen.json' with { type: 'json' };
import { identifyByShape, packageVersions } from '../shape.ts';
import { hookInstallOf, hooksOf, mcpOf } from './hooks.ts';
import { keysOf } from './keys.ts';
import { screenOf } from './read.ts';
import type { Definition, IdentifyWords } from './schema.ts';

/** What the code of a folder brings along. */
export type AgentPlugs = Partial<Omit<Agent, 'name' | 'contract' | 'capabilities'>> & {
  readonly accepts?: Parameters<typeof identifyByShape>[0]['accepts'];
  readonly capabilities?: Partial<Capabilities>;
};

export function agentOf(
  definition: Definition,
  { accepts, capabilities, ...plugs }: AgentPlugs = {},
  compile: CompilePattern = builtInPattern,
): Agent {
  const { agent, identify, screen } = definition;
  const { hooks, acp, mcp } = definition;
  const parts = {
    hooks: plugs.hooks ?? (hooks === undefined ? null : hooksOf(hooks)),
    natives: plugs.natives ?? [],
  };
  return {
    name: agentName(agent),
    contract: contractVersion,
    capabilities: { ...capabilitiesOf(definition, parts), ...capabilities },
    identify: identify === undefined ? () => null : identifyOf(agent, identify, compile, accepts),
    ...(identify === undefined || identify.tool_env.length === 0 ? {} : { childVariables: identify.tool_env }),
    screen: screen === undefined ? { ...noScreen, agent } : screenOf(definition),
    install: hooks === undefined ? null : hookInstallOf(hooks),
    ...(hooks === undefined || hooks.also_runs_hooks_of.length === 0
      ? {}
      : { alsoRunsHooksOf: hooks.also_runs_hooks_of.map(agentName) }),
    keys: keysOf(definition, compile),
    ...(mcp === undefined ? {} : { mcp: mcpOf(mcp) }),
    ...(acp === undefined ? {} : { sessions: [acpLauncher(acpProgram(agent, acp))] }),
    ...plugs,
    ...parts,
  };
}

const acpProgram = (agent: string, { command, model_flag: modelFlag, install }: NonNullable<Definition['acp']>) => ({
  command,
  install: install ?? `install ${agent}, so that \`${command[0]}\` is on your PATH`,
  ...(modelFlag === undefined ? {} : { modelFlag }),
});

const noScreen = { schema: 1, title: 'nothing is read from its screen', rules: [] };

function identifyOf(
  name: string,
  words: IdentifyWords,
  compile: CompilePattern,
  accepts: AgentPlugs['accepts'],
): Identify {
  const patterns = (sources: readonly string[]) => sources.map((source) => compile(source));
  return identifyByShape({
    name,
    commands: words.commands,
    places: patterns(words.places),
    notPlaces: patterns(words.not_places),
    versions: words.versions.length === 0 ? packageVersions(name) : patterns(words.versions),
    byName: { native: words.native ?? null, script: words.script ?? null },
    kind: words.kind,
    titles: words.argv0,
    runtimeNames: words.runtime_names,
    headlessCommands: words.headless_commands,
    headlessFlags: words.headless_flags,
    headlessPositional: words.headless_positional,
    errandCommands: words.errand_commands,
    errandFlags: words.errand_flags,
    valueFlags: words.value_flags,
    ...(accepts === undefined ? {} : { accepts }),
  });
}

const seenOf: Readonly<Record<string, string | undefined>> = seen;

/** What is promised is what the file can prove: its rules, and the words of the hooks and files it names. */
function capabilitiesOf(
  { agent, screen, hooks: words, measured, limits, never_prompts: isSilent }: Definition,
  { hooks, natives }: Pick<Agent, 'hooks' | 'natives'>,
): Capabilities {
  const rules = screen?.rules ?? [];
  const lastRun = seenOf[agent];
  const told = [...rules.map(({ proves: one }) => one), ...(words?.map ?? [])];
  const proves = (word: string): boolean => told.some(({ state, reason }) => state === word || reason === word);
  return {
    event_driven: hooks !== null || natives.length > 0,
    polling_required: rules.length > 0,
    supports_waiting_approval: !isSilent && proves('waiting_approval'),
    supports_waiting_input: !isSilent && proves('waiting_input'),
    supports_completed: proves('completed'),
    supports_interrupted: proves('interrupted'),
    // What was seen of it in the last run, where there was one.
    measured: lastRun === undefined ? measured : [lastRun],
    limits,
  };
}
