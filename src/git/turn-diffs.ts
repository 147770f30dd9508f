// What has changed in an agent's work tree since its turn began. When a turn begins, the tree is remembered as git objects in a
// folder of our own; nothing is ever written into the repository. Asked for a diff, the tree of now is compared with that one.

import { join } from 'node:path';
import { fail, ok, type Result } from '../model/errors.ts';
import type { GitAgent, GitService, TurnDiff } from '../model/git.ts';
import type { StateName } from '../model/states.ts';
import type { Clock } from '../platform/clock.ts';
import type { FileWatch } from '../platform/file-watch.ts';
import { FileError, type Files, type Folders, isDiskFull } from '../platform/files.ts';
import { type GitProgram, parseChanges, parseStatus, statusArgs } from './git-program.ts';
import type { GitAgentSeen, WorkTrees } from './work-trees.ts';

/** More changed files than this are not remembered one by one. */
const pathsMax = 2_000;
/** Larger ones are recordings, archives and models, whose diff nobody reads. */
const fileBytesMax = 1_048_576;
const treeBytesMax = 33_554_432;
/** As many files as a person goes through. */
const filesMax = 500;
const diffsMax = 4;

export interface TurnAgent extends GitAgentSeen {
  readonly state: StateName;
}

interface Tree {
  readonly head: string | null;
  /** An object that names the files: a commit where nothing differs from it. */
  readonly id: string;
  /** Where the objects are that the repository does not have; null: it has them all. */
  readonly folder: string | null;
  readonly leftOut: ReadonlySet<string>;
}

interface Turn {
  state: StateName;
  base: {
    readonly kind: 'turn' | 'first_seen';
    readonly at: number;
    readonly root: string;
    /** Null: git did not say. */
    readonly tree: Promise<Result<Tree | null>>;
  } | null;
}

export interface TurnDiffsPorts {
  readonly clock: Clock;
  readonly files: Files;
  readonly watch: FileWatch;
  readonly folders: Folders;
  readonly git: GitProgram;
  readonly trees: WorkTrees;
  /** Ours alone; what an earlier run left there goes at the start. */
  readonly folder: string;
}

const asks = (state: StateName): boolean => state === 'waiting_approval' || state === 'waiting_input';

export class TurnDiffs implements GitService {
  readonly #parts: TurnDiffsPorts;
  readonly #turns = new Map<string, Turn>();
  #count = 0;
  #diffing = 0;
  readonly #cleared: Promise<unknown>;

  constructor(parts: TurnDiffsPorts) {
    this.#parts = parts;
    this.#cleared = this.#remove(parts.folder);
  }

  /** A turn begins when an agent that did nothing runs; an answered ask is the same turn. */
  look(agents: readonly TurnAgent[]): void {
    for (const { runtime_id, cwd, state } of agents) {
      const turn = this.#turns.get(runtime_id);
      if (turn === undefined) this.#turns.set(runtime_id, { state, base: null });
      const isBusy = state === 'running' || asks(state);
      if (turn === undefined ? isBusy : state === 'running' && turn.state !== 'running' && !asks(turn.state)) {
        void this.#begin(runtime_id, cwd, turn === undefined ? 'first_seen' : 'turn');
      }
      const now = this.#turns.get(runtime_id);
      // Nobody knows what an unknown one does: what it did before counts on.
      if (now !== undefined && state !== 'unknown') now.state = state;
    }
    if (this.#turns.size <= agents.length) return;
    const living = new Set(agents.map(({ runtime_id }) => runtime_id));
    for (const [runtime, turn] of this.#turns) {
      if (living.has(runtime)) continue;
      this.#turns.delete(runtime);
      void this.#drop(turn.base);
    }
  }

  async #begin(runtime: string, cwd: string, kind: 'turn' | 'first_seen'): Promise<void> {
    const at = this.#parts.clock.wallMs();
    const place = await this.#parts.trees.placeOf(cwd);
    const turn = this.#turns.get(runtime);
    if (turn === undefined || place === null) return;
    const before = turn.base;
    turn.base = { kind, at, root: place.root, tree: this.#treeOf(place.root) };
    await this.#drop(before);
  }

  async #drop(base: Turn['base']): Promise<void> {
    const tree = await base?.tree;
    if (tree?.ok && tree.value?.folder != null) await this.#remove(tree.value.folder);
  }

