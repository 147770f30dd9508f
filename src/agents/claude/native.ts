// Where Claude Code itself says what it does: the registry of its live sessions since 2.1, and the transcript of the
// conversation, whose place the registry tells. Its program status (OSC 7501) is not seen inside tmux.

import { limits } from '../../model/limits.ts';
import type { NativeSource, RunView, Watch } from '../contract.ts';
import { registryReader } from './registry.ts';
import { configFolder, transcriptPath, transcriptReader } from './transcript.ts';

const environment = ['CLAUDE_CONFIG_DIR'];

const openReader = (watch: Watch) => (watch.kind === 'journal' ? transcriptReader() : registryReader());

/** Follows the transcript as well, as soon as the row names the conversation. */
const registry: NativeSource = {
  id: 'registry',
  source: 'native',
  environment,
  remote: true,
  plan: (run) => run.programs.map(({ pid }) => ({ kind: 'file', path: `${configFolder(run)}/sessions/${pid}.json` })),
  open: openReader,
};

/** For versions without a registry: only a conversation that the arguments name can be told apart from its neighbours. */
const transcript: NativeSource = {
  id: 'transcript',
  source: 'transcript',
  environment,
  remote: false,
  plan: (run) => {
    const session = hasNoRegistry(run.version) ? sessionInArguments(run) : null;
    if (session === null) return [];
    const path = transcriptPath(configFolder(run), run.cwd, session);
    return [{ kind: 'journal', path, tailBytes: limits.transcriptTailBytes }];
  },
  open: openReader,
};

export const natives: readonly NativeSource[] = [registry, transcript];

const hasNoRegistry = (version: string | null): boolean => version !== null && /^(1|2\.0)\./.test(version);

function sessionInArguments({ programs }: RunView): string | null {
  for (const { argv } of programs) {
    for (const [place, word] of argv.entries()) {
      const value = /^(--resume|-r|--session-id)$/.test(word)
        ? argv[place + 1]
        : /^--(?:resume|session-id)=(.+)$/.exec(word)?.[1];
      if (value !== undefined && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return value;
    }
  }
  return null;
}
