import { describe, expect, it } from 'vitest';
import { event, identity, started, TestWorld, t0 } from '../../test/kit/engine.ts';
import { underHealth } from './decay.ts';
import { activeRuntime, claimHolder, routeOf } from './route.ts';
import { standardSteps } from './steps.ts';

const agent = (name: string, at: number, parts = {}) => started(identity(name, { started_at: t0 + at, ...parts }));
const stops = (name: string, at: number) => event(name, 'process', at, 'runtime.ended', { cause: 'exit', status: 0 });
const activates = (name: string, at: number) => event(name, 'operator', at, 'route.activated');
const routes = (world: TestWorld, ...names: string[]) => names.map((name) => world.route(name)?.[0] ?? '-').join('');

describe('scenarios of the message route', () => {
  it('RTE1 single terminal: none, connected, none', () => {
    const world = new TestWorld();
    expect(world.route('1')).toBeUndefined();
    world.take(agent('1', 1));
    expect(world.route('1')).toBe('CONNECTED');
    world.take(stops('1', 2));
    expect(world.route('1')).toBe('NONE');
  });

  it('RTE1 routes take as long as agents run, not as long as agents ever ran', () => {
    let resolved = 0;
    const world = new TestWorld({
      resolve: (...given) => {
        resolved += 1;
        return standardSteps.resolve(...given);
      },
    });
    for (let place = 1; place <= 200; place += 1) world.take(agent(`${place}`, place), stops(`${place}`, place));
    world.take(agent('last', 300));
    resolved = 0;
    expect(routes(world, '1', '200', 'last')).toBe('NNC');
    // One for each of the three looks.
    expect(resolved).toBe(3);
  });

  it('RTE2 several terminals: the last started is connected; its end promotes the most recently started other', () => {
    const world = new TestWorld();
    world.take(agent('1', 1));
    expect(routes(world, '1')).toBe('C');
    world.take(agent('2', 2));
    expect(routes(world, '1', '2')).toBe('DC');
    world.take(agent('3', 3));
    expect(routes(world, '1', '2', '3')).toBe('DDC');
    world.take(stops('3', 4));
    expect(routes(world, '1', '2', '3')).toBe('DCN');
    world.take(stops('2', 5));
    expect(routes(world, '1', '2', '3')).toBe('CNN');
  });

  it('RTE2 automatic promotion: terminal 1 is connected although 2 and 3 run, its end promotes 3', () => {
    // By a person's choice ...
    const chosen = new TestWorld();
    chosen.take(agent('1', 1), agent('2', 2), agent('3', 3), activates('1', 4));
    expect(routes(chosen, '1', '2', '3')).toBe('CDD');
    chosen.take(stops('1', 5));
    expect(routes(chosen, '1', '2', '3')).toBe('NDC');
    // ... or because it was started last.
    const last = new TestWorld();
    last.take(agent('2', 1), agent('3', 2), agent('1', 3));
    expect(routes(last, '1', '2', '3')).toBe('CDD');
    last.take(stops('1', 5));
    expect(routes(last, '1', '2', '3')).toBe('NDC');
  });

  it('RTE2 the end of another agent changes nothing else', () => {
    const world = new TestWorld();
    world.take(agent('1', 1), agent('2', 2), agent('3', 3), stops('2', 4));
    expect(routes(world, '1', '2', '3')).toBe('DNC');
  });

  it('RTE2 order is the start of the process, not the moment it was noticed', () => {
    const world = new TestWorld();
    world.take(agent('late', 9));
    world.take(agent('early', 1));
    expect(routes(world, 'early', 'late')).toBe('DC');
  });

  it('RTE2 agents started at the same moment have one order, however they are heard of', () => {
    const one = new TestWorld();
    one.take(agent('1', 1), agent('2', 1), activates('1', 1));
    const other = new TestWorld();
    other.take(agent('2', 1), agent('1', 1), activates('1', 1));
    expect(routes(one, '1', '2')).toBe('DC');
    expect(routes(other, '1', '2')).toBe('DC');
  });
});

describe('rules of the message route', () => {
  it('RTE3 a restart in the same terminal is one step: no promotion in between, a late end of the old one is ignored', () => {
    const world = new TestWorld();
    world.take(agent('other', 1), agent('old', 2));
    const again = agent('new', 5, { pane: identity('old').pane, pane_epoch: 1 });
    world.take(again);
    expect(routes(world, 'other', 'old', 'new')).toBe('DNC');
    world.take(stops('old', 4));
    expect(routes(world, 'other', 'old', 'new')).toBe('DNC');
  });

  it('RTE4 a person may choose a running agent; choosing an ended one moves nothing', () => {
    const world = new TestWorld();
    world.take(agent('1', 1), agent('2', 2), agent('3', 3), activates('1', 10), activates('1', 8));
    expect(routes(world, '1', '2', '3')).toBe('CDD');
    world.take(stops('3', 11), activates('3', 12));
    expect(routes(world, '1', '2', '3')).toBe('DCN');
  });

  it('RTE2 a new start takes over from a chosen one, and its end falls to the most recently started, not to the chosen', () => {
    const world = new TestWorld();
    world.take(agent('1', 1), agent('2', 2), activates('1', 3), agent('3', 4));
    expect(routes(world, '1', '2', '3')).toBe('DDC');
    world.take(stops('3', 5));
    expect(routes(world, '1', '2', '3')).toBe('DCN');
  });

  it('RTE7 a target that is down has not ended: its agent stays connected', () => {
    const world = new TestWorld();
    world.take(agent('1', 1), agent('2', 2));
    expect(underHealth(world.state('2'), 'down').state).toBe('unknown');
    expect(routes(world, '1', '2')).toBe('DC');
  });

  it('RTE5 if any agent runs exactly one is connected, whatever happens', () => {
    const world = new TestWorld();
    const steps = [
      agent('1', 1),
      agent('2', 2),
      activates('1', 3),
      stops('1', 4),
      agent('3', 5),
      stops('3', 6),
      stops('2', 7),
    ];
    for (const step of steps) {
      world.take(step);
      const all = [...world.world.routes().values()];
      const running = all.filter((route) => route !== 'NONE').length;
      expect(all.filter((route) => route === 'CONNECTED').length).toBe(Math.min(running, 1));
    }
    expect(activeRuntime([])).toBeNull();
    expect(claimHolder([])).toBeNull();
    expect(claimHolder(world.world.routeEntries())?.runtime_id).toBe('3');
  });

  it('IDN6 a nested agent is shown but never routed to', () => {
    const world = new TestWorld();
    world.take(agent('host', 1), agent('child', 2, { parent: 'host', pane: null, server: null }));
    expect(routes(world, 'host', 'child')).toBe('CN');
    world.take(activates('child', 5));
    expect(routes(world, 'host', 'child')).toBe('CN');
    const child = { identity: identity('child', { parent: 'host' as never }), ended: false, activatedAt: -1 };
    expect(routeOf(child, child.identity.runtime_id)).toBe('NONE');
  });
});
