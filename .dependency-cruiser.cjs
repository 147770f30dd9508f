// The layer table as rules. scripts/layers.json is the one place that says which layer may import which; ARCHITECTURE.md
// shows the same table to people, and test/tidy holds the two together.
'use strict';

const layers = require('./scripts/layers.json');

const tests = '[.](test|contract)[.]ts$';
/** Nothing of it is loaded from node_modules: the pages are bundled whole. */
const bundled = '^src/web/';
const layerNames = Object.keys(layers.layers);
const screens = ['cli', 'tui', 'web', 'menubar', 'mcp', 'view'];

/** `engine/rollup` names engine/rollup.ts, engine/rollup-x.ts and the folder engine/rollup/. */
const exceptionPath = (exception) => `^src/${exception}([./-]|$)`;

const layerRules = layerNames.map((layer) => {
  const open = [layer, ...layers.layers[layer]].map((name) => `^src/${name}/`);
  const exceptions = layers.exceptions.filter((exception) => exception.from.split('/')[0] === layer);
  return {
    name: `layer-${layer}`,
    severity: 'error',
    comment: `${layer}/ may import ${layers.layers[layer].join(', ') || 'no other layer'} (ARCHITECTURE.md)`,
    from: { path: `^src/${layer}/` },
    to: { path: '^src/', pathNot: [...open, ...exceptions.map((exception) => exceptionPath(exception.to))] },
  };
});

// An exception that belongs to a part of a layer stays closed for the rest of it.
const exceptionRules = layers.exceptions
  .filter((exception) => exception.from.includes('/'))
  .map((exception) => ({
    name: `exception-${exception.to.replace('/', '-')}`,
    severity: 'error',
    comment: exception.why,
    from: { path: `^src/${exception.from.split('/')[0]}/`, pathNot: exceptionPath(exception.from) },
    to: { path: exceptionPath(exception.to) },
  }));

module.exports = {
  forbidden: [
    ...layerRules,
    ...exceptionRules,
    {
      name: 'layer-unknown',
      severity: 'error',
      comment: 'every folder of src/ is a layer of scripts/layers.json, and nothing lies beside the layers',
      from: { path: '^src/', pathNot: layerNames.map((layer) => `^src/${layer}/`) },
      to: {},
    },
    {
      name: 'layer-unknown-imported',
      severity: 'error',
      comment: 'every folder of src/ is a layer of scripts/layers.json, and nothing lies beside the layers',
      from: {},
      to: { path: '^src/', pathNot: layerNames.map((layer) => `^src/${layer}/`) },
    },
    {
      name: 'screens-are-clients',
      severity: 'error',
      comment: 'a screen talks to the api as a client and never carries its server side',
      from: { path: `^src/(${screens.join('|')})/` },
      to: { path: layers.serverOnly.map(exceptionPath) },
    },
    {
      name: 'pure-no-node',
      severity: 'error',
      comment: 'pure layers get time, randomness and everything outside as arguments',
      from: { path: `^src/(${layers.pure.join('|')})/`, pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pure-no-packages',
      severity: 'error',
      comment: 'pure layers stand on the language alone',
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
