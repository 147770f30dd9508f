// The tables as each version created them. Text of a version that was released is never edited: what comes later is a new
// migration. Every row of every counted table ends in its checksum.

/** Columns of the small tables; the first ones are the key. The order is the order of the checksum. */
export const tableColumns = {
  runtimes: [
    'runtime_id',
    'target_id',
    'pane_id',
    'pane_epoch',
    'agent_type',
    'server_key',
    'process_boot',
    'pid',
    'process_start',
    'parent_id',
    'started_at',
    'ended_at',
  ],
  states: [
    'runtime_id',
    'state',
    'reason_code',
    'confidence',
    'state_version',
    'since',
    'last_seen_at',
    'decided_by',
    'detail',
    'until',
    'suspended',
    'asks_open',
    'ask',
    'background',
    'competing',
    'ended',
  ],
  audit: ['audit_id', 'at', 'actor', 'action', 'runtime_id', 'snapshot_id', 'result', 'detail'],
  targets: ['target_id', 'kind', 'connection_ref', 'is_default', 'health', 'last_seen_at', 'updated_at'],
  places: [
    'runtime_id',
    'session_id',
    'session_name',
    'other_sessions',
    'window_id',
    'window_index',
    'window_name',
    'pane_index',
    'title',
    'cwd',
    'current_command',
    'closed_at',
  ],
  action_snapshots: [
    'snapshot_id',
    'target_id',
    'pane_id',
    'runtime_id',
    'state_version',
    'observed_at',
    'expires_at',
    'nonce',
  ],
  adapters: ['adapter_name', 'agent_type', 'version', 'capabilities', 'enabled', 'updated_at'],
  documents: ['kind', 'document_id', 'number', 'body'],
} as const;

/**
 * Numbers that come from elsewhere are REAL: SQLite keeps whole ones as small integers on disk, and none is too large to
 * be read back. INTEGER is for what the store itself counts and codes.
 */
export const schema1 = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE events (
  event_id INTEGER PRIMARY KEY,
  runtime_id TEXT,
  source INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  verdict INTEGER NOT NULL,
  key_major REAL NOT NULL,
  key_minor REAL NOT NULL,
  key_hash TEXT NOT NULL,
  event_time REAL NOT NULL,
  ingested_at REAL NOT NULL,
  target_id TEXT NOT NULL,
  dedupe_key TEXT NOT NULL,
  identity INTEGER NOT NULL,
  body TEXT NOT NULL,
  crc INTEGER NOT NULL
);
CREATE INDEX events_by_identity ON events (event_id >> 14, identity);
CREATE INDEX events_by_runtime ON events (runtime_id);

CREATE TABLE runtimes (
  runtime_id TEXT PRIMARY KEY,
  target_id TEXT NOT NULL,
  pane_id TEXT,
  pane_epoch REAL NOT NULL,
  agent_type TEXT NOT NULL,
  server_key TEXT,
  process_boot TEXT,
  pid REAL,
  process_start TEXT,
  parent_id TEXT,
  started_at REAL NOT NULL,
  ended_at REAL,
  crc INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX runtimes_by_pane ON runtimes (target_id, pane_id, pane_epoch)
  WHERE pane_id IS NOT NULL AND parent_id IS NULL;
CREATE INDEX runtimes_by_end ON runtimes (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE states (
  runtime_id TEXT PRIMARY KEY,
  state TEXT NOT NULL,
  reason_code TEXT NOT NULL,
  confidence TEXT NOT NULL,
  state_version REAL NOT NULL,
  since REAL NOT NULL,
  last_seen_at REAL NOT NULL,
  decided_by TEXT,
  detail TEXT,
  until REAL,
  suspended INTEGER NOT NULL,
  asks_open REAL NOT NULL,
  ask TEXT,
  background TEXT NOT NULL,
  competing TEXT NOT NULL,
  ended TEXT,
  crc INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE runtime_source_cursors (
  runtime_id TEXT NOT NULL,
  source TEXT NOT NULL,
  lane TEXT NOT NULL,
  key_major REAL NOT NULL,
  key_minor REAL NOT NULL,
  key_hash TEXT NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (runtime_id, source, lane)
) WITHOUT ROWID;

CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  runtime_id TEXT,
  snapshot_id TEXT,
  result TEXT NOT NULL,
  detail TEXT NOT NULL,
  crc INTEGER NOT NULL
);

CREATE TABLE targets (
  target_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  connection_ref TEXT NOT NULL,
  is_default INTEGER NOT NULL,
  health TEXT NOT NULL,
  last_seen_at REAL,
  updated_at REAL NOT NULL,
  crc INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE panes (
  target_id TEXT NOT NULL,
  pane_id TEXT NOT NULL,
  session_name TEXT NOT NULL,
  window_id TEXT NOT NULL,
  window_name TEXT NOT NULL,
  updated_at REAL NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (target_id, pane_id)
) WITHOUT ROWID;

CREATE TABLE action_snapshots (
  snapshot_id TEXT PRIMARY KEY,
  target_id TEXT NOT NULL,
  pane_id TEXT,
  runtime_id TEXT NOT NULL,
  state_version REAL NOT NULL,
  observed_at REAL NOT NULL,
  expires_at REAL NOT NULL,
  nonce TEXT NOT NULL,
  crc INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE adapters (
  adapter_name TEXT PRIMARY KEY,
  agent_type TEXT NOT NULL,
  version TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  updated_at REAL NOT NULL,
  crc INTEGER NOT NULL
) WITHOUT ROWID;
`;

/**
 * Where each runtime was last seen, in place of a list of panes that nobody read: a pane id is used again by the next
 * server, a runtime id never (IDN5). Snapshots are dropped oldest first, so they are found by their age.
 */
export const schema2 = `
DROP TABLE panes;

CREATE TABLE places (
  runtime_id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL,
  session_name TEXT NOT NULL,
  other_sessions TEXT NOT NULL,
  window_id TEXT NOT NULL,
  window_index REAL NOT NULL,
  window_name TEXT NOT NULL,
  pane_index REAL NOT NULL,
  title TEXT NOT NULL,
  cwd TEXT NOT NULL,
  current_command TEXT NOT NULL,
  closed_at REAL,
  crc INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX action_snapshots_by_age ON action_snapshots (observed_at);
`;

/**
 * What people said and what was done for them (waiting messages, names, notifications, browsers that are signed in), which
 * stood in files of their own; in place of cursors that nobody read.
 */
export const schema3 = `
DROP TABLE runtime_source_cursors;

CREATE TABLE documents (
  kind TEXT NOT NULL,
  document_id TEXT NOT NULL,
  number REAL NOT NULL,
  body TEXT NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY (kind, document_id)
) WITHOUT ROWID;
`;
