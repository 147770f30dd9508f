// How Cursor's agent is recognised, from documents and others' measurements: it was not run. A shell wrapper becomes a
// Node process under the wrapper's name. The editor is another program, the npm package `cursor-agent` another product,
// and `agent` alone a word that many use.

import { identifyByShape } from '../shape.ts';

export const identify = identifyByShape({
  name: 'cursor',
  commands: ['cursor-agent'],
  places: [/\/cursor-agent\/versions\/[^/]+\//],
  notPlaces: [/\/node_modules\//],
  versions: [/\/cursor-agent\/versions\/([^/]+)\//],
  byName: { native: null, script: 'medium' },
  runtimeNames: ['agent', 'cursor-agent'],
  headlessCommands: ['acp', 'worker'],
  headlessFlags: ['-p', '--print'],
  errandCommands: [
    ...[
      'about',
      'create-chat',
      'generate-rule',
      'help',
      'install-shell-integration',
      'login',
      'logout',
      'mcp',
      'models',
    ],
    ...['rule', 'status', 'uninstall-shell-integration', 'update', 'upgrade', 'whoami'],
  ],
  errandFlags: ['-v', '--version', '-h', '--help', '--list-models'],
  valueFlags: [
    ...['--model', '--api-key', '-H', '--header', '--output-format', '--mode', '--sandbox', '--workspace', '--resume'],
    ...['--plugin-dir', '--endpoint', '-w', '--worktree'],
  ],
});
