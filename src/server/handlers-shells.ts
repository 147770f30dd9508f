// The routes of background shells: reads who asks and for what, hands it to the daemon, and answers with what became of
// it and what the agent was not told yet. Whether something is done at all is decided there, never here.

import type { ServerResponse } from 'node:http';
import { type RouteName, routes } from '../api/routes.ts';
import type {
  ShellList,
  ShellNoticeItem,
  ShellNoticesReply,
  ShellPageReply,
  ShellReceiptReply,
} from '../api/schemas-shells.ts';
import { newShellSchema, shellClaimSchema } from '../api/schemas-shells.ts';
import type {
  ShellAsker,
  ShellClaim,
  ShellControl,
  ShellLogPage,
  ShellNotice,
  ShellReceipt,
  ShellRow,
} from '../model/shells.ts';
import { shellItem, shellNoticeItem } from '../view/lists-items.ts';
import { shellsTable } from '../view/shells-text.ts';
import { type ApiContext, type Handler, headOf, noQuery, textOptions } from './handler-kit.ts';
import { jsonReply, textReply, unwrap } from './replies.ts';
import { readBody, readQuery } from './requests.ts';
import type { DaemonService } from './service.ts';

export function shellHandlers(service: DaemonService) {
  const toWall = (time: number): number => service.toWall(time);
  return {
    async shells(context) {
      const query = readQuery(routes.shells.query, context.req.queries());
      const options = textOptions(context, query, service.toWall(service.now()));
      const who = whoOf(query);
      const asker = who.wantsNotices || query.owner === 'mine' ? await service.shells.askerOf(who.claim) : null;
      const { filters, all, rows } = chosen(service, query, asker);
      const items = rows.map((row) => shellItem(row, toWall));
      if (options !== null) return textReply(shellsTable(items, { ...options, now: toWall(service.now()) }));
      return jsonReply({
        ...headOf(service),
        filters,
        summary: summaryOf(all),
        items,
        notices: who.wantsNotices ? handOver(service, context, asker) : [],
      } satisfies ShellList);
    },
    async runShell(context) {
      noQuery(context);
      const { pid, client, thread, take_notices, ...wish } = await readBody(newShellSchema, context.env.incoming);
      const claim = { pid, client, thread, via: null };
      const told = await service.shells.run(wish, claim, goneSignal(context.env.outgoing));
      return receipt(service, context, told, { claim, wantsNotices: take_notices });
    },
    async shellNotices(context) {
      noQuery(context);
      const { take_notices: _, ...claim } = await readBody(shellClaimSchema, context.env.incoming);
      const notices = handOver(service, context, await service.shells.askerOf(claim));
      return jsonReply({ ...headOf(service), notices } satisfies ShellNoticesReply);
    },
    async shellLog(context) {
      const query = readQuery(routes.shellLog.query, context.req.queries());
      const { mode = 'tail', cursor = null, lines = null } = query;
      const page = unwrap(await service.shells.log(refOf(context), { mode, cursor, lines }));
      const notices = await noticesFor(service, context, whoOf(query));
      return jsonReply({ ...headOf(service), ...pageItem(page), notices } satisfies ShellPageReply);
    },
    killShell: control(service, 'kill'),
    backgroundShell: control(service, 'background'),
    resumeShell: control(service, 'resume'),
    seenShell: control(service, 'seen'),
  } satisfies Partial<Record<RouteName, Handler>>;
}

/** Who asks, and whether the reply may carry what that agent was not told yet. */
interface Who {
  readonly claim: ShellClaim;
  readonly wantsNotices: boolean;
}

const control =
  (service: DaemonService, what: ShellControl): Handler =>
  async (context) => {
    noQuery(context);
    const { take_notices, ...claim } = await readBody(shellClaimSchema, context.env.incoming);
    const told = await service.shells.control(what, refOf(context), claim);
    return receipt(service, context, told, { claim, wantsNotices: take_notices });
  };

const refOf = (context: ApiContext): string => context.req.param('ref') ?? '';

interface ClaimQuery {
  readonly pid?: number | undefined;
  readonly client?: string | undefined;
  readonly thread?: string | undefined;
  readonly take_notices?: boolean | undefined;
}

const whoOf = ({ pid, client, thread, take_notices }: ClaimQuery): Who => ({
  claim: { pid: pid ?? null, client: client ?? null, thread: thread ?? null, via: null },
  wantsNotices: take_notices ?? false,
});

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

const pageItem = (page: ShellLogPage) => ({ ...page, lines: [...page.lines] });

async function receipt(
  service: DaemonService,
  context: ApiContext,
  { result, reason, ended_by, shell, page, failure }: ShellReceipt,
  who: Who,
): Promise<Response> {
  return jsonReply({
    ...headOf(service),
    result,
    reason,
    ended_by,
    shell: shell === null ? null : shellItem(shell, (time) => service.toWall(time)),
    page: page === null ? null : pageItem(page),
    failure,
    notices: await noticesFor(service, context, who),
  } satisfies ShellReceiptReply);
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
