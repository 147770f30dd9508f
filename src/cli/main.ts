// The command line: finds the command, runs it, prints one line for a failure, and ends with its exit code. Commands are
// loaded only when they are asked for; lists, which run in status lines and prompts, are here at once.

import { buildVersion } from '../api/version.ts';
import { createRealClock } from '../platform/clock.ts';
import { type ActionName, commands } from './commands.ts';
import type { Action, Context } from './context.ts';
import { listOf } from './list.ts';
import { print, report } from './output.ts';
import { parseQuickly } from './parse.ts';

const context: Context = {
  version: buildVersion ?? 'unbuilt',
  clock: createRealClock(),
  daemonUrl: new URL('./daemon.js', import.meta.url),
};

const actions: Readonly<Record<ActionName, () => Action | Promise<Action>>> = {
  listPanes: () => listOf('panes'),
  listWindows: () => listOf('windows'),
  listSessions: () => listOf('sessions'),
  watch: async () => (await import('./watch.ts')).watch,
  explain: async () => (await import('./explain.ts')).explain,
  grep: async () => (await import('./grep.ts')).grep,
  diff: async () => (await import('./diff.ts')).diff,
  timeline: async () => (await import('./timeline.ts')).timeline,
  agentsList: async () => (await import('./agents.ts')).agentsList,
  agentsEnable: async () => (await import('./agents.ts')).agentsEnable,
  agentsDisable: async () => (await import('./agents.ts')).agentsDisable,
  agentsCheck: async () => (await import('./definitions.ts')).agentsCheck,
  agentsLearn: async () => (await import('./definitions.ts')).agentsLearn,
  send: async () => (await import('./send.ts')).send,
  tell: async () => (await import('./send.ts')).tell,
  approve: async () => (await import('./asks.ts')).approve,
  reject: async () => (await import('./asks.ts')).reject,
  answer: async () => (await import('./asks.ts')).answer,
  interrupt: async () => (await import('./act.ts')).interrupt,
  kill: async () => (await import('./kill.ts')).kill,
  resume: async () => (await import('./act.ts')).resume,
  restore: async () => (await import('./restore.ts')).restore,
  newAgent: async () => (await import('./start.ts')).newAgent,
  attach: async () => (await import('./attach.ts')).attach,
  next: async () => (await import('./attach.ts')).next,
  viewOutput: async () => (await import('./view-output.ts')).viewOutput,
  wait: async () => (await import('./wait.ts')).wait,
  name: async () => (await import('./act.ts')).name,
  seen: async () => (await import('./act.ts')).seen,
  route: async () => (await import('./route.ts')).route,
  routeActivate: async () => (await import('./act.ts')).routeActivate,
  usage: async () => (await import('./usage.ts')).usage,
  limitList: async () => (await import('./limit.ts')).limitList,
  limitResume: async () => (await import('./limit.ts')).limitResume,
  limitCancel: async () => (await import('./limit.ts')).limitCancel,
  queueList: async () => (await import('./queue.ts')).queueList,
  queueEdit: async () => (await import('./queue.ts')).queueEdit,
  queueDrop: async () => (await import('./queue.ts')).queueDrop,
  audit: async () => (await import('./audit.ts')).audit,
  shellList: async () => (await import('./shell.ts')).shellList,
  shellLog: async () => (await import('./shell-log.ts')).shellLog,
  shellKill: async () => (await import('./shell.ts')).shellKill,
  shellBackground: async () => (await import('./shell.ts')).shellBackground,
  shellResume: async () => (await import('./shell.ts')).shellResume,
  sessionStart: async () => (await import('./session.ts')).sessionStart,
  sessionList: async () => (await import('./session.ts')).sessionList,
  sessionShow: async () => (await import('./session.ts')).sessionShow,
  sessionFollow: async () => (await import('./session-follow.ts')).sessionFollow,
  sessionSend: async () => (await import('./session.ts')).sessionSend,
  sessionApprove: async () => (await import('./session-asks.ts')).sessionApprove,
  sessionReject: async () => (await import('./session-asks.ts')).sessionReject,
  sessionAnswer: async () => (await import('./session-asks.ts')).sessionAnswer,
  sessionStop: async () => (await import('./session.ts')).sessionStop,
  sessionResume: async () => (await import('./session.ts')).sessionResume,
  sessionRetry: async () => (await import('./session.ts')).sessionRetry,
  sessionRemove: async () => (await import('./session-asks.ts')).sessionRemove,
  event: async () => (await import('./event.ts')).event,
  wrap: async () => (await import('./wrap.ts')).wrap,
  status: async () => (await import('./status.ts')).status,
  logs: async () => (await import('./logs.ts')).logs,
  doctor: async () => (await import('./doctor.ts')).doctor,
  schema: async () => (await import('./schema.ts')).schema,
  configCheck: async () => (await import('./config.ts')).configCheck,
  configShow: async () => (await import('./config.ts')).configShow,
  configPath: async () => (await import('./config.ts')).configWhere,
  daemonRun: async () => (await import('./daemon.ts')).daemonRun,
  daemonStart: async () => (await import('./daemon.ts')).daemonStart,
  daemonStop: async () => (await import('./daemon.ts')).daemonStop,
  daemonRestart: async () => (await import('./daemon.ts')).daemonRestart,
  daemonInstall: async () => (await import('./service.ts')).daemonInstall,
  daemonUninstall: async () => (await import('./service.ts')).daemonUninstall,
  targetAdd: async () => (await import('./target.ts')).targetAdd,
  targetConnect: async () => (await import('./target.ts')).targetConnect,
  targetList: async () => (await import('./target.ts')).targetList,
  targetRemove: async () => (await import('./target.ts')).targetRemove,
  tmuxInstall: async () => (await import('./tmux.ts')).tmuxInstall,
  tmuxRemove: async () => (await import('./tmux.ts')).tmuxRemove,
  tmuxStatus: async () => (await import('./tmux.ts')).tmuxStatus,
  hooksInstall: async () => (await import('./hooks.ts')).hooksInstall,
  hooksRemove: async () => (await import('./hooks.ts')).hooksRemove,
  hooksStatus: async () => (await import('./hooks.ts')).hooksStatus,
  mcpServe: async () => (await import('./mcp.ts')).mcpServe,
  mcpInstall: async () => (await import('./mcp-install.ts')).mcpInstall,
  mcpUninstall: async () => (await import('./mcp-install.ts')).mcpUninstall,
  mcpStatus: async () => (await import('./mcp-install.ts')).mcpStatus,
  notifyStatus: async () => (await import('./notify.ts')).notifyStatus,
  notifyList: async () => (await import('./notify.ts')).notifyList,
  notifyOn: async () => (await import('./notify.ts')).notifyOn,
  notifyOff: async () => (await import('./notify.ts')).notifyOff,
  notifySet: async () => (await import('./notify.ts')).notifySet,
  notifyTest: async () => (await import('./notify.ts')).notifyTest,
  notifyMute: async () => (await import('./notify.ts')).notifyMute,
  notifyUnmute: async () => (await import('./notify.ts')).notifyUnmute,
  menubarShow: async () => (await import('./menubar.ts')).menubarShow,
  menubarInstall: async () => (await import('./menubar.ts')).menubarInstall,
  menubarUninstall: async () => (await import('./menubar.ts')).menubarUninstall,
  setup: async () => (await import('./setup.ts')).setup,
  uninstall: async () => (await import('./uninstall.ts')).uninstall,
  editorPair: async () => (await import('./editor.ts')).editorPair,
  editorList: async () => (await import('./editor.ts')).editorList,
  editorRevoke: async () => (await import('./editor.ts')).editorRevoke,
  web: async () => (await import('./web.ts')).web,
  hubStatus: async () => (await import('./hub.ts')).hubStatus,
  hubJoin: async () => (await import('./hub.ts')).hubJoin,
  hubShare: async () => (await import('./hub.ts')).hubShare,
  hubLeave: async () => (await import('./hub.ts')).hubLeave,
  hubServe: async () => (await import('./hub-serve.ts')).hubServe,
  hubCode: async () => (await import('./hub-serve.ts')).hubCode,
  hubMachines: async () => (await import('./hub-serve.ts')).hubMachines,
  hubRevoke: async () => (await import('./hub-serve.ts')).hubRevoke,
  demo: async () => (await import('./demo.ts')).demo,
  prompt: async () => (await import('./prompt.ts')).prompt,
  completions: async () => (await import('./completions.ts')).completions,
  replay: async () => (await import('./replay.ts')).replay,
  tui: async () => (await import('./tui.ts')).tui,
  popup: async () => (await import('./tui-popup.ts')).popup,
  version: () => async () => print(context.version),
};

async function run(words: readonly string[]): Promise<void> {
  // Alone on a terminal it is the board; elsewhere there is nobody to look at one.
  const said = words.length === 0 && process.stdin.isTTY && process.stdout.isTTY ? ['tui'] : words;
  const request = parseQuickly(commands, said) ?? (await import('./program.ts')).parseFully(said, context.version);
  const name = request?.command.action;
  if (request === null || name === undefined) return;
  const action = await actions[name]();
  await action(request.parsed, context);
}

const words = process.argv.slice(2);
await run(words).catch((problem: unknown) => report(problem, words.includes('--json')));
