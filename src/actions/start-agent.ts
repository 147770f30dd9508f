// Starting an agent in a window of its own: wrapped, so that its exact end is known, and found again by its pane.

import type { Agent } from '../agents/contract.ts';
import type { NewAgent } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { type PaneId, paneId, type RuntimeId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { PaneReach } from '../observe/pane-reach.ts';
import type { Clock } from '../platform/clock.ts';
import { quoteSh, quoteTmux, quoteTmuxFormat } from '../text/quote.ts';

export interface StartingParts {
  readonly clock: Clock;
  readonly reach: PaneReach;
  readonly agent: Agent;
  /** Whether there is such a directory on that machine; null when nobody answers. */
  readonly isDirectory: (path: string) => Promise<boolean | null>;
  /** The wrapper on that machine; null where there is none. */
  readonly wrapper: string | null;
  readonly ownerOf: (pane: PaneId) => RuntimeId | null;
  /** The pane that it shall stand beside; null: it gets a window of its own. */
  readonly beside: PaneId | null;
}

/** The runtime once it is known; null when it did not show up in time, which is no proof that it failed. */
export async function startAgent(wanted: NewAgent, parts: StartingParts): Promise<Result<RuntimeId | null>> {
  const { reach, agent, wrapper } = parts;
  const start = agent.keys?.start ?? [];
  if (start.length === 0) return fail('E_UNSUPPORTED', `how to start ${agent.name} is not known`);
  const argv = [...(wrapper === null ? [] : ['sh', wrapper, '--']), ...start, ...wanted.args];
  const words: string[] = [];
  for (const word of argv) {
    const quoted = quoteSh(word);
    if (!quoted.ok) return quoted;
    words.push(quoted.value);
  }
  const line = quoteTmux(`exec ${words.join(' ')}`);
  if (!line.ok) return line;
  const where = placing(wanted, parts.beside === null ? agent.name : null);
  if (!where.ok) return where;
  if (wanted.cwd !== null && !wanted.cwd.startsWith('/')) return fail('E_INPUT', 'give the full path of the directory');
  // tmux takes another directory where it cannot have this one, and does not say so.
  const isThere = wanted.cwd === null ? true : await parts.isDirectory(wanted.cwd);
  if (isThere === null) return fail('E_TARGET_DOWN', 'the machine does not report whether the directory exists');
  if (!isThere) return fail('E_FILE', 'there is no such directory on that machine', 'name one that exists');
  const opens = await openingOf(wanted, parts);
  if (!opens.ok) return opens;
  const opening = `${opens.value} -d -P -F "#{pane_id}" ${where.value} ${line.value}`;
  const [block] = await reach.change(() => reach.command(opening));
  const said = block === undefined ? '' : Buffer.from(block.body).toString().trim();
  if (block === undefined || block.isError || !/^%\d+$/.test(said)) {
    return fail('E_TMUX_REFUSED', `tmux did not open a window: ${said}`);
  }
  const layout = parts.beside === null ? null : wanted.beside?.layout;
  // After each one: half of a half is soon too small for the next. What it looks like is no reason to call it failed.
  if (layout !== null && layout !== undefined)
    await reach.command(`select-layout -t ${said} ${layout}`).catch(() => []);
  return appears(paneId(said), parts);
}

/** A pane beside another, a window in the session that was named, or that session itself where there is none of that name. */
async function openingOf({ session }: NewAgent, { reach, beside }: StartingParts): Promise<Result<string>> {
  if (beside !== null) return ok(`split-window -t ${beside}`);
  const there = quoteTmux(`=${session ?? ''}:`);
  const name = quoteTmux(quoteTmuxFormat(session ?? ''));
  if (!there.ok) return there;
  if (!name.ok) return name;
  const question = session === null ? 'display-message -p x' : `has-session -t ${there.value}`;
  const [known] = await reach.command(question).catch(() => []);
  // Asked before anything is opened: who does not answer now has opened nothing.
  if (known === undefined) return fail('E_TARGET_DOWN', 'tmux does not respond there; nothing was started');
  if (session === null) return ok('new-window');
  if (!known.isError) return ok(`new-window -t ${there.value}`);
  // tmux would put another character in their place.
  if (/[.:]/.test(session) || session === '')
    return fail(
      'E_INPUT',
      'there is no session of that name, and tmux allows no dot or colon in a new one',
      'name another',
    );
  return ok(`new-session -s ${name.value}`);
}

function placing({ session, cwd }: NewAgent, name: string | null): Result<string> {
  // `$1` and `@1` are ids to tmux, also behind the sign for a whole name.
  if (session !== null && /^[$@%=]/.test(session)) return fail('E_INPUT', 'name the session, not its id');
  const words: string[] = [];
  for (const [flag, value] of [
    ['-n', name],
    // tmux reads a directory as a format, which can run programs.
    ['-c', cwd === null ? null : quoteTmuxFormat(cwd)],
  ] as const) {
    if (value === null) continue;
    const quoted = quoteTmux(value);
    if (!quoted.ok) return quoted;
    words.push(flag, quoted.value);
  }
  return ok(words.join(' '));
}

async function appears(pane: PaneId, parts: StartingParts): Promise<Result<RuntimeId | null>> {
  const { clock, ownerOf, agent } = parts;
  const until = clock.monotonicMs() + limits.agentStartMs;
  let lookAt = 0;
  while (clock.monotonicMs() < until) {
    const found = ownerOf(pane);
    if (found !== null) return ok(found);
    if (clock.monotonicMs() >= lookAt) {
      lookAt = clock.monotonicMs() + limits.paneAliveMs;
      if (await isOver(pane, parts)) {
        const program = agent.keys?.start[0] ?? agent.name;
        return fail(
          'E_ENDED',
          `${program} exited right after its start`,
          `check that ${program} is installed and in the PATH of tmux: \`tmux show-environment -g PATH\``,
        );
      }
    }
    await new Promise<void>((resolve) => clock.after(limits.daemonPollMs, resolve));
  }
  return ok(null);
}

/** Its process has ended, with its pane or inside it. tmux answers for another pane when the one it was asked for is gone. */
async function isOver(pane: PaneId, { reach }: StartingParts): Promise<boolean> {
  const [block] = await reach.command(`display-message -p -t ${pane} "#{pane_id} #{pane_dead}"`).catch(() => []);
  if (block === undefined) return false;
  return block.isError || Buffer.from(block.body).toString().trim() !== `${pane} 0`;
}
