// The layer table as rules. scripts/layers.json is the one place that says which room may import which; ARCHITECTURE.md
// shows the same table to people, and test/tidy holds the two together. Rooms that are only planned are in it already.
'use strict';

const layers = require('./scripts/layers.json');

const tests = '[.](test|contract)[.]ts$';
/** Nothing of it is loaded from node_modules: the pages are bundled whole. */
const bundled = '^src/web/';
const roomNames = Object.keys(layers.rooms);
const screens = ['cli', 'tui', 'web', 'menubar', 'mcp', 'view'];

/** A door such as daemon/offline opens daemon/offline.ts, daemon/offline-log.ts and the folder daemon/offline/. */
const doorPath = (door) => `^src/${door}([./-]|$)`;

const layerRules = roomNames.map((room) => {
  const open = [room, ...layers.rooms[room]].map((name) => `^src/${name}/`);
  const doors = layers.doors.filter((door) => door.from.split('/')[0] === room);
  return {
    name: `layer-${room}`,
    severity: 'error',
    comment: `${room}/ may import ${layers.rooms[room].join(', ') || 'no other room'} (ARCHITECTURE.md)`,
    from: { path: `^src/${room}/` },
    to: { path: '^src/', pathNot: [...open, ...doors.map((door) => doorPath(door.to))] },
  };
});

// A door that belongs to a part of a room stays shut for the rest of it.
const doorRules = layers.doors
  .filter((door) => door.from.includes('/'))
  .map((door) => ({
    name: `door-${door.to.replace('/', '-')}`,
    severity: 'error',
    comment: door.why,
    from: { path: `^src/${door.from.split('/')[0]}/`, pathNot: doorPath(door.from) },
    to: { path: doorPath(door.to) },
  }));

module.exports = {
  forbidden: [
    ...layerRules,
    ...doorRules,
    {
      name: 'room-unknown',
      severity: 'error',
      comment: 'every folder of src/ is a room of scripts/layers.json, and nothing lies beside the rooms',
      from: { path: '^src/', pathNot: roomNames.map((room) => `^src/${room}/`) },
      to: {},
    },
    {
      name: 'room-unknown-imported',
      severity: 'error',
      comment: 'every folder of src/ is a room of scripts/layers.json, and nothing lies beside the rooms',
      from: {},
      to: { path: '^src/', pathNot: roomNames.map((room) => `^src/${room}/`) },
    },
    {
      name: 'screens-are-clients',
      severity: 'error',
      comment: 'a screen talks to the api as a client and never carries its server side',
      from: { path: `^src/(${screens.join('|')})/` },
      to: { path: layers.serverOnly.map(doorPath) },
    },
    {
      name: 'pure-no-node',
      severity: 'error',
      comment: 'pure rooms get time, randomness and everything outside as arguments',
      from: { path: `^src/(${layers.pure.join('|')})/`, pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pure-no-packages',
      severity: 'error',
      comment: 'pure rooms stand on the language alone',
      from: { path: `^src/(${layers.pure.join('|')})/`, pathNot: tests },
      to: { path: 'node_modules' },
    },
    {
      name: 'pages-no-node',
      severity: 'error',
      comment: 'a browser has no Node',
      from: { path: bundled, pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'a cycle means that two files are one idea, or three',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-tests-in-product',
      severity: 'error',
      comment: 'tests and contract suites are imported by tests only',
      from: { path: '^(src|bin)/', pathNot: tests },
      to: { path: [tests, '^(test|bench|scripts)/'] },
    },
    {
      name: 'no-dev-packages-in-product',
      severity: 'error',
      comment: 'what ships imports only what package.json lists under dependencies',
      from: { path: '^(src|bin)/', pathNot: [tests, bundled] },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional', 'npm-peer'] },
    },
    {
      name: 'nothing-unresolvable',
      severity: 'error',
      comment: 'an import that leads nowhere',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'nothing-deprecated',
      severity: 'error',
      comment: 'modules that their own makers call outdated',
      from: {},
      to: { dependencyTypes: ['deprecated'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // TypeScript 7 has no compiler API in JavaScript; swc reads the sources instead (docs/adr/0001).
    parser: 'swc',
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
