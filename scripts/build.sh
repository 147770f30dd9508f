#!/bin/sh
# Bundles src/ into dist/, whole or not at all: the bundle is made beside the old one and takes its place by a rename.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
. scripts/lock.sh
sh scripts/setup.sh
take_turn

work=dist.$$
leftover=$root/$work
mkdir "$work"
# Stamped before the sources are read: what changes meanwhile is newer than the stamp and is built next time.
touch "$work/.built"
if ! said=$(sh scripts/run.sh rolldown --config rolldown.config.ts --dir "$work" 2>&1); then
  printf '%s\n' "$said" >&2
  exit 1
fi
rm -rf dist
mv "$work" dist
