// How Kilo Code's CLI is recognised: since 7 a native program like OpenCode's, before that a script `kilocode`. A
// native `kilo` elsewhere is a small text editor, and an editor is never an agent (IDN8).

import { identifyByShape, packageVersions } from '../shape.ts';

export const identify = identifyByShape({
  name: 'kilo',
  commands: ['kilo', 'kilocode', '.kilo', 'kilo.exe'],
  places: [/\/@kilocode\/cli(-(linux|darwin|win32)-[a-z0-9-]+)?\//, /\/\.kilo(code)?\/bin\//],
  versions: [...packageVersions('cli'), ...packageVersions('kilocode-cli')],
  byName: { native: 'low', script: 'medium' },
  headlessCommands: ['run', 'acp'],
  headlessFlags: ['--auto', '-a', '--json', '-j', '--json-io'],
  errandCommands: [
    ...[
      'agent',
      'auth',
      'completion',
      'config',
      'console',
      'daemon',
      'db',
      'debug',
      'export',
      'github',
      'help',
      'import',
    ],
    ...[
      'mcp',
      'models',
      'plugin',
      'profile',
      'providers',
      'remote',
      'serve',
      'session',
      'stats',
      'uninstall',
      'upgrade',
    ],
    ...['web', 'worktree'],
  ],
  errandFlags: ['-v', '-V', '--version', '-h', '--help'],
  valueFlags: [
    ...['--port', '--hostname', '-m', '--model', '-s', '--session', '--prompt', '--agent', '--log-level', '-w'],
    ...['--workspace', '--mode', '--timeout', '-P', '--provider'],
  ],
  // The editor opens a file and has no other use; where only the typed name is known, a bare `kilo` may be either.
  accepts: (program, firstWord, inPlace) =>
    inPlace || program.kind !== 'native' || program.calledAs === 'kilocode' || (!program.certain && firstWord === null),
});
