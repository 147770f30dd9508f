// Makes docs/board.svg: the real board on a terminal of tmux, with made-up agents, its screen taken with its colours and drawn
// as text. Run it when the board looks different: `sh scripts/run.sh node scripts/board-picture.ts`.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openTui } from '../test/kit/tui.ts';
import { startStage } from '../test/system/tui/board-stage.ts';
import { terminalPicture } from './terminal-picture.ts';

const size = { columns: 124, lines: 26 };

const daemon = await startStage();
const tui = openTui({ ...size, env: daemon.env });
try {
  await tui.until((screen) => screen.includes('? help') && screen.includes('Do you want'));
  const picture = terminalPicture(tui.coloured(), size, 'agtmux: the board');
  writeFileSync(fileURLToPath(new URL('../docs/board.svg', import.meta.url)), picture);
} finally {
  tui.end();
  await daemon.end();
}
