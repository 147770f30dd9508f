// The house rules as data: what may be called where, which packages may be used and why, and how long things may get.

export interface Ban {
  /** Names as they are called, `Date.now`; a trailing `.*` means everything under it. */
  readonly calls: readonly string[];
  /** Modules as they are imported, `node:vm`, or one name of a module, `node:crypto#randomBytes`. */
  readonly imports: readonly string[];
  /** The rooms that may, or single files of a room: `daemon/main`. */
  readonly rooms: readonly string[];
  readonly why: string;
}

const processRooms = ['cli', 'tui', 'menubar', 'mcp', 'daemon/main'];

export const bans: readonly Ban[] = [
  {
    calls: ['Date.now', 'Date', 'performance.*', 'process.hrtime', 'process.hrtime.*', 'process.uptime'],
    imports: ['node:perf_hooks'],
    rooms: ['platform', 'web/port'],
    why: 'the clock is a port; everything else is told the time',
  },
  {
    calls: ['Math.random', 'crypto.randomBytes', 'crypto.randomInt', 'crypto.randomUUID', 'crypto.getRandomValues'],
    imports: ['node:crypto#randomBytes', 'node:crypto#randomInt', 'node:crypto#randomUUID', 'node:crypto#webcrypto'],
    rooms: ['platform'],
    why: 'randomness is a port',
  },
  {
    calls: ['setTimeout', 'setInterval', 'setImmediate'],
    imports: ['node:timers', 'node:timers/promises'],
    rooms: ['platform', 'web/port'],
    why: 'waiting is a port; simulated time must be able to skip it',
  },
  {
    calls: ['process.env'],
    imports: [],
    rooms: ['platform', 'cli', 'daemon/main'],
    why: 'settings are read at the edge, once',
  },
  {
    calls: ['process.exit', 'process.exitCode', 'process.argv', 'process.stdin', 'process.stdout', 'process.stderr'],
    imports: ['node:readline', 'node:readline/promises', 'node:tty'],
    rooms: processRooms,
    why: 'only a screen owns the terminal and the way out',
  },
  { calls: ['process.kill'], imports: ['node:child_process'], rooms: ['platform'], why: 'processes are a port' },
  { calls: ['console.*'], imports: ['node:console'], rooms: ['cli'], why: 'the library is silent' },
  {
    calls: [],
    imports: ['node:fs', 'node:fs/promises'],
    rooms: ['platform', 'store', 'daemon', 'cli'],
    why: 'files are a port; the store and the edges open theirs',
  },
  {
    calls: ['fetch', 'WebSocket', 'EventSource'],
    imports: ['node:net', 'node:http', 'node:https', 'node:http2', 'node:tls', 'node:dgram', 'node:dns'],
    rooms: ['platform', 'api', 'web'],
    why: 'the network is a port',
  },
  { calls: [], imports: ['node:sqlite'], rooms: ['store'], why: 'nothing above the store may know what it stands on' },
  { calls: ['eval', 'Function'], imports: ['node:vm'], rooms: [], why: 'text is never run' },
];

/** Every package, and the job it is here for. What is not in this table may not be in package.json. */
export const packages: Readonly<Record<string, string>> = {
  '@agentclientprotocol/sdk': 'the other side of the ACP dialect in a test: its schemas check what we say',
  '@biomejs/biome': 'lint and format',
  '@hono/node-server': 'carries the API on a Node server',
  '@modelcontextprotocol/client': 'the newer client of the protocol, against our server in tests',
  '@modelcontextprotocol/sdk': 'the same of the first generation',
  '@modelcontextprotocol/server': 'the MCP server',
  '@swc/core': 'reads TypeScript for dependency-cruiser, which TypeScript 7 no longer can',
  '@types/node': 'types of the platform',
  '@types/react': 'types of the pages',
  '@types/react-dom': 'the same for the browser',
  '@vitejs/plugin-react': 'React for the bundle of the pages',
  '@types/ws': 'types of ws',
  '@vitest/coverage-v8': 'branch coverage of the pure rooms',
  '@xterm/headless': 'a terminal: the model of a pane that is watched live, and the witness of the text gate',
  '@xterm/xterm': 'the live terminal of the pages',
  'axe-core': 'finds what keeps people out of a page',
  commander: 'the command line beyond the hot path',
  'dependency-cruiser': 'holds the layers',
  'fast-check': 'generated inputs',
  hono: 'routes of the API',
  'jsonc-parser': 'where things stand in JSON that others wrote, so that an edit leaves every other byte alone',
  knip: 'finds unused files, exports and packages',
  'oxc-parser': 'reads the sources for these checks',
  'playwright-core': 'drives a real browser in tests',
  publint: 'checks the package before it is published',
  react: 'the pages, and the full-screen view',
  'react-dom': 'the pages in a browser',
  re2js: 'patterns of user rules, which cannot hang the daemon there',
  rolldown: 'the bundle',
  'smol-toml': 'reads config.toml',
  typescript: 'the language',
  vite: 'the bundle of the pages',
  vitest: 'the test runner',
  ws: 'sockets of live panes at the web door',
  zod: 'schemas: one definition gives types, checks, JSON Schema and OpenAPI',
};

export const sizes = {
  /** Files that ship: one idea each, which may be a long one. */
  productLinesMax: 600,
  /** Tests and contract suites: tables and cases may run longer. */
  testLinesMax: 900,
  functionLinesMax: 70,
  headWordsMin: 6,
} as const;

/** Comments that switch a checker off. */
export const silencers =
  /@ts-(ignore|expect-error|nocheck)|(biome|eslint|prettier)-(ignore|disable)|(v8|c8|istanbul) ignore/;

/** Places that exist on one machine only. */
export const machinePaths = /(?:^|[^\w./~-])(\/(?:work|root)\/[^\s'"`)]*)/;
