// The terminal taken and given back, many times: what it is told each time, and that nothing piles up.
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Input } from './keys.ts';
import { createTerminal } from './terminal.ts';

function fakeTerminal() {
  const raw: boolean[] = [];
  const written: string[] = [];
  const input = Object.assign(new EventEmitter(), {
    destroyed: false,
    setRawMode: (isRaw: boolean) => raw.push(isRaw),
    resume: () => undefined,
    pause: () => undefined,
  });
  const output = Object.assign(new EventEmitter(), {
    columns: 80,
    rows: 24,
    write: (text: string) => written.push(text),
  });
  const parts = { input, output, after: () => () => undefined } as unknown as Parameters<typeof createTerminal>[0];
  return { input, output, raw, written, terminal: createTerminal(parts) };
}

describe('the terminal', () => {
  it('SCR3 going to a pane and back many times leaves nothing behind, and one that is gone ends nothing', () => {
    const { terminal, input, output, raw, written } = fakeTerminal();
    for (let time = 0; time < 20; time += 1) {
      terminal.enter({ onInput: () => undefined, onResize: () => undefined, onGone: () => undefined });
      terminal.leave();
    }
    const count = (of: EventEmitter, name: string): number => of.listenerCount(name);
    expect([count(input, 'data'), count(input, 'end'), count(output, 'resize'), count(output, 'error')]).toEqual([
      0, 0, 0, 1,
    ]);
    expect(output.emit('error', new Error('EIO'))).toBe(true);
    expect(raw.at(-1)).toBe(false);
    expect(written.at(-1)).toContain('\u001b[?1049l');
    expect(written.at(-1)).toContain('\u001b[?1000l');
    terminal.setMouse(false);
    terminal.enter({ onInput: () => undefined, onResize: () => undefined, onGone: () => undefined });
    expect(written.at(-1)).not.toContain('\u001b[?1000h');
  });

  it('SCR2 keys that come in one piece are told as such', () => {
    const { terminal, input } = fakeTerminal();
    const got: Input[] = [];
    const onInput = (inputs: readonly Input[]) => got.push(...inputs);
    terminal.enter({ onInput, onResize: () => undefined, onGone: () => undefined });
    input.emit('data', Buffer.from('a'));
    input.emit('data', Buffer.from('Ky'));
    expect(got).toEqual([
      { is: 'key', key: 'a' },
      { is: 'key', key: 'K', isBurst: true },
      { is: 'key', key: 'y', isBurst: true },
    ]);
  });
});
