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

# One folder an agent, so that a changed version replaces it whole: name, package, version, program inside the folder, and
# the link to it where it is not bin/name.
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
  # Grok packs its program, and its install script would unpack it into the home of whoever installs it.
  packed=$place/node_modules/$program.br
  if [ -e "$packed" ] && [ ! -e "$place/node_modules/$program" ]; then
    "$node" -e 'const [from, to] = process.argv.slice(1), fs = require("fs");
      fs.writeFileSync(to, require("zlib").brotliDecompressSync(fs.readFileSync(from)))' "$packed" "$place/node_modules/$program"
  fi
  if [ ! -e "$place/node_modules/$program" ]; then
    say "$package@$version has no $program on this machine"
    rm -f "$place/.complete"
    exit 1
  fi
  chmod +x "$place/node_modules/$program"
  ln -sfn "$root/$place/node_modules/$program" ".agents/${5-bin/$name}"
}

fetch claude @anthropic-ai/claude-code 2.1.325 "@anthropic-ai/claude-code-$platform/claude"
fetch codex @openai/codex 0.166.0 @openai/codex/bin/codex.js
fetch gemini @google/gemini-cli 0.61.0 @google/gemini-cli/bundle/gemini.js
fetch copilot @github/copilot 1.0.102 @github/copilot/npm-loader.js
fetch opencode opencode-ai 1.18.33 "opencode-$platform/bin/opencode"
fetch qwen @qwen-code/qwen-code 0.24.4 @qwen-code/qwen-code/cli-entry.js
fetch kimi @moonshot-ai/kimi-code 2.1.0 @moonshot-ai/kimi-code/dist/main.mjs
fetch grok @xai-official/grok 1.0.41 "@xai-official/grok-$platform/bin/grok"
fetch cline cline 3.0.65 "@cline/cli-$platform/bin/cline"
fetch pi @earendil-works/pi-coding-agent 0.87.1 @earendil-works/pi-coding-agent/dist/bundle/cli.js
fetch cn @continuedev/cli 1.5.47 @continuedev/cli/dist/cn.js
# Two programs are called grok.
mkdir -p .agents/bin-grok-cli
fetch grok-cli @vibe-kit/grok-cli 0.0.34 @vibe-kit/grok-cli/dist/index.js bin-grok-cli/grok
