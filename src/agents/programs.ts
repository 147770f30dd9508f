// Whether a process runs the program of a coding agent, of any that has a name, also of those that agtmux does not watch and
// of an agent's servers and errands. For one question only: who asks (ACT6). There a wrong yes makes somebody smaller, and a
// wrong no makes an agent a person, so a name is enough.

import type { ProgramView } from './contract.ts';
import { lastPart } from './program.ts';
import { identifyAgent } from './registry.ts';

/** What they are called on the PATH, as a script, or by the name that they give themselves. */
const names: ReadonlySet<string> = new Set([
  ...['claude', 'codex', 'gemini', 'opencode', 'copilot', 'cursor-agent', 'kilo', 'kilocode', 'pi', 'omp', 'agy'],
  ...['antigravity', 'hermes', 'hermes-agent', 'kiro', 'kiro-cli', 'q', 'qchat', 'grok', 'qwen', 'qwen-code', 'droid'],
  ...['devin', 'vibe', 'mistral-vibe', 'kimi', 'kimi-code', 'kimi-cli', 'cline', 'amp', 'qoder', 'qodercli', 'crush'],
  ...['mastracode', 'maki', 'deepseek', 'settl', 'aider', 'cn', 'auggie', 'qodo', 'codebuff', 'letta', 'junie'],
  ...['iflow', 'goose', 'openhands', 'forge', 'codebuddy', 'plandex', 'gptme', 'trae-cli', 'rovodev', 'factory'],
]);

/** Folders of their packages, which a script is started from under any name. */
const places = [
  /\/@anthropic-ai\/claude-code/,
  /\/@openai\/codex/,
  /\/@google\/gemini-cli/,
  /\/@github\/copilot/,
  /\/@kilocode\/cli/,
  /\/opencode-ai\//,
  /\/@(?:earendil-works|mariozechner)\/pi-coding-agent/,
  /\/@oh-my-pi\//,
  /\/@qwen-code\/qwen-code/,
  /\/@moonshot-ai\/kimi-code/,
  /\/@xai-official\/grok/,
  /\/@vibe-kit\/grok-cli/,
  /\/@continuedev\/cli/,
  /\/@sourcegraph\/amp/,
  /\/@augmentcode\/auggie/,
  /\/@qodo\/(?:command|gen)/,
  /\/@letta-ai\/letta-code/,
  /\/@factory\/cli/,
  /\/@iflow-ai\/iflow-cli/,
  /\/@tencent-ai\/codebuddy-code/,
  /\/@qoder-ai\/qodercli/,
  /\/node_modules\/(?:cline|codebuff|mastracode)\//,
  /\/(?:aider|openhands|mistral_vibe|vibe|hermes_agent|gptme)\/__main__\.py$/,
];

const runtime = /^(?:node|nodejs|bun|deno|python[\d.]*|pypy[\d.]*|ruby|uv|java|electron)$/;

export const isAgentProgram = (program: ProgramView): boolean =>
  identifyAgent(program) !== null || wordsOf(program).some((word) => isNamed(word));

const isNamed = (word: string): boolean =>
  names.has(lastPart(word).replace(/\.(?:exe|c?js|mjs|py)$/, '')) || places.some((place) => place.test(word));

/** What may be its name: its file and how it was called; for a language's runtime the script or module that it runs. */
function wordsOf({ executable, argv }: ProgramView): readonly string[] {
  const called = argv[0] ?? '';
  // Some write a title there, and their arguments with it.
  const title = called.startsWith('/') ? called : (called.split(' ', 1)[0] ?? '');
  const own = executable === null ? [title] : [executable, title];
  if (!own.some((word) => runtime.test(lastPart(word)))) return own;
  const at = argv.findIndex((word, place) => place > 0 && (!word.startsWith('-') || word === '-m'));
  const script = argv[at] === '-m' ? argv[at + 1] : argv[at];
  return script === undefined ? own : [...own, script];
}
