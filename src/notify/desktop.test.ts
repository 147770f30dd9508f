// Desktops as programs: what stands in arguments and what on standard input, an old notify-send, and one that never answers.

import { describe, expect, it } from 'vitest';
import { sampleNotice } from '../../test/system/api/kit-notices.ts';
import { limits } from '../model/limits.ts';
import type { DesktopText } from '../model/notices.ts';
import type { ChannelCommand, Channels, ProcessHandlers } from '../platform/channel.ts';
import type { Command, Exec, ExecResult } from '../platform/exec.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import type { Message } from './channel.ts';
import { LinuxDesktop, MacDesktop, problemOf } from './desktop.ts';

const message: Message = {
  id: 'n1',
  title: '▲ claude in "web\\shop": approve',
  body: 'rm -rf "build" \\ & co',
  plain: 'claude wants to run a command (host/work:1.2)',
  isUrgent: true,
  notice: sampleNotice,
};

const well = {
  signal: null,
  stdout: new Uint8Array(),
  truncated: false,
  timedOut: false,
  leftOpen: false,
  spawnError: null,
};
const ended = (status: number, stderr = ''): ExecResult => ({ ...well, status, stderr: Buffer.from(stderr) });

function recorder(answer: (command: Command) => ExecResult): { readonly ran: Command[]; readonly exec: Exec } {
  const ran: Command[] = [];
  const run = async (command: Command): Promise<ExecResult> => {
    ran.push(command);
    return answer(command);
  };
  return { ran, exec: { run } };
}

class Screen implements Channels {
  readonly opened: { readonly command: ChannelCommand; readonly handlers: ProcessHandlers; isEnded: boolean }[] = [];
  readonly #answer: (handlers: ProcessHandlers) => void;

  constructor(answer: (handlers: ProcessHandlers) => void) {
    this.#answer = answer;
  }

