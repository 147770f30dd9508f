// Which agent gets messages, end to end: real processes start, stop, are killed, suspended and restarted in terminals of a
// real tmux, and the feed is held to what must be true in every version of it.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ActingWorld, type FollowedRoute } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike, type LookAlikeKind } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

let world: ActingWorld;
let feed: FollowedRoute;

beforeEach(async () => {
  world = new ActingWorld();
  await world.startDaemon();
  feed = await world.follow();
});

afterEach(async () => {
  await feed.end();
  await world.close();
});

/** Started at the shell of a terminal, and at its prompt. */
async function startIn(pane: string, kind: LookAlikeKind = 'claude'): Promise<LookAlike> {
  const actor = LookAlike.startInside(world, kind, pane);
  await act(actor, 'settled');
  await world.routed('C', pane);
  return actor;
}

/** The feed told of exactly these, one after the other, and never of two or of none while one ran (RTE5). */
async function heard(panes: readonly string[]): Promise<void> {
  await until(() => feed.connected.length >= panes.length);
  expect(feed.connected).toEqual(panes);
  expect(feed.broken).toEqual([]);
}

/** Its own way out: what it does when a person leaves it. */
const leave = (actor: LookAlike): string => world.tmux('send-keys', '-t', actor.pane, '-l', 'q');

