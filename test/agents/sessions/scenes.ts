// The scenes that every agent is led through as a managed session. Each tells the states that are expected; what was seen
// is compared with them, and with what the mock model and the project saw.

import assert from 'node:assert/strict';
import type { MachineState } from '../../../src/model/sessions.ts';
import { until } from '../../kit/live.ts';
import { Led, type LedWish } from './managed.ts';
import type { Place } from './place.ts';
import type { Player, SceneName } from './player.ts';

const patienceMs = 180_000;

/** One scene: plays, and gives back the states of each session it led. */
export interface Scene {
  readonly name: SceneName;
  readonly states: readonly MachineState[];
  play(troupe: Troupe): Promise<void>;
}

/** The sessions of one scene, so that all of them are ended and told of. */
export class Troupe {
  readonly player: Player;
  readonly place: Place;
  readonly leds: Led[] = [];
  readonly name: string;

  constructor(player: Player, place: Place, name: string) {
    this.player = player;
    this.place = place;
    this.name = name;
  }

  lead(wish: Omit<LedWish, 'project'>, project = this.name): Led {
    const led = new Led(this.player, this.place, { ...wish, project });
    this.leds.push(led);
    return led;
  }

  /** Waits for a state; an error that nobody waits for is told at once. */
  async reach(led: Led, state: MachineState): Promise<void> {
    const isThere = (): boolean => led.record.state === state || led.record.state === 'error';
    await until(isThere, patienceMs, 20).catch(() => undefined);
    const { reason, words } = led.record;
    assert.equal(led.record.state, state, `expected ${state}, it is ${led.record.state} (${reason}): ${words}`);
  }

  async holds(condition: () => boolean, words: string): Promise<void> {
    await until(condition, patienceMs, 20).catch(() => assert.fail(`waited in vain for ${words}`));
  }

  async close(): Promise<void> {
    await Promise.all(this.leds.map((led) => led.end()));
  }
}

function done(refusal: { readonly message: string } | null): void {
  assert.equal(refusal, null, refusal?.message);
}

const text: Scene = {
  name: 'text',
  states: ['creating', 'streaming', 'completed', 'streaming', 'completed'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task one do:easy' });
    await troupe.reach(led, 'completed');
    assert.match(led.said('agent'), /That was easy\./);
    assert.equal(led.record.reason, 'turn_completed');
    done(led.do({ action: 'send', text: 'task two do:easy' }));
    await troupe.holds(() => led.states.length >= 5, 'the second turn');
    assert.equal(led.said('agent').match(/That was easy\./g)?.length, 2);
    assert.equal(led.messages.filter(({ role }) => role === 'user').length, 2);
    assert.ok(led.messages.every(({ partial }) => !partial));
  },
};

const approve: Scene = {
  name: 'approve',
  states: ['creating', 'streaming', 'waiting_approval', 'streaming', 'completed'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task do:command go' });
    await troupe.reach(led, 'waiting_approval');
    assert.match(led.record.pending_ask?.text ?? '', /touch go\.began/);
    assert.ok(!troupe.place.has(troupe.name, 'go.began'));
    const id = led.record.pending_ask?.ask_id ?? '';
    done(led.do({ action: 'approve', ask_id: id }));
    await troupe.holds(() => troupe.place.has(troupe.name, 'go.began'), 'the command to begin');
    assert.notEqual(led.do({ action: 'approve', ask_id: id }), null, 'a second answer has to be refused');
    troupe.place.write(troupe.name, 'go');
    await troupe.reach(led, 'completed');
    assert.match(led.said('agent'), /finished now/);
    assert.ok(led.messages.some(({ tool }) => tool?.status === 'done'));
  },
};

const reject: Scene = {
  name: 'reject',
  states: ['creating', 'streaming', 'waiting_approval', 'streaming', 'completed'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task do:command go' });
    await troupe.reach(led, 'waiting_approval');
    done(led.do({ action: 'reject', because: 'not in this folder' }));
    const last = troupe.player.states?.reject?.states.at(-1) ?? 'completed';
    await troupe.reach(led, last);
    assert.ok(!troupe.place.has(troupe.name, 'go.began'), 'the command must not have run');
  },
};

const question: Scene = {
  name: 'question',
  states: ['creating', 'streaming', 'waiting_input', 'streaming', 'completed'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task do:question' });
    await troupe.reach(led, 'waiting_input');
    const ask = led.record.pending_ask;
    assert.match(ask?.text ?? '', /Which colour/);
    const violet = ask?.options.find(({ label }) => label === 'Violet');
    assert.notEqual(violet, undefined, JSON.stringify(ask));
    done(led.do({ action: 'answer', option: violet?.id ?? '' }));
    await troupe.reach(led, 'completed');
    assert.match(troupe.place.mock.served.at(-1)?.result ?? '', /Violet/);
  },
};

const interrupt: Scene = {
  name: 'interrupt',
  states: ['creating', 'streaming', 'stopped', 'streaming', 'completed'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task do:slow' });
    await troupe.holds(() => /Once there was/.test(led.said('agent')), 'the first words of the answer');
    done(led.do({ action: 'stop' }));
    assert.equal(led.record.state, 'stopped');
    await troupe.holds(() => led.messages.every(({ partial }) => !partial), 'the end of the answer');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.equal(led.record.state, 'stopped');
    troupe.place.mock.release();
    done(led.do({ action: 'send', text: 'task two do:easy' }));
    await troupe.reach(led, 'completed');
    assert.match(led.said('agent'), /That was easy\./);
  },
};

