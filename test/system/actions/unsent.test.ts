// What stands in a prompt already, and what comes up while a message is on its way: neither may be sent along or answered.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ActBody } from '../../../src/api/actions.ts';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

let world: ActingWorld;

beforeEach(() => {
  world = new ActingWorld();
});

afterEach(async () => {
  await world.close();
});

const send = (ref: string, text: string, more: Partial<ActBody> = {}) =>
  world.ask({ action: 'send', ref, text, ...more } as ActBody);

describe('a message', () => {
  it('ACT3b is refused while unfinished text stands in the prompt, and waits until it is gone', async () => {
    await world.startDaemon();
    const actor = LookAlike.start(world, 'claude', 'work');
    await actor.show(LookAlike.recorded('claude', '2.1.325-idle_draft_typed.80x24.txt'), '✳ Claude Code');
    await world.becomes(actor, /idle|completed/);
    const receipt = await send(actor.pane, 'please');
    expect(receipt).toMatchObject({ outcome: 'refused', failure: { code: 'E_STATE_CHANGED' } });
    expect(receipt.failure?.message).toMatch(/unfinished text/);
    expect((await send(actor.pane, 'and later', { when_ready: true } as never)).outcome).toBe('queued');
    expect(actor.typed()).toBe('');
    await act(actor, 'settled');
    await until(() => actor.typed() !== '');
    await until(() => actor.typed().endsWith('\r'));
    expect(actor.typed()).toBe('and later\r');
  });

  it('ACT3 that takes its time to be laid ready is not typed into a dialog that came up meanwhile', async () => {
    const slow = join(world.dir, 'slow');
    const filling = join(world.dir, 'filling');
    const goOn = join(world.dir, 'go-on');
    mkdirSync(slow);
    const wait = `touch ${filling}; until [ -e ${goOn} ]; do sleep 0.02; done`;
    const script = `#!/bin/sh\ncase " $* " in *" load-buffer "*) ${wait};; esac\nPATH=${process.env.PATH}\nexec tmux "$@"\n`;
    writeFileSync(join(slow, 'tmux'), script, { mode: 0o755 });
    world.env.PATH = `${slow}:${world.env.PATH}`;
    await world.startDaemon();
    const actor = LookAlike.start(world, 'claude', 'work');
    await act(actor, 'running');
    await world.becomes(actor, /running/);
    const sent = send(actor.pane, 'line of a log\n'.repeat(1_500));
    await until(() => existsSync(filling));
    await act(actor, 'waiting_approval');
    writeFileSync(goOn, '');
    expect(await sent).toMatchObject({ outcome: 'refused' });
    expect(actor.typed()).toBe('');
  });
});
