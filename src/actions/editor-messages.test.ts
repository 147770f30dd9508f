// Messages of a paired editor that wait: they go out as far as its key goes at that moment, and not after it was revoked.

import { describe, expect, it } from 'vitest';
import { ActWorld, person } from '../../test/kit/act.ts';
import { EditorKeys } from '../auth/editor-keys.ts';
import type { CallerClaim, EditorScope } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { createSimulatedRandom } from '../platform/simulated/random.ts';
import type { ActionExecutor } from './action-executor.ts';

const later = { action: 'send', when_ready: true } as const;

async function opened(world: ActWorld) {
  const actor = await world.open();
  const keys = await EditorKeys.load({
    acting: actor,
    documents: world.documents,
    windows: null,
    random: createSimulatedRandom('keys'),
    now: () => world.now(),
    warn: () => undefined,
  });
  return { actor, keys };
}

/** With an agent at work, and an editor that a person has paired. */
async function paired(scopes: readonly EditorScope[] = ['look', 'send']) {
  const world = new ActWorld();
  const agent = world.add('a', 'running');
  const { actor, keys } = await opened(world);
  const code = await keys.createCode(scopes, person);
  const editor = code.ok ? await keys.pair(code.value.code, 'VS Code', person) : code;
  if (!editor.ok) throw new Error(editor.failure.message);
  const claim: CallerClaim = { pid: person.pid, hops: 0, editor: editor.value };
  world.audits.length = 0;
  return { world, agent, actor, keys, claim, id: editor.value.id };
}

async function finishes({ world, agent }: Awaited<ReturnType<typeof paired>>, actor: ActionExecutor): Promise<void> {
  agent.look = { state: 'idle', ask: null };
  world.becomes(agent, { state: 'completed' });
  actor.changed();
  await world.clock.advanceSettled(1_000);
}

const told = ({ audits }: ActWorld): readonly string[] =>
  audits.map(({ actor, action, result, detail }) => `${actor} ${action} ${detail.code ?? result}`);

describe('the waiting messages of an editor', () => {
  it('ACT7 EDI8 go out by its key, also with the next daemon', async () => {
    const given = await paired();
    const { world, actor, claim } = given;
    await world.act(actor, { ...later, text: 'the first one' }, claim);
    await world.act(actor, { ...later, text: 'the second one' }, claim);
    await finishes(given, actor);
    expect(world.typed).toEqual([expect.stringContaining('the first one'), '%1 press:Enter']);
    actor.close();
    const next = await opened(world);
    await finishes(given, next.actor);
    await world.clock.advanceSettled(20_000);
    expect(world.typed.slice(2)).toEqual([expect.stringContaining('the second one'), '%1 press:Enter']);
    expect(told(world)).toEqual([
      'editor:VS Code send queued',
      'editor:VS Code send queued',
      'editor:VS Code send delivered',
      'editor:VS Code send delivered',
    ]);
  });

  it('ACT7 EDI8 are dropped with it, each with a row, those of others are not', async () => {
    const given = await paired();
    const { world, actor, keys, claim } = given;
    await world.act(actor, { ...later, text: 'of the editor' }, claim);
    await world.act(actor, { ...later, text: 'of a person' });
    expect(await keys.revoke('VS Code', person)).toMatchObject({ ok: true });
    expect(actor.queue().map(({ text }) => text)).toEqual(['of a person']);
    expect(told(world).slice(2).sort()).toEqual([
      'editor:VS Code send E_ROLE',
      'human: a person at pts/1 editor delivered',
    ]);
    expect(world.audits.find(({ result }) => result === 'refused')?.detail).toMatchObject({
      queued: expect.any(String),
      message: 'the key of the editor that queued it was revoked',
    });
    await finishes(given, actor);
    expect(world.typed).toEqual([expect.stringContaining('of a person'), '%1 press:Enter']);
  });

  it('ACT7 EDI8 are not typed where the key is gone, whoever dropped it, and wait where that cannot be read', async () => {
    const given = await paired();
    const { world, actor, claim, id } = given;
    await world.act(actor, later, claim);
    const read = world.documents.documents.bind(world.documents);
    world.documents.documents = async (kinds) => {
      if (kinds.includes('editor')) throw new AgtmuxError('E_STORE_IO', 'the disk fails');
      return read(kinds);
    };
    await finishes(given, actor);
    expect([world.typed, actor.queue().length]).toEqual([[], 1]);
    world.documents.documents = read;
    await world.documents.putDocuments({ put: [], remove: [{ kind: 'editor', id }] });
    await world.clock.advanceSettled(20_000);
    expect([world.typed, actor.queue()]).toEqual([[], []]);
    expect(told(world)).toEqual(['editor:VS Code send queued', 'editor:VS Code send E_ROLE']);
  });
});
