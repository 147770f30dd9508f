#!/bin/sh
# A tool of the simplest kind: a few words anywhere in the last rows of the screen. It shows how a tool is plugged in, and how far
# one gets without knowing the agents. Usage: corpus/score --tool "sh corpus/tools/words.sh {screen}"
screen=$(grep -v '^[[:space:]]*$' "$1" | tail -n 15)
has() { printf '%s\n' "$screen" | grep -Eiq "$1"; }

if has 'do you want to|would you like to run|allow (once|this|command)|permission required|action required|waiting for confirmation'; then
  echo waiting_approval
elif has 'enter to (select|confirm|submit)|↑/?↓ to (select|navigate)|tab to (select|switch)'; then
  echo waiting_input
elif has 'esc(ape)? (to )?(interrupt|cancel|stop)|esc twice|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|working…|thinking…'; then
  echo running
elif has 'api error|error:|rate limit|unauthorized|overloaded'; then
  echo error
elif has '^[[:space:]│┃]*[❯>›]([[:space:]]|$)|type your message|/help|\? for shortcuts'; then
  echo idle
else
  echo unknown
fi
