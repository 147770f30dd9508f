// A private tmux server with one shell in one pane, and look-alike agents: programs that do nothing under the paths and
// names of the real ones.

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface Lab {
  readonly directory: string;
  /** A script run by Node, under the path of the real package. */
  readonly claudeScript: string;
  /** A shell script that becomes, after a line of input, a native program of the very same name. */
  readonly claudeWrapper: string;
  /** A native program under the path that the real installer uses; takes seconds to sleep. */
  readonly claudeNative: string;
  readonly codexNative: string;
  tmux(...args: string[]): string;
  panePid(): number;
  type(line: string): void;
  key(name: string): void;
  close(): void;
}

export function openLab(): Lab {
  const directory = mkdtempSync(join(tmpdir(), 'agtmux-process-'));
  const socket = join(directory, 'tmux.sock');
  const place = (path: string): string => {
    const whole = join(directory, path);
    mkdirSync(dirname(whole), { recursive: true });
    return whole;
  };
  const native = (path: string): string => {
    const whole = place(path);
    copyFileSync('/bin/sleep', whole);
    chmodSync(whole, 0o700);
    return whole;
  };
  const codexNative = native('node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex');
  const claudePlatform = native('node_modules/@anthropic-ai/claude-code-linux-x64/claude');
  const claudeNative = native('share/claude/versions/2.1.325');
  const claudeScript = place('node_modules/@anthropic-ai/claude-code/cli.js');
  // With an argument it starts that as a tool, in a session of its own, as agents do.
  writeFileSync(
    claudeScript,
    `const [program, ...args] = process.argv.slice(2);
if (program) require('node:child_process').spawn(program, args, { detached: true, stdio: 'ignore' });
setInterval(() => undefined, 1_000);
`,
  );
  const claudeWrapper = place('bin/claude');
  writeFileSync(claudeWrapper, `#!/bin/sh\nread _\nexec '${claudePlatform}' 1000\n`);
  chmodSync(claudeWrapper, 0o700);

  const env = { PATH: process.env.PATH ?? '', HOME: directory, LANG: 'C.UTF-8', TERM: 'xterm', HISTFILE: '/dev/null' };
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' }).trim();
  tmux('new-session', '-d', '-x', '200', '-y', '50', 'exec bash --norc --noprofile');
  return {
    directory,
    claudeScript,
    claudeWrapper,
    claudeNative,
    codexNative,
    tmux,
    panePid: () => Number(tmux('display-message', '-p', '#{pane_pid}')),
    type: (line) => {
      tmux('send-keys', '-l', line);
      tmux('send-keys', 'Enter');
    },
    key: (name) => {
      tmux('send-keys', name);
    },
    close: () => {
      tmux('kill-server');
      // The shells may still be on their way out.
      rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}
