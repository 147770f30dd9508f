// A shell that is in front need not wait for a command: what it reads then is no place for one. And a pane that is gone, or
// has only its name in common with the one that was, shows nothing under an ended agent's name.

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReceiptReply } from '../../../src/api/actions.ts';
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

function typed(pane: string, line: string): void {
  world.tmux('send-keys', '-t', pane, '-l', line);
  world.tmux('send-keys', '-t', pane, 'Enter');
}

const screenOf = (pane: string): string => world.tmux('capture-pane', '-p', '-J', '-t', pane).replace(/ +$/gm, '');

describe('agtmux resume', () => {
  it.each([
    ['sh -i', 'read x; echo "got <$x>"'],
    ['sh -i', 'cat <<EOF'],
    ['bash --norc -i', 'read -p \'$ \' x; echo "got <$x>"'],
    ['bash --norc -i', 'cat <<EOF'],
  ])('ACT1 types nothing where %s reads something else: %s', async (shell, line) => {
    const bin = join(world.dir, 'bin');
    LookAlike.putOnPath(world, 'claude', bin);
    await world.startDaemon();
    const command = `exec env PATH=${bin}:${process.env.PATH} ${shell}`;
    const pane = world.tmux('new-window', '-t', 'work:', '-c', world.dir, '-P', '-F', '#{pane_id}', command);
    typed(pane, 'claude');
    const runtime = await world.runtimeIn(pane);
    world.tmux('send-keys', '-t', pane, '-l', 'q');
    await until(async () => (await world.itemIn(pane)) === undefined);
    typed(pane, line);
    await until(() => screenOf(pane).includes(line));
    const said = await world.agtmux(['resume', `runtime:${runtime}`, '--json']);
    const receipt = JSON.parse(said.stdout) as ReceiptReply;
    expect([receipt.outcome, receipt.failure?.message]).toEqual(['refused', 'its shell is not at its prompt']);
    world.tmux('send-keys', '-t', pane, 'Enter');
    await until(() => /got <|> *\n+> *$/.test(screenOf(pane).trimEnd()));
    expect(screenOf(pane)).not.toContain('--continue');
  });
});

describe('agtmux view-output of an agent that has ended', () => {
  it('IDN2 shows nothing of another tmux server, and says that it has ended', async () => {
    await world.startDaemon();
    const actor = LookAlike.start(world, 'claude', 'work');
    await act(actor, 'settled');
    await world.becomes(actor, /idle|completed/);
    const runtime = await world.runtimeIn(actor.pane);
    world.tmux('kill-server');
    await until(async () => (await world.itemIn(actor.pane)) === undefined);
    world.tmux('new-session', '-d', '-s', 'fresh', 'sleep 1000');
    const shown = 'echo of another server';
    const pane = world.tmux('new-window', '-t', 'fresh:', '-P', '-F', '#{pane_id}', `echo ${shown}; exec sleep 1000`);
    expect(pane).toBe(actor.pane);
    await until(async () => (await world.items()).some(({ identity }) => identity.session_name === 'fresh'));
    const said = await world.agtmux(['view-output', `runtime:${runtime}`]);
    expect(said.stdout).toBe('');
    expect(said.stderr).toMatch(/E_ENDED/);
  });
});
