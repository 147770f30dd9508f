// The words of `agtmux web`, for the table in commands.ts. Data only.

import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const webCommand = ({ json }: Record<'json', OptionSpec>): CommandSpec => ({
  name: 'web',
  words: 'the same in a browser: prints a link that lets one browser in, once',
  action: 'web',
  options: [
    { name: 'open', words: 'open it in your browser as well' },
    { name: 'port', value: 'port', words: 'this port; by default the one it had last, or any that is free' },
    { name: 'read-only', words: 'the link lets in to look, not to act' },
    { name: 'stop', words: 'shut the door and sign every browser out' },
    { name: 'status', words: 'is it open, where, and how many browsers are in' },
    { name: 'listen', value: 'address', words: 'listen at this address too, not on loopback; needs --unencrypted' },
    { name: 'unencrypted', words: 'with --listen: yes, everybody on that network can read along and take the link' },
    json,
  ],
  examples: [
    ['agtmux web --open', 'your agents in your browser'],
    [
      'ssh -t -L 8137:127.0.0.1:8137 box agtmux web --port 8137',
      'those of another machine: open the link it prints here',
    ],
    ['agtmux web --read-only', 'a link for a screen on the wall'],
    ['agtmux web --stop', 'nobody is in any more'],
  ],
});
