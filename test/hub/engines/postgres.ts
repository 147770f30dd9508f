// A private PostgreSQL for a suite: its own folder and socket, as a user who is not root. Ends with the suite.

import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const programs = '/usr/lib/postgresql';

export class TestPostgres {
  readonly #folder = mkdtempSync(join(tmpdir(), 'agt-pg-'));
  readonly #bin = join(
    programs,
    readdirSync(programs).sort((one, other) => Number(other) - Number(one))[0] ?? '',
    'bin',
  );
  readonly #isRoot = process.getuid?.() === 0;
  /** A role that owns the tables and is no superuser, as a hub in earnest has it. */
  readonly url = `postgresql://hub@/hub?host=${this.#folder}`;

  constructor() {
    chmodSync(this.#folder, 0o755);
    if (this.#isRoot) execFileSync('chown', ['postgres', this.#folder]);
    this.#run('initdb', '-D', join(this.#folder, 'data'), '-A', 'trust', '-U', 'boss', '--no-sync');
    this.start();
    this.query('boss', 'postgres', 'CREATE ROLE hub LOGIN CREATEROLE');
    this.query('boss', 'postgres', 'CREATE DATABASE hub OWNER hub');
  }

  start(): void {
    const options = `-k ${this.#folder} -c listen_addresses= -c fsync=off`;
    this.#run(
      'pg_ctl',
      '-D',
      join(this.#folder, 'data'),
      '-l',
      join(this.#folder, 'log'),
      '-o',
      options,
      '-w',
      'start',
    );
  }

  /** At once, as with a power cut. */
  kill(): void {
    this.#run('pg_ctl', '-D', join(this.#folder, 'data'), '-m', 'immediate', 'stop');
  }

  query(user: string, database: string, sql: string): string {
    return this.#run('psql', '-h', this.#folder, '-U', user, '-d', database, '-Atq', '-c', sql).stdout.trim();
  }

  end(): void {
    this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(program: string, ...args: string[]): SpawnSyncReturns<string> {
    const words = [join(this.#bin, program), ...args];
    const [first = '', ...rest] = this.#isRoot ? ['runuser', '-u', 'postgres', '--', ...words] : words;
    const ran = spawnSync(first, rest, { encoding: 'utf8', cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] });
    if (ran.status !== 0) throw new Error(`${program}: ${ran.stderr}`);
    return ran;
  }
}
