// What `agtmux tmux install` writes for tmux: marks beside windows, who waits in the status line, a key for the board. It only
// adds to what the user has, may be read any number of times, and starts no process to draw a line: the daemon keeps what it
// shows as user options. Pure text.

import { type StateName, stateNames } from '../model/states.ts';
import { wordsOf } from '../view/words.ts';

/** How who waits looks in the status line. */
export const tmuxThemes = ['blocks', 'colour', 'words', 'plain'] as const;
export type TmuxTheme = (typeof tmuxThemes)[number];
/** Readable on a status line of any colour. */
export const defaultTheme: TmuxTheme = 'blocks';

/** The colours are the terminal's own, with the names that tmux has for them. */
const waits = [
  { state: 'waiting_approval', option: '@agtmux_approve', colour: 'yellow' },
  { state: 'waiting_input', option: '@agtmux_answer', colour: 'magenta' },
  { state: 'error', option: '@agtmux_error', colour: 'red' },
] as const;

/** One count in a theme. tmux takes a comma for the end of a part of a condition, so styles stand one by one. */
function countFormat(theme: TmuxTheme, { state, option, colour }: (typeof waits)[number]): string {
  const { mark, word } = wordsOf(state);
  const count = `#{${option}}`;
  switch (theme) {
    case 'blocks':
      return `#[fg=black]#[bg=${colour}] ${mark} ${count} #[default] `;
    case 'colour':
      return `#[fg=${colour}]${mark}${count}#[default] `;
    case 'words':
      return `#[fg=${colour}]${count} ${word}#[default] `;
    case 'plain':
      return `${mark}${count} `;
  }
}

/** Nothing where nobody waits. A press of the mouse on it is a press on the pane of who has waited longest (tmux 3.4). */
function waitingFormat(theme: TmuxTheme): string {
  const counts = waits.map((one) => `#{?${one.option},${countFormat(theme, one)},}`).join('');
  return `#{?@agtmux_next,#[range=pane|#{@agtmux_next}]${counts}#[range=right],}`;
}

/**
 * A window's mark. A pane's own option hides that of its window when tmux draws the window list, and it looks from the
 * active pane; so all panes of the window are asked, and the first state in the order of precedence is shown.
 */
function markFormat(states: readonly StateName[]): string {
  const [state, ...others] = states;
  if (state === undefined) return '';
  return `#{?#{m:*${state}*,#{P:#{@agtmux_state} }},${wordsOf(state).mark},${markFormat(others)}}`;
}

const themeLine = '# Theme of the status line: ';

/** The theme of a file that was written before; null where it names none. */
export function themeOf(text: string): TmuxTheme | null {
  const line = text.split('\n').find((one) => one.startsWith(themeLine)) ?? '';
  return tmuxThemes.find((theme) => theme === line.slice(themeLine.length)) ?? null;
}

/** What a tmux that has read this file shows in its status line. */
export const statusFormatIn = (text: string): string => /^set-option -g @agtmux_status "(.*)"$/m.exec(text)?.[1] ?? '';

/**
 * `boardCommand` is one word of tmux's language. Which key is taken is looked for in the whole list: asked for one key,
 * tmux 3.7 tells nothing and succeeds.
 */
export function tmuxConf(boardCommand: string, theme: TmuxTheme): string {
  return `# The states of your agents in tmux. Written by \`agtmux tmux install\`, removed by \`agtmux tmux remove\`.
# Changes made here are lost at the next install: put your own lines into your tmux.conf, behind the one that reads this.
${themeLine}${theme}

# What is shown: the state of a window, and how many agents of this tmux server need you. To show nothing: set-option -gu @agtmux_mark
set-option -g @agtmux_mark "#{?@agtmux_state, ${markFormat(stateNames)},}"
set-option -g @agtmux_status "${waitingFormat(theme)}"

# A mark behind each window's name, in front of nothing and in place of nothing.
if-shell -F "#{m:*@agtmux_mark*,#{window-status-format}}" "" { set-option -ga window-status-format "#{E:@agtmux_mark}" }
if-shell -F "#{m:*@agtmux_mark*,#{window-status-current-format}}" "" { set-option -ga window-status-current-format "#{E:@agtmux_mark}" }

# The counts in front of what your status-right shows. Its length is changed only where it is tmux's own.
if-shell -F "#{m:*@agtmux_status*,#{status-right}}" "" { set-option -gF status-right "##{E:@agtmux_status}#{status-right}" }
if-shell -F "#{==:#{status-right-length},40}" { set-option -g status-right-length 60 }

# A press of the mouse on them goes to who has waited longest, where the mouse is on. tmux before 3.4 knows no such place within
# the line: there the whole right side does it, unless you have it for something else.
if-shell -F "#{m/r:^3[.][0-3],#{version}}" { if-shell "tmux list-keys -T root | grep -Eq '^bind-key +(-r +)?-T root +MouseDown1StatusRight '" "" { bind-key -n MouseDown1StatusRight { if-shell -F "#{@agtmux_next}" { run-shell -C "switch-client -t #{@agtmux_next}" } } } }

# prefix + A: the board of all agents in a popup; unless you have that key for something else.
if-shell "tmux list-keys -T prefix | grep -Eq '^bind-key +(-r +)?-T prefix +A '" "" { bind-key A display-popup -E -w 90% -h 80% ${boardCommand} }
`;
}
