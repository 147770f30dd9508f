// The bundle: one entry per way in, each with chunks of its own, so that the command line never loads what only the
// daemon needs. Output lands in dist/, which bin/ loads.
import { defineConfig, type OutputOptions } from 'rolldown';
import { buildVersion } from './scripts/build-version.ts';

/** What every command loads, in one file: each further file costs a millisecond of every `agtmux list`. */
const core =
  /src\/(cli\/(commands(-\w+)?|connect|context|list|list-query|output|parse|running)|api\/(client-lean|client-wire|version)|model\/(errors|limits|notices|states)|platform\/(clock|environment))\.ts$/;

/** Packages that come in both forms are taken as modules: the other form of one of them looks for its files at run time. */
const shared = {
  platform: 'node' as const,
  external: /^node:/,
  resolve: { mainFields: ['module', 'main'] },
  transform: { define: { AGTMUX_BUILD_VERSION: JSON.stringify(buildVersion(import.meta.dirname)) } },
};

const output = (name: string): OutputOptions => ({
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: `chunks/${name}-[name]-[hash].js`,
  // Comments and spaces are read at every start; names stay for the traces in reports.
  minify: { compress: false, mangle: false, codegen: true },
  sourcemap: true,
});

export default defineConfig([
  // One file, and not as a module: what Node loads to read modules, and to offer node:fs to them, is a third of a short command.
  {
    ...shared,
    input: { list: 'src/cli/list-quick.ts' },
    output: { ...output('list'), format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
  },
  {
    ...shared,
    input: { main: 'src/cli/main.ts' },
    output: { ...output('main'), codeSplitting: { groups: [{ name: 'core', test: core }] } },
  },
  { ...shared, input: { daemon: 'src/daemon/main.ts' }, output: output('daemon') },
]);
