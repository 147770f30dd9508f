// The words of `agtmux web`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const webCommand = ({ json }: Record<'json', OptionSpec>): CommandSpec => ({
  name: 'web',
  words: 'Start the web server and print a sign-in link for one browser',
  action: 'web',
  options: [
    { name: 'open', words: 'Open the link in your browser' },
    { name: 'port', value: 'port', words: 'Listen on this port (default: the last one used, or a free one)' },
    { name: 'read-only', words: 'Create a link for viewing only, without actions' },
    { name: 'stop', words: 'Stop the web server and sign out all browsers' },
    { name: 'status', words: 'Show whether it runs, its address and the number of signed-in browsers' },
    { name: 'listen', value: 'address', words: 'Also listen on this non-loopback address; needs --unencrypted' },
    {
      name: 'unencrypted',
      words: 'With --listen: accept that everyone on that network can read the traffic and use the link',
    },
    json,
  ],
  examples: [
    ['agtmux web --open', 'your agents in your browser'],
    [
      'ssh -t -L 8137:127.0.0.1:8137 box agtmux web --port 8137',
      'agents of another machine: open the printed link here',
    ],
    ['agtmux web --read-only', 'a link for a wall display'],
    ['agtmux web --stop', 'all browsers are signed out'],
  ],
});
