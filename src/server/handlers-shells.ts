// Background shells: hands what is asked for to the daemon, and answers with what became of it and what the agent was not
// told yet. Whether something is done at all is decided there, never here.

import type { ServerResponse } from 'node:http';
import type { ShellList, ShellNoticeItem } from '../api/shells.ts';
import type { CallerClaim } from '../model/actions.ts';
import type {
  ShellAsker,
  ShellClaim,
  ShellControl,
  ShellNotice,
  ShellReceipt,
  ShellRow,
  ShellVia,
} from '../model/shells.ts';
import { shellItem, shellNoticeItem } from '../view/lists-items.ts';
import { shellsTable } from '../view/shells-text.ts';
import { type ApiContext, type ApiRequest, type Handlers, type Reply, textOptions } from './dispatch.ts';
import { textReply, unwrap } from './replies.ts';
import type { DaemonService } from './service.ts';

type Controls = `${ShellControl}Shell`;

export function shellHandlers(
  service: DaemonService,
): Pick<Handlers, 'shells' | 'runShell' | 'shellNotices' | 'shellLog' | Controls> {
  const toWall = (time: number): number => service.toWall(time);
  const control =
    (what: ShellControl) =>
    async ({ params, body, caller, context }: ApiRequest<Controls>): Promise<Reply<Controls>> => {
      const who = whoOf(caller, body);
      return receipt(service, context, await service.shells.control(what, params.ref, who.claim), who);
    };
  return {
    async shells({ query, caller, context }) {
      const options = textOptions(context, query, service.toWall(service.now()));
      const who = whoOf(caller, query);
      const asker = who.wantsNotices || query.owner === 'mine' ? await service.shells.askerOf(who.claim) : null;
      const { filters, all, rows } = chosen(service, query, asker);
      const items = rows.map((row) => shellItem(row, toWall));
      if (options !== null) return textReply(shellsTable(items, { ...options, now: toWall(service.now()) }));
      const notices = who.wantsNotices ? handOver(service, context, asker) : [];
      return { filters, summary: summaryOf(all), items, notices };
    },
    async runShell({ body: { client, thread, take_notices, ...wish }, caller, context }) {
      const who = whoOf(caller, { client, thread, take_notices });
      return receipt(
        service,
        context,
        await service.shells.run(wish, who.claim, goneSignal(context.env.outgoing)),
        who,
      );
    },
    async shellNotices({ body, caller, context }) {
      const { claim } = whoOf(caller, body);
      return { notices: handOver(service, context, await service.shells.askerOf(claim)) };
    },
    async shellLog({ params, query, caller, context }) {
      const { mode = 'tail', cursor = null, lines = null } = query;
      const page = unwrap(await service.shells.log(params.ref, { mode, cursor, lines }));
      return { ...page, notices: await noticesFor(service, context, whoOf(caller, query)) };
    },
    killShell: control('kill'),
    backgroundShell: control('background'),
    resumeShell: control('resume'),
    seenShell: control('seen'),
  };
}

/** Who asks, and whether the reply may carry what that agent was not told yet. */
interface Who {
  readonly claim: ShellClaim;
  readonly wantsNotices: boolean;
}

interface SaidOfClient {
  readonly client?: string | null | undefined;
  readonly thread?: string | null | undefined;
  readonly via?: ShellVia | null | undefined;
  readonly take_notices?: boolean | undefined;
}

/** What agents were not told is for agents: a page takes nothing away. */
function whoOf({ pid, web, editor }: CallerClaim, { client, thread, via, take_notices }: SaidOfClient): Who {
  if (web !== undefined) {
    return { claim: { pid: null, client: null, thread: null, via: 'web page', web }, wantsNotices: false };
  }
  if (editor !== undefined) {
    return { claim: { pid, client: null, thread: null, via: 'editor', editor }, wantsNotices: false };
  }
  return {
    claim: { pid, client: client ?? null, thread: thread ?? null, via: via ?? null },
    wantsNotices: take_notices ?? false,
  };
}

interface Choice {
  readonly ref?: string | undefined;
  readonly completed?: boolean | undefined;
  readonly failed?: boolean | undefined;
  readonly owner?: 'mine' | 'all' | undefined;
}

/** Those that run, and of the others what was asked for; or the one that was named. */
function chosen({ shells }: DaemonService, wanted: Choice, asker: ShellAsker | null) {
  const { ref = null, completed = false, failed = false, owner = 'all' } = wanted;
  const filters: ShellList['filters'] = { ref, completed, failed, owner };
  const all = shells.list().filter((row) => owner === 'all' || asker?.keys.includes(row.owner.key));
  const isWanted = { running: true, completed, failed };
  const rows = ref === null ? all.filter(({ status }) => isWanted[status]) : [unwrap(shells.find(ref))];
  return { filters, all, rows };
}

function summaryOf(rows: readonly ShellRow[]): ShellList['summary'] {
  const summary = { running: 0, completed: 0, failed: 0 };
  for (const { status } of rows) summary[status] += 1;
  return summary;
}

async function receipt(
  service: DaemonService,
  context: ApiContext,
  { result, reason, ended_by, shell, page, failure }: ShellReceipt,
  who: Who,
): Promise<Reply<'runShell'>> {
  return {
    result,
    reason,
    ended_by,
    shell: shell === null ? null : shellItem(shell, (time) => service.toWall(time)),
    page,
    failure,
    notices: await noticesFor(service, context, who),
  };
}

async function noticesFor(service: DaemonService, context: ApiContext, who: Who): Promise<ShellNoticeItem[]> {
  return who.wantsNotices ? handOver(service, context, await service.shells.askerOf(who.claim)) : [];
}

/** Takes what an agent was not told yet for this reply, and gives it back if the reply is not written (SHL7). */
function handOver(service: DaemonService, context: ApiContext, asker: ShellAsker | null): ShellNoticeItem[] {
  const { outgoing } = context.env;
  if (asker === null || isGone(outgoing)) return [];
  const notices: readonly ShellNotice[] = service.shells.takeNotices(asker);
  if (notices.length > 0) {
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) service.shells.returnNotices(asker, notices);
    });
  }
  return notices.map((notice) => shellNoticeItem(notice, (time) => service.toWall(time)));
}

const isGone = (outgoing: ServerResponse): boolean => outgoing.destroyed || outgoing.closed;

/** Over when the client leaves before it was answered. */
function goneSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => {
    if (!outgoing.writableFinished) gone.abort();
  };
  if (isGone(outgoing)) leave();
  else outgoing.once('close', leave);
  return gone.signal;
}
