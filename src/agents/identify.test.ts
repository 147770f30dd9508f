// Process shapes as they were seen or can be expected, and what each agent makes of them. The executable stands first
// (null: not known), then the arguments.

import { describe, expect, it } from 'vitest';
import { identifyAgent } from './registry.ts';

const node = '/usr/bin/node';
type Answer =
  | readonly [agent: string, mode: 'interactive' | 'headless', version: string | null, confidence: string]
  | null;
type Shape = readonly [words: string, executable: string | null, argv: readonly string[], answer: Answer];

const claudeNative = '/home/u/.local/share/claude/versions/2.1.325';
const claudePackage = '/usr/lib/node_modules/@anthropic-ai/claude-code';
const claudePlatform = '/usr/lib/node_modules/@anthropic-ai/claude-code-linux-x64/claude';
const codexNative = '/usr/lib/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex';
const codexOld = '/opt/old/node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex';
const codexDaemon = '/home/u/.codex/packages/app-server-daemon/releases/0.166.0-x86_64-unknown-linux-musl/bin/codex';
const copilotNative = '/home/u/cli/node_modules/@github/copilot-linux-x64/copilot';
const cursorIndex = '/home/u/.local/share/cursor-agent/versions/2026.09.10-abc123/index.js';
const kiloNative = '/usr/lib/node_modules/@kilocode/cli-linux-x64/bin/kilo';
const opencodeNative = '/home/u/oc/node_modules/opencode-ai/bin/opencode.exe';

const isClaude = (version: string | null, confidence: string): Answer => ['claude', 'interactive', version, confidence];
const isCodex = (version: string | null, confidence: string): Answer => ['codex', 'interactive', version, confidence];

