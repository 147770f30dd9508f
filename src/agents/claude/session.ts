// How Claude Code is started as a session that agtmux leads: headless, in its stream-json, asking us for leave.

import { type AcpAgent, honest } from '../protocol/acp/profile.ts';
import type { SessionLauncher } from '../protocol/launch.ts';

export const sessions: readonly SessionLauncher[] = [
  {
    driver: 'claude-stream',
    install: 'npm install -g @anthropic-ai/claude-code',
    launch: ({ model, resume }) => ({
      command: [
        ...['claude', '-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
        // Leave is asked for here also in automatic mode, which then gives it: so every tool is seen before it runs.
        ...['--permission-prompt-tool', 'stdio', '--permission-mode', 'default', '--include-partial-messages'],
        // One word each: a value that looks like an option must not become one.
        ...(model === null ? [] : [`--model=${model}`]),
        ...(resume === null ? [] : [`--resume=${resume}`]),
      ],
      // The second one is set by Claude for what it starts itself; such a session is nobody's child.
      env: { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1', CLAUDECODE: '' },
      address: null,
    }),
  },
];

/** As it speaks over ACP. */
export const acp: AcpAgent = {
  name: 'claude',
  called: /claude/i,
  profile: { ...honest, login: 'run `claude` and type /login' },
};
