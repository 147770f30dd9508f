// An ended agent that goes on: what is typed at its shell or run in its dead pane, and what keeps anything from happening.

import { describe, expect, it } from 'vitest';
import { ActWorld, agentClaim, person, program, testKeys } from '../../test/kit/act.ts';
import type { Receipt } from '../model/actions.ts';
import { paneId } from '../model/ids.ts';
import type { PaneContent } from '../terminals/tmux/pane-writer.ts';
import { isPrompt } from './resuming.ts';

const place = { serverPid: 5, pane: paneId('%1'), panePid: 50, command: 'bash' };
const shell = (cwd = '/home/me/web-shop', line = 'me@host:~$ '): PaneContent => ({ kind: 'shell', place, cwd, line });
const dead: PaneContent = { kind: 'dead', place };
const code = ({ outcome, failure }: Receipt): string => failure?.code ?? outcome;

/** One that has ended; its pane is this now, and the agent begins again when `starts` is done there. */
async function ended(rest: PaneContent, starts = 'press:Enter') {
  const world = new ActWorld();
  const agent = world.add('a');
  const actor = await world.open();
  world.ends(agent);
  agent.place = place;
  world.rest = rest;
  world.onStep = (step) => {
    if (step.startsWith(starts)) world.add('again', 'idle', { pane: paneId('%1') });
    return undefined;
  };
  const resume = (claim = person) => world.act(actor, { action: 'resume' }, claim);
  return { world, agent, actor, resume };
}

