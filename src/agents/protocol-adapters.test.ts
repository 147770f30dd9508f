import { expect, it } from 'vitest';
import { protocolAdapters } from './protocol-adapters.ts';
import { agents } from './registry.ts';

const ways = agents.flatMap(({ name, sessions }) => (sessions ?? []).map((way) => ({ name, way })));

it.each(ways)('$name is led in an adapter that there is, by $way.driver', ({ way }) => {
  const wish = { cwd: '/w', model: null, auto_approve: false, resume: null, home: '/home/u', env: {} };
  const { command, socket } = way.launch(wish);
  expect(protocolAdapters.get(way.driver)?.name).toBe(way.driver);
  expect(way.install).not.toBe('');
  // A process that is started, or one that is there: never both and never neither.
  expect(command.length > 0).toBe(socket === undefined);
});
