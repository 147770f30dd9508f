// The real agents after everything was lost: in three sessions of tmux with splits, each told a word of its own; then the tmux
// server and the daemon are killed and the machine has booted anew, as far as anybody can tell. `agtmux restore` brings each
// back in its place, and each is asked what was said before.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../kit/live.ts';
import type { ActionExecutor } from './actor.ts';
import { Parts } from './scenario.ts';
import { agentsDir, Stage } from './stage.ts';

interface Guest {
  readonly actor: ActionExecutor;
  readonly stage: Stage;
  /** session:window.pane */
  readonly place: string;
}

const patienceMs = 180_000;
const bashProfile = (path: string, variables: Readonly<Record<string, string>>): string => {
  const more = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`);
  return `export PATH=${path} PS1='shell$ ' HISTFILE=/dev/null\n${more.join('')}`;
};
const program = join(import.meta.dirname, '../../bin/agtmux');

/** Where each goes: sessions with windows and splits. */
const places = ['one:0.0', 'one:0.1', 'two:0.0', 'two:1.0', 'three:0.1'] as const;

export class Restoring {
  readonly #first = new Stage(join(agentsDir, 'captures/restoring'));
  readonly #guests: Guest[] = [];
  #isRight = true;

  #say(isRight: boolean, what: string, told: string): void {
    this.#isRight &&= isRight;
    process.stdout.write(`  ${(isRight ? 'right' : 'wrong').padEnd(13)}${what.padEnd(28)}${told}\n`);
  }

  async play(
    actors: readonly ActionExecutor[],
    installHooks: (actor: ActionExecutor, stage: Stage) => void,
  ): Promise<boolean> {
    const first = this.#first;
    try {
      first.port = await first.mock.listen();
      this.#furnish(actors);
      first.live.trustPrograms();
      await first.live.startDaemon();
      for (const actor of actors) installHooks(actor, first);
      for (const [number, actor] of actors.entries()) await this.#begin(actor, places[number] ?? 'four:0.0');
      await this.#recorded(actors);
      const looks = this.#layouts();
      await this.#lose();
      await this.#restore();
      this.#say(this.#layouts() === looks, 'layouts', this.#layouts().replaceAll('\n', ' '));
      for (const guest of this.#guests) {
        await this.#remembers(guest).catch((problem: unknown) => {
          this.#say(false, guest.actor.label, `${problem}`);
          process.stderr.write(`${guest.stage.screen()}\n`);
        });
      }
      const again = this.#agtmux('restore', '--yes', '--json');
      const { items } = JSON.parse(again) as { items: readonly object[] };
      this.#say(items.length === 0, 'restored once more', `${items.length} to restore`);
      return this.#isRight;
    } finally {
      await first.close();
    }
  }

  #tmux(...args: string[]): string {
    return this.#first.live.tmux(...args);
  }

  #agtmux(...words: string[]): string {
    return execFileSync(process.execPath, [program, ...words], { env: this.#first.live.env, encoding: 'utf8' });
  }

  /** What the agents need stands where a user has it: in what a login shell reads. */
  #furnish(actors: readonly ActionExecutor[]): void {
    const { live, home } = this.#first;
    const path = `${join(agentsDir, 'bin')}:${live.env.PATH}`;
    Object.assign(live.env, { SHELL: '/bin/bash', TERM: 'tmux-256color', PATH: path });
    for (const actor of actors) actor.seed(this.#first);
    const profile = bashProfile(path, Object.assign({}, ...actors.map((actor) => actor.env(this.#first))));
    for (const name of ['.bash_profile', '.bashrc']) writeFileSync(join(home, name), profile);
  }

  #has(target: string): boolean {
    try {
      this.#tmux('list-panes', '-t', target);
      return true;
    } catch {
      return false;
    }
  }

  /** A pane at its place, made from what is there already. */
  #open(place: string, cwd: string): string {
    const [session = '', rest = ''] = place.split(':');
    const [window = '0', pane = '0'] = rest.split('.');
    const shell = ['-c', cwd, 'exec bash -l'];
    const at = `=${session}:${window}`;
    if (!this.#has(`=${session}:`)) this.#tmux('new-session', '-d', '-s', session, '-x', '250', '-y', '60', ...shell);
    if (!this.#has(at)) this.#tmux('new-window', '-t', at, ...shell);
    if (pane !== '0') this.#tmux('split-window', '-h', '-t', at, ...shell);
    return this.#tmux('display-message', '-p', '-t', `${at}.${pane}`, '#{pane_id}');
  }

  async #begin(actor: ActionExecutor, place: string): Promise<void> {
    const stage = new Stage(join(agentsDir, `captures/restoring-${actor.agent}`), '120x40', { beside: this.#first });
    stage.pane = this.#open(place, stage.project);
    const parts = new Parts(actor, stage);
    await this.#tell(actor, parts).catch((problem: unknown) => {
      process.stderr.write(`${stage.screen()}\n`);
      throw problem;
    });
    this.#guests.push({ actor, stage, place });
    process.stdout.write(`  told         ${actor.label}\n`);
  }

  async #tell(actor: ActionExecutor, parts: Parts): Promise<void> {
    const { stage } = parts;
    await stage.see(/shell\$/);
    await stage.submit(actor.command);
    await parts.begun();
    await stage.submit(`the word is plum-${actor.agent} do:say`);
    await stage.holds(() => stage.mock.heard(new RegExp(`plum-${actor.agent}`)), 'the word to be heard');
    await parts.settled();
  }

  /** Until the conversation of each is in the record. */
  async #recorded(actors: readonly ActionExecutor[]): Promise<void> {
    const path = join(this.#first.live.stateDir, 'layouts.json');
    const known = (): readonly string[] => {
      const found = readFileSync(path, 'utf8').matchAll(/"agent":\s*"(\w+)",\s*"agent_session":\s*"[^"]+"/g);
      return [...found].map(([, agent = '']) => agent);
    };
    await until(() => actors.every(({ agent }) => known().includes(agent)), patienceMs / 6, 200).catch(() => {
      this.#say(false, 'recorded', known().join(' '));
    });
  }

  #layouts(): string {
    const format = '#{session_name}:#{window_index} #{window_panes} #{window_layout}';
    return this.#tmux('list-windows', '-a', '-F', format)
      .replace(/ [0-9a-f]{4},/g, ' ')
      .replace(/,\d+(?=[,\]}]|$)/gm, '');
  }

  async #lose(): Promise<void> {
    const { live } = this.#first;
    await live.stopDaemon('SIGKILL');
    const pids = this.#first.leftPids();
    this.#tmux('kill-server');
    await until(() => !pids.some(isThere), patienceMs / 12, 100).catch(() => undefined);
    // A server of an agent outlives its terminals, and no machine.
    for (const pid of pids.filter(isThere)) process.kill(pid, 'SIGKILL');
    const path = join(live.stateDir, 'layouts.json');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(boot, '00000000-0000-4000-8000-000000000000'));
    await live.startDaemon();
  }

  async #restore(): Promise<void> {
    process.stdout.write(this.#agtmux('restore', '--dry-run'));
    const { items } = JSON.parse(this.#agtmux('restore', '--yes', '--json')) as {
      items: readonly { agent: string; outcome: string; words: string | null }[];
    };
    for (const { agent, outcome, words } of items) {
      this.#say(outcome === 'resumed', `restore ${agent}`, `${outcome} ${words ?? ''}`);
    }
    this.#say(items.length === this.#guests.length, 'all of them', `${items.length} of ${this.#guests.length}`);
  }

  /** What was said before goes to the model again with the next question. */
  async #remembers({ actor, stage, place }: Guest): Promise<void> {
    stage.pane = this.#tmux('display-message', '-p', '-t', `=${place}`, '#{pane_id}');
    await new Parts(actor, stage).begun();
    await stage.submit(`tell the word of ${actor.agent} again do:say`);
    const asked = new RegExp(`tell the word of ${actor.agent} again`);
    await stage.holds(() => stage.mock.heard(asked), 'the question to be heard');
    const isKnown = stage.mock.heard(asked, new RegExp(`plum-${actor.agent}`));
    const strangers = this.#guests.filter(
      (one) => one.actor !== actor && stage.mock.heard(asked, new RegExp(`plum-${one.actor.agent}`)),
    );
    const told = isKnown ? 'knows what was said' : 'knows nothing';
    this.#say(isKnown && strangers.length === 0, `${actor.label} at ${place}`, told);
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
