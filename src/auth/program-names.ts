// The names that tell who asks (ACT6): what agents leave in an environment, what gives a terminal to a person, what may stand
// between a person's shell and a request, and what a policy can allow. Lists alone; principal.ts decides by them.

import { agents } from '../agents/registry.ts';

/** What gives power, silences people or destroys: a person's, and a program's only by a line in the policy. */
export const operatorRights = [
  'interrupt',
  'kill',
  'name',
  'seen',
  'activate',
  'agents',
  'notify',
  'stop',
  'web',
  'editor',
  'hub',
  'auto_approve',
] as const;
export type OperatorRight = (typeof operatorRights)[number];

/** What agents put into the environment of what they start: those that agtmux knows, and others. */
const markers = new RegExp(
  `^(?:${[
    ...agents.flatMap(({ childVariables = [] }) => childVariables),
    ...['AI_AGENT', 'AGTMUX_AGENT', 'QWEN_CODE', 'GROK_AGENT', 'GROK_SESSION_ID'],
    ...['CLINE_CONNECTOR_CLI_LAUNCH', 'CLINE_ACTIVE', 'GOOSE_TERMINAL', 'CRUSH', 'AUGMENT_AGENT', 'ANTIGRAVITY_AGENT'],
    ...['AMP_CURRENT_THREAD_ID', 'ROO_ACTIVE'],
  ].join('|')})$`,
);

/** People's own settings, which stand in every shell of theirs. */
const settings =
  /_(?:API_KEY|TOKEN|HOME|CONFIG|CONFIG_DIR|MODEL|BASE_URL)$|^[A-Z]+(?:_CODE|_CLI)?_(?:USE|MAX|DISABLE|ENABLE|SKIP|EXTRA|PROVIDER|TRUST)(?:_\w+)?$/;

/** People come in through them from elsewhere, with or without a command. */
export const entrances = ['sshd', 'sshd-session', 'sshd-auth', 'dropbear', 'mosh-server', 'login', 'getty', 'agetty'];

/** They open a window with a command in it for anyone who asks. */
export const multiplexers = new Set(['tmux', 'screen', 'SCREEN', 'zellij']);

/** Programs that give a terminal to a person. A recorder or a script that opens one is none of them. */
export const terminals = new Set([
  ...[...entrances, ...multiplexers],
  ...['xterm', 'urxvt', 'rxvt', 'st', 'foot', 'footclient', 'alacritty', 'kitty', 'wezterm', 'wezterm-gui', 'ghostty'],
  ...['gnome-terminal-server', 'gnome-terminal-', 'kgx', 'ptyxis-agent', 'konsole', 'xfce4-terminal', 'terminator'],
  ...['tilix', 'Terminal', 'iTerm2', 'iTermServer', 'code', 'cursor', 'zed'],
  ...['containerd-shim', 'conmon', 'podman', 'systemd-nspawn', 'init-wsl', 'Relay'],
]);

/** They may open a terminal of their own between two that belong together. */
export const userSwitchers: ReadonlySet<string> = new Set(['sudo', 'su', 'doas', 'machinectl', 'run0']);

/** Programs that start others at a set time, for whoever asked them to. */
export const starters = new Set(['cron', 'crond', 'atd', 'anacron', 'launchd']);

export const plainShell = /^-?(?:sh|bash|dash|zsh|fish|ksh|mksh|tcsh|csh|ash|nu|elvish|xonsh|pwsh)$/;
/** It waits for a person with them as without: they name no file and no command. */
export const plainOption =
  /^(?:-[lif]+|--login|--interactive|--norc|--noprofile|--posix|--no-config|--no-rcs|--restricted)$/;
/** Of a shell that runs what it is given and ends. */
export const commandOption = /^-[a-z]*c[a-z]*$/;

/** Set by an agent for what it starts. */
export const isMarker = (name: string): boolean => markers.test(name) && !settings.test(name);

/**
 * What may stand between the shell that a person types in and the program that asks: they run what they were given and have
 * no will of their own. SECURITY.md has the same table. Everything else is no person: it may be an agent nobody knows.
 */
export const passing = {
  /** As another user, or with other rights. */
  userSwitchers: ['sudo', 'su', 'doas', 'run0', 'machinectl', 'pkexec', 'newgrp', 'sg', 'login', 'fakeroot', 'chroot'],
  /** With something changed for one command. */
  wrappers: [
    ...[
      'env',
      'nice',
      'ionice',
      'chrt',
      'taskset',
      'time',
      'timeout',
      'gtimeout',
      'nohup',
      'setsid',
      'stdbuf',
      'xargs',
    ],
    ...['flock', 'strace', 'ltrace', 'prlimit', 'systemd-inhibit', 'caffeinate', 'ssh-agent', 'dbus-run-session'],
    ...['direnv', 'mise', 'asdf', 'busybox', 'faketime'],
  ],
  /** What a file of the person's own says, when the person says so. */
  builders: ['make', 'gmake', 'just', 'npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'yarnpkg', 'corepack', 'git'],
} as const;

/** Programs for people that open a shell for them. Below that shell it is as in every other. */
export const hosts = [
  ...['vi', 'vim', 'nvim', 'view', 'emacs', 'nano', 'hx', 'kak', 'less', 'more', 'man', 'mc', 'ranger', 'nnn', 'lf'],
  ...['yazi', 'vifm', 'gdb', 'lldb', 'ftp', 'sftp', 'top', 'htop', 'tig', 'lazygit'],
] as const;

/** The first process of a container that only looks after others. */
export const inits = new Set([
  'init',
  'systemd',
  'tini',
  'docker-init',
  'dumb-init',
  'catatonit',
  'podman-init',
  's6-svscan',
]);
/** They carry a request to the socket as they were told. */
export const carriers = new Set(['agtmux', 'curl', 'socat', 'nc', 'ncat']);

export const passers: ReadonlySet<string> = new Set([
  ...passing.userSwitchers,
  ...passing.wrappers,
  ...passing.builders,
]);
export const nodePrograms: ReadonlySet<string> = new Set([...passing.builders, 'agtmux']);
export const hostNames: ReadonlySet<string> = new Set(hosts);