  open(command: ChannelCommand, handlers: ProcessHandlers): ReturnType<Channels['open']> {
    const one = { command, handlers, isEnded: false };
    this.opened.push(one);
    queueMicrotask(() => this.#answer(handlers));
    const end = (): void => {
      one.isEnded = true;
    };
    return { pid: 1, write: () => undefined, writeBacklog: 0, pause: () => undefined, resume: () => undefined, end };
  }
}

const says = (text: string) => (handlers: ProcessHandlers) => handlers.onData(Buffer.from(text));

function linux(screen: Screen, exec: Exec, text: DesktopText = 'names') {
  const pressed: string[] = [];
  const clock = createSimulatedClock();
  const onPress = (id: string, press: string): void => {
    pressed.push(`${press} ${id}`);
  };
  return {
    clock,
    pressed,
    desktop: new LinuxDesktop({ clock, channels: screen, exec, env: {}, text: () => text, onPress }),
  };
}

describe('macOS', () => {
  it('SEC6 NOT4 gets its script on standard input, with every quote of an agent escaped', async () => {
    const { ran, exec } = recorder(() => ended(0));
    expect(await new MacDesktop({ exec, env: {} }).tell(message)).toEqual({ ok: true, handle: null });
    expect(ran[0]?.args).toEqual(['-']);
    const script = Buffer.from(ran[0]?.stdin ?? []).toString();
    expect(script).toBe(
      'display notification "rm -rf \\"build\\" \\\\ & co" with title "▲ claude in \\"web\\\\shop\\": approve"\n',
    );
  });

  it('NOT4 what a program says of its failure is cut, and without secrets and control characters', () => {
    const said = `\u001b[31mtoken=abcdef0123456789 ${'x'.repeat(70_000)}`;
    const problem = problemOf(ended(1, said), 'the command');
    expect(problem).toMatch(/^the command failed: token=\[redacted\] x+…$/);
    expect(problem.length).toBeLessThanOrEqual(limits.noticeTroubleColumnsMax);
  });

  it('NOT6 says why it could not', async () => {
    const none = { ...ended(0), status: null, spawnError: 'ENOENT' };
    for (const [end, words] of [
      [none, 'osascript is not installed'],
      [{ ...ended(0), status: null, timedOut: true }, 'osascript did not answer in time'],
      [ended(1, 'not allowed\nmore'), 'osascript failed: not allowed'],
    ] as const) {
      expect(await new MacDesktop({ exec: recorder(() => end).exec, env: {} }).tell(message)).toEqual({
        ok: false,
        problem: words,
      });
    }
  });
});

describe('Linux', () => {
  it('NOT4 NOT5 shows names and no button, or what is asked with both, but no button for what it had to leave out', async () => {
    const { exec } = recorder(() => ended(0));
    const argsOf = async (text: DesktopText, changed: Partial<Message> = {}): Promise<string> => {
      const screen = new Screen(says('7\n'));
      expect(await linux(screen, exec, text).desktop.tell({ ...message, ...changed })).toEqual({
        ok: true,
        handle: '7',
      });
      return screen.opened[0]?.command.args.join(' ') ?? '';
    };
    expect(await argsOf('names')).not.toMatch(/rm -rf|--action/);
    expect(await argsOf('ask')).toMatch(/--action=approve=Approve.* rm -rf "build" \\ &amp; co$/);
    expect(await argsOf('ask', { body: 'x'.repeat(limits.noticeBodyColumnsMax + 1) })).not.toMatch(/xxx|--action/);
    expect(await argsOf('ask', { notice: { ...sampleNotice, event: 'error' } })).not.toContain('--action');
    expect(await argsOf('ask', { notice: { ...sampleNotice, is_whole: false } })).not.toContain('--action');
  });

  it('NOT5 hears a button only from the notification itself', async () => {
    const screen = new Screen(says('approve\n7\n'));
    const { desktop, pressed } = linux(screen, recorder(() => ended(0)).exec, 'ask');
    await desktop.tell(message);
    // Before its number it has said nothing that counts.
    expect(pressed).toEqual([]);
    screen.opened[0]?.handlers.onData(Buffer.from('appr'));
    screen.opened[0]?.handlers.onData(Buffer.from('ove\nformat c\n'));
    expect(pressed).toEqual(['approve n1']);
  });

  it('NOT3 NOT5 has buttons only where the number of the notification is known at once, by stdbuf', async () => {
    const { exec } = recorder(() => ended(0));
    const real = new Screen(says('0\n41\n'));
    expect(await linux(real, exec, 'ask').desktop.tell(message)).toEqual({ ok: true, handle: '41' });
    expect(real.opened[0]?.command).toMatchObject({ program: 'stdbuf' });
    expect(real.opened[0]?.command.args.slice(0, 2)).toEqual(['-oL', 'notify-send']);
    const none = { status: null, signal: null, spawnError: 'ENOENT', stderr: new Uint8Array() };
    const bare = new Screen((handlers) => (bare.opened.length === 1 ? handlers.onEnd(none) : says('7\n')(handlers)));
    expect(await linux(bare, exec, 'ask').desktop.tell(message)).toEqual({ ok: true, handle: '7' });
    expect(bare.opened[1]?.command.program).toBe('notify-send');
    expect(bare.opened[1]?.command.args.join(' ')).not.toContain('--action');
    expect(bare.opened[1]?.command.args.at(-1)).toContain('rm -rf');
    const missing = new Screen((handlers) => handlers.onEnd({ ...none, status: 127, spawnError: null }));
    const told = await linux(missing, exec, 'ask').desktop.tell(message);
    expect(told).toEqual({ ok: false, problem: 'notify-send is not installed' });
  });

  it('NOT6 an old notify-send is told without what it does not know', async () => {
    const end = { status: 1, signal: null, spawnError: null, stderr: Buffer.from('Unknown option --print-id\n') };
    const screen = new Screen((handlers) => handlers.onEnd(end));
    const { ran, exec } = recorder(() => ended(0));
    const { desktop } = linux(screen, exec);
    for (const times of [1, 2]) {
      expect(await desktop.tell(message)).toEqual({ ok: true, handle: null });
      expect(ran).toHaveLength(times);
    }
    expect(screen.opened).toHaveLength(1);
    expect(ran[0]?.args).toEqual(['--urgency=critical', '--', message.title, message.plain]);
  });

  it('NOT6 one that never answers is ended, and of many that wait for a button only some are listened to', async () => {
    const silent = new Screen(() => undefined);
    const { desktop, clock } = linux(silent, recorder(() => ended(0)).exec);
    const told = desktop.tell(message);
    await clock.advanceSettled(limits.noticeShowMs);
    expect(await told).toMatchObject({ ok: false });
    expect(silent.opened[0]?.isEnded).toBe(true);
    const many = new Screen(says('7\n'));
    const crowd = linux(many, recorder(() => ended(0)).exec, 'ask').desktop;
    for (let number = 0; number <= limits.noticeButtonsMax; number += 1)
      await crowd.tell({ ...message, id: `n${number}` });
    expect(many.opened.map(({ isEnded }) => isEnded).indexOf(true)).toBe(0);
    crowd.close();
    expect(many.opened.every(({ isEnded }) => isEnded)).toBe(true);
  });

  it('NOT3 takes back by the number that the desktop gave, and runs nothing for what is none', async () => {
    const { ran, exec } = recorder(({ program }) => ended(program === 'gdbus' ? 1 : 0));
    const { desktop } = linux(new Screen(says('7\n')), exec);
    await desktop.withdraw('n1', '7; rm -rf /');
    await desktop.withdraw('n1', null);
    expect(ran).toEqual([]);
    await desktop.withdraw('n1', '7');
    expect(ran.map(({ program, args }) => `${program} ${args.join(' ')}`)).toEqual([
      expect.stringMatching(/^gdbus call --session .*CloseNotification 7$/),
      expect.stringMatching(/^notify-send .*--replace-id=7 --expire-time=1 /),
    ]);
  });
});
