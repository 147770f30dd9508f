// Actions that had to wait for their turn until what they were decided on had expired, end to end: an agent that does not
// show what is typed keeps everyone behind it waiting for longer than a snapshot counts.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ActBody, AuditItem, ReceiptReply } from '../../../src/api/actions.ts';
import { limits } from '../../../src/model/limits.ts';
import { ActingWorld, type Said } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';

let world: ActingWorld;
let actor: LookAlike;

beforeEach(async () => {
  world = new ActingWorld();
  await world.startDaemon();
  actor = LookAlike.start(world, 'claude', 'work');
  await act(actor, 'settled');
  await world.becomes(actor, /idle|completed/);
  await actor.hush('slow');
});

afterEach(async () => {
  await world.close();
});

/**
 * As many as it takes for those behind them to expire: each is waited for until nobody believes in it any more. Some more,
 * because the first are over before the programs have started that are to stand behind them.
 */
const expiring = Math.ceil(limits.snapshotMs / limits.pasteShownMs) + 4;

/** Resolves when they stand in line and the first is typed. They take longer than this client waits for an answer. */
async function slowOnes(count: number): Promise<void> {
  for (let place = 0; place < count; place += 1) {
    const request = { ref: actor.pane, action: 'send', text: `slow ${place}.`, conditions: { force_stale: true } };
    world.ask(request as ActBody).catch(() => null);
  }
  await until(() => slowTyped() > 0);
}

const slowTyped = (): number => actor.typed().split('slow').length - 1;
const receiptOf = ({ stdout }: Said): ReceiptReply => JSON.parse(stdout) as ReceiptReply;

async function rowsOf({ snapshot_id }: ReceiptReply): Promise<readonly AuditItem[]> {
  return (await world.audit()).filter((row) => row.snapshot_id === snapshot_id);
}

describe('what an action was decided on has expired', () => {
  it('ACT1 it is refused with its code, nothing is typed, and there is one row; forced, it goes on', async () => {
    await slowOnes(expiring);
    const late = world.agtmux(['send', actor.pane, '--json'], 'too late');
    const words = world.agtmux(['send', actor.pane], 'in words');
    const forced = world.agtmux(['send', actor.pane, '--force-stale', '--json'], 'all the same');

    const refused = receiptOf(await late);
    expect((await late).status).toBe(4);
    expect(refused).toMatchObject({ outcome: 'refused', failure: { code: 'E_SNAPSHOT_EXPIRED' } });
    expect(refused.snapshot_id).not.toBeNull();
    const rows = await rowsOf(refused);
    expect(rows).toMatchObject([{ action: 'send', result: 'refused', detail: { code: 'E_SNAPSHOT_EXPIRED' } }]);
    expect(await words).toMatchObject({ status: 4, stdout: '' });
    expect((await words).stderr).toMatch(/too old.*E_SNAPSHOT_EXPIRED/s);

    const delivered = receiptOf(await forced);
    expect(delivered).toMatchObject({ outcome: 'delivered', failure: null });
    expect(await rowsOf(delivered)).toMatchObject([
      { result: 'delivered', detail: { conditions: { force_stale: true } } },
    ]);
    await until(() => /all the same.*\r$/s.test(actor.typed()));
    expect(actor.typed()).not.toMatch(/too late|in words/);
  });

  it('ACT1 ACT3 forced, it still meets what is there by then: a dialog refuses it', async () => {
    await slowOnes(expiring + 2);
    const forced = world.agtmux(['send', actor.pane, '--force-stale', '--json'], 'all the same');
    const late = world.agtmux(['send', actor.pane, '--json'], 'too late');
    await until(() => slowTyped() >= expiring);
    await act(actor, 'waiting_approval');
    expect(receiptOf(await forced)).toMatchObject({ outcome: 'refused', failure: { code: 'E_DIALOG' } });
    expect(receiptOf(await late)).toMatchObject({ outcome: 'refused', failure: { code: 'E_SNAPSHOT_EXPIRED' } });
    expect(actor.typed()).not.toMatch(/all the same|too late|\r/);
  });
});
