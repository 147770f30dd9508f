// What happened to a shell, as one short line for people.

import type { ShellEventItem } from '../api/shells.ts';

export function shellEventText({ kind, shell_id, attempt, start_mode, ended_by, exit_code }: ShellEventItem): string {
  const name = attempt === 1 ? shell_id : `${shell_id} (attempt ${attempt})`;
  switch (kind) {
    case 'start':
      return `${name} started in the ${start_mode}`;
    case 'promote':
      return `${name} continues in the background`;
    case 'terminate': {
      const status = exit_code === null ? '' : ` with status ${exit_code}`;
      const by = ended_by === 'user' ? ', killed by the user' : ended_by === 'agent' ? ', killed by its agent' : '';
      return `${name} ended${status}${by}`;
    }
    case 'kill':
      return `${name} is killed by the user`;
    case 'background_request':
      return `${name} was sent to the background by the user`;
    case 'resume':
      return `${name} was resumed by the user`;
  }
}
