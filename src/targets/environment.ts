// The environment of programs that agtmux starts on this machine: a short list of what they need, and nothing that would
// tell them they stand inside a tmux pane.

type Variables = Readonly<Record<string, string | undefined>>;

/** TERM is left out: nothing started here has a terminal. TMUX and TMUX_PANE are left out: the daemon is in no pane. */
const sharedNames = [
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'PATH',
  'TMPDIR',
  'TMUX_TMPDIR',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
];

/** The ways a person proves who they are to another machine. A prompt is none of them: nobody is there to answer. */
const sshNames = ['SSH_AUTH_SOCK', 'KRB5CCNAME'];

const pathFallback = '/usr/local/bin:/usr/bin:/bin';

/** For tmux and other programs of this machine. */
export function localEnvironment(variables: Variables): Record<string, string> {
  return chosen(variables, sharedNames);
}

/** For the ssh client. */
export function sshEnvironment(variables: Variables): Record<string, string> {
  return chosen(variables, [...sharedNames, ...sshNames]);
}

function chosen(variables: Variables, names: readonly string[]): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of names) {
    const value = variables[name];
    if (value !== undefined && value !== '') environment[name] = value;
  }
  environment.PATH ??= pathFallback;
  // Without any locale tmux writes names with underscores for every letter beyond ASCII.
  if (environment.LANG === undefined && environment.LC_ALL === undefined && environment.LC_CTYPE === undefined) {
    environment.LANG = 'C.UTF-8';
  }
  return environment;
}
