// The look-alike that stands in for an agent in `agtmux demo`, as the text of two small programs: one shows what its stage
// file says, the other starts it again when it was killed. Neither is an agent, and neither does anything else.

/** What the director puts on a look-alike's screen. */
export interface Stage {
  readonly title: string;
  readonly lines: readonly string[];
  readonly isBusy: boolean;
  /** Ends itself by a signal, as an agent that the system killed. */
  readonly isKilled: boolean;
}

export const lookAlikeSource = `// A look-alike made by "agtmux demo": it shows its stage file and is no agent.
const { readFileSync } = require('node:fs');
const path = process.argv[2];
const frames = ['|', '/', '-', '\\\\'];
let shown = '';
let turn = 0;
setInterval(() => {
  let text = shown;
  try { text = readFileSync(path, 'utf8'); } catch {}
  if (text === '') return;
  const stage = JSON.parse(text);
  if (text !== shown) {
    if (stage.isKilled && shown !== '') process.kill(process.pid, 'SIGKILL');
    shown = text;
    process.stdout.write('\\u001b]2;' + stage.title + '\\u0007\\u001b[H\\u001b[2J' + stage.lines.join('\\r\\n') + '\\r\\n');
  }
  turn += 1;
  if (stage.isBusy) process.stdout.write('\\r  ' + frames[turn % frames.length]);
}, 250);
`;

/** Arguments: a Node, the look-alike, its stage file. */
export const paneSource = `# A pane of "agtmux demo": a look-alike, and again after it was killed.
while :; do
  "$1" "$2" "$3"
  printf '\\n  This look-alike was killed; another one comes in a moment.\\n'
  sleep 5
done
`;

/**
 * Takes everything away when the demo itself could not: after kill -9, or when its reader went away. Arguments: the pid of
 * the demo, its directory, its tmux socket, a Node, agtmux.
 */
export const janitorSource = `# Waits for the end of "agtmux demo" and removes what is left of it.
while [ -d "$2" ] && kill -0 "$1" 2>/dev/null; do sleep 1; done
[ -d "$2" ] || exit 0
"$4" "$5" daemon stop
tmux -S "$3" kill-server
rm -rf "$2"
`;
