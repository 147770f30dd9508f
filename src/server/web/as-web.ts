// The daemon as one web session sees it: everything that is asked is asked by that session, whatever the request says of
// itself (ACT6). Every member stands here by name, so that a new one has to be thought about.

import type { CallerClaim, WebCaller } from '../../model/actions.ts';
import { fail } from '../../model/errors.ts';
import type { ShellClaim, ShellService } from '../../model/shells.ts';
import type { DaemonService } from '../service.ts';
import type { ActionService } from '../service-act.ts';
import type { HookService } from '../service-hooks.ts';

/** A page has no environment to hand on: agents that are started from one get `environment`. */
export function asWeb(
  service: DaemonService,
  web: WebCaller,
  environment: Readonly<Record<string, string>>,
): DaemonService {
  const claim: CallerClaim = { pid: null, hops: 0, web };
  return {
    rows: () => service.rows(),
    targets: () => service.targets(),
    status: () => service.status(),
    now: () => service.now(),
    toWall: (time) => service.toWall(time),
    feed: service.feed,
    hooks: hooksAs(service.hooks, claim),
    mcp: hooksAs(service.mcp, claim),
    acting: actingAs(service.acting, claim),
    sessions: {
      list: () => service.sessions.list(),
      get: (ref) => service.sessions.get(ref),
      start: (wish) => service.sessions.start({ ...wish, env: environment }, claim),
      do: (ref, deed) => service.sessions.do(ref, deed, claim),
      messages: (ref, after, countMax) => service.sessions.messages(ref, after, countMax),
      follow: (ref, onNews) => service.sessions.follow(ref, onNews),
    },
    shells: shellsAs(service.shells, web),
    notices: {
      list: (countMax) => service.notices.list(countMax),
      settings: () => service.notices.settings(),
      change: (change) => service.notices.change(change, claim),
      mute: (scope, minutes) => service.notices.mute(scope, minutes, claim),
      unmute: (scope) => service.notices.unmute(scope, claim),
      test: (channel) => service.notices.test(channel, claim),
    },
    usage: { report: (question) => service.usage.report(question) },
    restore: {
      plan: () => service.restore.plan(),
      restore: (request) => service.restore.restore(request, claim),
      waiting: service.restore.waiting,
    },
    live: { open: (ref, _claim, handlers) => service.live.open(ref, claim, handlers) },
    submitEvents: async () => [],
    addTarget: (target) => service.addTarget(target, claim),
    connectTarget: (target) => service.connectTarget(target, claim),
    removeTarget: (target) => service.removeTarget(target, claim),
    explain: (ref) => service.explain(ref),
    timeline: (question) => service.timeline(question),
    agentInfos: () => service.agentInfos(),
    ruleTroubles: () => service.ruleTroubles(),
    setAgentEnabled: (agent, enabled) => service.setAgentEnabled(agent, enabled, claim),
    mayStop: async () => fail('E_ROLE', 'the daemon cannot be stopped from a page', 'run `agtmux daemon stop`'),
    stop: () => undefined,
  };
}

const hooksAs = (hooks: HookService, claim: CallerClaim): HookService => ({
  status: (request) => hooks.status(request),
  plan: (request) => hooks.plan(request),
  apply: (request) => hooks.apply(request, claim),
});

const actingAs = (acting: ActionService, claim: CallerClaim): ActionService => ({
  act: (request) => acting.act(request, claim),
  attach: (ref, conditions) => acting.attach(ref, conditions, claim),
  view: (ref, linesMax, _claim, how) => acting.view(ref, linesMax, claim, how),
  start: (wanted) => acting.start(wanted, claim),
  queue: () => acting.queue(),
  editQueued: (id, text) => acting.editQueued(id, text, claim),
  dropQueued: (id) => acting.dropQueued(id, claim),
  who: () => acting.who(claim),
  authorizeAndAudit: (deed, _claim, effect) => acting.authorizeAndAudit(deed, claim, effect),
  audit: (countMax) => acting.audit(countMax),
});

function shellsAs(shells: ShellService, web: WebCaller): ShellService {
  const claim: ShellClaim = { pid: null, client: null, thread: null, via: 'web page', web };
  return {
    run: (wish, _claim, cancelled) => shells.run(wish, claim, cancelled),
    list: () => shells.list(),
    find: (ref) => shells.find(ref),
    log: (ref, wish) => shells.log(ref, wish),
    control: (control, ref) => shells.control(control, ref, claim),
    askerOf: () => shells.askerOf(claim),
    takeNotices: () => [],
    returnNotices: () => undefined,
    eventsAfter: (version) => shells.eventsAfter(version),
    latency: () => shells.latency(),
  };
}
