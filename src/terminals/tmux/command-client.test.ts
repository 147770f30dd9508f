import { describe, expect, it } from 'vitest';
import { targetId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { createSimulatedClock, type SimulatedClock } from '../../platform/simulated/clock.ts';
import type { ChannelHandlers, Executor } from '../../targets/executor.ts';
import { ClientTurns } from './client-turns.ts';
import { type CommandClient, openCommandClient } from './command-client.ts';

/** The other end of the channel, played by hand. */
interface Stage {
  readonly clock: SimulatedClock;
  readonly executor: Executor;
  readonly written: string[];
  readonly ends: string[];
  say(text: string): void;
  leave(stderr?: string): void;
  isEnded(): boolean;
  client(): Promise<CommandClient>;
}

function stage(): Stage {
  const clock = createSimulatedClock();
  const written: string[] = [];
  const ends: string[] = [];
  let handlers: ChannelHandlers | null = null;
  let isEnded = false;
  const executor: Executor = {
    target: targetId('host'),
    kind: 'local',
    run: () => Promise.reject(new Error('nothing is run here')),
    open: (_, given) => {
      handlers = given;
      return {
        pid: 7,
        writeBacklog: 0,
        write: (bytes) => written.push(Buffer.from(bytes).toString()),
        end: () => {
          isEnded = true;
        },
      };
    },
    close: () => Promise.resolve(),
  };
  const open = (): Promise<CommandClient> =>
    openCommandClient({
      executor,
      clock,
      argv: ['tmux'],
      turns: new ClientTurns(),
      nonce: 'n',
      onEnd: (reason) => ends.push(reason),
    });
  const say = (text: string): void => handlers?.onData(Buffer.from(text));
  return {
    clock,
    executor,
    written,
    ends,
    say,
    leave: (stderr = '') => handlers?.onEnd({ status: 1, signal: null, stderr }),
    isEnded: () => isEnded,
    client: async () => {
      const opened = open();
      say(block('', { flags: 0, number: 1 }));
      return opened;
    },
  };
}

function block(body: string, { flags = 1, number = 2, word = 'end' } = {}): string {
  const key = `1700000000 ${number} ${flags}`;
  return `%begin ${key}\n${body === '' ? '' : `${body}\n`}%${word} ${key}\n`;
}

const texts = (blocks: readonly { body: Uint8Array }[]): string[] =>
  blocks.map(({ body }) => Buffer.from(body).toString());

describe('command client', () => {
  it('frames each request by its marker, whatever the number of blocks', async () => {
    const { client, written, say } = stage();
    const tmux = await client();
    const first = tmux.request(['if-shell -F 1 { display-message -p a }']);
    const second = tmux.request(['list-panes -a', 'kill-pane -t %9']);
    expect(written).toEqual([
      'if-shell -F 1 { display-message -p a }\ndisplay-message -p @@n-1\n',
      'list-panes -a\nkill-pane -t %9\ndisplay-message -p @@n-2\n',
    ]);
    say(block('') + block('a') + block('@@n-1') + block('panes'));
    expect(texts(await first)).toEqual(['', 'a']);
    say(block("can't find pane", { word: 'error' }) + block('@@n-2'));
    const blocks = await second;
    expect(texts(blocks)).toEqual(['panes', "can't find pane"]);
    expect(blocks.map(({ isError }) => isError)).toEqual([false, true]);
  });

  it('a request past its deadline is refused, and its late reply does not reach the next one', async () => {
    const { client, clock, say } = stage();
    const tmux = await client();
    const late = tmux.request(['list-panes'], { deadlineMs: 1_000 });
    const next = tmux.request(['list-windows'], { deadlineMs: null });
    clock.advance(1_000);
    await expect(late).rejects.toMatchObject({ code: 'E_TARGET_DOWN' });
    say(block('panes') + block('@@n-1') + block('windows') + block('@@n-2'));
    expect(texts(await next)).toEqual(['windows']);
    expect(clock.pending()).toBe(0);
  });

  it('SEC3 when the channel ends everything that waits is refused, with words that are safe to show', async () => {
    const { client, leave, ends } = stage();
    const tmux = await client();
    const waiting = [tmux.request(['list-panes']), tmux.request(['wait-for x'], { deadlineMs: null })];
    leave('lost\x1b]0;x\x07 server');
    for (const request of waiting) await expect(request).rejects.toMatchObject({ code: 'E_TARGET_DOWN' });
    await expect(tmux.request(['list-panes'])).rejects.toMatchObject({ code: 'E_TARGET_DOWN' });
    expect(ends).toEqual(['lost server']);
  });

  it('an attach that is refused, or never answered, rejects', async () => {
    const refused = stage();
    const opening = openCommandClient({
      ...refused,
      argv: ['tmux'],
      turns: new ClientTurns(),
      nonce: 'n',
      onEnd: () => undefined,
    });
    refused.say(block("can't find session: $9", { flags: 0, word: 'error' }));
    await expect(opening).rejects.toThrow("can't find session: $9");
    expect(refused.isEnded()).toBe(true);
    const silent = stage();
    const waiting = openCommandClient({
      ...silent,
      argv: ['tmux'],
      turns: new ClientTurns(),
      nonce: 'n',
      onEnd: () => undefined,
    });
    silent.clock.advance(limits.tmuxAttachMs);
    await expect(waiting).rejects.toMatchObject({ code: 'E_TARGET_DOWN' });
    expect(silent.isEnded()).toBe(true);
  });

  it('a greeting before tmux speaks is passed over, garbage after it ends the client', async () => {
    const { executor, clock, say, ends, isEnded } = stage();
    const opening = openCommandClient({
      executor,
      clock,
      argv: ['ssh'],
      turns: new ClientTurns(),
      nonce: 'n',
      onEnd: (reason) => ends.push(reason),
    });
    say('Welcome to the machine\n');
    say(block('', { flags: 0 }));
    await opening;
    say('garbage\n');
    expect(isEnded()).toBe(true);
    expect(ends).toEqual(['tmux control mode is broken (not_control_mode)']);
  });

  it('an answer that is too long is an error of its own, and the client lives on', async () => {
    const { client, say, ends } = stage();
    const tmux = await client();
    const request = tmux.request(['capture-pane -p -t %1', 'capture-pane -p -t %2']);
    const next = tmux.request(['list-panes -a']);
    const long = 'x'.repeat(limits.controlLineBytesMax + 1);
    say(`%window-renamed @1 ${long}\n`);
    say(block(long) + block('screen') + block('@@n-1') + block('panes') + block('@@n-2'));
    expect((await request).map(({ isError }) => isError)).toEqual([true, false]);
    expect(texts(await request)[1]).toBe('screen');
    expect(texts(await next)).toEqual(['panes']);
    expect(ends).toEqual([]);
  });

  it.each([
    ['%exit\n', 'tmux ended the connection'],
    ['%exit server exited\n', 'server exited'],
  ])('a tmux that says goodbye and stays is over: %j', async (told, reason) => {
    const { client, say, ends } = stage();
    const opening = client();
    const request = opening.then((tmux) => tmux.request(['list-panes']));
    await opening;
    say(told);
    await expect(request).rejects.toMatchObject({ code: 'E_TARGET_DOWN' });
    expect(ends).toEqual([reason]);
  });

  it('what a pane printed and was lost ends the client: its picture would be wrong', async () => {
    const { client, say, ends } = stage();
    await client();
    say(`%output %1 ${'x'.repeat(limits.controlLineBytesMax + 1)}\n`);
    expect(ends).toEqual(['tmux control mode is broken (output_too_long)']);
  });

  it('a tmux that answers nothing is not sent more and more', async () => {
    const { client } = stage();
    const tmux = await client();
    const requests = Array.from({ length: limits.controlRequestsMax }, () =>
      tmux.request(['list-panes'], { deadlineMs: null }),
    );
    await expect(tmux.request(['list-panes'])).rejects.toMatchObject({ code: 'E_TARGET_DOWN' });
    tmux.close();
    for (const request of requests) await expect(request).rejects.toMatchObject({ code: 'E_TARGET_DOWN' });
  });

  it('a command that is not one line is a defect of its caller', async () => {
    const { client } = stage();
    const tmux = await client();
    for (const text of ['list-panes\nkill-server', '', '# comment', ' list-panes']) {
      expect(() => tmux.request([text])).toThrow('broken invariant');
    }
  });

  it('blocks are told the moment they are read, before later output', async () => {
    const told: string[] = [];
    const { executor, clock, say } = stage();
    const opening = openCommandClient({
      executor,
      clock,
      argv: ['tmux'],
      turns: new ClientTurns(),
      nonce: 'n',
      onEnd: () => undefined,
      onOutput: (pane, bytes) => told.push(`%${pane} ${Buffer.from(bytes).toString()}`),
    });
    say(block('', { flags: 0 }));
    const tmux = await opening;
    const request = tmux.request(['capture-pane -p -t %1'], {
      onBlock: ({ body }) => told.push(Buffer.from(body).toString()),
    });
    say(`%output %1 before\n${block('screen')}%output %1 after\n${block('@@n-1')}`);
    await request;
    expect(told).toEqual(['%1 before', 'screen', '%1 after']);
  });
});