  /** What cannot be removed now goes at the next start. */
  #remove(folder: string): Promise<unknown> {
    return this.#parts.folders.removeAll(folder).catch(() => false);
  }

  async diff({ runtime_id, cwd }: GitAgent): Promise<Result<TurnDiff>> {
    const { trees } = this.#parts;
    const place = await trees.placeOf(cwd);
    const facts = trees.factsOf(cwd);
    if (place === null || facts === null) {
      const next = 'diffs are there for agents in a git work tree of this machine';
      return fail('E_UNSUPPORTED', 'git knows nothing of the folder that it works in', next);
    }
    if (this.#diffing >= diffsMax) return fail('E_TIMEOUT', 'other diffs are being made', 'try again in a moment');
    this.#diffing += 1;
    try {
      const turn = this.#turns.get(runtime_id)?.base ?? null;
      const kept = turn?.root === place.root ? await turn.tree : ok(null);
      if (!kept.ok) {
        const what = `no base to compare with: what was there when the turn began was not kept: ${kept.failure.message}`;
        const next = `make room for the next turn; git diff HEAD in ${facts.root} shows what differs from the commit`;
        return fail(kept.failure.code, what, next);
      }
      const known = kept.value;
      const current = await this.#treeOf(place.root);
      if (!current.ok) return current;
      const now = current.value;
      if (now === null) return fail('E_TIMEOUT', 'git did not say what has changed', `run git status in ${facts.root}`);
      const base = known ?? { head: now.head, id: now.head ?? (await this.#emptyTree(place.root)), folder: null };
      const made = await this.#compare(place.root, base, now);
      await this.#drop({ kind: 'turn', at: 0, root: '', tree: Promise.resolve(current) });
      if (made === null) return fail('E_TIMEOUT', 'git did not say what has changed', `run git diff in ${facts.root}`);
      const leftOut = new Set([...now.leftOut, ...(known?.leftOut ?? [])]);
      const kind = known === null || turn === null ? 'commit' : turn.kind;
      const at = known === null || turn === null ? null : turn.at;
      return ok({ git: facts, base: { kind, head: short(base.head), at }, left_out: leftOut.size, ...made });
    } finally {
      this.#diffing -= 1;
    }
  }

  async #compare(root: string, base: Pick<Tree, 'id' | 'folder'>, now: Tree) {
    const { git } = this.#parts;
    const env = await this.#objects(root, [base.folder, now.folder]);
    if (env === null) return null;
    const how = ['diff-tree', '-r', '--find-renames', '-l200', '--no-ext-diff', '--no-textconv'];
    const list = await git.run(root, [...how, '-z', '--raw', '--numstat', base.id, now.id], { env });
    if (list === null) return null;
    const marks = ['--no-color', '--src-prefix=a/', '--dst-prefix=b/'];
    const patch = await git.run(root, [...how, '--patch', ...marks, base.id, now.id], { env });
    if (patch === null) return null;
    const files = parseChanges(list.text);
    // Never half a line.
    const text = patch.isCut ? patch.text.slice(0, patch.text.lastIndexOf('\n') + 1) : patch.text;
    return { files: files.slice(0, filesMax), files_total: files.length, patch: text, is_cut: patch.isCut };
  }

  /** Where git finds objects besides the repository's own; the first folder takes new ones. */
  async #objects(root: string, folders: readonly (string | null)[]): Promise<Record<string, string> | null> {
    const [first, ...others] = folders.filter((folder) => folder !== null).map((folder) => join(folder, 'objects'));
    if (first === undefined) return {};
    const own = await this.#parts.git.run(root, ['rev-parse', '--path-format=absolute', '--git-path', 'objects']);
    const path = own?.text.trim() ?? '';
    // It separates by colons, and a quoted path is another thing than it says.
    if (!path.startsWith('/') || /[":]/.test(path)) return null;
    return { GIT_OBJECT_DIRECTORY: first, GIT_ALTERNATE_OBJECT_DIRECTORIES: [path, ...others].join(':') };
  }

  async #emptyTree(root: string): Promise<string> {
    const made = await this.#parts.git.run(root, ['hash-object', '-t', 'tree', '/dev/null']);
    return made?.text.trim() ?? '';
  }

  /** The work tree as it is now; null when git does not say, or not in time. A failure when there is no room to keep it. */
  async #treeOf(root: string): Promise<Result<Tree | null>> {
    try {
      return ok(await this.#keep(root));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return fail(isDiskFull(error) ? 'E_STORE_FULL' : 'E_STORE_IO', error.message);
    }
  }

  async #keep(root: string): Promise<Tree | null> {
    const { git, files } = this.#parts;
    await this.#cleared;
    const all = await git.run(root, statusArgs('all'));
    const output = all === null || all.isCut ? await git.run(root, statusArgs('no')) : all;
    if (output === null || output.isCut) return null;
    const { head, paths } = parseStatus(output.text);
    if (paths.length === 0 && head !== null) return { head, id: head, folder: null, leftOut: new Set() };
    const { kept, leftOut } = await this.#fitting(root, paths);
    this.#count += 1;
    const folder = join(this.#parts.folder, String(this.#count));
    await files.mkdirPrivate(join(folder, 'objects'));
    const objects = await this.#objects(root, [folder]);
    const id =
      objects === null
        ? null
        : await this.#write(root, head, kept, { ...objects, GIT_INDEX_FILE: join(folder, 'index') });
    if (id !== null) return { head, id, folder, leftOut };
    await this.#remove(folder);
    return null;
  }

  async #write(root: string, head: string | null, paths: readonly string[], env: Record<string, string>) {
    const { git } = this.#parts;
    const begun = await git.run(root, ['read-tree', head ?? '--empty'], { env });
    if (begun === null) return null;
    const stdin = paths.map((path) => `${path}\0`).join('');
    const added = await git.run(root, ['update-index', '--add', '--remove', '-z', '--stdin'], { env, stdin });
    if (added === null) return null;
    const tree = await git.run(root, ['write-tree'], { env });
    return tree?.text.trim() ?? null;
  }

  /** What is small enough to be remembered; a folder is a repository of its own, which is not ours to look into. */
  async #fitting(root: string, paths: readonly string[]) {
    const kept: string[] = [];
    const leftOut = new Set(paths.slice(pathsMax));
    let room = treeBytesMax;
    for (const path of paths.slice(0, pathsMax)) {
      const look = path.endsWith('/') ? null : await this.#parts.watch.look(join(root, path)).catch(() => null);
      const bytes = look?.sizeBytes ?? 0;
      if (path.endsWith('/') || bytes > fileBytesMax || bytes > room) leftOut.add(path);
      else kept.push(path);
      room -= bytes;
    }
    return { kept, leftOut };
  }
}

const short = (head: string | null): string | null => head?.slice(0, 12) ?? null;
