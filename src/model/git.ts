// What git says of the folder that an agent works in, and what has changed there since its turn began.

import type { Result } from './errors.ts';

export interface GitFacts {
  /** Top folder of the work tree. */
  readonly root: string;
  /** Folder name of the main work tree: the same for every linked one. */
  readonly repository: string;
  /** Null where no branch is checked out. */
  readonly branch: string | null;
  /** The commit, shortened; null before the first one. */
  readonly head: string | null;
  /** Files that differ from the commit, new ones included; a new folder counts once. */
  readonly dirty: number;
  /** Commits that the upstream branch lacks, and that it has beyond; null without one. */
  readonly ahead: number | null;
  readonly behind: number | null;
  /** It is a linked work tree (`git worktree add`). */
  readonly worktree: boolean;
}

export const fileChanges = ['added', 'modified', 'deleted', 'renamed', 'other'] as const;

export interface ChangedFile {
  readonly path: string;
  /** Of a renamed one: what it was called. */
  readonly old_path: string | null;
  readonly change: (typeof fileChanges)[number];
  /** Lines; null for what is not text. */
  readonly added: number | null;
  readonly removed: number | null;
}

/** `turn`: as it was when the turn began; `first_seen`: when the daemon first saw the agent at work; `commit`: no turn was seen. */
export const diffBases = ['turn', 'first_seen', 'commit'] as const;

export interface TurnDiff {
  readonly git: GitFacts;
  readonly base: {
    readonly kind: (typeof diffBases)[number];
    readonly head: string | null;
    /** Wall time in ms; null for a commit. */
    readonly at: number | null;
  };
  readonly files: readonly ChangedFile[];
  /** Changed files in all: `files` is bounded. */
  readonly files_total: number;
  /** Files that were not compared: too large, or too many. */
  readonly left_out: number;
  /** Unified, as git writes it. Foreign text. */
  readonly patch: string;
  /** The patch was longer than is passed on. */
  readonly is_cut: boolean;
}

/** An agent in a folder of this machine, as far as its folder is concerned. */
export interface GitAgent {
  readonly runtime_id: string;
  readonly cwd: string;
}

export interface GitService {
  diff(agent: GitAgent): Promise<Result<TurnDiff>>;
}
