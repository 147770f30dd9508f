// The pages: src/web becomes dist/web. What is loaded first stays one small script; the terminal comes when it is wanted.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: 'src/web',
  base: '/',
  plugins: [react()],
  build: {
    outDir: '../../dist/web',
    target: 'es2023',
    // Nothing may be put into the page itself: its policy allows no inline script and no inline style.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The service worker has an address of its own, which never changes: a browser looks there for a newer one.
      input: { index: 'src/web/index.html', hub: 'src/web/hub.html', worker: 'src/web/worker.ts' },
      output: { entryFileNames: ({ name }) => (name === 'worker' ? 'worker.js' : 'assets/[name]-[hash].js') },
    },
    reportCompressedSize: false,
  },
});
