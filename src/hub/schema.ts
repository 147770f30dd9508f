// The tables of a hub, for both engines, and how older ones become newer: one list of steps, of which each is made once.

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, unknown>>;
/** Question marks stand for values. */
export type Query = (sql: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

/** `JSON` and `BIG` are written as the engine calls them. */
export const migrations: readonly (readonly string[])[] = [
  [
    'CREATE TABLE tenants (tenant TEXT PRIMARY KEY, change BIG NOT NULL)',
    `CREATE TABLE codes (tenant TEXT NOT NULL, hash TEXT NOT NULL, label TEXT, owner TEXT NOT NULL, kind TEXT NOT NULL,
      expires_at BIG NOT NULL, PRIMARY KEY (tenant, hash))`,
    `CREATE TABLE daemons (tenant TEXT NOT NULL, daemon TEXT NOT NULL, public_key TEXT NOT NULL, label TEXT NOT NULL,
      owner TEXT NOT NULL, kind TEXT NOT NULL, share TEXT NOT NULL, allows JSON NOT NULL DEFAULT '[]', agtmux TEXT NOT NULL,
      epoch TEXT, version BIG NOT NULL DEFAULT 0, snap_epoch TEXT, snap_version BIG NOT NULL DEFAULT 0,
      snap_part BIG NOT NULL DEFAULT -1, seen_at BIG, left_at BIG, joined_at BIG NOT NULL, revoked_at BIG,
      PRIMARY KEY (tenant, daemon))`,
    `CREATE TABLE agents (tenant TEXT NOT NULL, daemon TEXT NOT NULL, key TEXT NOT NULL, version BIG NOT NULL,
      change BIG NOT NULL, state TEXT NOT NULL, since TEXT, agent TEXT NOT NULL, repo TEXT NOT NULL, item JSON NOT NULL,
      PRIMARY KEY (tenant, daemon, key))`,
    'CREATE INDEX agents_by_change ON agents (tenant, change)',
    'CREATE INDEX agents_by_state ON agents (tenant, state, since)',
    'CREATE INDEX agents_by_repo ON agents (tenant, repo)',
    'CREATE TABLE removed (tenant TEXT NOT NULL, change BIG NOT NULL, daemon TEXT NOT NULL, key TEXT NOT NULL)',
    'CREATE INDEX removed_by_change ON removed (tenant, change)',
    `CREATE TABLE log (tenant TEXT NOT NULL, daemon TEXT NOT NULL, kind TEXT NOT NULL, number BIG NOT NULL, at TEXT NOT NULL,
      actor TEXT NOT NULL, action TEXT NOT NULL, runtime_id TEXT, result TEXT NOT NULL, detail JSON NOT NULL,
      PRIMARY KEY (tenant, daemon, kind, number))`,
    'CREATE INDEX log_by_time ON log (tenant, kind, at)',
    `CREATE TABLE sessions (tenant TEXT NOT NULL, hash TEXT NOT NULL, who TEXT NOT NULL, role TEXT NOT NULL,
      owners JSON NOT NULL, repos JSON NOT NULL, expires_at BIG NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (tenant, hash))`,
    'CREATE TABLE cursors (tenant TEXT NOT NULL, stream TEXT NOT NULL, sequence BIG NOT NULL, PRIMARY KEY (tenant, stream))',
    'CREATE TABLE leases (tenant TEXT PRIMARY KEY, holder TEXT NOT NULL, until BIG NOT NULL)',
  ],
  [
    `CREATE TABLE orders (tenant TEXT NOT NULL, id TEXT NOT NULL, at TEXT NOT NULL, who TEXT NOT NULL, daemon TEXT NOT NULL,
      key TEXT NOT NULL, runtime_id TEXT, action TEXT NOT NULL, expires_at TEXT NOT NULL, outcome TEXT NOT NULL, code TEXT,
      words TEXT, PRIMARY KEY (tenant, id))`,
    'CREATE INDEX orders_by_time ON orders (tenant, at)',
  ],
  [
    `CREATE TABLE lanes (tenant TEXT NOT NULL, daemon TEXT NOT NULL, runtime_id TEXT NOT NULL, state TEXT NOT NULL,
      at BIG NOT NULL, agent TEXT NOT NULL, repo TEXT NOT NULL, PRIMARY KEY (tenant, daemon, runtime_id))`,
    `CREATE TABLE days (tenant TEXT NOT NULL, day TEXT NOT NULL, daemon TEXT NOT NULL, agent TEXT NOT NULL, repo TEXT NOT NULL,
      state TEXT NOT NULL, ms BIG NOT NULL, spans BIG NOT NULL, longest BIG NOT NULL, within0 BIG NOT NULL, within1 BIG NOT NULL,
      within2 BIG NOT NULL, within3 BIG NOT NULL, PRIMARY KEY (tenant, day, daemon, agent, repo, state))`,
  ],
  ['CREATE TABLE hub_keys (tenant TEXT PRIMARY KEY, public_key TEXT NOT NULL)'],
];

/** Those with rows of tenants. */
export const tenantTables = [
  'tenants',
  'codes',
  'daemons',
  'agents',
  'removed',
  'log',
  'orders',
  'sessions',
  'cursors',
  'leases',
  'lanes',
  'days',
  'hub_keys',
] as const;
