// Notifications: which events, by which ways, when not; and the permission that this browser needs.

import { type ReactNode, useState } from 'react';
import type { NoticeSettingsReply } from '../../api/schemas-notices.ts';
import { type NoticeChannel, type NoticeEvent, noticeChannels, noticeEvents } from '../../model/notices.ts';
import { wordsOf } from '../../view/words.ts';
import { post } from '../door.ts';
import { askPermission, permission } from '../notify.ts';
import { OutcomeLine, ReadingNote } from '../parts/basics.tsx';
import { line } from '../parts/text.tsx';
import { keep, kept } from '../port.ts';
import { did } from '../state/deeds.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useReading } from '../state/hooks.ts';

const base = '/v1/notifications';

const eventWords: Readonly<Record<NoticeEvent, string>> = {
  waiting_approval: 'an agent asks for approval',
  waiting_input: 'an agent asks a question',
  error: 'an agent is in error',
  completed: 'an agent is done',
};

const channelWords: Readonly<Record<NoticeChannel, string>> = {
  desktop: 'desktop',
  terminal: 'terminal',
  browser: 'browser',
  command: 'your command',
  webhook: 'your webhook',
};

export function NotificationSettings(): ReactNode {
  const reading = useReading<NoticeSettingsReply>(`${base}/settings`);
  const [told, setTold] = useState<NoticeSettingsReply | null>(null);
  const settings = told ?? reading.value;
  const change = async (path: string, body: object): Promise<boolean> => {
    // Shown at once; taken back when the daemon does not agree.
    if (settings !== null && path === 'settings') setTold({ ...settings, ...body });
    const isSaved = await did(
      'notifications',
      'Saving…',
      post<NoticeSettingsReply>(`${base}/${path}`, body),
      (saved) => {
        setTold(saved);
        return { tone: 'good', words: 'Saved' };
      },
    );
    if (!isSaved) setTold(settings);
    return isSaved;
  };
  return (
    <section className="panel" aria-label="Notifications">
      <BrowserPermission />
      <ReadingNote reading={reading} />
      {settings === null ? null : <Choices settings={settings} change={change} />}
      <OutcomeLine id="notifications" />
    </section>
  );
}

interface ChoicesProps {
  readonly settings: NoticeSettingsReply;
  readonly change: (path: string, body: object) => Promise<boolean>;
}

const toggled = <Value,>(list: readonly Value[], value: Value, on: boolean): readonly Value[] =>
  on ? [...list, value] : list.filter((one) => one !== value);

function Choices({ settings, change }: ChoicesProps): ReactNode {
  const isOff = whyIdle(useEntrance()) !== null;
  /** Set up in the file only: they run programs or send text away. */
  const isMissing = (channel: NoticeChannel): boolean =>
    (channel === 'command' && settings.command === null) || (channel === 'webhook' && settings.webhook === null);
  return (
    <>
      <fieldset className="choice" disabled={isOff}>
        <legend>Notify me when</legend>
        {noticeEvents.map((event) => (
          <label key={event}>
            <input
              type="checkbox"
              checked={settings.on.includes(event)}
              onChange={({ target }) => void change('settings', { on: toggled(settings.on, event, target.checked) })}
            />{' '}
            <span className={`c-${wordsOf(event).colour}`}>{wordsOf(event).mark}</span> {eventWords[event]}
          </label>
        ))}
      </fieldset>
      <fieldset className="choice" disabled={isOff}>
        <legend>Channels</legend>
        {noticeChannels.map((channel) => (
          <label key={channel}>
            <input
              type="checkbox"
              checked={settings.channels.includes(channel)}
              disabled={isMissing(channel)}
              onChange={({ target }) =>
                void change('settings', { channels: toggled(settings.channels, channel, target.checked) })
              }
            />{' '}
            {channelWords[channel]} <ChannelNote settings={settings} channel={channel} isMissing={isMissing(channel)} />
          </label>
        ))}
        <label>
          <input
            type="checkbox"
            checked={settings.skip_looked_at}
            onChange={({ target }) => void change('settings', { skip_looked_at: target.checked })}
          />{' '}
          not for the pane I am viewing
        </label>
      </fieldset>
      <Quiet settings={settings} change={change} />
      {settings.trouble === null ? null : <p className="trouble">{line(settings.trouble)}</p>}
      <p className="dim small">
        Kept in <code>{line(settings.path)}</code>, where rules per agent and project, a command and a webhook are set.
      </p>
    </>
  );
}

interface NoteProps {
  readonly settings: NoticeSettingsReply;
  readonly channel: NoticeChannel;
  readonly isMissing: boolean;
}

function ChannelNote({ settings, channel, isMissing }: NoteProps): ReactNode {
  const status = settings.status.find((one) => one.channel === channel);
  if (isMissing) return <span className="dim">set it up in the file</span>;
  if (status?.last_trouble == null) return null;
  return <span className="c-bad">{line(status.last_trouble)}</span>;
}

function Quiet({ settings, change }: ChoicesProps): ReactNode {
  const [from = '', to = ''] = (settings.quiet ?? '').split('-');
  const [times, setTimes] = useState({ from, to });
  const isOff = whyIdle(useEntrance()) !== null;
  const quiet = times.from !== '' && times.to !== '' ? `${times.from}-${times.to}` : null;
  const isMuted = settings.mutes.some(({ agent, project }) => agent === null && project === null);
  return (
    <>
      <fieldset className="choice" disabled={isOff}>
        <legend>Quiet</legend>
        <div className="fields">
          <label className="field">
            From
            <input
              type="time"
              value={times.from}
              onChange={(event) => setTimes({ ...times, from: event.target.value })}
            />
          </label>
          <label className="field">
            To
            <input type="time" value={times.to} onChange={(event) => setTimes({ ...times, to: event.target.value })} />
          </label>
          <button type="button" disabled={quiet === settings.quiet} onClick={() => void change('settings', { quiet })}>
            Save
          </button>
        </div>
      </fieldset>
      <div className="buttons">
        <button
          type="button"
          disabled={isOff}
          onClick={() => void change(isMuted ? 'unmute' : 'mute', isMuted ? {} : { minutes: 60 })}
        >
          {isMuted ? 'Unmute' : 'Mute for an hour'}
        </button>
        <span className="dim">{settings.is_quiet_now ? 'Quiet hours are active now.' : ''}</span>
      </div>
    </>
  );
}

/** The browser asks its person once; a no can only be taken back in the browser. */
function BrowserPermission(): ReactNode {
  const [state, setState] = useState(permission);
  const [isOn, setOn] = useState(kept('notifications') !== 'off');
  if (state === 'unsupported')
    return <p className="dim">This browser cannot show notifications here; desktop notifications work without it.</p>;
  if (state === 'denied')
    return <p className="dim">This browser blocks notifications of this page. Allow them in its settings.</p>;
  if (state === 'default')
    return (
      <p>
        <button type="button" className="primary" onClick={() => void askPermission().then(setState)}>
          Allow notifications in this browser
        </button>
      </p>
    );
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ target }) => {
          keep('notifications', target.checked ? null : 'off');
          setOn(target.checked);
        }}
      />{' '}
      show them in this browser
    </label>
  );
}