describe('an agent that has ended', () => {
  it('ACT2 goes on at its shell: a line cleared, its own command, and Enter once that was seen', async () => {
    const { world, resume } = await ended(shell());
    const receipt = await resume();
    expect(receipt).toMatchObject({ outcome: 'delivered', way: 'keys', ref: 'runtime:again', runtime_id: 'again' });
    expect(world.typed).toEqual(['%1 press:C-e+C-u', '%1 type:claude --resume session-1', '%1 press:Enter']);
    expect(world.audits).toHaveLength(1);
    expect(world.audits[0]).toMatchObject({
      action: 'resume',
      runtime_id: 'a',
      result: 'delivered',
      snapshot_id: receipt.snapshot_id,
      detail: { became: 'runtime:again' },
    });
  });

  it.each([
    ['a question', shell(undefined, 'Your name: '), 1],
    ['nothing', shell(undefined, ''), 1],
    ['a line that goes on', shell(undefined, '> '), 1],
    ['words that go on', shell(undefined, 'pipe heredoc> '), 1],
    ['a program that reads lines', { kind: 'reading' }, 0],
  ] as const)('ACT1 is left alone where its shell shows %s', async (_, rest, cleared) => {
    const { world, resume } = await ended(rest);
    const receipt = await resume();
    expect(receipt.failure).toMatchObject({ code: 'E_STATE_CHANGED', message: 'its shell is not at its prompt' });
    expect(receipt.failure?.next).toContain('claude --resume session-1');
    expect(world.typed).toEqual(cleared === 0 ? [] : ['%1 press:C-e+C-u']);
  });

  it('a prompt is told from a line that goes on', () => {
    const prompts = [
      '$ ',
      '# ',
      'me@host:~/web$ ',
      'me@host ~> ',
      '➜  web git:(main) ',
      '❯ ',
      '[me@host web]$ ',
      '\ue0b0 ',
    ];
    expect(prompts.filter((line) => !isPrompt(line))).toEqual([]);
    expect(['> ', 'dquote> ', 'cmdand cmdsubst> ', '', 'Password:', 'Continue? [y/N] x'].filter(isPrompt)).toEqual([]);
  });

  it('goes on in the directory it had', async () => {
    const { world, resume } = await ended(shell("/home/me/it's"));
    expect(code(await resume())).toBe('delivered');
    expect(world.typed[1]).toBe("%1 type:cd '/home/me/web-shop' && claude --resume session-1");
  });

  it('goes on in its dead pane, wrapped, in its directory', async () => {
    const { world, resume } = await ended(dead, 'respawn:');
    expect(await resume()).toMatchObject({ outcome: 'delivered', way: 'tmux', ref: 'runtime:again' });
    expect(world.typed).toEqual(['%1 respawn:/home/me/web-shop:exec sh /wrap -- claude --resume session-1']);
  });

  it('says so when its conversation is not known and the last one of its directory goes on', async () => {
    const { world, resume } = await ended(shell());
    world.session = null;
    const receipt = await resume();
    expect(code(receipt)).toBe('delivered');
    expect(receipt.words).toContain('last one of its directory');
    expect(world.typed[1]).toBe('%1 type:claude --continue');
  });

  it('is unconfirmed when it does not show up, and when its command is not seen at the prompt', async () => {
    const silent = await ended(shell(), 'nothing');
    expect(await silent.resume()).toMatchObject({ outcome: 'unconfirmed', ref: 'runtime:a' });
    expect(silent.world.typed.at(-1)).toBe('%1 press:Enter');
    const unseen = await ended(shell());
    unseen.world.onStep = (step) => (step.startsWith('type:') ? { kind: 'done' } : undefined);
    expect(await unseen.resume()).toMatchObject({
      outcome: 'unconfirmed',
      words: expect.stringMatching(/^typed in its shell, not submitted/),
    });
    expect(unseen.world.typed).toEqual(['%1 press:C-e+C-u']);
  });

  it('ACT1 is refused with its code, with nothing typed and one row', async () => {
    const cases: [string, PaneContent, (world: ActWorld) => void][] = [
      ['E_ENDED', { kind: 'gone' }, () => undefined],
      ['E_STATE_CHANGED', { kind: 'other', command: 'vim' }, () => undefined],
      ['E_TARGET_DOWN', { kind: 'unclear' }, () => undefined],
      ['E_TARGET_DOWN', shell(), (world) => Object.assign(world, { health: 'down' })],
      ['E_UNSUPPORTED', shell(), (world) => Object.assign(world, { keys: { ...testKeys, resume: () => null } })],
      ['E_UNSUPPORTED', shell('/elsewhere'), (world) => Object.assign(world, { cwd: '/a\nreboot' })],
      ['E_UNSUPPORTED', shell('/elsewhere'), (world) => Object.assign(world, { cwd: '/a\\' })],
      ['E_TMUX_REFUSED', shell(), (world) => Object.assign(world, { onStep: refuses('in_mode') })],
      ['E_TMUX_REFUSED', shell(), (world) => Object.assign(world, { onStep: refuses('synchronized') })],
      ['E_STATE_CHANGED', shell(), (world) => Object.assign(world, { onStep: refuses('other_process') })],
      ['E_STATE_CHANGED', dead, (world) => Object.assign(world, { onStep: refuses('other_process') })],
      ['E_RUNTIME_STALE', dead, (world) => Object.assign(world, { onStep: refuses('gone') })],
    ];
    for (const [expected, rest, prepare] of cases) {
      const { world, resume } = await ended(rest);
      prepare(world);
      expect([rest.kind, code(await resume())]).toEqual([rest.kind, expected]);
      expect(world.typed).toEqual([]);
      expect(world.audits).toHaveLength(1);
    }
  });

  it('ACT2 Enter is left alone when something else came to the front under the line', async () => {
    const { world, resume } = await ended(shell());
    world.onStep = (step) => {
      if (step.startsWith('type:')) world.rest = { kind: 'other', command: 'vim' };
      return undefined;
    };
    expect(await resume()).toMatchObject({ outcome: 'unconfirmed' });
    expect(world.typed.filter((one) => one.includes('Enter'))).toEqual([]);
  });

  it('ACT6 people and their programs may, agents may not', async () => {
    expect(code(await (await ended(shell())).resume(program))).toBe('delivered');
    const { world, resume } = await ended(shell());
    world.add('b');
    expect(code(await resume(agentClaim('b')))).toBe('E_ROLE');
    expect(world.typed).toEqual([]);
  });
});

const refuses = (why: string) => () => ({ kind: 'refused', why });
