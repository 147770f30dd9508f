// Git, put together from the daemon's parts: which agents are in folders of this machine, what git says of those, and what their
// turns have changed there.

import { join } from 'node:path';
import type { PaneRow } from '../api/panes.ts';
import { GitProgram } from '../git/git-program.ts';
import { TurnDiffs } from '../git/turn-diffs.ts';
import { WorkTrees } from '../git/work-trees.ts';
import { fail, type Result } from '../model/errors.ts';
import type { GitAgent, GitFacts, TurnDiff } from '../model/git.ts';
import type { TargetId } from '../model/ids.ts';
import { hasAgent } from '../model/rows.ts';
import type { Clock } from '../platform/clock.ts';
import type { Exec } from '../platform/exec.ts';
import { createRealFileWatch } from '../platform/file-watch.ts';
import { createRealFolders, type Files } from '../platform/files.ts';
import { hostTarget } from '../targets/names.ts';

export interface GitPorts {
  readonly clock: Clock;
  readonly files: Files;
  readonly exec: Exec;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  /** Folders of other machines are not ours to look into. */
  readonly isHere: (target: TargetId) => boolean;
  readonly onChange: () => void;
}

export interface Git {
  diff(agent: GitAgent & { readonly identity: { readonly target: TargetId } }): Promise<Result<TurnDiff>>;
  factsOf(target: TargetId, cwd: string): GitFacts | null;
  look(rows: readonly PaneRow[]): void;
  stop(): void;
}

export function openGit({ clock, files, exec, variables, stateDir, isHere, onChange }: GitPorts): Git {
  const git = new GitProgram(exec, variables);
  const watch = createRealFileWatch();
  const trees = new WorkTrees({ clock, files: watch, git, onChange });
  const folder = join(stateDir, 'turns');
  const turns = new TurnDiffs({ clock, files, watch, folders: createRealFolders(), git, trees, folder });
  return {
    factsOf: (target, cwd) => (isHere(target) ? trees.factsOf(cwd) : null),
    async diff({ runtime_id, cwd, identity: { target } }) {
      // This machine is it also while no tmux of it is watched.
      if (isHere(target) || target === hostTarget) return turns.diff({ runtime_id, cwd });
      const next = 'run `agtmux diff` or `git diff HEAD` there';
      return fail('E_UNSUPPORTED', `the agent works on ${target}, whose files agtmux does not compare`, next);
    },
    look(rows) {
      const agents = rows
        .filter(hasAgent)
        .filter(({ ended, identity }) => ended === null && isHere(identity.target))
        .map(({ runtime_id, cwd, state, detail, state_version }) => ({
          ...{ runtime_id, cwd, state },
          isRunning: state === 'running',
          mark: `${state_version} ${detail ?? ''}`,
        }));
      trees.look(agents);
      turns.look(agents);
    },
    stop: () => trees.stop(),
  };
}
