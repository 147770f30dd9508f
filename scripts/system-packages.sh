#!/bin/sh
# Looks for the programs that come from the system, not from npm. As root on Debian they are installed without asking;
# anywhere else the command that installs them is named and the exit status is 1.
set -eu

# The one list: program, Debian package, Homebrew formula. sshd is for the tests of remote targets; macOS has its own.
needed='tmux tmux tmux
ssh openssh-client openssh
sshd openssh-server openssh'
# `system-packages.sh browser`: with one for the tests of the pages. Where there is another of its kind, that one is taken.
if [ "${1-}" = browser ] && [ -z "${AGTMUX_CHROMIUM-}" ] && ! command -v chromium-browser >/dev/null 2>&1 &&
  ! command -v google-chrome >/dev/null 2>&1 && [ ! -e '/Applications/Google Chrome.app' ]; then
  needed="$needed
chromium chromium chromium"
fi
# `system-packages.sh terminals`: those that agtmux is tried with, and a display for them.
if [ "${1-}" = terminals ]; then
  needed="$needed
kitty kitty kitty
Xvfb xvfb xorg-server
screen screen screen"
fi
# `system-packages.sh editor`: Neovim, and a browser for VS Code.
if [ "${1-}" = editor ]; then
  needed="$needed
nvim neovim neovim
chromium chromium chromium"
fi
# `system-packages.sh hub`: the engines of a fleet, and what makes networks of their own for machines. Debian keeps PostgreSQL where no PATH leads: its client stands for it.
if [ "${1-}" = hub ]; then
  needed="$needed
nats-server nats-server nats-server
psql postgresql postgresql
ip iproute2 iproute2mac
openssl openssl openssl"
fi
# sshd stands where only root looks for programs.
PATH=$PATH:/usr/sbin:/sbin

missing_debian=
missing_brew=
missing=
while read -r program debian brew; do
  if command -v "$program" >/dev/null 2>&1; then continue; fi
  missing="$missing $program"
  missing_debian="$missing_debian $debian"
  missing_brew="$missing_brew $brew"
done <<LIST
$needed
LIST
if [ -z "$missing" ]; then exit 0; fi

if command -v apt-get >/dev/null 2>&1; then
  if [ "$(id -u)" -eq 0 ]; then
    echo "installing$missing_debian" >&2
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 # a list of words
    apt-get install -y -qq $missing_debian >&2 || { apt-get update -qq >&2 && apt-get install -y -qq $missing_debian >&2; }
    exit 0
  fi
  advice="sudo apt-get install$missing_debian"
elif command -v brew >/dev/null 2>&1; then
  advice="brew install$missing_brew"
else
  advice="install$missing with the package manager of this system"
fi
echo "missing:$missing. Run: $advice" >&2
exit 1
