// The work trees that agents are in, each with what git says of it: asked again only when a file of its repository or an
// agent in it has changed, at most two at once, and never twice within a moment.

import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isSame } from '../engine/canonical.ts';
import type { GitFacts } from '../model/git.ts';
import type { Cancel, Clock } from '../platform/clock.ts';
import type { FileWatch, FolderHint } from '../platform/file-watch.ts';
import { type GitProgram, parseStatus, statusArgs } from './git-program.ts';

/** Folders of living agents that are followed: far more than a machine runs. */
const foldersMax = 1_000;
/** From a folder up to the top of its work tree. */
const levelsMax = 40;
/** Not asked again sooner, however much happens there; and so many times as long as it took last. */
const restMs = 2_000;
const restFactor = 20;
/** Hints get lost, and nothing hints at a file that an agent edits without a word: so often it is looked at all the same. */
const pollMs = 15_000;
const workingMs = 30_000;

export interface GitAgentSeen {
  readonly runtime_id: string;
  readonly cwd: string;
  readonly isRunning: boolean;
  /** Another one than before: it did something, and may have changed files. */
  readonly mark: string;
}

interface Place {
  readonly root: string;
  readonly gitDir: string;
  /** What all work trees of a repository share; the same as `gitDir` in the main one. */
  readonly commonDir: string;
}

interface Tree extends Place {
  facts: GitFacts | null;
  upstream: string | null;
  hint: FolderHint | null;
  signature: string;
  isDue: boolean;
  isAsking: boolean;
  isWorking: boolean;
  askedAt: number;
  restUntil: number;
}

export interface WorkTreesPorts {
  readonly clock: Clock;
  readonly files: FileWatch;
  readonly git: GitProgram;
  /** Facts have changed. */
  readonly onChange: () => void;
}

/** Names in the folder of a repository that change with what git says; others are locks, messages and objects. */
const telling = new Set(['HEAD', 'index', 'FETCH_HEAD', 'ORIG_HEAD', 'packed-refs', 'COMMIT_EDITMSG', 'MERGE_HEAD']);

export class WorkTrees {
  readonly #parts: WorkTreesPorts;
  /** By folder: where its work tree is; null where there is none. Absent: not known yet. */
  readonly #places = new Map<string, Place | null>();
  readonly #finding = new Set<string>();
  readonly #trees = new Map<string, Tree>();
  readonly #marks = new Map<string, string>();
  #cancelPoll: Cancel;
  #cancelRest: Cancel | null = null;
  #isStopped = false;

