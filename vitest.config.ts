// Two projects: `unit` stands beside the code and is what `make check` runs; `system` drives the whole program.
// `make test` runs both, with coverage of the pure rooms held at every branch.
import { defineConfig } from 'vitest/config';

// A condition that is polled for has the time that every other wait of the suites has: the second that vitest gives it is
// less than a busy machine may need.
const patience = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 20_000 } } };

export default defineConfig({
  test: {
    // Two cores are the machine the figures are made for; left alone vitest would use one of them.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          environment: 'node',
          include: ['{src,editors}/**/*.test.ts', 'test/tidy/**/*.test.ts', 'test/proof/**/*.test.ts'],
          pool: 'forks',
          ...patience,
        },
      },
      {
        test: {
          name: 'system',
          environment: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/tidy/**',
            'test/proof/**',
            'test/hub/engines/**',
            'test/terminals/**',
            'test/editor/programs/**',
          ],
          globalSetup: ['test/kit/tmux-program.ts'],
          pool: 'forks',
          ...patience,
        },
      },
      {
        test: {
          name: 'editor',
          environment: 'node',
          include: ['test/editor/**/*.test.ts'],
          pool: 'forks',
          ...patience,
        },
      },
      {
        test: {
          name: 'hub',
          environment: 'node',
          include: ['test/hub/**/*.test.ts'],
          pool: 'forks',
          ...patience,
        },
      },
      {
        test: {
          name: 'terminals',
          environment: 'node',
          include: ['test/terminals/**/*.test.ts'],
          pool: 'forks',
          ...patience,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/engine/**/*.ts', 'src/text/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.contract.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { branches: 100, functions: 100, lines: 100, statements: 100 },
    },
  },
});
