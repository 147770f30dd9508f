// The look-alike that stands in for an agent in `agtmux demo`, as the text of two small programs: one shows what its stage
// file says, the other starts it again when it was killed. Neither is an agent, and neither does anything else.

/** What the director puts on a look-alike's screen. */
export interface Stage {
  readonly title: string;
  readonly lines: readonly string[];
  readonly isBusy: boolean;
  /** Ends itself by a signal, as an agent that the system killed. */
  readonly isKilled: boolean;
  /** What it tells the private daemon itself, as an agent's hook would. */
  readonly says: readonly HookEvent[];
  readonly socketPath: string;
  /** Counts the scenes, so that an answer is for the dialog that was shown. */
  readonly scene: number;
  /** What it takes as an answer; any other key is for nobody. */
  readonly keys: readonly string[];
}

/** An event without its time. */
export interface HookEvent {
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export const lookAlikeSource = `// A look-alike made by "agtmux demo": it shows its stage file and is no agent.
const { readFileSync, writeFileSync } = require('node:fs');
const { request } = require('node:http');
const path = process.argv[2];
const frames = ['|', '/', '-', '\\\\'];
let shown = '';
let turn = 0;
let unsaid = null;
let time = 0;
// Said again until it is taken: the daemon may not have found this program yet.
const say = () => {
  if (unsaid === null || unsaid.isGoing) return;
  const words = unsaid;
  words.isGoing = true;
  const events = words.says.map(({ kind, payload }) => {
    time = Math.max(time + 1, Date.now());
    return { evidence: { target: 'host' }, source: 'hook', kind, event_time: time, payload };
  });
  const headers = { 'content-type': 'application/json', host: 'localhost' };
  const again = () => { words.isGoing = false; };
  const asked = request({ socketPath: words.socketPath, path: '/v1/events?pid=' + process.pid, method: 'POST', headers }, (answer) => {
    let read = '';
    answer.on('data', (part) => { read += part; });
    answer.on('end', () => {
      try {
        if (JSON.parse(read).verdicts.some(({ verdict }) => verdict === 'refused')) again();
        else if (unsaid === words) unsaid = null;
      } catch { again(); }
    });
  });
  asked.on('error', again);
  asked.end(JSON.stringify(events));
};
let open = null;
if (process.stdin.isTTY) process.stdin.setRawMode(true);
process.stdin.on('data', (bytes) => {
  const key = String(bytes);
  if (key === '\\u0003') process.exit(130);
  if (open === null || !open.keys.includes(key)) return;
  writeFileSync(path + '.answer', JSON.stringify({ scene: open.scene, key }));
  open = null;
  process.stdout.write('\\u001b[H\\u001b[2J  Thank you.\\r\\n');
});
setInterval(() => {
  let text = shown;
  try { text = readFileSync(path, 'utf8'); } catch {}
  if (text === '') return;
  const stage = JSON.parse(text);
  if (text !== shown) {
    if (stage.isKilled && shown !== '') process.kill(process.pid, 'SIGKILL');
    shown = text;
    open = stage.keys.length === 0 ? null : stage;
    unsaid = stage.says.length === 0 ? null : { ...stage, isGoing: false };
    process.stdout.write('\\u001b]2;' + stage.title + '\\u0007\\u001b[H\\u001b[2J' + stage.lines.join('\\r\\n') + '\\r\\n');
  }
  say();
  turn += 1;
  if (stage.isBusy) process.stdout.write('\\r  ' + frames[turn % frames.length]);
}, 250);
`;

/** Arguments: a Node, the look-alike, its stage file. */
export const paneSource = `# A pane of "agtmux demo": a look-alike, and again after it was killed.
while :; do
  "$1" "$2" "$3"
  printf '\\n  This simulated agent was killed; another one starts in a moment.\\n'
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
