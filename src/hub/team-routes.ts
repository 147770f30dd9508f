// What a team asks of its hub: who waits for whom now, and how days went: how long agents worked, and how long asks waited. Narrowed to
// what the person may see, as everything else.

import { z } from 'zod';
import { limits } from '../model/limits.ts';
import { jsonReply } from '../server/replies.ts';
import { readQuery } from '../server/requests.ts';
import { dayOf, type MachineDaySum, teamLines } from './history.ts';
import type { HubApp } from './http.ts';
import { type PeopleParts, signedIn } from './people-routes.ts';

const teamSchema = z.strictObject({ days: z.int().positive().max(limits.hubHistoryAskDaysMax).default(14) });
const dayMs = 86_400_000;

export function addTeamRoutes(app: HubApp, parts: PeopleParts): void {
  const { hub, table, clock } = parts;
  app.get('/hub/v1/team', async (context) => {
    const { tenant, session } = await signedIn(parts, context);
    const { days } = readQuery(teamSchema, context.req.queries());
    const now = clock.wallMs();
    const since = dayOf(now - (days - 1) * dayMs);
    const [sums, machines] = await Promise.all([table.of(tenant).history(since), table.of(tenant).daemons()]);
    // Machines that were removed had an owner too.
    const owners = new Map(machines.map(({ daemon, owner }) => [daemon, owner]));
    const isVisible = ({ daemon, repo }: MachineDaySum): boolean =>
      (session.owners.length === 0 || session.owners.includes(owners.get(daemon) ?? '')) &&
      (session.repos.length === 0 || session.repos.includes(repo));
    const seen = sums.filter(isVisible);
    const roster = await hub.rosterOf(tenant);
    const waiting = roster.waiting(session, now).map((one) => ({ ...one, since: new Date(one.since).toISOString() }));
    return jsonReply({
      since,
      waiting,
      by_day: teamLines(seen, ({ day }) => day),
      by_owner: teamLines(seen, ({ daemon }) => owners.get(daemon) ?? ''),
      by_repo: teamLines(seen, ({ repo }) => repo),
    });
  });
}
