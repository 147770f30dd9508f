// `agtmux new`: starts an agent in a new tmux window, or those of a preset together. The daemon does it; here is only what a
// person says.

import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { NewAgentBody, ReceiptReply } from '../api/actions.ts';
import { post } from '../api/requests.ts';
import { AgtmuxError, errors } from '../model/errors.ts';
import type { Config } from '../offline/config.ts';
import { createRealExec } from '../platform/exec.ts';
import { makeWorktree } from '../sessions/worktree.ts';
import { askOnce, safe, tellReceipt } from './act.ts';
import { loadConfig } from './config.ts';
import { type Action, type Context, configPath, must } from './context.ts';
import { note } from './output.ts';
import type { Parsed } from './parse.ts';
import { placeHere } from './refs.ts';
import type { Answer } from './running.ts';

type Preset = Config['preset'][string];
type PresetAgent = Preset['agents'][number];

/** A fresh worktree beside the repository, as a managed session gets one; it stays when the agent ends. */
async function worktreeFor({ clock }: Context, branch: string, agent: string, cwd: string | null): Promise<string> {
  if (cwd === null) {
    throw new AgtmuxError('E_USAGE', '--worktree is for this machine', {
      next: 'make one there, and name it with --cwd',
    });
  }
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const stamp = new Date(clock.wallMs()).toISOString().replaceAll(/[-:]/g, '').slice(4, 15).replace('T', '-');
  const made = must(
    await makeWorktree(createRealExec(clock), Object.fromEntries(env), { cwd, branch, name: `${agent}-${stamp}` }),
  );
  note(`worktree ${made.path} on branch ${made.branch}`);
  return made.cwd;
}

interface Place {
  readonly target: string | null;
  readonly session: string | null;
  /** What is relative is meant from here; null: on another machine, about which that says nothing. */
  readonly cwd: string | null;
  readonly said: string | null;
}

async function placeOf(parsed: Parsed, context: Context): Promise<Place> {
  // Without a word about it the new window comes where one is.
  const here = parsed.value('session') === undefined ? await placeHere(context) : null;
  const target = parsed.value('target') ?? here?.target ?? null;
  const said = parsed.value('cwd') ?? null;
  const isHere = target === null || target === 'host' || target.startsWith('host@');
  return {
    target,
    session: parsed.value('session') ?? (here?.target === target ? here.session : null),
    cwd: isHere ? resolve(said ?? '.') : null,
    said,
  };
}

export const newAgent: Action = async (parsed, context) => {
  const preset = parsed.value('preset');
  if (preset !== undefined) return newPreset(parsed, context, preset);
  const [agent, ...args] = parsed.args;
  if (agent === undefined) {
    throw new AgtmuxError('E_USAGE', "missing required argument 'agent'", {
      next: 'run `agtmux new <agent>`, or `agtmux new --preset <name>`',
    });
  }
  const { target, session, cwd, said } = await placeOf(parsed, context);
  const branch = parsed.value('worktree') ?? '';
  const body: NewAgentBody = {
    agent,
    target,
    session,
    cwd: parsed.has('worktree') ? await worktreeFor(context, branch, agent, cwd) : (cwd ?? said),
    args,
  };
  tellReceipt(parsed, await askOnce(context, post('/v1/runtimes', body)));
};

/** One after the other; what one is refused keeps nothing from the others (ACT11). */
async function newPreset(parsed: Parsed, context: Context, name: string): Promise<void> {
  if (parsed.args.length > 0 || parsed.has('worktree')) {
    throw new AgtmuxError('E_USAGE', 'a preset says itself which agents it starts, and in which worktrees', {
      next: 'omit the agent and --worktree',
    });
  }
  const preset = presetNamed(name);
  const place = await placeOf(parsed, context);
  let beside: string | null = null;
  let first: AgtmuxError | null = null;
  for (const [at, one] of preset.agents.entries()) {
    try {
      const body = await bodyFor(context, place, one, `${name}-${at + 1}`);
      const started: Answer<ReceiptReply> = await askOnce(
        context,
        post('/v1/runtimes', { ...body, ...besideOf(preset, beside) }),
      );
      beside ??= started.reply.runtime_id;
      await tellStarted(parsed, context, started, one.prompt);
    } catch (problem) {
      if (!(problem instanceof AgtmuxError)) throw problem;
      first ??= problem;
      const which = `${one.agent} (${at + 1} of ${preset.agents.length})`;
      note(`${safe(which)}: ${problem.message}; ${problem.next} [${problem.code}]`);
    }
  }
  if (first !== null) process.exitCode = errors[first.code].exit;
}

function presetNamed(name: string): Preset {
  const path = configPath();
  const presets = loadConfig(path)?.preset ?? {};
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (preset !== undefined) return preset;
  const names = Object.keys(presets);
  throw new AgtmuxError('E_REF_NOT_FOUND', `there is no preset ${safe(name)} in ${path}`, {
    next:
      names.length === 0
        ? 'add one, for example `[preset.review]` with `agents = [{ agent = "claude" }]`'
        : `use one of these: ${names.join(', ')}`,
  });
}

async function bodyFor(
  context: Context,
  place: Place,
  { agent, directory, worktree }: PresetAgent,
  label: string,
): Promise<NewAgentBody> {
  const { target, session } = place;
  const cwd = directoryIn(place, directory);
  const isHere = place.cwd !== null;
  return {
    agent,
    target,
    session,
    cwd: worktree === undefined ? cwd : await worktreeFor(context, worktree, label, isHere ? cwd : null),
  };
}

const besideOf = ({ layout }: Preset, runtime: string | null): Pick<NewAgentBody, 'beside'> =>
  layout === 'windows' || runtime === null ? {} : { beside: { runtime, layout } };

async function tellStarted(
  parsed: Parsed,
  context: Context,
  started: Answer<ReceiptReply>,
  prompt: string | undefined,
): Promise<void> {
  const { runtime_id, failure } = started.reply;
  if (prompt !== undefined && failure === null && runtime_id !== null) {
    await sendPrompt(parsed, context, started, prompt);
    return;
  }
  tellReceipt(parsed, started);
  if (prompt === undefined) return;
  throw new AgtmuxError('E_TIMEOUT', 'its prompt was not sent: the agent has not appeared yet', {
    next: 'see `agtmux list`, then send it with `agtmux send --when-ready`',
  });
}

/** It waits in the queue: what a fresh agent shows first is often a question, which a line and Enter could answer (ACT3). */
async function sendPrompt(
  parsed: Parsed,
  context: Context,
  started: Answer<ReceiptReply>,
  text: string,
): Promise<void> {
  const runtime = started.reply.runtime_id ?? '';
  const message = { action: 'send', ref: `runtime:${runtime}`, text, when_ready: true } as const;
  const request = post('/v1/act', { ...message, conditions: { if_runtime: runtime } });
  if (parsed.has('json')) tellReceipt(parsed, started);
  const sent = await askOnce(context, request);
  const { outcome, failure } = sent.reply;
  if (failure !== null && !parsed.has('json')) tellReceipt(parsed, started);
  tellReceipt(parsed, sent, `started, prompt ${outcome}`);
}

function directoryIn({ cwd, said }: Place, directory: string | undefined): string | null {
  if (directory === undefined) return cwd ?? said;
  // A home elsewhere is another one; there the daemon asks for the full path.
  if (cwd === null) return directory;
  return directory === '~' || directory.startsWith('~/')
    ? join(homedir(), directory.slice(1))
    : resolve(cwd, directory);
}
