// A private world with a desktop that writes down what it was asked to show: notify-send and gdbus are small programs in
// front of everyone's PATH, which can be told to hang, to fail and to have a button pressed.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PaneItem } from '../../../src/api/panes.ts';
import { storePaths } from '../../../src/store/database.ts';
import { Live, until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { programsMayAll } from '../../kit/policy.ts';
import { act } from '../../kit/scenes.ts';

const hookProgram = fileURLToPath(new URL('../../../bin/agtmux-hook', import.meta.url));

const notifySend = (dir: string): string => `#!/bin/sh
dir=${dir}
[ -e "$dir/hang" ] && exec sleep 1000
[ -e "$dir/fail" ] && { echo 'Cannot autolaunch D-Bus' >&2; exit 1; }
id=$$
for arg; do case $arg in --replace-id=*) id=\${arg#*=};; esac; done
printf '%s\\0' "$@" >"$dir/tmp.$$" && mv "$dir/tmp.$$" "$dir/told.$id"
echo $$ >"$dir/shows.$id"
echo $id
case " $* " in *' --action='*)
  until [ -e "$dir/press.$id" ] || [ -e "$dir/closed.$id" ]; do sleep 0.02; done
  # A desktop tells it to whoever has shown it last.
  [ "$(cat "$dir/shows.$id")" = $$ ] && cat "$dir/press.$id" 2>/dev/null;;
esac
exit 0
`;

const gdbus = (dir: string): string => `#!/bin/sh
dir=${dir}
for last; do :; done
: >"$dir/closed.$last"
echo '()'
`;

export interface Shown {
  /** The number that the desktop gave it. */
  readonly id: string;
  readonly args: readonly string[];
  readonly title: string;
  readonly body: string;
  /** Wall time. */
  readonly at: number;
}

export class DesktopWorld extends Live {
  readonly desktop = join(this.dir, 'desktop');
  readonly configDir = join(this.dir, 'home/.config/agtmux');

  constructor(settings: string | null) {
    super();
    mkdirSync(join(this.dir, 'state/spool'), { recursive: true, mode: 0o700 });
    for (const folder of [this.desktop, join(this.dir, 'bin'), this.configDir]) mkdirSync(folder, { recursive: true });
    this.#program('notify-send', notifySend(this.desktop));
    this.#program('gdbus', gdbus(this.desktop));
    this.env.PATH = `${join(this.dir, 'bin')}:${this.env.PATH}`;
    writeFileSync(join(this.configDir, 'policy.toml'), programsMayAll);
    if (settings !== null) writeFileSync(join(this.configDir, 'notifications.toml'), settings);
    this.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', 'sleep 100000');
  }

  #program(name: string, text: string): void {
    writeFileSync(join(this.dir, 'bin', name), text, { mode: 0o755 });
  }

  /** The same machine, on which nobody has installed this program. */
  without(name: string): void {
    const shadow = join(this.dir, 'shadow');
    mkdirSync(shadow);
    rmSync(join(this.dir, 'bin', name));
    for (const folder of (this.env.PATH ?? '').split(':').filter((one) => existsSync(one))) {
      for (const one of readdirSync(folder)) {
        if (one !== name && !existsSync(join(shadow, one))) symlinkSync(join(folder, one), join(shadow, one));
      }
    }
    this.env.PATH = shadow;
  }

  set(fault: 'hang' | 'fail', isOn: boolean): void {
    if (isOn) writeFileSync(join(this.desktop, fault), '');
    else rmSync(join(this.desktop, fault), { force: true });
  }

  /** Everything that was shown, oldest first. */
  shown(): readonly Shown[] {
    const names = readdirSync(this.desktop).filter((name) => name.startsWith('told.'));
    const all = names.map((name) => {
      const path = join(this.desktop, name);
      const args = readFileSync(path, 'utf8').split('\0').slice(0, -1);
      const [title = '', body = ''] = args.slice(args.indexOf('--') + 1);
      return { id: name.slice(5), args, title, body, at: statSync(path).mtimeMs };
    });
    return all.toSorted((one, other) => one.at - other.at);
  }

  press(id: string, button: 'approve' | 'reject'): void {
    // In one step: whoever waits for it reads it at once.
    writeFileSync(join(this.desktop, `pressing.${id}`), `${button}\n`);
    renameSync(join(this.desktop, `pressing.${id}`), join(this.desktop, `press.${id}`));
  }

  /**
   * Whether the number that the desktop gave a notice is on disk. The daemon has the log's file to itself, so it is looked for
   * in the bytes: a row is its kind, its id, its place and then what it says.
   */
  isKept(handle: string): boolean {
    const { database, wal } = storePaths(this.stateDir);
    const bytes = [database, wal].map((path) => (existsSync(path) ? readFileSync(path, 'latin1') : '')).join('\n');
    return new RegExp(`notice_handle[a-z]+ [0-9a-z]+[^"]{0,9}"${handle}"`).test(bytes);
  }

  isClosed(id: string): boolean {
    return existsSync(join(this.desktop, `closed.${id}`));
  }

  async itemOf({ pane }: LookAlike): Promise<PaneItem | undefined> {
    const { items } = await this.client.get('/v1/panes', {});
    return items.find((one) => one.identity.pane_id === pane && one.ended === null);
  }

  becomes(actor: LookAlike, state: RegExp): Promise<void> {
    return until(async () => state.test((await this.itemOf(actor))?.state ?? ''));
  }

  /** An agent at its prompt, in a directory that is known. */
  async agent(): Promise<LookAlike> {
    const actor = LookAlike.start(this, 'claude', 'work');
    await act(actor, 'settled');
    await this.becomes(actor, /idle|completed/);
    await until(async () => ((await this.itemOf(actor))?.cwd ?? '') !== '');
    return actor;
  }

  /** It asks by its hooks, for what its screen shows and on its screen; resolves with the time at which the hook was called. */
  async asks(actor: LookAlike, id: string, command = 'touch made-a.txt && sleep 8'): Promise<number> {
    const base = { session_id: id, transcript_path: '/t', cwd: '/p', prompt_id: 'p1', permission_mode: 'default' };
    const request = { tool_name: 'Bash', tool_input: { command, description: 'clean' }, tool_use_id: id };
    const call = (event: string) => ({
      argv: [hookProgram, 'claude', event],
      input: JSON.stringify({ ...base, hook_event_name: event, ...request }),
    });
    const called = await actor.call([call('PreToolUse'), call('PermissionRequest')]);
    await act(actor, 'waiting_approval');
    return called;
  }
}
