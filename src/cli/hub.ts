// `agtmux hub status|join|share|leave`, and `agtmux list --hub`: what the daemon of this machine has to do with a hub.

import type { HubStatusReply } from '../api/hub.ts';
import { get, type LeanQuery, post, remove } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { hubShares } from '../model/hub.ts';
import { limits } from '../model/limits.ts';
import { safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { print, viewQuery } from './output.ts';
import type { Parsed } from './parse.ts';

/** The hub may be on the other side of the world, and slow. */
const silenceMs = limits.hubConnectMs * 2;

export const hubStatus: Action = async (parsed, context) =>
  tell(parsed, await askDaemon(context, get('/v1/hub'), { isQuiet: parsed.has('json') }));

export const hubJoin: Action = async (parsed, context) => {
  const code = parsed.value('code');
  if (code === undefined) {
    throw new AgtmuxError('E_USAGE', '--code is missing', { next: 'run `agtmux hub code` at the hub; it prints one' });
  }
  const [url = ''] = parsed.args;
  const label = parsed.value('label') ?? null;
  const wish = { url, code, label, share: shareOf(parsed.value('share') ?? 'asks') };
  tell(parsed, await askDaemon(context, post('/v1/hub', wish, { silenceMs })));
};

export const hubShare: Action = async (parsed, context) => {
  const share = shareOf(parsed.args[0] ?? '');
  tell(parsed, await askDaemon(context, post('/v1/hub/share', { share })));
};

export const hubLeave: Action = async (parsed, context) => {
  const { body } = await askDaemon(context, remove('/v1/hub'));
  print(parsed.has('json') ? body : 'This daemon reports to no hub any more.');
};

/** The list of the hub, asked through the daemon of this machine: it alone has the key, and looks who asks. */
export async function listHub(query: LeanQuery, parsed: Parsed, context: Context): Promise<void> {
  const { target_session: _, all_panes: __, ...rest } = query;
  const [machine, owner, repo] = ['machine', 'owner', 'repo'].map((name) => parsed.values(name));
  const asked = { ...rest, machine, owner, repo, ...viewQuery(parsed) };
  const request = get('/v1/hub/panes', asked as Parameters<typeof get<'/v1/hub/panes'>>[1], { silenceMs });
  print((await askDaemon(context, request, { isQuiet: parsed.has('json') })).body);
}

function shareOf(said: string): (typeof hubShares)[number] {
  const share = hubShares.find((one) => one === said);
  if (share !== undefined) return share;
  throw new AgtmuxError('E_USAGE', `${safe(said)} is nothing that can be shared`, {
    next: `use ${hubShares.join(', ')}`,
  });
}

const shareWords = {
  states: 'states only, no texts',
  asks: 'states, and what is asked, without credentials',
  views: 'states, and what is asked, without credentials; no screens so far',
} as const;

function tell(parsed: Parsed, { body, reply }: { readonly body: string; readonly reply: HubStatusReply }): void {
  const { membership } = reply;
  if (parsed.has('json') || membership === null) {
    print(parsed.has('json') ? body : 'This daemon reports to no hub.');
    return;
  }
  const { url, label, tenant, share, connected, trouble, allows, allow_trouble } = membership;
  const state = connected ? 'connected' : trouble === null ? 'connecting' : `not connected: ${safe(trouble)}`;
  print(`Hub       ${safe(url)}, ${state}`);
  print(`Machine   ${safe(label)}, tenant ${safe(tenant)}`);
  print(`Shares    ${shareWords[share]}`);
  print(`Allows    ${allow_trouble === null ? allows.map(safe).join('; ') || 'looking only' : safe(allow_trouble)}`);
}
