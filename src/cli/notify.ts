// `agtmux notify`: who is told when an agent needs a person. Asks the daemon and shows what it says; the settings
// themselves are the daemon's.

import type { NoticeSettingsReply } from '../api/notices.ts';
import { type ApiRequest, get, post } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { desktopTexts, noticeChannels, noticeEvents } from '../model/notices.ts';
import { ageLabel } from '../view/words.ts';
import { safe } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { durationOf } from './duration.ts';
import { print } from './output.ts';
import type { Parsed } from './parse.ts';
import type { Answer } from './running.ts';

/** A script wants to know. */
const troubleStatus = 1;
const minuteMs = 60_000;
const muteBounds = { minMs: 1_000, maxMs: limits.noticeMuteMinutesMax * minuteMs, words: 'from 1s to 168h' };
const listed = 20;

export const notifyStatus: Action = async (parsed, context) => {
  const answer = await askDaemon(context, get('/v1/notifications/settings'), quiet(parsed));
  show(parsed, answer);
  if (answer.reply.trouble !== null) process.exitCode = troubleStatus;
};

export const notifyList: Action = async (parsed, context) => {
  const request = get('/v1/notifications', { count: listed });
  const { body, reply } = await askDaemon(context, request, quiet(parsed));
  if (parsed.has('json')) {
    print(body);
    return;
  }
  const { items, generated_at } = reply;
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
  const channels = noticeChannels.filter((one) => one === parsed.args[0]);
  const change = isOn ? { turn_on: channels } : { turn_off: channels };
  return ask(parsed, context, post('/v1/notifications/settings', change));
}

export const notifySet: Action = async (parsed, context) => {
  const events = noticeEvents.filter((event) => parsed.values('event').includes(event));
  const [quiet, lookedAt] = [parsed.value('quiet'), parsed.value('looked-at')];
  const text = desktopTexts.find((one) => one === parsed.value('text'));
  const pushText = desktopTexts.find((one) => one === parsed.value('push-text'));
  const change = {
    ...(parsed.has('event') ? { on: events } : {}),
    ...(quiet === undefined ? {} : { quiet: quiet === 'never' ? null : quiet }),
    ...(text === undefined ? {} : { desktop_text: text }),
    ...(pushText === undefined ? {} : { push_text: pushText }),
    ...(lookedAt === undefined ? {} : { skip_looked_at: lookedAt === 'skip' }),
  };
  if (Object.keys(change).length === 0) {
    throw new AgtmuxError('E_USAGE', 'nothing to change: no setting was given', {
      next: 'run `agtmux notify set --help`',
    });
  }
  await ask(parsed, context, post('/v1/notifications/settings', change));
};

export const notifyTest: Action = async (parsed, context) => {
  const channel = noticeChannels.find((one) => one === parsed.args[0]);
  const wanted = channel === undefined ? {} : { channel };
  const request = post('/v1/notifications/test', wanted, { silenceMs: limits.actAnswerMs });
  const { body, reply } = await askDaemon(context, request, quiet(parsed));
  const { channels } = reply;
  const lines = channels.map(({ channel: name, outcome, detail }) =>
    safe(`${name.padEnd(9)}  ${outcome}${detail === null ? '' : `: ${detail}`}`),
  );
  print(parsed.has('json') ? body : lines.join('\n'));
  if (channels.some(({ outcome }) => outcome === 'failed')) process.exitCode = troubleStatus;
};

export const notifyMute: Action = async (parsed, context) => {
  const ms = durationOf('duration', parsed.args[0], muteBounds);
  const wanted = { ...scopeOf(parsed), ...(ms === null ? {} : { minutes: ms / minuteMs }) };
  await ask(parsed, context, post('/v1/notifications/mute', wanted));
};

export const notifyUnmute: Action = (parsed, context) =>
  ask(parsed, context, post('/v1/notifications/unmute', scopeOf(parsed)));

function scopeOf(parsed: Parsed): { readonly agent?: string; readonly project?: string } {
  const [agent, project] = [parsed.value('agent'), parsed.value('project')];
  return { ...(agent === undefined ? {} : { agent }), ...(project === undefined ? {} : { project }) };
}

const quiet = (parsed: Parsed) => ({ isQuiet: parsed.has('json') });

async function ask(parsed: Parsed, context: Context, request: ApiRequest<NoticeSettingsReply>): Promise<void> {
  show(parsed, await askDaemon(context, request, quiet(parsed)));
}

function show(parsed: Parsed, { body, reply }: Answer<NoticeSettingsReply>): void {
  print(parsed.has('json') ? body : linesOf(reply).map(safe).join('\n'));
}

function linesOf(settings: NoticeSettingsReply): readonly string[] {
  const { on, quiet, is_quiet_now, desktop_text, push_text, skip_looked_at, mutes, rules, status, trouble, path } =
    settings;
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
    `phones    ${push_text === 'ask' ? 'show the request, with buttons' : 'show the agent and its place'}`,
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
