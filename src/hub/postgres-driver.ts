// The engine of a fleet: PostgreSQL. Tenants are kept apart twice: by every statement, and by row level security for the role that all
// of them run as, which can switch it off for nobody (HUB7). Other processes are woken by NOTIFY, and read what changed themselves.

import pg from 'pg';
import { AgtmuxError } from '../model/errors.ts';
import { migrations, type Query, type SqlRow, type SqlValue, tenantTables } from './schema.ts';
import type { SqlDriver } from './sql-table.ts';

/** What the statements of tenants run as: it owns nothing, and may not bypass the policies. */
const role = 'agtmux_hub_tenant';
const channel = 'agtmux_hub';
const schema = 'agtmux_hub';
const connectionsMax = 10;

/** `?` becomes `$1`: none of the statements has a question mark in a text. */
const numbered = (sql: string): string => {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
};

const queryOf =
  (client: pg.Pool | pg.ClientBase): Query =>
  async (sql, values = []) => {
    const { rows } = await client.query(numbered(sql), values as SqlValue[]);
    return rows as readonly SqlRow[];
  };

export async function createPostgresDriver(url: string, onTrouble: (error: Error) => void): Promise<SqlDriver> {
  const pool = new pg.Pool({ connectionString: url, max: connectionsMax, options: `-c search_path=${schema}` });
  // A connection at rest that is cut is made anew with the next statement.
  pool.on('error', onTrouble);
  // One that is cut while it is used fails its statement; this is its second word.
  pool.on('connect', (client) => client.on('error', onTrouble));
  await migrate(pool).catch(async (cause: unknown) => {
    await pool.end();
    if (cause instanceof AgtmuxError) throw cause;
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new AgtmuxError('E_STORE_IO', `the hub's PostgreSQL cannot be used: ${words}`, {
      next: 'check its address, and that it runs and lets this user in',
      cause,
    });
  });
  const listeners = new Set<(tenant: string) => void>();
  let listening: pg.Client | null = null;
  let isClosed = false;
  const listen = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    const lost = (): void => {
      if (listening === client) listening = null;
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload = '' }) => {
      for (const listener of listeners) listener(payload);
    });
    await client.connect();
    await client.query(`LISTEN ${channel}`);
    listening = client;
  };
  await listen();
  return {
    kind: 'postgres',
    async within(tenant, work) {
      // What was told while nobody listened is found by whoever looks next.
      if (listening === null && !isClosed) await listen().catch(onTrouble);
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query(`BEGIN; SET LOCAL ROLE ${role}`);
        await client.query("SELECT set_config('agtmux.tenant', $1, true)", [tenant]);
        const value = await work(queryOf(client));
        await client.query('COMMIT');
        return value;
      } catch (problem) {
        await client.query('ROLLBACK').catch((error: Error) => {
          broken = error;
        });
        throw problem;
      } finally {
        client.release(broken);
      }
    },
    admin: queryOf(pool),
    tell: async (query, tenant) => void (await query(`SELECT pg_notify('${channel}', ?)`, [tenant])),
    onChange: (listener) => listeners.add(listener),
    async close() {
      isClosed = true;
      await listening?.end().catch(onTrouble);
      await pool.end();
    },
  };
}

/** One process at a time; the others find it done. */
async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SELECT pg_advisory_xact_lock(hashtext('agtmux hub'))");
    await client.query(
      `CREATE SCHEMA IF NOT EXISTS ${schema}; CREATE TABLE IF NOT EXISTS ${schema}.meta (version int NOT NULL)`,
    );
    const { rows } = await client.query<{ version: number }>('SELECT version FROM meta');
    const found = rows[0]?.version ?? 0;
    if (found > migrations.length) {
      throw new AgtmuxError(
        'E_STORE_NEWER',
        `the hub's database has schema ${found}, this agtmux knows ${migrations.length}`,
      );
    }
    for (const statements of migrations.slice(found)) {
      for (const sql of statements) {
        await client.query(sql.replaceAll(/\bJSON\b/g, 'jsonb').replaceAll(/\bBIG\b/g, 'bigint'));
      }
    }
    await client.query('DELETE FROM meta');
    await client.query('INSERT INTO meta VALUES ($1)', [migrations.length]);
    await protect(client);
    await client.query('COMMIT');
  } catch (problem) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw problem;
  } finally {
    client.release();
  }
}

async function protect(client: pg.ClientBase): Promise<void> {
  await client.query(`DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role} NOLOGIN NOBYPASSRLS; END IF;
    IF NOT pg_has_role(current_user, '${role}', 'MEMBER') THEN EXECUTE format('GRANT ${role} TO %I', current_user); END IF;
  END $$`);
  await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
  for (const table of tenantTables) {
    await client.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${role}`);
    await client.query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
    await client.query(`DROP POLICY IF EXISTS tenant ON ${table}`);
    const own = "tenant = current_setting('agtmux.tenant', true)";
    await client.query(`CREATE POLICY tenant ON ${table} TO ${role} USING (${own}) WITH CHECK (${own})`);
  }
  await client.query('CREATE OR REPLACE VIEW tenant_names AS SELECT tenant FROM tenants');
}