const runs: readonly Shape[] = [
  ['native installer', claudeNative, ['claude'], isClaude('2.1.325', 'high')],
  ['native installer, started by its path', claudeNative, [claudeNative, '--resume'], isClaude('2.1.325', 'high')],
  ['native platform package', claudePlatform, [claudePlatform], isClaude(null, 'high')],
  ['native with a prompt that is a command', claudePlatform, ['claude', 'update the readme'], isClaude(null, 'high')],
  ['native after a bare --', claudePlatform, ['claude', '--', 'mcp'], isClaude(null, 'high')],
  ['a value that looks like a command', claudePlatform, ['claude', '--model', 'update'], isClaude(null, 'high')],
  ['claude 2.0 starting', node, ['node', '/usr/local/bin/claude'], isClaude(null, 'medium')],
  ['claude 2.0 after it renamed itself', node, ['claude'], isClaude(null, 'medium')],
  ['claude 1.0 by its package', node, ['node', `${claudePackage}/cli.js`, '--continue'], isClaude(null, 'high')],
  [
    'node with options',
    node,
    ['node', '--no-warnings', '-r', './x.js', `${claudePackage}/cli.js`],
    isClaude(null, 'high'),
  ],
  ['bun', '/home/u/.bun/bin/bun', ['bun', 'run', `${claudePackage}/cli.js`], isClaude(null, 'high')],
  [
    'npx, the last process',
    node,
    ['node', '/home/u/.npm/_npx/97540b0888a2deac/node_modules/.bin/claude'],
    isClaude(null, 'medium'),
  ],
  [
    'nvm',
    '/home/u/.nvm/versions/node/v22.13.0/bin/node',
    ['node', '/home/u/.nvm/versions/node/v22.13.0/bin/claude'],
    isClaude(null, 'medium'),
  ],
  [
    'volta, the image',
    '/home/u/.volta/tools/image/node/22.13.0/bin/node',
    ['node', '/home/u/.volta/tools/image/packages/@anthropic-ai/claude-code/bin/claude'],
    isClaude(null, 'high'),
  ],
  [
    'mise',
    node,
    ['node', '/home/u/.local/share/mise/installs/npm-anthropic-ai-claude-code/2.0.77/bin/claude'],
    isClaude('2.0.77', 'medium'),
  ],
  [
    'asdf',
    '/home/u/.asdf/installs/nodejs/22.1.0/bin/node',
    ['node', '/home/u/.asdf/installs/nodejs/22.1.0/bin/claude'],
    isClaude(null, 'medium'),
  ],
  [
    'pnpm',
    node,
    ['node', '/p/.pnpm/@anthropic-ai+claude-code@2.0.77/node_modules/@anthropic-ai/claude-code/cli.js'],
    isClaude('2.0.77', 'high'),
  ],
  ['Homebrew', '/opt/homebrew/Caskroom/claude-code/2.1.200/claude', ['claude'], isClaude('2.1.200', 'high')],
  ['nix', '/nix/store/abc-claude-code-2.1.201/bin/.claude-wrapped', ['claude'], isClaude('2.1.201', 'high')],
  ['under sudo: not ours to see', null, ['claude', '--model', 'opus'], isClaude(null, 'medium')],
  ['ps, by its path', null, [claudeNative], isClaude('2.1.325', 'high')],
  ['headless', claudePlatform, ['claude', '-p', 'say hi'], ['claude', 'headless', null, 'high']],
  [
    'from the SDK, without -p',
    claudePlatform,
    ['claude', '--output-format', 'stream-json', '--input-format', 'stream-json'],
    ['claude', 'headless', null, 'high'],
  ],
  ['format glued on', claudePlatform, ['claude', '--output-format=json'], ['claude', 'headless', null, 'high']],

  ['codex shim', node, ['node', '/usr/lib/node_modules/.bin/codex'], isCodex(null, 'medium')],
  [
    'codex shim by its package',
    node,
    ['node', '/usr/lib/node_modules/@openai/codex/bin/codex.js'],
    isCodex(null, 'high'),
  ],
  ['codex native', codexNative, [codexNative, '--no-daemon', 'resume', '--last'], isCodex(null, 'high')],
  ['codex 0.80', codexOld, [codexOld], isCodex(null, 'high')],
  ['codex by Homebrew', '/opt/homebrew/Caskroom/codex/0.150.1/codex', ['codex'], isCodex('0.150.1', 'high')],
  ['codex alone', '/usr/local/bin/codex', ['codex', '-c', 'model="exec"'], isCodex(null, 'high')],
  ['codex resume', codexNative, ['codex', 'resume', '01a1de41-7a74-7a80-8000-300eeabe8c38'], isCodex(null, 'high')],
  ['codex, a word that is the value of -m', codexNative, ['codex', '-m', 'exec'], isCodex(null, 'high')],
  ['codex exec', codexNative, ['codex', '-m', 'gpt-6', 'exec', '--json', 'x'], ['codex', 'headless', null, 'high']],

  [
    'gemini outer',
    node,
    ['node', '/home/u/bin/gemini', '-m', 'gemini-2.5-pro'],
    ['gemini', 'interactive', null, 'medium'],
  ],
  [
    'gemini inner',
    node,
    [node, '--max-old-space-size=12052', '/home/u/bin/gemini'],
    ['gemini', 'interactive', null, 'medium'],
  ],
  [
    'gemini by its package',
    node,
    ['node', '/l/node_modules/@google/gemini-cli/dist/index.js'],
    ['gemini', 'interactive', null, 'high'],
  ],
  [
    'gemini, interactive prompt',
    node,
    ['node', '/home/u/bin/gemini', '-i', 'mcp'],
    ['gemini', 'interactive', null, 'medium'],
  ],
  ['gemini headless', node, ['node', '/home/u/bin/gemini', '-p', 'x'], ['gemini', 'headless', null, 'medium']],
  ['gemini over its protocol', node, ['node', '/home/u/bin/gemini', '--acp'], ['gemini', 'headless', null, 'medium']],

  ['copilot loader', node, ['node', '/home/u/bin/copilot'], ['copilot', 'interactive', null, 'medium']],
  ['copilot native', copilotNative, [copilotNative], ['copilot', 'interactive', null, 'high']],
  [
    'copilot by its installer',
    '/home/u/.local/bin/copilot',
    ['copilot', '--resume'],
    ['copilot', 'interactive', null, 'medium'],
  ],
  ['copilot headless', copilotNative, [copilotNative, '-p', 'x'], ['copilot', 'headless', null, 'high']],

  [
    'cursor, called agent',
    node,
    ['/home/u/.local/bin/agent', '--use-system-ca', cursorIndex],
    ['cursor', 'interactive', '2026.09.10-abc123', 'high'],
  ],
  [
    'cursor through ps',
    null,
    ['/home/u/.local/bin/agent', '--use-system-ca', cursorIndex],
    ['cursor', 'interactive', '2026.09.10-abc123', 'high'],
  ],
  [
    'cursor with its own node',
    '/home/u/.local/share/cursor-agent/versions/1.2.3/node',
    ['/home/u/.local/bin/cursor-agent', '--use-system-ca', cursorIndex, 'resume'],
    ['cursor', 'interactive', '2026.09.10-abc123', 'high'],
  ],
  [
    'cursor headless',
    node,
    ['agent', '--use-system-ca', cursorIndex, '-p', 'x'],
    ['cursor', 'headless', '2026.09.10-abc123', 'high'],
  ],

  ['opencode', opencodeNative, ['opencode', '--port', '4096'], ['opencode', 'interactive', null, 'high']],
  [
    'opencode by its installer',
    '/home/u/.opencode/bin/opencode',
    ['opencode', '.'],
    ['opencode', 'interactive', null, 'high'],
  ],
  [
    'opencode attach',
    opencodeNative,
    ['opencode', 'attach', 'http://127.0.0.1:4096'],
    ['opencode', 'interactive', null, 'high'],
  ],
  [
    'opencode run',
    opencodeNative,
    ['opencode', 'run', '--format', 'json', 'x'],
    ['opencode', 'headless', null, 'high'],
  ],

  ['kilo 7', kiloNative, ['kilo'], ['kilo', 'interactive', null, 'high']],
  ['kilo 7 in a folder', kiloNative, ['kilo', '/home/u/proj'], ['kilo', 'interactive', null, 'high']],
  ['kilo shim', node, ['node', '/usr/local/bin/kilo'], ['kilo', 'interactive', null, 'medium']],
  ['kilocode 0.26', node, ['node', '/usr/local/bin/kilocode'], ['kilo', 'interactive', null, 'medium']],
  [
    'kilocode 0.26 driven by lines',
    node,
    ['node', '/l/node_modules/@kilocode/cli/dist/index.js', '--json-io'],
    ['kilo', 'headless', null, 'high'],
  ],
  ['kilo through ps: may be the editor', null, ['kilo'], ['kilo', 'interactive', null, 'low']],
];

