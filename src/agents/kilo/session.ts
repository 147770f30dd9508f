// How Kilo is started as a session that agtmux leads: since 7 by its server or over ACP, before that by lines of JSON.

import { serverLauncher } from '../opencode/server-launcher.ts';
import { type AcpAgent, honest } from '../protocol/acp/profile.ts';
import { acpLauncher, type SessionLauncher } from '../protocol/launch.ts';

const install = 'npm install -g @kilocode/cli';

/** Before 7 a conversation has a name only in Kilo's cloud; all others go on as the last one of their directory. */
export const lastConversation = 'last-of-directory';

const linesWay: SessionLauncher = {
  driver: 'kilo-lines',
  install: 'a version of @kilocode/cli before 7; newer ones use opencode-http',
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

export const sessions: readonly SessionLauncher[] = [
  serverLauncher({ program: 'kilo', prefix: 'KILO', install }),
  acpLauncher({ command: ['kilo', 'acp'], install }),
  linesWay,
];

/** As it speaks over ACP. */
export const acp: AcpAgent = {
  name: 'kilo',
  called: /kilo/i,
  profile: { ...honest, questionTool: 'question', login: 'run `kilo auth login`' },
};