const apiError: Scene = {
  name: 'API error',
  states: ['creating', 'streaming', 'error', 'streaming', 'error'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task do:fail 400' });
    await troupe.reach(led, 'error');
    assert.equal(led.record.reason, 'api_error');
    assert.match(led.record.words ?? '', /mock says no/);
    done(led.do({ action: 'retry' }));
    await troupe.holds(() => led.states.length >= 5, 'the second failure');
  },
};

const retrying: Scene = {
  name: 'retrying',
  states: ['creating', 'streaming', 'completed'],
  async play(troupe) {
    const { mock } = troupe.place;
    const before = mock.count('retry', 'fail');
    const led = troupe.lead({ prompt: `task do:retry ${troupe.player.retryStatus}` });
    await troupe.holds(() => mock.count('retry', 'fail') >= before + 2, 'a second try');
    await troupe.holds(() => led.record.reason === 'retrying' || led.record.state !== 'streaming', 'the word of it');
    assert.equal(led.record.reason, 'retrying');
    mock.release();
    await troupe.reach(led, 'completed');
  },
};

const stopWhileAsked: Scene = {
  name: 'stop while asked',
  states: ['creating', 'streaming', 'waiting_approval', 'stopped'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task do:command go' });
    await troupe.reach(led, 'waiting_approval');
    const id = led.record.pending_ask?.ask_id ?? '';
    done(led.do({ action: 'stop' }));
    assert.notEqual(led.do({ action: 'approve', ask_id: id }), null, 'an answer after the stop has to be refused');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(led.record.state, 'stopped');
    assert.ok(!troupe.place.has(troupe.name, 'go.began'), 'the command must not have run');
    await led.end();
    assert.equal(led.record.state, 'stopped');
  },
};

const resume: Scene = {
  name: 'resume',
  states: ['creating', 'streaming', 'completed', 'creating', 'streaming', 'completed'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'remember the word heliotrope do:easy' });
    await troupe.reach(led, 'completed');
    const session = led.record.agent_session;
    assert.notEqual(session, null);
    await led.end();
    assert.equal(led.record.state, 'completed');
    done(led.do({ action: 'resume', text: 'task two do:easy' }));
    await troupe.holds(() => led.states.length >= 6, 'the resumed turn');
    assert.equal(led.record.state, 'completed', `${led.record.reason}: ${led.record.words}`);
    assert.equal(led.record.agent_session, session);
    assert.ok(troupe.place.mock.heard(/heliotrope/, /task two/), 'the model has to be told of both messages');
  },
};

const automatic: Scene = {
  name: 'automatic',
  states: ['creating', 'streaming', 'completed'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task do:command go', auto_approve: true });
    troupe.place.write(troupe.name, 'go');
    await troupe.reach(led, 'completed');
    assert.ok(troupe.place.has(troupe.name, 'go.began'), 'the command has to have run');
  },
};

const twoAtOnce: Scene = {
  name: 'two at once',
  states: ['creating', 'streaming', 'waiting_approval', 'streaming', 'completed'],
  async play(troupe) {
    const other = `${troupe.name}-other`;
    const one = troupe.lead({ prompt: 'task do:command first' });
    const two = troupe.lead({ prompt: 'task do:command second' }, other);
    await Promise.all([troupe.reach(one, 'waiting_approval'), troupe.reach(two, 'waiting_approval')]);
    done(two.do({ action: 'approve' }));
    troupe.place.write(other, 'second');
    await troupe.reach(two, 'completed');
    assert.equal(one.record.state, 'waiting_approval');
    assert.ok(!troupe.place.has(troupe.name, 'first.began'));
    done(one.do({ action: 'approve' }));
    troupe.place.write(troupe.name, 'first');
    await troupe.reach(one, 'completed');
    assert.doesNotMatch(JSON.stringify(one.messages), /second/);
    assert.doesNotMatch(JSON.stringify(two.messages), /first/);
  },
};

/** Left while it asks, as by a daemon that is killed, and found again. */
const rejoin: Scene = {
  name: 'rejoin',
  states: ['creating', 'streaming', 'waiting_approval', 'streaming', 'completed'],
  async play(troupe) {
    const led = troupe.lead({ prompt: 'task do:command go' });
    await troupe.reach(led, 'waiting_approval');
    const id = led.record.pending_ask?.ask_id ?? '';
    await led.comeBack();
    await troupe.holds(() => led.log.some((line) => line.includes('"kind":"rejoined"')), 'the agent to be found again');
    await troupe.holds(() => led.record.pending_ask?.ask_id === id, 'the same ask');
    done(led.do({ action: 'approve', ask_id: id }));
    troupe.place.write(troupe.name, 'go');
    await troupe.reach(led, 'completed');
    assert.ok(troupe.place.has(troupe.name, 'go.began'), 'the command has to have run');
  },
};

export const scenes: readonly Scene[] = [
  text,
  approve,
  reject,
  question,
  interrupt,
  apiError,
  retrying,
  stopWhileAsked,
  resume,
  automatic,
  twoAtOnce,
  rejoin,
];
