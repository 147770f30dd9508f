// config.toml: every default a person may change, with its bounds. A file with a mistake changes nothing: the message
// names the key, and what was in force before stays in force.

import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { lineOfPath } from '../agents/definition/lines.ts';
import { agents } from '../agents/registry.ts';
import { tmuxLayouts } from '../model/actions.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

const day = 86_400_000;
const seconds = (fallback: number, min: number, max: number) =>
  z
    .number()
    .min(min)
    .max(max)
    .default(fallback / 1000);

/** More panes than this can be read on no screen. */
const presetAgentsMax = 16;

const isPlainName = (name: string): boolean => /^[a-z0-9][a-z0-9_-]{0,31}$/.test(name);
const plainNameWords = 'a name may contain lower-case letters, digits, - and _';

function problemOfName(name: string): string | null {
  if (!isPlainName(name)) return plainNameWords;
  return agents.some((agent) => agent.name === name) ? 'agtmux already has an agent of this name' : null;
}

const presetAgentSchema = z.strictObject({
  agent: z.string().min(1).max(limits.idCharsMax).describe('Which agent, as for `agtmux new`: `claude`.'),
  directory: z
    .string()
    .min(1)
    .max(limits.pathCharsMax)
    .optional()
    .describe('Where it starts: `~/shop`, or relative to where the command is run. Without it, there.'),
  prompt: z
    .string()
    .min(1)
    .max(limits.requestBytesMax)
    .optional()
    .describe('Its first message; it waits in the queue until the agent can take it (ACT7).'),
  worktree: z
    .string()
    .max(limits.pathCharsMax)
    .optional()
    .describe('Start it in a git worktree on this branch; `""`: on a new one with a name made for it (GIT5).'),
});

/** The descriptions are the reference in docs/config.md, which scripts/references.ts writes. */
export const configSchema = z.strictObject({
  states: z
    .strictObject({
      completed_seconds: seconds(limits.completedMs, 1, 86_400).describe(
        'How long finished work is shown as done before it becomes idle (RSV7).',
      ),
      running_stale_seconds: seconds(limits.runningStaleMs, 5, 86_400).describe(
        'How long an agent counts as running without any signal; then it is unknown (RSV0).',
      ),
      ended_shown_seconds: seconds(limits.endedShownMs, 0, 86_400).describe(
        'How long an ended agent stays in the default lists (RSV12).',
      ),
    })
    .prefault({}),
  observe: z
    .strictObject({
      sweep_ms: z
        .number()
        .int()
        .min(100)
        .max(10_000)
        .default(limits.sweepMs)
        .describe(
          'Time between two sweeps of a tmux server; at least a second where nothing moves and the system tells of output.',
        ),
      alive_ms: z
        .number()
        .int()
        .min(50)
        .max(10_000)
        .default(limits.aliveCheckMs)
        .describe('Time between two checks that known agents are alive.'),
    })
    .prefault({}),
  terminals: z
    .strictObject({
      checked_sends: z
        .boolean()
        .default(false)
        .describe(
          'Whether messages may be typed into terminals that cannot check and type in one step, such as kitty (ACT9).',
        ),
    })
    .prefault({}),
  retention: z
    .strictObject({
      days: z
        .number()
        .min(1)
        .max(3_650)
        .default(limits.retentionAgeMs / day)
        .describe('How many days of events are kept; older ones are pruned (LOG4).'),
      megabytes: z
        .number()
        .min(16)
        .max(1_048_576)
        .default(limits.retentionBytesMax / 1_048_576)
        .describe('How large the event log may grow before the oldest events are pruned.'),
    })
    .prefault({}),
  mcp: z
    .strictObject({
      budget_seconds: seconds(limits.shellMcpBudgetMs, 1, limits.shellBudgetMs / 1000).describe(
        'How long a command may block an agent over MCP before it moves to the background (SHL2).',
      ),
      budgets: z
        .record(
          z.string(),
          z
            .number()
            .min(1)
            .max(limits.shellBudgetMs / 1000),
        )
        .default({})
        .describe('The same in seconds for single MCP clients, by the name they give: `codex-mcp-client = 20`.'),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      agents: z
        .record(
          z.string(),
          z.strictObject({
            command: z
              .array(z.string().min(1).max(limits.pathCharsMax))
              .min(1)
              .max(limits.filterValuesMax)
              .describe('The program and its arguments: `["mine", "--acp"]`.'),
            env: z.record(z.string(), z.string()).default({}).describe('Variables to add to its environment.'),
            model_flag: z
              .string()
              .min(1)
              .max(limits.idCharsMax)
              .optional()
              .describe('The option that takes the name of a model: `--model`. Without it no model can be chosen.'),
          }),
        )
        .superRefine((named, context) => {
          for (const name of Object.keys(named)) {
            const message = problemOfName(name);
            if (message !== null) context.addIssue({ code: 'custom', path: [name], message });
          }
        })
        .default({})
        .describe('Further agents for managed sessions that speak the Agent Client Protocol, by name.'),
    })
    .prefault({}),
  usage: z
    .strictObject({
      budget_day: z
        .number()
        .min(0)
        .max(1_000_000)
        .default(0)
        .describe(
          'What agents may cost a day, about, in USD; you are told at 80 % of it and when it is spent. 0: no budget.',
        ),
    })
    .prefault({}),
  preset: z
    .record(
      z.string(),
      z.strictObject({
        layout: z
          .enum(['windows', ...tmuxLayouts])
          .default('windows')
          .describe('A window for each agent, or one window with a pane for each, arranged as tmux calls it.'),
        agents: z
          .array(presetAgentSchema)
          .min(1)
          .max(presetAgentsMax)
          .describe(`The agents to start, in order; at most ${presetAgentsMax}.`),
      }),
    )
    .superRefine((named, context) => {
      for (const name of Object.keys(named)) {
        if (!isPlainName(name)) context.addIssue({ code: 'custom', path: [name], message: plainNameWords });
      }
    })
    .default({})
    .describe('Agents that `agtmux new --preset NAME` starts together, by the name of the preset.'),
  log: z
    .strictObject({
      level: z
        .enum(['debug', 'info', 'warn', 'error'])
        .default('info')
        .describe('The least severe level that is logged.'),
    })
    .prefault({}),
});

export type Config = z.infer<typeof configSchema>;

export const defaultConfig: Config = configSchema.parse({});

/** Reads the text of a config file. */
export function readConfig(text: string, path: string): Result<Config> {
  try {
    const checked = configSchema.safeParse(parse(text));
    if (checked.success) return ok(checked.data);
    const problems = checked.error.issues.map((issue) => {
      const word = issue.code === 'unrecognized_keys' ? (issue.keys[0] ?? null) : null;
      const place = issue.path.map((step) => (typeof step === 'number' ? step + 1 : String(step))).join('.');
      return `line ${lineOfPath(text, issue.path, word)}: ${place || 'file'}: ${issue.message}`;
    });
    return fail('E_CONFIG', `${path}, ${problems.join('; ')}`);
  } catch (problem) {
    if (!(problem instanceof TomlError)) throw problem;
    return fail('E_CONFIG', `${path}, line ${problem.line}: ${problem.message.split('\n')[0]}`);
  }
}
