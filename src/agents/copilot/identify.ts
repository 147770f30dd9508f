// How GitHub Copilot CLI is recognised. npm gives a loader script and a native program whose threads hide its name. A
// native `copilot` elsewhere may also be the deployment tool of AWS, which always gets a command to do.

import { identifyByShape, packageVersions } from '../shape.ts';

const deploymentCommands = [
  ...['app', 'deploy', 'docs', 'env', 'init', 'job', 'pipeline', 'run', 'secret', 'storage', 'svc', 'task', 'upgrade'],
];

export const identify = identifyByShape({
  name: 'copilot',
  commands: ['copilot', 'copilot.exe'],
  places: [
    /\/@github\/copilot(-(linux|darwin|win32)-[a-z0-9-]+)?\//,
    /\/[Cc]askroom\/copilot-cli(@[a-z]+)?\//,
    /\/\.copilot\/pkg\//,
    /\/copilot-cli\/versions\//,
  ],
  versions: [...packageVersions('copilot(?:-cli)?'), /\/\.copilot\/pkg\/[^/]+\/(\d+\.\d+\.\d+[^/]*)\//],
  byName: { native: 'medium', script: 'medium' },
  headlessCommands: [],
  headlessFlags: ['-p', '--prompt', '--acp', '--server', '--headless'],
  errandCommands: [
    ...['completion', 'help', 'login', 'logout', 'mcp', 'plugin', 'skill', 'update', 'version', ...deploymentCommands],
  ],
  errandFlags: ['-v', '--version', '-h', '--help'],
  valueFlags: [
    ...['--model', '--add-dir', '--allow-tool', '--deny-tool', '--agent', '-i', '--interactive', '--log-dir', '--mode'],
    ...[
      '--log-level',
      '--additional-mcp-config',
      '--config-dir',
      '--output-format',
      '--available-tools',
      '--name',
      '-n',
    ],
  ],
});
