#!/bin/sh
# Makes a checkout ready: the runtime, and the packages exactly as package-lock.json names them. Quiet and quick when
# nothing is missing.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
. scripts/lock.sh

# A copy of the lockfile that node_modules was made from. Compared by content: times lie after a git checkout.
installed=node_modules/.installed-lock.json
ready() { cmp -s package-lock.json "$installed"; }

node=$(sh scripts/runtime.sh)
if ready; then exit 0; fi
take_turn
if ready; then exit 0; fi

echo 'installing packages' >&2
rm -f "$installed"
# Some of them choose by the Node that runs npm, so it is the chosen one that does. npm itself comes from the PATH.
PATH=$(dirname "$node"):$PATH npm ci --no-audit --no-fund --loglevel=error >&2
cp package-lock.json "$installed"
