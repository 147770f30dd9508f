// How Claude Code is recognised. Until 2.0 it is a script that renames its process to `claude`; since 2.1 a native
// program, kept under its version's number by the native installer or in a platform package by npm.

import { identifyByShape, packageVersions } from '../shape.ts';

export const identify = identifyByShape({
  name: 'claude',
  commands: ['claude', 'claude.exe'],
  places: [
    /\/@anthropic-ai\/claude-code(-(linux|darwin|win32)-[a-z0-9-]+)?\//,
    /\/@anthropic-ai\/claude-agent-sdk(-(linux|darwin|win32)-[a-z0-9-]+)?\//,
    /\/claude\/versions\/\d/,
    /\/[Cc]askroom\/claude-code(@[a-z]+)?\//,
    /\/nix\/store\/[^/]*-claude-code-\d/,
  ],
  versions: [/\/claude\/versions\/(\d+\.\d+\.\d+[^/]*)$/, ...packageVersions('claude-code(?:@latest)?')],
  byName: { native: 'high', script: 'medium' },
  headlessCommands: [],
  // The SDK and the protocol adapters start it without -p, by its formats alone.
  headlessFlags: ['-p', '--print', '--input-format', '--output-format', '--sdk-url'],
  // `agents` shows other sessions, `--bg` hands the work to another process: nobody talks to this one. `daemon` and the
  // spares it keeps are started by the list of sessions inside a conversation.
  errandCommands: [
    ...[
      'agents',
      'auth',
      'bg-pty-host',
      'config',
      'daemon',
      'doctor',
      'install',
      'mcp',
      'migrate-installer',
      'plugin',
      'plugins',
      'setup-token',
    ],
    ...['update', 'upgrade'],
  ],
  errandFlags: [
    ...['-v', '--version', '-h', '--help', '--bg', '--background', '--bg-spare', '--bg-pty-host'],
    ...['--ripgrep', '--claude-in-chrome-mcp'],
  ],
  valueFlags: [
    ...['--model', '--permission-mode', '--settings', '--add-dir', '--mcp-config', '--append-system-prompt', '--agent'],
    ...['--system-prompt', '--session-id', '--agents', '--plugin-dir', '--name', '-n', '--effort', '--fallback-model'],
    ...['--setting-sources', '--tools', '--allowedTools', '--allowed-tools', '--disallowedTools', '--disallowed-tools'],
    ...['--resume', '-r', '--permission-prompt-tool', '--max-turns', '--betas', '--append-system-prompt-file'],
  ],
});
