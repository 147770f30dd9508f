// The house rules as data: what may be called where, which packages may be used and why, and how long things may get.

export interface Ban {
  /** Names as they are called, `Date.now`; a trailing `.*` means everything under it. */
  readonly calls: readonly string[];
  /** Modules as they are imported, `node:vm`, or one name of a module, `node:crypto#randomBytes`. */
  readonly imports: readonly string[];
  /** The layers that may, or single files of a layer: `daemon/main`. */
  readonly layers: readonly string[];
  readonly why: string;
}

const processLayers = ['cli', 'tui', 'menubar', 'mcp', 'daemon/main'];

export const bans: readonly Ban[] = [
  {
    calls: ['Date.now', 'Date', 'performance.*', 'process.hrtime', 'process.hrtime.*', 'process.uptime'],
    imports: ['node:perf_hooks'],
    layers: ['platform', 'web/port'],
    why: 'the clock is a port; everything else is told the time',
  },
  {
    calls: ['Math.random', 'crypto.randomBytes', 'crypto.randomInt', 'crypto.randomUUID', 'crypto.getRandomValues'],
    imports: ['node:crypto#randomBytes', 'node:crypto#randomInt', 'node:crypto#randomUUID', 'node:crypto#webcrypto'],
    layers: ['platform'],
    why: 'randomness is a port',
  },
  {
    calls: ['setTimeout', 'setInterval', 'setImmediate'],
    imports: ['node:timers', 'node:timers/promises'],
    layers: ['platform', 'web/port'],
    why: 'waiting is a port; simulated time must be able to skip it',
  },
  {
    calls: ['process.env'],
    imports: [],
    layers: ['platform', 'cli', 'daemon/main'],
    why: 'settings are read at the edge, once',
  },
  {
    calls: ['process.exit', 'process.exitCode', 'process.argv', 'process.stdin', 'process.stdout', 'process.stderr'],
    imports: ['node:readline', 'node:readline/promises', 'node:tty'],
    layers: processLayers,
    why: 'only a screen owns the terminal and the way out',
  },
  { calls: ['process.kill'], imports: ['node:child_process'], layers: ['platform'], why: 'processes are a port' },
  { calls: ['console.*'], imports: ['node:console'], layers: ['cli'], why: 'the library is silent' },
  {
    calls: [],
    imports: ['node:fs', 'node:fs/promises'],
    layers: ['platform', 'store', 'daemon', 'cli', 'install/files-local', 'offline/store', 'sessions/open-sessions'],
    why: 'files are a port; the store and the edges open theirs',
  },
  {
    calls: ['fetch', 'WebSocket', 'EventSource'],
    imports: ['node:net', 'node:http', 'node:https', 'node:http2', 'node:tls', 'node:dgram', 'node:dns'],
    layers: ['platform', 'api', 'server', 'web', 'hub'],
    why: 'the network is a port',
  },
  { calls: [], imports: ['node:sqlite'], layers: ['store'], why: 'nothing above the store may know what it stands on' },
  { calls: ['eval', 'Function'], imports: ['node:vm'], layers: [], why: 'text is never run' },
];

