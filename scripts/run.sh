#!/bin/sh
# Runs one command of this checkout with the right Node and the packages' own programs first on the PATH.
# Usage: scripts/run.sh COMMAND [ARGUMENT...]
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
node=$(sh "$root/scripts/runtime.sh")
PATH=$root/node_modules/.bin:$(dirname "$node"):$PATH
export PATH

# Before 22.18 Node runs TypeScript only when asked to, and says each time that this is an experiment.
case $("$node" --version) in
  v22.1[3-7].*) NODE_OPTIONS="--experimental-strip-types --disable-warning=ExperimentalWarning ${NODE_OPTIONS-}" && export NODE_OPTIONS ;;
esac

exec "$@"
