// How OpenCode is recognised: one native program, called `opencode`, `.opencode` behind its npm script, or
// `opencode.exe` on every system.

import { identifyByShape, packageVersions } from '../shape.ts';

export const identify = identifyByShape({
  name: 'opencode',
  commands: ['opencode', '.opencode', 'opencode.exe'],
  places: [/\/opencode-ai\//, /\/node_modules\/opencode-(linux|darwin|windows)-[a-z0-9-]+\//, /\/\.opencode\/bin\//],
  versions: packageVersions('opencode(?:-ai)?'),
  byName: { native: 'high', script: 'medium' },
  headlessCommands: ['run', 'acp'],
  headlessFlags: [],
  // `attach` shows a server's conversation in this terminal and counts as one; the server itself does not.
  errandCommands: [
    ...['agent', 'auth', 'completion', 'console', 'db', 'debug', 'export', 'github', 'import', 'mcp', 'models', 'plug'],
    ...['plugin', 'providers', 'serve', 'session', 'stats', 'uninstall', 'upgrade', 'web'],
  ],
  errandFlags: ['-v', '--version', '-h', '--help'],
  valueFlags: [
    ...[
      '--port',
      '--hostname',
      '-m',
      '--model',
      '-s',
      '--session',
      '--prompt',
      '--agent',
      '--log-level',
      '--mdns-domain',
    ],
    ...['--cors'],
  ],
});
