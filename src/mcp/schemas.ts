// What the tools take and give. Arguments are kept plain (no unions, no nulls): some clients hand schemas on to models that
// know only a part of JSON Schema.

import { z } from '../api/zod.ts';
import { limits } from '../model/limits.ts';
import { shellLogModes, shellResults, shellStatuses } from '../model/shells.ts';
import { stateNames } from '../model/states.ts';

const shellId = z.string().min(1).max(limits.idCharsMax).describe('the id that shell_run returned, such as shell-3');
const agentRef = z
  .string()
  .min(1)
  .max(limits.pathCharsMax)
  .describe('the ref that agents_list returns, a pane id such as %3, or the name of an agent if it is unique');
const seconds = z.number().min(0.001).max(limits.shellTimeoutSecondsMax).optional();

export const inputs = {
  shell_run: z.object({
    command: z
      .string()
      .min(1)
      .max(limits.shellCommandBytesMax)
      .describe('the command for /bin/sh; standard input is empty'),
    cwd: z
      .string()
      .min(1)
      .max(limits.pathCharsMax)
      .optional()
      .describe('the directory (default: where this server was started)'),
    label: z
      .string()
      .min(1)
      .max(limits.idCharsMax)
      .optional()
      .describe('a label that people see instead of the command'),
    run_in_background: z
      .boolean()
      .optional()
      .describe('true: return at once. Set it when you expect the command to take longer than 60 seconds'),
    expected_duration_s: seconds.describe(
      'how long you expect it to take; shown to the user as the time left. More than 60 runs it in the background, unless run_in_background is false',
    ),
    timeout_s: seconds.describe('kill the command after this time (default: never)'),
    tty: z.boolean().optional().describe('run it in a terminal; only for commands that need one'),
  }),
  shell_summary: z.object({
    completed: z.boolean().optional().describe('include shells that ended with status 0'),
    failed: z.boolean().optional().describe('include shells that failed, were killed or were lost'),
  }),
  shell_log: z.object({
    shell_id: shellId,
    mode: z
      .enum(shellLogModes)
      .optional()
      .describe('tail (default): the end; diagnostic: the end and how it exited; body: from the cursor'),
    cursor: z
      .string()
      .max(limits.idCharsMax)
      .optional()
      .describe('for body: the cursor of the previous page, such as 1:2048'),
    lines: z.int().min(1).max(limits.shellPageLinesMax).optional(),
  }),
  shell_kill: z.object({ shell_id: shellId }),
  shell_resume: z.object({ shell_id: shellId }),
  agents_list: z.object({
    needs_action: z.boolean().optional().describe('only agents that wait for a person, failed or hit a limit'),
    state: z.enum(stateNames).optional().describe('only agents in this state'),
  }),
  agent_explain: z.object({ agent: agentRef }),
  agent_wait: z.object({
    agent: agentRef,
    states: z
      .array(z.enum([...stateNames, 'ended']))
      .min(1)
      .describe('wait until the agent reaches one of these'),
    timeout_s: z.number().min(0.001).optional().describe('at most what this client can wait, about 55 seconds'),
  }),
  agent_send: z.object({
    agent: agentRef,
    text: z.string().min(1).max(limits.requestBytesMax),
    when_ready: z.boolean().optional().describe('true: queue the message until the agent can take it'),
  }),
} as const;

export type ToolName = keyof typeof inputs;
export type Input<Name extends ToolName> = z.infer<(typeof inputs)[Name]>;

// What is given is short, for it is what most models get to see; and its schema too, for every client reads that at every
// start. The values of most words stand in the API's own schemas.
const text = z.string();
const maybe = text.nullable();
const number = z.number();

const common = {
  reason: text,
  ended_by: maybe.describe('agent, user or system'),
  code: maybe.describe('the error code of a refusal'),
  next: maybe.describe('what to do now'),
  notices: z
    .array(z.object({ shell_id: text, kind: text, by: text, at: text, words: text }))
    .describe('what happened to your shells since your last call; reported once'),
};

const card = z.object({
  shell_id: text,
  attempt: number,
  status: z.enum(shellStatuses),
  label: maybe,
  command: text,
  cwd: text,
  start_mode: text,
  promoted_by: maybe,
  is_stopped: z.boolean(),
  elapsed_s: number,
  expected_s: number.nullable(),
  exit_code: number.nullable(),
  signal: maybe,
  end_reason: maybe,
  ended_by: maybe,
  words: maybe,
  last_log: z.array(text),
});
export type Card = z.infer<typeof card>;

const page = z.object({
  attempt: number,
  lines: z.array(text),
  cursor: text.describe('where to continue with mode body'),
  has_more: z.boolean(),
  truncated: z.boolean(),
  partial_line: z.boolean(),
  has_split_line: z.boolean(),
  is_capped: z.boolean(),
});
export type Page = z.infer<typeof page>;

/** Unknown: the daemon was lost, and nobody can say whether it was done. */
const refusals = ['Refused', 'NotFound', 'Unknown'] as const;

const aboutShell = z.object({
  result: z.enum([...shellResults, 'Unknown']),
  ...common,
  shell_id: maybe,
  attempt: number.nullable(),
  status: z.enum(shellStatuses).nullable(),
  start_mode: maybe,
  promoted_by: maybe,
  exit_code: number.nullable(),
  signal: maybe,
  end_reason: maybe,
  pid: number.nullable(),
  elapsed_s: number.nullable(),
  log: page.nullable(),
});

const agent = z.object({
  ref: text,
  agent: text,
  nick: maybe,
  state: text,
  reason_code: maybe,
  confidence: maybe,
  since: maybe,
  asks: maybe.describe('its pending request; only a person may answer it'),
  target: text,
  session: text,
  pane_id: maybe,
  cwd: text,
});
export type AgentCard = z.infer<typeof agent>;

export const outputs = {
  shell_run: aboutShell,
  shell_kill: aboutShell,
  shell_resume: aboutShell,
  shell_summary: z.object({
    result: z.enum(['Summary', ...refusals]),
    ...common,
    counts: z.object({ running: number, completed: number, failed: number }).nullable(),
    shells: z.array(card),
    more: number.describe('number of older entries omitted'),
  }),
  shell_log: z.object({
    result: z.enum(['Page', ...refusals]),
    ...common,
    shell_id: maybe,
    diagnosis: maybe,
    log: page.nullable(),
  }),
  agents_list: z.object({
    result: z.enum(['List', ...refusals]),
    ...common,
    agents: z.array(agent),
    more: number.describe('number of entries omitted'),
    missing_targets: z.array(text),
  }),
  agent_explain: z.object({
    result: z.enum(['Explained', ...refusals]),
    ...common,
    agent: agent.nullable(),
    explanation: maybe,
  }),
  agent_wait: z.object({
    result: z.enum(['Reached', 'NotYet', ...refusals]),
    ...common,
    reached: maybe,
    agent: agent.nullable(),
  }),
  agent_send: z.object({
    result: z.enum(['Delivered', 'Unconfirmed', 'Queued', ...refusals]),
    ...common,
    ref: maybe,
    way: maybe,
  }),
} as const satisfies Record<ToolName, z.ZodObject>;
