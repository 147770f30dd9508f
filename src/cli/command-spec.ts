// What a command is, as data: the shape of the table in commands.ts. Types only.

export interface OptionSpec {
  /** The long name without dashes. */
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in the help; an option without one is a switch. */
  readonly value?: string;
  /** It may stand without its value too. */
  readonly isValueOptional?: boolean;
  readonly isRepeatable?: boolean;
  /** The only values there are. */
  readonly choices?: readonly string[];
  /** Values worth offering; whether one is right is decided by who answers. */
  readonly suggestions?: readonly string[];
  readonly words: string;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly choices?: readonly string[];
  readonly isOptional?: boolean;
  /** Takes all words that are left, options too. */
  readonly isRest?: boolean;
  /** Takes all words that are left; options among them only behind `--`. */
  readonly isMany?: boolean;
}

export type ActionName =
  | 'listPanes'
  | 'listWindows'
  | 'listSessions'
  | 'watch'
  | 'explain'
  | 'timeline'
  | 'diff'
  | 'grep'
  | 'agentsList'
  | 'agentsEnable'
  | 'agentsDisable'
  | 'agentsCheck'
  | 'agentsLearn'
  | 'send'
  | 'tell'
  | 'approve'
  | 'reject'
  | 'answer'
  | 'interrupt'
  | 'kill'
  | 'resume'
  | 'restore'
  | 'newAgent'
  | 'attach'
  | 'next'
  | 'viewOutput'
  | 'wait'
  | 'name'
  | 'seen'
  | 'route'
  | 'routeActivate'
  | 'usage'
  | 'limitList'
  | 'limitResume'
  | 'limitCancel'
  | 'queueList'
  | 'queueEdit'
  | 'queueDrop'
  | 'audit'
  | 'shellList'
  | 'shellLog'
  | 'shellKill'
  | 'shellBackground'
  | 'shellResume'
  | 'sessionStart'
  | 'sessionList'
  | 'sessionShow'
  | 'sessionFollow'
  | 'sessionSend'
  | 'sessionApprove'
  | 'sessionReject'
  | 'sessionAnswer'
  | 'sessionStop'
  | 'sessionResume'
  | 'sessionRetry'
  | 'sessionRemove'
  | 'event'
  | 'wrap'
  | 'status'
  | 'logs'
  | 'doctor'
  | 'schema'
  | 'configCheck'
  | 'configShow'
  | 'configPath'
  | 'daemonRun'
  | 'daemonStart'
  | 'daemonStop'
  | 'daemonRestart'
  | 'daemonInstall'
  | 'daemonUninstall'
  | 'targetAdd'
  | 'targetConnect'
  | 'targetList'
  | 'targetRemove'
  | 'tmuxInstall'
  | 'tmuxRemove'
  | 'tmuxStatus'
  | 'hooksInstall'
  | 'hooksRemove'
  | 'hooksStatus'
  | 'mcpServe'
  | 'mcpInstall'
  | 'mcpUninstall'
  | 'mcpStatus'
  | 'notifyStatus'
  | 'notifyList'
  | 'notifyOn'
  | 'notifyOff'
  | 'notifySet'
  | 'notifyTest'
  | 'notifyMute'
  | 'notifyUnmute'
  | 'menubarShow'
  | 'menubarInstall'
  | 'menubarUninstall'
  | 'setup'
  | 'uninstall'
  | 'editorPair'
  | 'editorList'
  | 'editorRevoke'
  | 'web'
  | 'hubStatus'
  | 'hubJoin'
  | 'hubShare'
  | 'hubLeave'
  | 'hubServe'
  | 'hubCode'
  | 'hubLink'
  | 'hubMachines'
  | 'hubRevoke'
  | 'demo'
  | 'completions'
  | 'prompt'
  | 'replay'
  | 'tui'
  | 'popup'
  | 'version';

export interface CommandSpec {
  readonly name: string;
  readonly alias?: string;
  readonly words: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly (readonly [line: string, words: string])[];
  readonly action?: ActionName;
  readonly commands?: readonly CommandSpec[];
  /** The subcommand that is meant when none is named. */
  readonly fallback?: string;
}
