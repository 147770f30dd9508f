# Sourced by scripts that two runs must not do at once; they take turns. Needs $root. mkdir is the one atomic step every
# sh has, and the pid inside tells a live owner from one that was killed.
lock=$root/.runtime/turn.lock

take_turn() {
  mkdir -p "$root/.runtime"
  while ! mkdir "$lock" 2>/dev/null; do
    owner=$(cat "$lock/pid" 2>/dev/null || :)
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then rm -rf "$lock"; else sleep 1; fi
  done
  trap 'end_turn' EXIT
  trap 'exit 1' HUP INT TERM
  echo $$ >"$lock/pid"
}

# What else a script leaves behind it names in $leftover.
leftover=
end_turn() { rm -rf "$lock" ${leftover:+"$leftover"}; }
