// How Kilo is started as a session that agtmux leads: since 7 by its server or over ACP, before that by lines of JSON.

import { acpWay } from '../acp-way.ts';
import { serverWay } from '../opencode/server-way.ts';
import type { SessionWay } from '../session-way.ts';

const install = 'npm install -g @kilocode/cli';

/** Before 7 a conversation has a name only in Kilo's cloud; all others go on as the last one of their directory. */
export const lastConversation = 'last-of-directory';

const linesWay: SessionWay = {
  driver: 'kilo-lines',
  install: 'a version of @kilocode/cli before 7; newer ones are led by opencode-http',
  launch: ({ cwd, model, auto_approve, resume }) => ({
    command: [
      ...['kilocode', '--json-io', '--nosplash', `--workspace=${cwd}`],
      ...(model === null ? [] : [`--model=${model}`]),
      ...(auto_approve ? ['--yolo'] : []),
      ...(resume === null ? [] : [resume === lastConversation ? '--continue' : `--session=${resume}`]),
    ],
    env: {},
    address: null,
  }),
};

export const sessions: readonly SessionWay[] = [
  serverWay({ program: 'kilo', prefix: 'KILO', install }),
  acpWay({ command: ['kilo', 'acp'], install }),
  linesWay,
];
