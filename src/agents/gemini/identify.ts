// How Gemini CLI is recognised. It is a script that starts itself a second time with more memory; both processes look
// alike and are one run. A native program called `gemini` is something else.

import { identifyByShape, packageVersions } from '../shape.ts';

export const identify = identifyByShape({
  name: 'gemini',
  commands: ['gemini'],
  places: [/\/@google\/gemini-cli\//, /\/Cellar\/gemini-cli\//],
  versions: packageVersions('gemini-cli'),
  byName: { native: null, script: 'medium' },
  headlessCommands: [],
  headlessFlags: ['-p', '--prompt', '--acp', '--experimental-acp'],
  errandCommands: ['mcp', 'extensions', 'extension', 'skills', 'skill', 'hooks', 'hook', 'gemma'],
  errandFlags: [
    ...['-v', '--version', '-h', '--help', '-l', '--list-extensions', '--list-sessions', '--delete-session'],
  ],
  valueFlags: [
    ...[
      '-m',
      '--model',
      '-i',
      '--prompt-interactive',
      '--approval-mode',
      '--include-directories',
      '-e',
      '--extensions',
    ],
    ...['-o', '--output-format', '-r', '--resume', '--policy', '--allowed-tools', '--allowed-mcp-server-names'],
    ...['-w', '--worktree', '--session-id'],
  ],
});
