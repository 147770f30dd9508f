// `agtmux hub serve`, and what is done at a hub by whoever runs it: codes, machines, revoking. These need no daemon: they work on the
// hub's own table.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeHash } from '../hub/http.ts';
import { sessionHash } from '../hub/people-routes.ts';
import { onlyTenant, openHubTable, serveHub } from '../hub/serve.ts';
import type { HubTable, TenantTable } from '../hub/table.ts';
import { AgtmuxError } from '../model/errors.ts';
import { hubRoles } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import { createRealFiles } from '../platform/files.ts';
import { createLog } from '../platform/log.ts';
import { ensurePrivateDirectory } from '../platform/private-directory.ts';
import { createRealRandom } from '../platform/random.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { safe } from './act.ts';
import { type Action, type Context, must, places, userId } from './context.ts';
import { escapeEffects, print } from './output.ts';
import type { Parsed } from './parse.ts';
import { tableText } from './rows.ts';

async function folderOf(parsed: Parsed): Promise<string> {
  const folder = parsed.value('folder') ?? join(places().stateDir, 'hub');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  must(await ensurePrivateDirectory(createRealFiles(), folder, userId()));
  return folder;
}

/** Where there is a password in it, from the environment: an argument is shown to everyone of the machine. */
const engineOf = <Name extends 'postgres' | 'nats'>(
  parsed: Parsed,
  name: Name,
): { readonly [name in Name]?: string } => {
  const said = parsed.value(name) ?? process.env[`AGTMUX_HUB_${name.toUpperCase()}`] ?? '';
  return (said === '' ? {} : { [name]: said }) as { readonly [name in Name]?: string };
};

export const hubServe: Action = async (parsed, { clock }) => {
  const { host, port } = listenOf(parsed.value('listen') ?? '127.0.0.1:8138');
  const publicUrl = parsed.value('url');
  const log = createLog({
    clock,
    level: 'info',
    sink: (line) => process.stderr.write(`${line}\n`),
    gate: (text) => sanitizeLine(foreign(text)),
  });
  const running = await serveHub({
    ...{ clock, log, host, port },
    folder: await folderOf(parsed),
    isNewKey: parsed.has('new-key'),
    ...engineOf(parsed, 'postgres'),
    ...engineOf(parsed, 'nats'),
    random: createRealRandom(),
    files: createRealFiles(),
    pagesFolder: fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../dist/web' : '../web', import.meta.url)),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    memoryBytes: () => process.memoryUsage.rss(),
    cpuSeconds: () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000_000,
  });
  log.info('ready', { url: running.url, pid: process.pid });
  print(`The hub serves at ${running.url}. agtmux hub code prints a code for one machine.`);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  log.info('stopping');
  await running.close();
};

function listenOf(said: string): { readonly host: string; readonly port: number } {
  const found = /^(?:\[([0-9a-fA-F:]+)\]|([\w.-]+)):(\d{1,5})$/.exec(said);
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new AgtmuxError('E_USAGE', `${safe(said)} is no address to listen on`, { next: 'write it as 127.0.0.1:8138' });
}

async function withTable(parsed: Parsed, work: (tenant: TenantTable, table: HubTable) => Promise<void>): Promise<void> {
  const table = await openHubTable({ folder: await folderOf(parsed), ...engineOf(parsed, 'postgres') });
  try {
    const name = parsed.value('tenant') ?? onlyTenant;
    await table.addTenant(name);
    await work(table.of(name), table);
  } finally {
    await table.close();
  }
}

export const hubCode: Action = async (parsed, { clock }) =>
  withTable(parsed, async (tenant) => {
    // Read out or typed: no letters that look like others.
    const code = `${tenant.tenant}-${createRealRandom().hex(10)}`;
    await tenant.putCode({
      hash: codeHash(code),
      label: parsed.value('label') ?? null,
      owner: parsed.value('owner') ?? '',
      kind: parsed.value('kind') === 'ci' ? 'ci' : 'person',
      expires_at: clock.wallMs() + limits.hubCodeMs,
    });
    print(code);
  });

/** For who has no other way to sign in: whoever runs the hub hands it over. */
export const hubLink: Action = async (parsed, { clock }) =>
  withTable(parsed, async (tenant) => {
    const who = parsed.value('who');
    const role = hubRoles.find((one) => one === (parsed.value('role') ?? 'look'));
    if (who === undefined || role === undefined) {
      throw new AgtmuxError('E_USAGE', '--who is missing', { next: 'name the person: --who alice@example.com' });
    }
    const token = `${tenant.tenant}-${createRealRandom().hex(32)}`;
    await tenant.putSession({
      ...{ hash: sessionHash(token), who, role, kind: 'link' },
      ...{ owners: parsed.values('owner'), repos: parsed.values('repo') },
      expires_at: clock.wallMs() + limits.hubLinkMs,
    });
    print(`${parsed.value('url') ?? 'http://127.0.0.1:8138'}/#token=${token}`);
  });

export const hubMachines: Action = async (parsed, context) =>
  withTable(parsed, async (tenant) => {
    const machines = await tenant.daemons();
    if (parsed.has('json')) return print(escapeEffects({ items: machines }));
    if (machines.length === 0) return print('No machine has joined yet.');
    const rows = machines.map((one) => [one.label, one.owner, one.kind, one.share, seenOf(one, context), one.daemon]);
    print(
      tableText(
        [
          { title: 'MACHINE', flexible: true },
          { title: 'OWNER' },
          { title: 'KIND' },
          { title: 'SHARES' },
          { title: 'STATE' },
          { title: 'ID' },
        ],
        rows,
      ),
    );
  });

function seenOf(
  { seen_at, left_at, revoked_at }: Awaited<ReturnType<TenantTable['daemons']>>[number],
  { clock }: Context,
): string {
  if (revoked_at !== null) return 'revoked';
  if (left_at !== null) return 'left';
  return seen_at !== null && clock.wallMs() - seen_at <= limits.hubSilentMs ? 'reachable' : 'silent';
}

export const hubRevoke: Action = async (parsed, { clock }) =>
  withTable(parsed, async (tenant) => {
    const [named = ''] = parsed.args;
    const found = (await tenant.daemons()).filter(
      (one) => one.daemon === named || (one.label === named && one.revoked_at === null),
    );
    const [machine] = found;
    if (machine === undefined || found.length > 1) {
      const what = found.length > 1 ? 'several machines have this name' : 'there is no such machine';
      throw new AgtmuxError('E_REF_NOT_FOUND', what, { next: 'name it by its ID: `agtmux hub machines`' });
    }
    await tenant.revoke(machine.daemon, clock.wallMs());
    print(`${safe(machine.label)} was removed; its key is worth nothing any more.`);
  });
