// A program that passes for tmux on another machine and tells of panes that are not there.

/** A tmux that answers every question in form, with ten thousand panes that are not there, or what the file beside it says. */
export const forgedTmux = `#!${process.execPath}
const words = process.argv.slice(2);
const lies = () => { try { return JSON.parse(require('fs').readFileSync(__filename + '.json', 'utf8')); } catch { return { first: 0, count: 10000 }; } };
const values = { pane_id: (n) => '%' + n, pane_pid: (n) => String(lie.pid ?? 100000 + n), session_id: () => '$0', window_id: (n) => '@' + n,
  pid: () => '1', start_time: () => '1700000000', version: () => '3.3a', pane_dead: () => '0', pane_in_mode: () => '0',
  pane_width: () => '80', pane_height: () => '24', window_activity: () => '1700000000' };
const fill = (format, n) => format.replace(/\\\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)))
  .replace(/#\\{([a-z_]+)\\}/g, (_, name) => (values[name] ?? (() => '1'))(n));
let count = 0;
let lie = lies();
const block = (lines) => { count += 1; process.stdout.write('%begin 1 ' + count + ' 1\\n' + lines.map((line) => line + '\\n').join('') + '%end 1 ' + count + ' 1\\n'); };
const answer = (command) => {
  const text = /"((?:[^"\\\\]|\\\\.)*)"|(\\S+)$/.exec(command);
  const format = text?.[1] ?? text?.[2] ?? '';
  if (command.startsWith('list-panes')) {
    lie = lies();
    block(Array.from({ length: lie.count }, (_, n) => fill(format, lie.first + n)));
  }
  else if (command.startsWith('display-message')) block([fill(format, 0)]);
  else if (!command.startsWith('wait-for')) block([]);
};
if (words.includes('-V')) process.stdout.write('tmux 3.3a\\n');
else if (words.includes('-C')) {
  process.stdout.write('%begin 1 0 0\\n%end 1 0 0\\n');
  let rest = '';
  process.stdin.on('data', (data) => {
    const lines = (rest + data).split('\\n');
    rest = lines.pop();
    for (const line of lines) for (const command of line.split(/ ; (?=[a-z-]+ )/)) if (command !== '') answer(command.trim());
  }).on('end', () => process.exit(0));
} else process.stdout.write('1 1700000000 $0 3.3a\\n');
`;
