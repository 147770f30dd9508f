// What models are told about the tools: what each does, and what is their own duty. Every word of it costs every agent a part
// of its context, so it is short.

import type { ToolName } from './schemas.ts';

export const instructions = `Run commands in shells that never block you. The user sees each shell and may kill it, move it to the background or run it again.
Set run_in_background if you expect more than 60 seconds. A command still running after about 55 seconds moves to the background automatically, and shell_run returns status running.
Read shell_log with mode tail or diagnostic; page through a whole log (body) only if you need it.
Read notices in every result: they report once what the user or the system did to your shells. If the user killed one, do not start it again unless asked.
After AlreadyFinishedCompleted or AlreadyFinishedFailed call shell_summary and do not use that shell again.`;

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
  shell_run: `Run a command with /bin/sh and return its result and the end of its output. If you expect it to take longer than 60 seconds, set run_in_background: it returns at once with a shell_id. A command still running after about 55 seconds moves to the background automatically (result Running); continue with other work and read it later with shell_log. The user sees the shell and may kill it or move it to the background. It runs outside your own sandbox.`,
  shell_summary: `List your running shells; with completed and failed also the ended ones. Cheap: use it instead of reading logs.`,
  shell_log: `Read a page of a shell's output, at most 120 lines and 16 KiB. Use tail or diagnostic; body reads forward from a cursor and is only for output that you need in full. Reading does not consume the output.`,
  shell_kill: `End one of your shells and everything it started: TERM, then KILL after 5 seconds. AlreadyFinishedCompleted or AlreadyFinishedFailed: it had ended before, and ended_by says who ended it; then call shell_summary and do not use that shell again.`,
  shell_resume: `Continue a shell that was stopped by a signal, or run an ended one again in the background with the same command, directory and environment, under the same shell_id as its next attempt.`,
  agents_list: `List the other coding agents of this user: what each is doing, and which need a person.`,
  agent_explain: `Explain why an agent is in its state: evidence and last events.`,
  agent_wait: `Wait until an agent is in one of these states, at most about 55 seconds; after NotYet call it again or continue with other work.`,
  agent_send: `Type a message into another agent's prompt and submit it, if the agent can take one now; with when_ready it is queued until it can. You cannot answer its questions or approve its requests: only a person can. Do not write to yourself.`,
};
