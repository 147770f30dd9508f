// Stands in for a daemon that is killed at any moment: keeps shells on the folder it is given, starts new ones until
// twenty run, kills one in a while, and says what it was answered. Usage: node stand-in.ts ROOT CWD FIRST
import { keep, never, owner, wish } from './kit.ts';

const [root = '', cwd = '', first = ''] = process.argv.slice(2);
const atOnce = 20;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Writes that it has begun, prints 200 lines in its own time, and ends with a status of its own. */
const commandOf = (token: number): string =>
  `touch began-${token}; i=0; while [ $i -lt 200 ]; do echo "${token} $i"; i=$((i + 1)); [ $((i % 20)) -ne 0 ] || sleep 0.${token % 5}; done; exit ${token % 7}`;

const kept = await keep(root, { bounds: { killMs: 500, keptMax: 10_000 } });
say('open');
let token = Number(first);
const isVictim = (label: string | null): boolean => Number(label) % 10 === 9;

const fill = (): void => {
  const running = kept.keeper.rows().filter((row) => row.status === 'running');
  for (let count = running.length; count < atOnce; count += 1) {
    const own = token;
    token += 1;
    const victim = `trap '' TERM; touch began-${own}; while :; do sleep 0.2; done`;
    const fields = { label: String(own), run_in_background: own % 2 === 0 };
    const call = kept.keeper.run(wish(cwd, isVictim(fields.label) ? victim : commandOf(own), fields), owner, never);
    void call.then(({ result, shell, reason }) => say(`${result} ${own} ${shell?.shell_id ?? reason}`));
  }
  for (const { label, process, kill_requested_by, shell_id } of running) {
    if (!isVictim(label) || process === null || kill_requested_by !== null) continue;
    void kept.keeper.kill(shell_id, 'user').then(({ result }) => say(`${result} ${label} ${shell_id}`));
  }
};
fill();
setInterval(fill, 20);
