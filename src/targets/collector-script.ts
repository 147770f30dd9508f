// The questions that can be asked on another machine, as a POSIX shell program. It is sent over standard input and kept
// in the memory of one `sh`: nothing is installed or written there. Each answer stands between two lines that begin with
// a word nobody else knows, so that no process name or file over there can look like an answer.

/** First line of `host`; a collector that speaks otherwise is not ours. */
export const collectorVersion = 'agtmux-collector-1';

/** Reads the program line by line up to a lone dot: a shell that runs its input reads ahead and would eat questions. */
export const collectorArgv: readonly string[] = [
  'sh',
  '-c',
  's=; while IFS= read -r l; do [ "$l" = . ] && break; s="$s$l\n"; done; eval "$s"'.replace('\\n', '\n'),
];

/**
 * Sections print to standard output; a non-zero status says that the machine cannot tell. `lstart` is the start time, in
 * the C locale one form on every system. Sockets: `1` for one that is listened at, as the kernel lists it, or where
 * there is no such list, one that tmux finds a server at.
 */
const script = String.raw`
LC_ALL=C; LANG=C; export LC_ALL LANG
unset TMUX TMUX_PANE COLUMNS IFS CDPATH
PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/opt/local/bin:/home/linuxbrew/.linuxbrew/bin:$HOME/.local/bin
export PATH
exec 2>/dev/null
uid=$(id -u)
boot() {
  cat /proc/sys/kernel/random/boot_id || sysctl -n kern.bootsessionuuid || sysctl -n kern.boottime
}
section_ping() { :; }
section_clock() { date +%s.%N; }
section_host() {
  echo @VERSION@
  echo "boot=$(boot | head -n 1)"
  echo "system=$(uname -srm)"
  echo "uid=$uid"
  echo "home=$HOME"
  t=$(command -v tmux) && echo "tmux=$t" && echo "tmux_version=$("$t" -V </dev/null)"
  p=$(command -v setpriv) && "$p" --help | grep -q pdeathsig && echo "setpriv=$p"
  return 0
}
listens() {
  if [ -r /proc/net/unix ]; then
    case $unix in *" $1
"*) return 0;; esac
    return 1
  fi
  tmux -S "$1" display-message -p x </dev/null >/dev/null & k=$!
  (sleep 2; kill -9 $k) >/dev/null & w=$!
  wait $k; r=$?
  kill $w
  return $r
}
section_sockets() {
  d=$TMUX_TMPDIR; [ -n "$d" ] || d=/tmp
  d=$d/tmux-$uid
  r=$(cd -P "$d" && pwd -P) && d=$r
  echo "directory=$d"
  unix=
  [ -r /proc/net/unix ] && unix=$(grep ' 00010000 ' /proc/net/unix | grep -F " $d/")"
"
  c=0
  for f in "$d"/*; do
    [ -S "$f" ] && [ -O "$f" ] || continue
    case $f in "$d"/*[!A-Za-z0-9._+-]*) continue;; esac
    listens "$f" || continue
    echo "socket=$f"
    c=$((c + 1)); [ $c -ge @SOCKETS@ ] && break
  done
  return 0
}
section_processes() {
@PROCESSES@
}
read -r word || exit 0
while read -r id name rest; do
  printf '@%s begin %s %s\n' "$word" "$id" "$name"
  case $name in
    ping|clock|host|sockets|processes) section_$name </dev/null; r=$?;;
    *) r=127;;
  esac
  printf '\n@%s end %s %s %s\n' "$word" "$id" "$name" "$r"
done
`;

/** What the section about processes runs unless it is told otherwise. */
const plainProcesses = 'ps -A -ww -o pid=,ppid=,pgid=,tpgid=,tty=,stat=,lstart=,args=';

/**
 * The program as it is sent: without blank lines, closed by the dot. Whoever reads the section about processes brings
 * the script that writes it; it runs in a shell of its own.
 */
export function collectorProgram(socketsMax: number, processesScript: string = plainProcesses): string {
  const filled = script
    .replace('@VERSION@', collectorVersion)
    .replace('@SOCKETS@', String(socketsMax))
    .replace('@PROCESSES@', () => `(\n${processesScript.trim()}\n)`);
  return `${filled.trim()}\n.\n`;
}
