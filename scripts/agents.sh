#!/bin/sh
# Fetches the real agent programs, each in the version the tests were written for, into the ignored folder .agents/ and
# makes one link a program in .agents/bin. Quick when nothing is missing; nothing outside .agents/ is changed.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
node=$(sh scripts/runtime.sh)
PATH=$(dirname "$node"):$PATH
export PATH

say() { printf '%s\n' "$*" >&2; }

# The platform's name as these packages spell it.
case $(uname -s)-$(uname -m) in
  Linux-x86_64 | Linux-amd64) platform=linux-x64 ;;
  Linux-aarch64 | Linux-arm64) platform=linux-arm64 ;;
  Darwin-x86_64) platform=darwin-x64 ;;
  Darwin-arm64) platform=darwin-arm64 ;;
  *)
    say "the agents publish no programs for $(uname -s) $(uname -m)"
    exit 1
    ;;
esac

mkdir -p .agents/bin .agents/packages

# One folder an agent, so that a changed version replaces it whole: name, package, version, program inside the folder.
# Install scripts stay off: what they would do is to link the native program, and its place is named here instead.
fetch() {
  name=$1 package=$2 version=$3 program=$4
  place=.agents/packages/$name
  if [ "$(cat "$place/.complete" 2>/dev/null || :)" != "$package@$version" ]; then
    say "fetching $package@$version into $place"
    rm -rf "$place"
    mkdir -p "$place"
    echo '{"private":true}' >"$place/package.json"
    npm install --prefix "$place" --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error \
      "$package@$version" >&2
    echo "$package@$version" >"$place/.complete"
  fi
  if [ ! -e "$place/node_modules/$program" ]; then
    say "$package@$version has no $program on this machine"
    rm -f "$place/.complete"
    exit 1
  fi
  chmod +x "$place/node_modules/$program"
  ln -sfn "../packages/$name/node_modules/$program" ".agents/bin/$name"
}

fetch claude @anthropic-ai/claude-code 2.1.325 "@anthropic-ai/claude-code-$platform/claude"
fetch codex @openai/codex 0.166.0 @openai/codex/bin/codex.js
fetch gemini @google/gemini-cli 0.61.0 @google/gemini-cli/bundle/gemini.js
fetch copilot @github/copilot 1.0.102 @github/copilot/npm-loader.js
fetch opencode opencode-ai 1.18.33 "opencode-$platform/bin/opencode"
