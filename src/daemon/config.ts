// config.toml: every default a person may change, with its bounds. A file with a mistake changes nothing: the message
// names the key, and what was in force before stays in force.

import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { agents } from '../agents/registry.ts';
import { fail, ok, type Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

const day = 86_400_000;
const seconds = (fallback: number, min: number, max: number) =>
  z
    .number()
    .min(min)
    .max(max)
    .default(fallback / 1000);

function problemOfName(name: string): string | null {
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) return 'a name has small letters, digits, - and _';
  return agents.some((agent) => agent.name === name) ? 'agtmux leads an agent of this name already' : null;
}

const configSchema = z.strictObject({
  states: z
    .strictObject({
      /** How long finished work shows as done before it is idle (RSV7). */
      completed_seconds: seconds(limits.completedMs, 1, 86_400),
      /** How long running stays running without any sign of it (RSV0). */
      running_stale_seconds: seconds(limits.runningStaleMs, 5, 86_400),
      /** How long an ended agent stays in the default lists (RSV12). */
      ended_shown_seconds: seconds(limits.endedShownMs, 0, 86_400),
    })
    .prefault({}),
  observe: z
    .strictObject({
      /** The time between two looks at a tmux server. */
      sweep_ms: z.number().int().min(100).max(10_000).default(limits.sweepMs),
      /** The time between two checks that known agents are alive. */
      alive_ms: z.number().int().min(50).max(10_000).default(limits.aliveCheckMs),
    })
    .prefault({}),
  retention: z
    .strictObject({
      days: z
        .number()
        .min(1)
        .max(3_650)
        .default(limits.retentionAgeMs / day),
      megabytes: z
        .number()
        .min(16)
        .max(1_048_576)
        .default(limits.retentionBytesMax / 1_048_576),
    })
    .prefault({}),
  mcp: z
    .strictObject({
      /** How long a command may keep an agent waiting (SHL2), and other times for clients by the name they give. */
      budget_seconds: seconds(limits.shellMcpBudgetMs, 1, limits.shellBudgetMs / 1000),
      budgets: z
        .record(
          z.string(),
          z
            .number()
            .min(1)
            .max(limits.shellBudgetMs / 1000),
        )
        .default({}),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      /** Further agents that can be led, by the Agent Client Protocol: `[sessions.agents.mine] command = ["mine", "--acp"]`. */
      agents: z
        .record(
          z.string(),
          z.strictObject({
            command: z.array(z.string().min(1).max(limits.pathCharsMax)).min(1).max(limits.filterValuesMax),
            env: z.record(z.string(), z.string()).default({}),
            /** What stands in front of the name of a model: `--model`. */
            model_flag: z.string().min(1).max(limits.idCharsMax).optional(),
          }),
        )
        .superRefine((named, context) => {
          for (const name of Object.keys(named)) {
            const message = problemOfName(name);
            if (message !== null) context.addIssue({ code: 'custom', path: [name], message });
          }
        })
        .default({}),
    })
    .prefault({}),
  log: z.strictObject({ level: z.enum(['debug', 'info', 'warn', 'error']).default('info') }).prefault({}),
});

export type Config = z.infer<typeof configSchema>;

export const defaultConfig: Config = configSchema.parse({});

/** Reads the text of a config file. */
export function readConfig(text: string, path: string): Result<Config> {
  try {
    const checked = configSchema.safeParse(parse(text));
    if (checked.success) return ok(checked.data);
    const problems = checked.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    return fail('E_CONFIG', `${path}: ${problems.join('; ')}`);
  } catch (problem) {
    if (!(problem instanceof TomlError)) throw problem;
    return fail('E_CONFIG', `${path}, line ${problem.line}: ${problem.message.split('\n')[0]}`);
  }
}
