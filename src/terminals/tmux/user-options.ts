// User options of tmux (`@name`) as commands: what a status line can show without starting a process.

import { AgtmuxError, assert } from '../../model/errors.ts';
import { quoteTmux } from '../../text/quote.ts';

export interface UserOption {
  readonly scope: 'pane' | 'window' | 'session' | 'server';
  /** `%5`, `@3`, `$1`; empty for all sessions of a server. */
  readonly id: string;
  /** Begins with `@agtmux`. */
  readonly name: string;
  /** Null takes the option away. */
  readonly value: string | null;
}

const scopes = {
  pane: { flag: '-p ', id: /^%\d+$/ },
  window: { flag: '-w ', id: /^@\d+$/ },
  session: { flag: '', id: /^\$\d+$/ },
  // Global options of sessions: a status line looks for those of its session first.
  server: { flag: '-g ', id: /^$/ },
} as const;

export function optionCommand({ scope, id, name, value }: UserOption): string {
  const { flag, id: pattern } = scopes[scope];
  assert(pattern.test(id), `an option of a ${scope} belongs to an id of one`);
  assert(/^@agtmux[a-z_]*$/.test(name), 'agtmux sets no options but its own');
  const where = `${flag}${id === '' ? '' : `-t ${id} `}`;
  if (value === null) return `set-option -q -u ${where}${name}`;
  const quoted = quoteTmux(value);
  if (!quoted.ok) throw new AgtmuxError(quoted.failure.code, quoted.failure.message);
  return `set-option -q ${where}${name} ${quoted.value}`;
}