  constructor(parts: WorkTreesPorts) {
    this.#parts = parts;
    this.#cancelPoll = this.#pollLater();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelPoll();
    this.#cancelRest?.();
    for (const tree of this.#trees.values()) tree.hint?.close();
  }

  factsOf(cwd: string): GitFacts | null {
    const place = this.#places.get(cwd);
    return place == null ? null : (this.#trees.get(place.root)?.facts ?? null);
  }

  /** The living agents of this machine, as they are now. */
  look(agents: readonly GitAgentSeen[]): void {
    const wanted = new Set<string>();
    const working = new Set<string>();
    for (const { cwd, runtime_id, mark, isRunning } of agents) {
      if (!cwd.startsWith('/') || wanted.size >= foldersMax) continue;
      wanted.add(cwd);
      const place = this.#places.get(cwd);
      if (place === undefined) void this.#find(cwd);
      if (place == null) continue;
      if (isRunning) working.add(place.root);
      if (this.#marks.get(runtime_id) === mark) continue;
      this.#marks.set(runtime_id, mark);
      this.#soon(place.root);
    }
    this.#forget(wanted, agents);
    for (const [root, tree] of this.#trees) tree.isWorking = working.has(root);
    this.#pump();
  }

  #forget(wanted: ReadonlySet<string>, agents: readonly GitAgentSeen[]): void {
    for (const cwd of this.#places.keys()) if (!wanted.has(cwd)) this.#places.delete(cwd);
    const roots = new Set([...this.#places.values()].map((place) => place?.root));
    for (const [root, tree] of this.#trees) {
      if (roots.has(root)) continue;
      tree.hint?.close();
      this.#trees.delete(root);
    }
    if (this.#marks.size <= agents.length) return;
    const runtimes = new Set(agents.map(({ runtime_id }) => runtime_id));
    for (const runtime of this.#marks.keys()) if (!runtimes.has(runtime)) this.#marks.delete(runtime);
  }

  /** Where the work tree of a folder is, by looking alone: no program is run for what is in none. */
  async placeOf(cwd: string): Promise<Place | null> {
    const { files } = this.#parts;
    // Nobody knows yet, or somebody said what is no folder.
    if (!isAbsolute(cwd)) return null;
    for (let folder = resolve(cwd), level = 0; level < levelsMax; level += 1) {
      const found = await this.#placeAt(folder).catch(() => null);
      if (found !== null) return found;
      const above = dirname(folder);
      if (above === folder || !files.isThere(above)) return null;
      folder = above;
    }
    return null;
  }

  async #placeAt(root: string): Promise<Place | null> {
    const { files } = this.#parts;
    const dot = join(root, '.git');
    const look = await files.look(dot);
    if (look === null) return null;
    if (look.kind === 'directory')
      return (await files.look(join(dot, 'HEAD'))) === null ? null : { root, gitDir: dot, commonDir: dot };
    const named = /^gitdir: (.+?)\n*$/.exec(await this.#textOf(dot))?.[1];
    if (named === undefined) return null;
    const gitDir = resolve(root, named);
    const common = (await this.#textOf(join(gitDir, 'commondir'))).trim();
    return { root, gitDir, commonDir: common === '' ? gitDir : resolve(gitDir, common) };
  }

  async #textOf(path: string): Promise<string> {
    const piece = await this.#parts.files.readPiece(path, 0, 4_096).catch(() => null);
    return piece === null ? '' : Buffer.from(piece.bytes).toString();
  }

  async #find(cwd: string): Promise<void> {
    if (this.#finding.has(cwd)) return;
    this.#finding.add(cwd);
    const place = await this.placeOf(cwd);
    this.#finding.delete(cwd);
    if (this.#isStopped) return;
    const before = this.#places.get(cwd);
    this.#places.set(cwd, place);
    if (place === null) {
      if (before != null) this.#parts.onChange();
      return;
    }
    if (!this.#trees.has(place.root)) this.#trees.set(place.root, this.#treeAt(place));
    this.#soon(place.root);
    this.#pump();
  }

  #treeAt(place: Place): Tree {
    const { root } = place;
    const never = Number.NEGATIVE_INFINITY;
    const state = { isDue: false, isAsking: false, isWorking: false, askedAt: never, restUntil: never };
    return { ...place, ...state, facts: null, upstream: null, signature: '', hint: this.#hintOf(root, place.gitDir) };
  }

  #hintOf(root: string, gitDir: string): FolderHint | null {
    const { files } = this.#parts;
    const hear = (name: string | null): void => {
      if (name !== null && !telling.has(name)) return;
      this.#soon(root);
      this.#pump();
    };
    const onLost = (): void => {
      const tree = this.#trees.get(root);
      if (tree !== undefined) tree.hint = null;
    };
    return files.hint(gitDir, hear, onLost);
  }

  #soon(root: string): void {
    const tree = this.#trees.get(root);
    if (tree !== undefined) tree.isDue = true;
  }

  #pump(): void {
    if (this.#isStopped) return;
    const now = this.#parts.clock.monotonicMs();
    let next = Number.POSITIVE_INFINITY;
    for (const tree of this.#trees.values()) {
      if (!tree.isDue || tree.isAsking) continue;
      if (tree.restUntil > now) next = Math.min(next, tree.restUntil);
      else void this.#ask(tree);
    }
    this.#cancelRest?.();
    this.#cancelRest = Number.isFinite(next) ? this.#parts.clock.after(next - now, () => this.#pump()) : null;
  }

  async #ask(tree: Tree): Promise<void> {
    const { clock, git, onChange } = this.#parts;
    tree.isDue = false;
    tree.isAsking = true;
    tree.signature = await this.#signatureOf(tree);
    const beganAt = clock.monotonicMs();
    const output = await git.run(tree.root, statusArgs('normal'));
    const endedAt = clock.monotonicMs();
    tree.isAsking = false;
    tree.askedAt = endedAt;
    tree.restUntil = endedAt + Math.max(restMs, restFactor * (endedAt - beganAt));
    const status = output === null ? null : parseStatus(output.text);
    tree.upstream = status?.upstream ?? null;
    const facts: GitFacts | null =
      status === null
        ? null
        : {
            root: tree.root,
            repository: basename(basename(tree.commonDir) === '.git' ? dirname(tree.commonDir) : tree.commonDir),
            branch: status.branch,
            head: status.head?.slice(0, 12) ?? null,
            dirty: status.dirty,
            ahead: status.ahead,
            behind: status.behind,
            worktree: tree.gitDir !== tree.commonDir,
          };
    const isOther = !isSame(facts, tree.facts);
    tree.facts = facts;
    if (this.#isStopped) return;
    if (isOther) onChange();
    this.#pump();
  }

  /** Of the files that say what is checked out and what is known of the upstream. */
  async #signatureOf({ gitDir, commonDir, facts, upstream }: Tree): Promise<string> {
    const refs = [
      ...(facts?.branch == null ? [] : [`refs/heads/${facts.branch}`]),
      ...(upstream === null ? [] : [`refs/remotes/${upstream}`]),
    ];
    const paths = [
      ...['HEAD', 'index'].map((name) => join(gitDir, name)),
      ...['FETCH_HEAD', 'packed-refs', ...refs].map((name) => join(commonDir, name)),
    ];
    const looks = await Promise.all(paths.map((path) => this.#parts.files.look(path).catch(() => null)));
    return looks.map((look) => (look === null ? '' : `${look.id} ${look.mtimeMs} ${look.sizeBytes}`)).join('\n');
  }

  #pollLater(): Cancel {
    return this.#parts.clock.after(pollMs, () => {
      void this.#poll().finally(() => {
        if (!this.#isStopped) this.#cancelPoll = this.#pollLater();
      });
    });
  }

  async #poll(): Promise<void> {
    const now = this.#parts.clock.monotonicMs();
    // A repository may have come to be in a folder, or be gone.
    for (const cwd of this.#places.keys()) await this.#findAgain(cwd);
    for (const [root, tree] of this.#trees) {
      tree.hint ??= this.#hintOf(root, tree.gitDir);
      const isOld = tree.isWorking && now - tree.askedAt >= workingMs;
      if (isOld || (await this.#signatureOf(tree)) !== tree.signature) this.#soon(root);
    }
    this.#pump();
  }

  /** The same folder again, which costs nothing where it is as it was. */
  async #findAgain(cwd: string): Promise<void> {
    const before = this.#places.get(cwd);
    if (before == null) {
      if (before === null && (await this.placeOf(cwd)) !== null) await this.#find(cwd);
      return;
    }
    if ((await this.#placeAt(before.root).catch(() => null)) === null) await this.#find(cwd);
  }
}
