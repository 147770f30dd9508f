// The questions that can be asked on another machine, as a POSIX shell program. It is sent over standard input and kept
// in the memory of one `sh`: nothing is installed or written there. Each answer stands between two lines that begin with
// a word nobody else knows, so that no process name or file over there can look like an answer.

import { limits } from '../model/limits.ts';

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
 * there is no such list, one that tmux finds a server at. Files are told each behind a line with a word of this question
 * alone, so that no content can look like the next file; what a path may hold arrives as octal numbers for printf.
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
told() {
  p=$1 m=$2 n=$3 b=$4
  if [ -z "$stamp" ]; then
    case $(stat -c %.9Y /) in *[0-9].[0-9]*) stamp=gnu;; *) stat -c %Y / >/dev/null && stamp=plain || stamp=bsd;; esac
  fi
  case $stamp in
    gnu) set -- $(stat -L -c '%s %.9Y' "$p");;
    plain) set -- $(stat -L -c '%s %Y' "$p");;
    bsd) set -- $(stat -L -f '%z %Fm' "$p");;
  esac
  [ $# -eq 2 ] || return 1
  size=$1
  printf '\n=%s %s %s %s\n' "$m" "$n" "$1" "$2"
  if [ "$size" -le "$b" ]; then cat "$p"; fi
}
spool_folder() {
  d=$AGTMUX_SPOOL
  [ -n "$d" ] || { [ -n "$AGTMUX_STATE_DIR" ] && d=$AGTMUX_STATE_DIR/spool; }
  [ -n "$d" ] || case $XDG_STATE_HOME in /*) d=$XDG_STATE_HOME/agtmux/spool;; esac
  [ -n "$d" ] || { d="$HOME/Library/Application Support/agtmux/spool"; [ -d "$d" ] || d=$HOME/.local/state/agtmux/spool; }
  case $d in /*) [ -d "$d" ] && [ -O "$d" ];; *) false;; esac
}
section_spool() {
  mark=$1 most=$2 sum=0
  spool_folder || return 0
  set +f; set -- "$d"/[0-9]*-*-[0-9]; set -f
  if [ $# -gt @SPOOL_FILES@ ]; then : >"$d/full"; fi
  if [ $# -lt $((@SPOOL_FILES@ / 2)) ] && [ -e "$d/full" ]; then rm -f "$d/full"; fi
  [ -e "$1" ] || return 0
  ls -tr "$d" | while read -r f; do
    case $f in *[!0-9-]*|'') continue;; esac
    [ -f "$d/$f" ] && [ ! -L "$d/$f" ] && [ -O "$d/$f" ] || continue
    told "$d/$f" "$mark" "$f" @SPOOL_FILE_BYTES@ || continue
    most=$((most - 1)) sum=$((sum + size))
    [ $most -gt 0 ] && [ $sum -lt @SPOOL_BYTES@ ] || break
  done
  return 0
}
set_aside() {
  umask 077
  mkdir -p refused && set +f && set -- "$1" refused/* && [ $# -le @REFUSED_FILES@ ] && mv -f "$1" refused/
}
section_spooldone() {
  spool_folder || return 1
  (
    cd "$d" || exit 1
    for f do
      shift
      case $f in
        -) refused=1;;
        *[!0-9-]*|-*|'') ;;
        *) if [ -z "$refused" ] || ! (set_aside "$f"); then set -- "$@" "$f"; fi;;
      esac
    done
    [ $# -eq 0 ] || rm -f "$@"
  )
}
about() {
  read -r line <"/proc/$1/stat" || return 1
  who=@{line%)*} line=@{line##*) }
  set -f; set -- $line
  case $1 in T|t|Z|X) ;; *) shift; set -- - "$@";; esac
  group=$6
  echo "$who $1 $2 $3 $6 @{20} @{26}"
}
section_glance() {
  [ -r /proc/self/stat ] || return 1
  [ -r /proc/self/task/$$/children ] && echo tree
  for p do
    group=
    about "$p" || echo "$p gone"
    case $group in ''|"$p"|0|-*) ;; *) about "$group";; esac
    c=0 below=$p
    while [ -n "$below" ] && [ $c -lt 64 ]; do
      p=@{below%% *} below=@{below#"$p"} below=@{below# }
      read -r more <"/proc/$p/task/$p/children" || [ -n "$more" ] || continue
      [ -n "$more" ] && echo "$p: $more"
      below="$below@{below:+ }@{more% }" c=$((c + 1))
    done
  done
  return 0
}
section_files() {
  mark=$1 i=0; shift
  for w do
    p=$(printf %b "$w")
    case $p in /*) [ -f "$p" ] && told "$p" "$mark" $i @FILE_BYTES@;; esac
    i=$((i + 1))
  done
  return 0
}
read -r word || exit 0
while read -r id name rest; do
  printf '@%s begin %s %s\n' "$word" "$id" "$name"
  case $name in
    ping|clock|host|sockets|processes) section_$name </dev/null; r=$?;;
    glance|spool|spooldone|files) set -f; section_$name $rest </dev/null; r=$?; set +f;;
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
    // The shell's own braces, which this language would take for its own.
    .replaceAll('@{', '$' + '{')
    .replace('@VERSION@', collectorVersion)
    .replace('@SOCKETS@', String(socketsMax))
    .replaceAll('@SPOOL_FILES@', String(limits.spoolFilesMax))
    .replace('@SPOOL_FILE_BYTES@', String(limits.spoolFileBytesMax))
    .replace('@SPOOL_BYTES@', String(limits.remoteSpoolBytesMax))
    .replace('@REFUSED_FILES@', String(limits.spoolRefusedFilesMax))
    .replace('@FILE_BYTES@', String(limits.remoteFileBytesMax))
    .replace('@PROCESSES@', () => `(\n${processesScript.trim()}\n)`);
  return `${filled.trim()}\n.\n`;
}