/** The process of the look-alike itself, not of the shells above it, which have its words in theirs. */
function runtimePid(pane: string): number | undefined {
  const tty = world.tmux('display-message', '-p', '-t', pane, '#{pane_tty}').replace('/dev/', '');
  const lines = execFileSync('ps', ['-t', tty, '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  const own = lines.map((line) => line.trim().split(' ')).find(([, program]) => program === process.execPath);
  return own === undefined ? undefined : Number(own[0]);
}

/** Does it while the daemon stands still: however long a program takes to start, no look falls in between. */
async function betweenLooks(deed: () => Promise<unknown>): Promise<void> {
  process.kill(world.daemonPid, 'SIGSTOP');
  await deed().finally(() => process.kill(world.daemonPid, 'SIGCONT'));
}

describe('who is CONNECTED', () => {
  it('RTE1 a terminal is NONE, CONNECTED while its agent runs, and NONE again', async () => {
    const pane = world.terminal();
    await until(async () => (await world.items()).some(({ identity }) => identity.pane_id === pane));
    await world.routed('N', pane);
    const actor = await startIn(pane);
    const shown = await world.agtmux(['route']);
    expect(shown.stdout).toMatch(/CONNECTED\s+claude/);
    leave(actor);
    await world.routed('N', pane);
    expect((await world.agtmux(['route'])).stdout).toContain('No agent is running');
    expect((await world.agtmux(['route', '--all-panes'])).stdout).toContain('NONE');
    await heard(['', pane, '']);
  });

  it('RTE2 the one started last is CONNECTED; when it ends the one before it follows; others end without moving anything', async () => {
    const [one, two, three] = [world.terminal(), world.terminal(), world.terminal()];
    const first = await startIn(one);
    await world.routed('CNN', one, two, three);
    const second = await startIn(two, 'codex');
    await world.routed('DCN', one, two, three);
    const third = await startIn(three, 'gemini');
    await world.routed('DDC', one, two, three);
    leave(third);
    await world.routed('DCN', one, two, three);
    leave(second);
    await world.routed('CNN', one, two, three);
    const again = await startIn(two);
    await world.routed('DCN', one, two, three);
    leave(first);
    await world.routed('NCN', one, two, three);
    leave(again);
    await world.routed('NNN', one, two, three);
    await heard(['', one, two, three, two, one, two, '']);
  });

  it('RTE4 a chosen one is CONNECTED until it ends; then follows the one started last, not the one before', async () => {
    const [one, two, three] = [world.terminal(), world.terminal(), world.terminal()];
    const first = await startIn(one);
    await startIn(two);
    await startIn(three);
    const chosen = await world.agtmux(['route', 'activate', one]);
    expect(chosen).toMatchObject({ status: 0, stderr: '' });
    await world.routed('CDD', one, two, three);
    leave(first);
    await world.routed('NDC', one, two, three);
    // Where none runs there is nothing to choose.
    expect((await world.agtmux(['route', 'activate', one])).status).not.toBe(0);
    await world.routed('NDC', one, two, three);
    await heard(['', one, two, three, one, three]);
  });

  it('RTE2 typing /exit changes nothing; the end of the process does', async () => {
    const [one, two] = [world.terminal(), world.terminal()];
    await startIn(one);
    const actor = await startIn(two);
    const runtime = await world.runtimeIn(two);
    world.tmux('send-keys', '-t', two, '-l', '/exit');
    world.tmux('send-keys', '-t', two, 'Enter');
    await until(() => actor.typed().endsWith('/exit\r'));
    // It is on its screen, and the daemon has looked at it since.
    const typedAt = Date.now();
    await until(async () => (await world.agtmux(['view-output', two])).stdout.includes('/exit'));
    await until(async () => Date.parse((await world.client.get('/v1/panes', {})).generated_at) > typedAt);
    expect(await world.routes(one, two)).toEqual(['DISCONNECTED', 'CONNECTED']);
    expect(await world.runtimeIn(two)).toBe(runtime);
    leave(actor);
    await world.routed('CN', one, two);
    await heard(['', one, two, one]);
  });

  it('RTE2 killing the CONNECTED one promotes the most recently started of the others', async () => {
    const panes = [world.terminal(), world.terminal(), world.terminal(), world.terminal()];
    const [one = '', two = '', three = '', four = ''] = panes;
    for (const pane of panes) await startIn(pane);
    for (const [pane, letters] of [
      [four, 'DDCN'],
      [three, 'DCNN'],
      [two, 'CNNN'],
    ] as const) {
      const killed = await world.agtmux(['kill', pane, '--signal', 'KILL', '--yes', '--json']);
      expect(JSON.parse(killed.stdout)).toMatchObject({ outcome: 'delivered', action: 'kill', way: 'signal' });
      await world.routed(letters, ...panes);
    }
    await heard(['', one, two, three, four, three, two, one]);
  });

  it('RTE3 a restart in the same terminal is one step: nobody else is promoted in between', async () => {
    const [one, two] = [world.terminal(), world.terminal()];
    await startIn(one);
    await startIn(two);
    for (let round = 0; round < 5; round += 1) {
      const before = await world.runtimeIn(two);
      await betweenLooks(() => act(LookAlike.startInstead(world, 'claude', two), 'settled'));
      await until(async () => (await world.runtimeIn(two)) !== before);
      await world.routed('DC', one, two);
    }
    await heard(['', one, two]);
  });

  it('RTE3 the same when a shell starts the next one as soon as the last has ended', async () => {
    const one = world.terminal();
    await startIn(one);
    const loop = join(world.dir, 'loop.sh');
    writeFileSync(loop, 'while :; do sh -c "$1"; done\n');
    const actor = LookAlike.start(world, 'claude', 'work', `sh ${loop}`);
    await act(actor, 'settled');
    await world.routed('DC', one, actor.pane);
    for (let round = 0; round < 5; round += 1) {
      const before = await world.runtimeIn(actor.pane);
      const pid = runtimePid(actor.pane);
      await betweenLooks(() => {
        leave(actor);
        return until(() => ![pid, undefined].includes(runtimePid(actor.pane)));
      });
      await until(async () => (await world.runtimeIn(actor.pane)) !== before);
      await world.routed('DC', one, actor.pane);
    }
    await heard(['', one, actor.pane]);
  });

  it('RTE5 of agents started at the same moment exactly one is CONNECTED, the same one after a restart of the daemon', async () => {
    const kinds = ['claude', 'codex', 'gemini', 'claude'] as const;
    const actors = LookAlike.startTogether(world, kinds, 'work');
    const panes = actors.map(({ pane }) => pane);
    for (const pane of panes) await world.runtimeIn(pane);
    const items = (await world.items()).filter(({ agent, ended }) => agent !== null && ended === null);
    expect(items).toHaveLength(kinds.length);
    const routes = await world.routes(...panes);
    expect(routes.filter((route) => route === 'CONNECTED')).toHaveLength(1);
    expect(feed.broken).toEqual([]);
    await feed.end();
    await world.stopDaemon('SIGKILL');
    await world.startDaemon();
    for (const pane of panes) await world.runtimeIn(pane);
    expect(await world.routes(...panes)).toEqual(routes);
  });

  it('RTE4 RTE4a a suspended agent keeps its place, and messages to it are refused and reach nobody else', async () => {
    const [one, two] = [world.terminal(), world.terminal()];
    const other = await startIn(one);
    const actor = await startIn(two);
    process.kill(world.processIn(two), 'SIGSTOP');
    await until(async () => (await world.itemIn(two))?.suspended === true);
    expect(await world.routes(one, two)).toEqual(['DISCONNECTED', 'CONNECTED']);
    const told = await world.agtmux(['tell', 'are you there?', '--json']);
    expect(told.status).toBe(4);
    expect(JSON.parse(told.stdout)).toMatchObject({ outcome: 'refused', failure: { code: 'E_SUSPENDED' } });
    expect([actor.typed(), other.typed()]).toEqual(['', '']);
    const resumed = await world.agtmux(['resume', two]);
    expect(resumed).toMatchObject({ status: 1, stderr: '' });
    expect(resumed.stdout).toContain('type `fg` there');
    // Its shell has the terminal, as the agent left it: Enter would be no end of a line there.
    world.tmux('send-keys', '-t', two, '-l', 'fg\n');
    await until(async () => (await world.itemIn(two))?.suspended === false);
    await heard(['', one, two]);
  });
});

describe('agtmux tell', () => {
  it('RTE4 RTE6 reaches the CONNECTED agent alone, with files in its own syntax, and nobody when none runs', async () => {
    const file = join(world.dir, 'notes.md');
    writeFileSync(file, 'one\n'.repeat(30));
    const nobody = await world.agtmux(['tell', 'hello', '--json']);
    expect(nobody.status).toBe(3);
    expect(JSON.parse(nobody.stdout)).toMatchObject({ outcome: 'refused', failure: { code: 'E_REF_NOT_FOUND' } });
    const [one, two] = [world.terminal(), world.terminal()];
    const claude = await startIn(one);
    const codex = await startIn(two, 'codex');
    for (const actor of [claude, codex]) await world.becomes(actor, /idle|completed/);
    const first = await world.agtmux(['tell', '--file', 'notes.md:10-20', 'why is this so?']);
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toMatch(/^delivered: send to [^(]+\(runtime:/);
    const [toCodex, toClaude] = [`${file} lines 10-20 why is this so?\r`, `@${file}#L10-20 and this?\r`];
    await until(() => codex.typed().endsWith('\r'));
    expect([claude.typed(), codex.typed()]).toEqual(['', toCodex]);
    await world.agtmux(['route', 'activate', one]);
    await world.agtmux(['tell', '--file', 'notes.md:10-20', 'and this?']);
    await until(() => claude.typed().endsWith('\r'));
    expect([claude.typed(), codex.typed()]).toEqual([toClaude, toCodex]);
    // The DISCONNECTED one is reached by its name alone.
    await act(codex, 'settled');
    await world.becomes(codex, /idle|completed/);
    expect((await world.agtmux(['send', 'codex'], 'by name\n')).status).toBe(0);
    await until(() => codex.typed() === `${toCodex}by name\r`);
    expect(claude.typed()).toBe(toClaude);
  });
});
