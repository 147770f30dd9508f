// What models are told about the tools: what each does, and what is their own duty. Every word of it costs every agent a part
// of its context, so it is short.

import type { ToolName } from './schemas.ts';

export const instructions = `Shells that never block you, shared with the user, who sees each of them and may kill it, move it to the background or run it again.
Expected to take longer than 60 seconds: set run_in_background. Whatever still runs after about 55 seconds goes to the background by itself, and shell_run answers with status running.
Read shell_log with mode tail or diagnostic; page through a whole log (body) only if you need it.
Read notices in every result: they tell once what the user or the system did to your shells. Accept it when the user killed one; do not start it again unasked.
After AlreadyFinishedCompleted or AlreadyFinishedFailed call shell_summary and forget that shell.`;

export const titles: Readonly<Record<ToolName, string>> = {
  shell_run: 'Run a command',
  shell_summary: 'List your shells',
  shell_log: "Read a shell's output",
  shell_kill: 'End a shell',
  shell_resume: 'Continue or rerun a shell',
  agents_list: 'List the other agents',
  agent_explain: "Explain an agent's state",
  agent_wait: 'Wait for an agent',
  agent_send: 'Send a message to an agent',
};

export const descriptions: Readonly<Record<ToolName, string>> = {
  shell_run: `Runs a command with /bin/sh and answers with its result and the end of its output. If you expect it to take longer than 60 seconds, set run_in_background: it answers at once with a shell_id. A command that is still running after about 55 seconds goes to the background by itself (result Running); go on with other work and look at it later with shell_log. The user sees the shell and may kill it or move it to the background. It runs outside your own sandbox.`,
  shell_summary: `Your shells that run; with completed and failed also those that have ended. Cheap: use it instead of reading logs.`,
  shell_log: `A page of a shell's output, at most 120 lines and 16 KiB. Use tail or diagnostic; body reads forward from a cursor and is only for output that you really need in full. Reading takes nothing away.`,
  shell_kill: `Ends a shell of yours and everything it started: TERM, and KILL after 5 seconds. AlreadyFinishedCompleted or AlreadyFinishedFailed: it had ended before, and ended_by tells by whom; then call shell_summary and forget that shell.`,
  shell_resume: `Continues a shell that was stopped by a signal. One that has ended runs again with the same command, directory and environment, under the same shell_id as the next attempt, in the background.`,
  agents_list: `Other coding agents of this user: what each is doing, and which need a person.`,
  agent_explain: `Why agtmux believes that an agent is in its state: evidence and the last events.`,
  agent_wait: `Waits until an agent is in one of these states, at most about 55 seconds; NotYet means call it again or go on with other work.`,
  agent_send: `Types a message into another agent's prompt and submits it, if it can take one now; with when_ready it waits until it can. You cannot answer its questions or approve anything for it: only a person can. Do not write to yourself.`,
};
