#!/bin/sh
# Bundles src/ into dist/, whole or not at all: the bundle is made beside the old one and takes its place by a rename.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
. scripts/lock.sh
sh scripts/setup.sh
take_turn

# Several may have found the same stale bundle; the first one in the line has made it new for all of them.
if [ -e dist/.built ] && [ -z "$(find src package.json package-lock.json rolldown.config.ts vite.config.ts scripts/build-version.ts scripts/compress.ts \
  -newer dist/.built ! -name '*.test.ts' 2>/dev/null)" ]; then
  exit 0
fi

work=dist.$$
leftover=$root/$work
mkdir "$work"
# Stamped before the sources are read: what changes meanwhile is newer than the stamp and is built next time.
touch "$work/.built"
if ! said=$(sh scripts/run.sh rolldown --config rolldown.config.ts --dir "$work" 2>&1); then
  printf '%s\n' "$said" >&2
  exit 1
fi
# The pages, and their packed forms beside them.
if ! said=$(sh scripts/run.sh vite build --config vite.config.ts --outDir "$root/$work/web" --emptyOutDir 2>&1); then
  printf '%s\n' "$said" >&2
  exit 1
fi
sh scripts/run.sh node scripts/compress.ts "$work/web"
rm -rf dist
mv "$work" dist