const others: readonly (readonly [words: string, executable: string | null, argv: readonly string[]])[] = [
  ['an editor on a file of the name', '/usr/bin/vim', ['vim', 'claude.md']],
  ['an editor called by the name', '/usr/bin/vim.basic', ['claude', 'notes']],
  ['a pager', '/usr/bin/less', ['less', 'codex.log']],
  ['a search', '/usr/bin/grep', ['grep', '-r', 'claude', '.']],
  ['a script of nearly the name', node, ['node', 'claude-fake.js']],
  ['a script of the name with an ending', node, ['node', './claude.js']],
  ['a script that gets the name', node, ['node', 'run.js', '/usr/bin/claude']],
  ['code that names it', node, ['node', '-e', 'claude', '/usr/bin/claude']],
  ['the prompt of node', node, ['node']],
  ['a shell script of the name', '/usr/bin/bash', ['/bin/bash', '/home/u/bin/claude']],
  ['a shell script codex-notes', '/bin/sh', ['sh', '/home/u/bin/codex-notes']],
  ['a shell that will start it', '/bin/sh', ['sh', '-c', 'claude --continue']],
  ['a login shell', '/usr/bin/zsh', ['-zsh']],
  ['a commit', '/usr/bin/git', ['git', 'commit', '-m', 'claude']],
  ['a manual page', '/usr/bin/man', ['man', 'gemini']],
  ['a monitor', '/usr/bin/htop', ['htop', '-F', 'claude']],
  ['npx itself', node, ['npm exec @openai/codex']],
  ['npx as a script', node, ['node', '/usr/bin/npx', '@anthropic-ai/claude-code']],
  ['npm installing it', node, ['node', '/usr/bin/npm', 'i', '@anthropic-ai/claude-code']],
  ['env on its way', '/usr/bin/env', ['env', 'X=1', 'claude']],
  ['sudo', '/usr/bin/sudo', ['sudo', '-u', 'dev', 'claude']],
  ['sudo of another user', null, ['sudo', 'codex']],
  ['script', '/usr/bin/script', ['script', '-qc', 'claude', 'log']],
  ['a multiplexer', '/usr/bin/tmux', ['tmux', 'new-session', 'claude']],
  ['volta before it starts it', '/home/u/.volta/bin/volta-shim', ['claude']],
  ['mise before it starts it', '/usr/bin/mise', ['codex']],
  ['another program under its name', '/usr/bin/sleep', ['claude', '100']],
  ['tail of its log', '/usr/bin/tail', ['tail', '-f', '/home/u/.claude/projects/x.jsonl']],
  ['a server started from its folder', node, ['node', '/home/u/claude/versions-of-something/server.js']],
  ['a tool in its folder', node, ['node', '/home/u/.claude/plugins/x/index.js']],
  [
    'the desktop app',
    '/Applications/Claude.app/Contents/MacOS/Claude',
    ['/Applications/Claude.app/Contents/MacOS/Claude'],
  ],
  ['claude --version', claudePlatform, ['claude', '--version']],
  ['claude mcp', claudePlatform, ['claude', 'mcp', 'serve']],
  ['claude agents --json', claudePlatform, ['claude', 'agents', '--json']],
  ['claude as its search tool', claudeNative, ['rg', '--files']],
  ['claude setup-token', node, ['node', `${claudePackage}/cli.js`, 'setup-token']],
  ['codex daemon', codexDaemon, [codexDaemon, 'app-server', '--listen', 'unix://', '--managed-daemon']],
  ['codex updater', codexDaemon, [codexDaemon, 'app-server', 'daemon', 'pid-update-loop']],
  ['codex sandbox', codexNative, ['codex-linux-sandbox', '--sandbox-policy-cwd', '/p']],
  ['codex code mode', `${codexNative}-code-mode-host`, [`${codexNative}-code-mode-host`]],
  ['codex login', codexNative, ['codex', 'login']],
  ['codex mcp-server after options', codexNative, ['codex', '-c', 'x=1', 'mcp-server']],
  ['codex agents: a list of others', node, ['node', '/usr/lib/node_modules/.bin/codex', 'agents']],
  ['a media player of the name', '/usr/bin/codex-player', ['codex-player']],
  ['a browser called gemini', '/usr/bin/gemini', ['gemini', 'gemini://example.org']],
  ['gemini mcp', node, ['node', '/home/u/bin/gemini', 'mcp', 'list']],
  ['the deployment tool copilot', '/usr/local/bin/copilot', ['copilot', 'svc', 'deploy']],
  ['copilot login', copilotNative, ['copilot', 'login']],
  [
    'the language server of an editor',
    node,
    ['node', '/x/node_modules/@github/copilot-language-server/dist/language-server.js'],
  ],
  ['cursor, the editor', '/usr/share/cursor/cursor', ['/usr/share/cursor/cursor', '--type=zygote']],
  ['cursor, the npm namesake', node, ['node', '/x/node_modules/.bin/cursor-agent']],
  ['an agent that is not cursor', node, ['agent']],
  ['an ssh agent', null, ['agent', '--start']],
  ['cursor status', node, ['agent', '--use-system-ca', cursorIndex, 'status']],
  ['opencode serve', opencodeNative, ['opencode', 'serve', '--port', '4096']],
  ['opencode auth', opencodeNative, ['opencode', 'auth', 'login']],
  ['the editor kilo', '/usr/local/bin/kilo', ['kilo', 'notes.txt']],
  ['the editor kilo without a file', '/usr/local/bin/kilo', ['kilo']],
  ['the editor kilo through ps', null, ['kilo', 'notes.txt']],
  ['kilo serve', kiloNative, ['kilo', 'serve']],
  ['kilo daemon', kiloNative, ['kilo', 'daemon']],
  ['what its package brings along', node, ['node', '/l/node_modules/@google/gemini-cli/node_modules/tool/x.js']],
  ['a kernel thread', null, []],
];

describe('what a process runs', () => {
  it.each(runs)('IDN7 %s', (_words, executable, argv, answer) => {
    const found = identifyAgent({ executable, argv });
    expect(found && [found.agent, found.mode, found.version, found.confidence]).toEqual(answer);
  });

  it.each(others)('IDN8 is no agent: %s', (_words, executable, argv) => {
    expect(identifyAgent({ executable, argv })).toBeNull();
  });
});
