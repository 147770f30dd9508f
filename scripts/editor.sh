#!/bin/sh
# Fetches the editor that the extension is tried in, code-server, into the ignored folder .agents/editor. Quick when nothing is
# missing. Install scripts stay off: the native parts that are not brought along ready (Kerberos, device ids) are not needed.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
node=$(sh scripts/runtime.sh)
PATH=$(dirname "$node"):$PATH
export PATH

version=4.139.1
place=.agents/editor
if [ "$(cat "$place/.complete" 2>/dev/null || :)" = "$version" ]; then exit 0; fi
printf 'fetching code-server %s into %s\n' "$version" "$place" >&2
rm -rf "$place"
mkdir -p "$place"
echo '{"private":true}' >"$place/package.json"
npm install --prefix "$place" --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error "code-server@$version" >&2
for part in lib/vscode lib/vscode/extensions; do
  (cd "$place/node_modules/code-server/$part" && npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
done
echo "$version" >"$place/.complete"