/** Every package, and the job it is here for. What is not in this table may not be in package.json. */
export const packages: Readonly<Record<string, string>> = {
  '@block65/webcrypto-web-push': 'Web Push: encryption for one browser, and the signature its push service asks for',
  '@agentclientprotocol/sdk': 'the other side of the ACP dialect in a test: its schemas check what we say',
  '@biomejs/biome': 'lint and format',
  '@hono/node-server': 'carries the API on a Node server',
  '@modelcontextprotocol/client': 'the newer client of the protocol, against our server in tests',
  '@modelcontextprotocol/sdk': 'the same of the first generation',
  '@modelcontextprotocol/server': 'the MCP server',
  '@nats-io/jetstream': 'streams between the processes of a hub; loaded by nothing else',
  '@nats-io/transport-node': 'the same: the connection to NATS',
  '@swc/core': 'reads TypeScript for dependency-cruiser, which TypeScript 7 no longer can',
  '@types/node': 'types of the platform',
  '@types/oidc-provider': 'types of oidc-provider',
  '@types/react': 'types of the pages',
  '@types/react-dom': 'the same for the browser',
  '@types/pg': 'types of pg',
  '@vitejs/plugin-react': 'React for the bundle of the pages',
  '@types/vscode': 'types of the editor for its extension',
  '@types/ws': 'types of ws',
  '@vitest/coverage-v8': 'branch coverage of the pure layers',
  '@xterm/headless': 'a terminal: the model of a pane that is watched live, and the witness of the text gate',
  '@xterm/xterm': 'the live terminal of the pages',
  'axe-core': 'finds what keeps people out of a page',
  commander: 'the command line beyond the hot path',
  'dependency-cruiser': 'holds the layers',
  'fast-check': 'generated inputs',
  hono: 'routes of the API',
  'jsonc-parser': 'where things stand in JSON that others wrote, so that an edit leaves every other byte alone',
  knip: 'finds unused files, exports and packages',
  marked: 'Markdown of agents, as a tree; bundled into the pages; and the documents as pages, for `make docs`',
  'oidc-provider': 'a real sign-in service, for a test of signing in at a hub',
  'openid-client': 'signing in at a hub by OpenID Connect; loaded by nothing else',
  'oxc-parser': 'reads the sources for these checks',
  pg: 'the table of a hub on PostgreSQL; loaded by nothing else',
  'playwright-core': 'drives a real browser in tests',
  publint: 'checks the package before it is published',
  react: 'the pages in a browser; bundled into what ships',
  'react-dom': 'the same for the browser; bundled too',
  re2js: 'patterns of user rules, which cannot hang the daemon there',
  rolldown: 'the bundle',
  'smol-toml': 'reads config.toml',
  typescript: 'the language',
  uqr: 'the sign-in link as a QR code, for a phone',
  vite: 'the bundle of the pages',
  vitest: 'the test runner',
  ws: 'WebSockets: live panes in the web server, and the client of servers that agents run',
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

/**
 * How far a reader may have to walk (`make walk`). Whoever needs more says why in the commit that raises a bound; whoever needs
 * less lowers it.
 */
export const walkBounds = {
  filesMax: 832,
  oneImporterMax: 320,
  partsMax: 92,
  /** Files of each path of scripts/paths.json. */
  pathFilesMax: { 'hook call to web row': 51, 'screen change to inbox': 18, 'approve in the TUI to tmux': 50 },
} as const;

/**
 * Words that meant something only here, and what is said instead. Parts of names, in any case; a word that the glossary explains may
 * stand in a name all the same.
 */
export const houseWords: Readonly<Record<string, string>> = {
  arranging: 'administration',
  bench: 'context',
  blotted: 'redacted',
  book: 'store, registry or file',
  deed: 'action',
  desk: 'service',
  dialect: 'protocol adapter',
  diary: 'state history',
  ears: 'sources',
  govern: 'authorize and audit',
  grip: 'handle',
  guest: 'nested agent',
  hands: 'writer or services',
  hearing: 'sources',
  keeper: 'registry',
  keyring: 'web sessions',
  ledger: 'processor or records',
  shelling: 'shell service',
  stroke: 'key sequence',
  wish: 'intent',
};

/** Ordinary English inside of a longer name or a sentence, and no name by themselves. */
export const houseNames: readonly string[] = [
  ...[
    'Actor',
    'Door',
    'Eyes',
    'Gate',
    'Glance',
    'Ground',
    'Heard',
    'Led',
    'Machines',
    'Room',
    'Said',
    'Screens',
    'Sight',
  ],
  ...['Touch', 'Way'],
];

/** Comments that switch a checker off. */
export const silencers =
  /@ts-(ignore|expect-error|nocheck)|(biome|eslint|prettier)-(ignore|disable)|(v8|c8|istanbul) ignore/;

/** Places that exist on one machine only. */
export const machinePaths = /(?:^|[^\w./~-])(\/(?:work|root)\/[^\s'"`)]*)/;

/** Names of agents as code would use them. A cursor alone also is where text is typed, or where a page begins. */
export const agentWords = /claude|codex|gemini|copilot|opencode|kilo(?![a-z])|cursor-agent|agents\/cursor|\^?CURSOR_/i;

/** Files outside of agents/ that may name one, and why. */
export const agentNamers: Readonly<Record<string, string>> = {
  'src/cli/demo-scenario.ts': 'a made-up scene in which known agents play a part; nothing is decided by it',
};
