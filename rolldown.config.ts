// The bundle: one entry per way in, each with chunks of its own, so that the command line never loads what only the
// daemon needs. Output lands in dist/, which bin/ loads.
import { defineConfig, type RolldownOptions } from 'rolldown';

/** What every command loads, in one file: each further file costs a millisecond of every `agtmux list`. */
const core =
  /src\/(cli\/(commands|connect|context|list|output|parse)|api\/(client-lean|client-wire|version)|model\/(errors|limits|states)|platform\/(clock|environment))\.ts$/;

const entry = (name: string, input: string): RolldownOptions => ({
  input: { [name]: input },
  platform: 'node',
  external: /^node:/,
  output: {
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `chunks/${name}-[name]-[hash].js`,
    ...(name === 'main' ? { codeSplitting: { groups: [{ name: 'core', test: core }] } } : {}),
    // Comments and spaces are read at every start; names stay for the traces in reports.
    minify: { compress: false, mangle: false, codegen: true },
    sourcemap: true,
  },
});

export default defineConfig([entry('main', 'src/cli/main.ts'), entry('daemon', 'src/daemon/main.ts')]);
