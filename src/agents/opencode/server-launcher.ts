// How OpenCode and its fork Kilo are started as a server of their own, behind a password that was made for it.

import type { SessionLauncher } from '../protocol/launch.ts';

interface ServerProgram {
  readonly program: string;
  /** How the variables of its environment begin. */
  readonly prefix: string;
  readonly install: string;
}

const user = 'agtmux';

export const serverLauncher = ({ program, prefix, install }: ServerProgram): SessionLauncher => ({
  driver: 'opencode-http',
  install,
  launch: ({ secret }) => ({
    command: [program, 'serve', '--hostname=127.0.0.1', '--port=0'],
    env: secret === undefined ? {} : { [`${prefix}_SERVER_USERNAME`]: user, [`${prefix}_SERVER_PASSWORD`]: secret },
    address: /server listening on (http:\/\/\S+)/,
    events: '/event',
    ...(secret === undefined ? {} : { auth: user }),
  }),
});
