// What shows that a screen is not, or no longer, that of a living agent: programs in the foreground that never are one, and
// marks that shells, pagers and editors leave where an agent's interface would end (IDN8).

import type { ReasonCode } from '../../model/reasons.ts';

const shells = 'sh bash dash zsh fish ksh mksh tcsh csh ash nu elvish xonsh pwsh';

/**
 * Programs that look at text, files, processes or machines, and that show what an agent once drew at most as a quote. What
 * agents are started by or behind is not among them: runtimes, runners such as make, multiplexers, remote shells.
 */
const others = [
  'less more most pg man info lnav bat batcat glow mdcat',
  'vi vim vim.basic vim.tiny vim.gtk3 vim.nox nvim view vimdiff ex ed hx helix kak micro nano pico joe mcedit emacs emacsclient',
  'git tig lazygit gitui delta diff sdiff patch',
  'top htop btop bpytop glances atop iotop iftop nmon ps watch vmstat iostat',
  'cat head tail tailf multitail grep rg ag ack sed awk gawk mawk sort find fd tree ls jq fzf sk',
  'mc ranger nnn lf yazi vifm ncdu du df',
  'python ipython irb ghci psql mysql sqlite sqlite3 redis-cli',
  'apt apt-get dpkg dnf yum pacman apk brew systemctl journalctl dmesg crontab',
  'ping curl wget rsync scp sftp tar gzip sleep clear reset passwd',
];

const never = new Set([shells, ...others].join(' ').split(' '));

/** `-bash` is a login shell; `python3.12` is one python of many. */
export function isNeverAgent(command: string): boolean {
  const name = command.replace(/^-/, '');
  return never.has(name) || never.has(name.replace(/[\d.]+$/, ''));
}

/** Whose mark it is, as the reason that a reading gets. */
export interface Sign {
  readonly rule: 'built-in.shell' | 'built-in.prompt' | 'built-in.program';
  readonly reason: ReasonCode;
}

/** A prompt that waits, and nothing behind it but the rest of a ruler that it was drawn over. */
const barePrompt =
  /^(?![›│┃║╭─━▀▄•●⏺✻]|[!@&/*] )(?:[╰└]─+ ?)?(?:[^\s─][^─]{0,160})?(?:[$#❯➜λ»]|(?<![\d)\]}"'`/-])>|(?<!\d)%)(?: ─{3,})?$/u;
/** Marks of agents' own prompts: something of theirs follows further down. */
const ownPrompt = /^[❯>#]/u;
/** With a command behind it, or one of the shapes that are no agent's. */
const usedPrompt = [
  /^\[?[\w.-]{1,64}@[\w.-]{1,64}[\]:~ ][^─]{0,160}?[$#%>](?: .*)?$/u,
  /^(?:ba|z|da|k)?sh(?:-\d[\d.]{0,8})?[$#%] /u,
  /^➜ {1,2}\S/u,
];
const programs = [
  /^(?:Killed|Terminated|Aborted|Hangup|Segmentation fault)(?: \(core dumped\))?$/u,
  /^(?:zsh|bash|fish): (?:killed|terminated|suspended|hangup)\b/u,
  /^\[\d{1,3}\][+-]? +(?:Stopped|Done|Killed|Terminated|Exit)\b/u,
  /^:$/u,
  /^~$/u,
  /\(END\)$/u,
  /^--More--/u,
  /^-- (?:INSERT|NORMAL|VISUAL|REPLACE)\b.*\d+,\d/u,
  /^"[^"]{1,200}" (?:\[[^\]]{1,20}\] )?\d+L, \d+[BC]\b/u,
  /^ ?Manual page \S+ line \d/u,
];

/** A prompt may stand this far up: a killed agent leaves what it drew below its cursor. */
const promptRowsMax = 4;

/**
 * What stands at the end of the screen in the first column, where every agent draws its own chrome or nothing. Only for
 * screens of which nobody knows what runs in the foreground. Lines are those of the screen without blank ones at the end.
 */
export function signOfOther(lines: readonly string[]): Sign | null {
  const filled = lines.filter((line) => line !== '').slice(-promptRowsMax);
  const last = filled.at(-1) ?? '';
  const isPrompt = (line: string, row: number): boolean =>
    barePrompt.test(line) && (row === filled.length - 1 || !ownPrompt.test(line));
  if (filled.some(isPrompt) || usedPrompt.some((pattern) => pattern.test(last)))
    return { rule: 'built-in.prompt', reason: 'agent_not_running' };
  // An editor has one more line below those it fills with its sign for nothing.
  const isProgram = programs.some((pattern) => pattern.test(last)) || filled.at(-2) === '~';
  return isProgram ? { rule: 'built-in.program', reason: 'unsupported_signal' } : null;
}
