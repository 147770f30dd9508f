// The example for tmux: marks beside windows, a summary in the status line, a key for the board. It only adds to what the
// user has, may be read any number of times, and starts no process to draw a line: the daemon keeps what it shows as user
// options. Pure text.

import { type StateName, stateNames } from '../model/states.ts';
import { wordsOf } from '../view/words.ts';

/**
 * A window's mark. A pane's own option hides that of its window when tmux draws the window list, and it looks from the
 * active pane; so all panes of the window are asked, and the first state in the order of precedence is shown.
 */
function markFormat(states: readonly StateName[]): string {
  const [state, ...others] = states;
  if (state === undefined) return '';
  return `#{?#{m:*${state}*,#{P:#{@agtmux_state} }},${wordsOf(state).mark},${markFormat(others)}}`;
}

/** `boardCommand` is one word of tmux's language. */
export function tmuxConf(boardCommand: string): string {
  return `# The states of your agents in tmux. Written by \`agtmux tmux install\`, removed by \`agtmux tmux remove\`.
# Changes made here are lost at the next install: put your own lines into your tmux.conf, behind the one that reads this.

# What is shown: the state of a window, and who needs you in a session. To show nothing: set-option -gu @agtmux_mark
set-option -g @agtmux_mark "#{?@agtmux_state, ${markFormat(stateNames)},}"
set-option -g @agtmux_status "#{?@agtmux_summary,#{@agtmux_summary} ,}"

# A mark behind each window's name, in front of nothing and in place of nothing.
if-shell -F "#{m:*@agtmux_mark*,#{window-status-format}}" "" { set-option -ga window-status-format "#{E:@agtmux_mark}" }
if-shell -F "#{m:*@agtmux_mark*,#{window-status-current-format}}" "" { set-option -ga window-status-current-format "#{E:@agtmux_mark}" }

# The summary in front of what your status-right shows. Its length is changed only where it is tmux's own.
if-shell -F "#{m:*@agtmux_status*,#{status-right}}" "" { set-option -gF status-right "##{E:@agtmux_status}#{status-right}" }
if-shell -F "#{==:#{status-right-length},40}" { set-option -g status-right-length 60 }

# prefix + A: the board of all agents in a popup; unless you have that key for something else.
if-shell "tmux list-keys -T prefix A >/dev/null 2>&1" "" { bind-key A display-popup -E -w 90% -h 80% ${boardCommand} }
`;
}
