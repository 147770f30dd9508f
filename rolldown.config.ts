// The bundle: one entry per way in, so that each loads only what it needs. Output lands in dist/, which bin/ loads.
import { defineConfig } from 'rolldown';

export default defineConfig({
  input: { main: 'src/cli/main.ts' },
  platform: 'node',
  external: /^node:/,
  output: {
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: true,
  },
});
