// `agtmux notify`: who is told when an agent needs a person. Asks the daemon and shows what it says; the settings
// themselves are the daemon's.

import { withQuery } from '../api/client-lean.ts';
import type { NoticeListReply, NoticeSettingsReply, NoticeTestReply } from '../api/schemas-notices.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { ageLabel } from '../view/words.ts';
import { claim, safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { durationOf } from './duration.ts';
import { print } from './output.ts';
import type { Parsed } from './parse.ts';

/** A script wants to know. */
const troubleStatus = 1;
const minuteMs = 60_000;
const muteBounds = { minMs: 1_000, maxMs: limits.noticeMuteMinutesMax * minuteMs, words: 'from 1s to 168h' };
const listed = 20;

export const notifyStatus: Action = async (parsed, context) => {
  const answer = await askDaemon(context, { path: '/v1/notifications/settings' }, { isQuiet: parsed.has('json') });
  show(parsed, answer);
  if ((JSON.parse(answer) as NoticeSettingsReply).trouble !== null) process.exitCode = troubleStatus;
};

export const notifyList: Action = async (parsed, context) => {
  const path = withQuery('/v1/notifications', { count: listed });
  const answer = await askDaemon(context, { path }, { isQuiet: parsed.has('json') });
  if (parsed.has('json')) {
    print(answer);
    return;
  }
  const { items, generated_at } = JSON.parse(answer) as NoticeListReply;
  const lines = items.map(({ at, title, place, over_at, is_quiet, told }) => {
    const ways = told.map(({ channel, outcome, detail }) =>
      outcome === 'told' ? channel : `${channel} ${outcome === 'failed' ? `failed (${detail})` : 'summarised'}`,
    );
    const end = over_at === null ? (is_quiet ? 'held back' : 'open') : 'over';
    const age = ageLabel(Date.parse(generated_at) - Date.parse(at));
    return safe(
      `${age.padStart(4)}  ${end.padEnd(9)}  ${title}  ${place}${ways.length === 0 ? '' : `  (${ways.join(', ')})`}`,
    );
  });
  print(lines.length === 0 ? 'no notifications yet' : lines.join('\n'));
};

export const notifyOn: Action = (parsed, context) => changeChannels(parsed, context, true);
export const notifyOff: Action = (parsed, context) => changeChannels(parsed, context, false);

function changeChannels(parsed: Parsed, context: Context, isOn: boolean): Promise<void> {
  const channels = [parsed.args[0] ?? ''];
  return post(parsed, context, 'settings', isOn ? { turn_on: channels } : { turn_off: channels });
}

export const notifySet: Action = async (parsed, context) => {
  const events = parsed.values('event').filter((event) => event !== 'none');
  const [quiet, text, lookedAt] = [parsed.value('quiet'), parsed.value('text'), parsed.value('looked-at')];
  const change = {
    ...(parsed.has('event') ? { on: events } : {}),
    ...(quiet === undefined ? {} : { quiet: quiet === 'never' ? null : quiet }),
    ...(text === undefined ? {} : { desktop_text: text }),
    ...(lookedAt === undefined ? {} : { skip_looked_at: lookedAt === 'skip' }),
  };
  if (Object.keys(change).length === 0) {
    throw new AgtmuxError('E_USAGE', 'nothing to change: no setting was given', {
      next: 'run `agtmux notify set --help`',
    });
  }
  await post(parsed, context, 'settings', change);
};

export const notifyTest: Action = async (parsed, context) => {
  const [channel] = parsed.args;
  const body = { ...(channel === undefined ? {} : { channel }), ...claim() };
  const request = { method: 'POST', path: '/v1/notifications/test', body, silenceMs: limits.actAnswerMs } as const;
  const answer = await askDaemon(context, request, { isQuiet: parsed.has('json') });
  const { channels } = JSON.parse(answer) as NoticeTestReply;
  const lines = channels.map(({ channel: name, outcome, detail }) =>
    safe(`${name.padEnd(9)}  ${outcome}${detail === null ? '' : `: ${detail}`}`),
  );
  print(parsed.has('json') ? answer : lines.join('\n'));
  if (channels.some(({ outcome }) => outcome === 'failed')) process.exitCode = troubleStatus;
};

export const notifyMute: Action = async (parsed, context) => {
  const ms = durationOf('duration', parsed.args[0], muteBounds);
  await post(parsed, context, 'mute', { ...scopeOf(parsed), ...(ms === null ? {} : { minutes: ms / minuteMs }) });
};

export const notifyUnmute: Action = (parsed, context) => post(parsed, context, 'unmute', scopeOf(parsed));

function scopeOf(parsed: Parsed): { readonly agent?: string; readonly project?: string } {
  const [agent, project] = [parsed.value('agent'), parsed.value('project')];
  return { ...(agent === undefined ? {} : { agent }), ...(project === undefined ? {} : { project }) };
}

async function post(parsed: Parsed, context: Context, what: string, body: object): Promise<void> {
  const request = { method: 'POST', path: `/v1/notifications/${what}`, body: { ...body, ...claim() } } as const;
  show(parsed, await askDaemon(context, request, { isQuiet: parsed.has('json') }));
}

function show(parsed: Parsed, answer: string): void {
  print(
    parsed.has('json')
      ? answer
      : linesOf(JSON.parse(answer) as NoticeSettingsReply)
          .map(safe)
          .join('\n'),
  );
}

function linesOf(settings: NoticeSettingsReply): readonly string[] {
  const { on, quiet, is_quiet_now, desktop_text, skip_looked_at, mutes, rules, status, trouble, path } = settings;
  const ways = status.map(({ channel, is_on, told, failed, last_trouble }) => {
    const counts =
      told + failed === 0 ? '' : `, sent ${told}${failed === 0 ? '' : `, failed ${failed}: ${last_trouble}`}`;
    return `  ${channel.padEnd(9)}  ${is_on ? 'on' : 'off'}${counts}`;
  });
  const skipped = skip_looked_at ? ', except for the pane that a terminal shows' : '';
  return [
    `events    ${on.length === 0 ? 'nothing' : on.join(', ')}${skipped}`,
    `quiet     ${quiet === null ? 'never' : `${quiet}${is_quiet_now ? ', now' : ''}`}`,
    `muted     ${mutes.length === 0 ? 'no' : mutes.map(muteWords).join('; ')}`,
    `desktop   ${desktop_text === 'ask' ? 'shows the request, with buttons' : 'shows the agent and its place'}`,
    'channels',
    ...ways,
    ...(rules.length === 0 ? [] : [`${rules.length === 1 ? '1 rule' : `${rules.length} rules`} in ${path}`]),
    ...(trouble === null ? [] : [`problem   ${trouble}`]),
  ];
}

function muteWords({ agent, project, until }: NoticeSettingsReply['mutes'][number]): string {
  const whom = [agent ?? 'everyone', ...(project === null ? [] : [`in ${project}`])].join(' ');
  return `${whom} ${until === null ? 'until unmuted' : `until ${until}`}`;
}
