// How Codex is recognised. npm gives a script that starts the native program beside it; the same executable also plays
// the sandbox around commands, the host of code mode, and a server outside every pane.

import { identifyByShape, packageVersions } from '../shape.ts';

export const identify = identifyByShape({
  name: 'codex',
  commands: ['codex', 'codex.exe', 'codex-x86_64-unknown-linux-musl', 'codex-aarch64-unknown-linux-musl'],
  places: [
    /\/@openai\/codex(-(linux|darwin|win32)-[a-z0-9-]+)?\//,
    /\/\.codex\/packages\//,
    /\/[Cc]askroom\/codex\//,
    /\/Cellar\/codex\//,
  ],
  versions: [...packageVersions('codex'), /\/releases\/(\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)[0-9.]*)?)/],
  byName: { native: 'high', script: 'medium' },
  headlessCommands: ['exec', 'e', 'review'],
  headlessFlags: [],
  // The server carries other panes' threads and `agents` lists them; neither is a conversation of this pane.
  errandCommands: [
    ...[
      'app-server',
      'agents',
      'apply',
      'a',
      'cloud',
      'completion',
      'debug',
      'exec-server',
      'features',
      'help',
      'login',
    ],
    ...['logout', 'mcp', 'mcp-server', 'plugin', 'proto', 'queue', 'responses-api-proxy', 'sandbox', 'stdio-to-uds'],
    ...['execpolicy', 'generate-ts', 'update'],
  ],
  errandFlags: ['-V', '--version', '-h', '--help'],
  valueFlags: [
    ...[
      '-c',
      '--config',
      '-m',
      '--model',
      '-a',
      '--ask-for-approval',
      '-s',
      '--sandbox',
      '-C',
      '--cd',
      '-p',
      '--profile',
    ],
    ...['-i', '--image', '--add-dir', '--enable', '--disable', '--local-provider', '--remote'],
  ],
});
