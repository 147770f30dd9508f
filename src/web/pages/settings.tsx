// Settings: this page itself, notifications, hooks, adapters and their rules.

import { type ReactNode, useState } from 'react';
import type { AdapterItem as Adapter, AgentList } from '../../api/explain.ts';
import type { HookPlanReply } from '../../api/hooks.ts';
import type { NoticeSettingsReply } from '../../api/notices.ts';
import { type ApiRequest, get, pathTo, post } from '../../api/requests.ts';
import { type NoticeChannel, type NoticeEvent, noticeChannels, noticeEvents } from '../../model/notices.ts';
import { wordsOf } from '../../view/words.ts';
import { useInstall } from '../install.ts';
import { askPermission, permission } from '../notify.ts';
import { Dialog, OutcomeLine, PageHead, ReadingNote, Scroll, Tabs } from '../parts/basics.tsx';
import { block, line } from '../parts/text.tsx';
import { keep, kept } from '../port.ts';
import { canPush, isPushed, startPush, stopPush } from '../push.ts';
import { send, webRequests } from '../requests.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { go, type Reading, useReading } from '../state/hooks.ts';
import { did } from '../state/outcomes.ts';
import { pathOf } from '../state/route.ts';
import { chosenTheme, setTheme, themes } from '../theme.ts';

const tabs = [
  ['page', 'This page'],
  ['notifications', 'Notifications'],
  ['hooks', 'Hooks'],
  ['adapters', 'Adapters and rules'],
] as const;

export function SettingsPage({ id }: { readonly id: string | null }): ReactNode {
  const tab = tabs.find(([name]) => name === id)?.[0] ?? 'page';
  return (
    <>
      <PageHead title="Settings">
        <Tabs
          label="Settings"
          tabs={tabs}
          chosen={tab}
          onChoose={(name) => go(pathOf('settings', name), { replace: true })}
        />
      </PageHead>
      <div role="tabpanel" aria-label={tab}>
        {tab === 'page' ? <ThisPage /> : null}
        {tab === 'notifications' ? <NotificationSettings /> : null}
        {tab === 'hooks' ? <HookSettings /> : null}
        {tab === 'adapters' ? <Adapters /> : null}
      </div>
    </>
  );
}

const themeWords = { system: 'System', light: 'Light', dark: 'Dark' } as const;

function ThisPage(): ReactNode {
  const entrance = useEntrance();
  const [theme, setChosen] = useState(chosenTheme);
  const install = useInstall();
  const why = whyIdle(entrance);
  const leave = async (): Promise<void> => {
    await send(webRequests.leave());
    keep('key', null);
    location.reload();
  };
  return (
    <section className="panel" aria-label="This page">
      <fieldset className="choice">
        <legend>Colours</legend>
        {themes.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="theme"
              checked={theme === one}
              onChange={() => {
                setTheme(one);
                setChosen(one);
              }}
            />{' '}
            {themeWords[one]}
          </label>
        ))}
      </fieldset>
      <dl className="facts">
        <div>
          <dt>Daemon</dt>
          <dd>agtmux {line(entrance.version)}</dd>
        </div>
        <div>
          <dt>You are</dt>
          <dd>
            {entrance.role}
            {why === null ? '' : `. ${why}`}
          </dd>
        </div>
      </dl>
      {install === null ? (
        <p className="dim">
          To install it as an app, use “Install” or “Add to home screen” in the menu of your browser.
        </p>
      ) : null}
      <div className="buttons">
        {install === null ? null : (
          <button type="button" className="primary" onClick={install}>
            Install as an app
          </button>
        )}
        <button type="button" onClick={() => void leave()}>
          Sign out
        </button>
      </div>
    </section>
  );
}

function Adapters(): ReactNode {
  const reading = useReading(get('/v1/agents'));
  return (
    <section className="panel" aria-label="Adapters and rules">
      <p className="dim">
        How each kind of agent is recognised and observed. Rules for screens are data; your own file overrides ours (
        <code>agtmux agents</code> shows where).
      </p>
      <ReadingNote reading={reading} />
      <ul className="adapters">
        {(reading.value?.items ?? []).map((item) => (
          <AdapterLine key={item.agent} item={item} reading={reading} />
        ))}
      </ul>
    </section>
  );
}

const can = (item: Adapter): string =>
  [
    item.capabilities.event_driven ? 'reports events' : 'is observed',
    item.capabilities.supports_waiting_approval ? 'approvals' : '',
    item.capabilities.supports_waiting_input ? 'questions' : '',
    item.capabilities.supports_completed ? 'done' : '',
  ]
    .filter((part) => part !== '')
    .join(', ');

function AdapterLine({ item, reading }: { readonly item: Adapter; readonly reading: Reading<AgentList> }): ReactNode {
  const isOff = whyIdle(useEntrance()) !== null;
  const id = `adapter:${item.agent}`;
  const change = async (enabled: boolean): Promise<void> => {
    const request = post(pathTo('/v1/agents/{name}', { name: item.agent }), { enabled });
    await did(id, 'Changing…', send(request), () => null);
    reading.again();
  };
  const troubles = [
    item.refused,
    item.rules.trouble,
    ...item.sources.map(({ source, trouble }) => (trouble === null ? null : `${source}: ${trouble}`)),
  ].filter((one) => one !== null);
  return (
    <li>
      <label className="check">
        <input
          type="checkbox"
          checked={item.enabled}
          disabled={isOff || item.refused !== null}
          onChange={(event) => void change(event.target.checked)}
        />{' '}
        <strong>{line(item.agent)}</strong>
      </label>
      <span className={item.health === 'ok' ? 'dim' : 'c-attention'}>
        {item.enabled ? item.health : 'off'}, {item.running} running
      </span>
      <span className="dim">{can(item)}</span>
      <span className="dim">
        {item.rules.count} rules{item.rules.user_file === null ? '' : `, yours: ${line(item.rules.user_file)}`}
      </span>
      {troubles.map((words) => (
        <p key={words} className="trouble">
          {line(words)}
        </p>
      ))}
      <OutcomeLine id={id} />
    </li>
  );
}

// Hooks: which agents tell their state themselves, and how to let them. Every change is shown before it is made, and made
// only if nothing has changed since.

type Action = 'install' | 'remove';

const stateRoles = {
  installed: 'good',
  partial: 'attention',
  absent: 'quiet',
  broken: 'bad',
  unsupported: 'quiet',
} as const;

/** What is there in part can be made whole or taken away. */
const offered: Readonly<Record<keyof typeof stateRoles, readonly Action[]>> = {
  installed: ['remove'],
  partial: ['install', 'remove'],
  absent: ['install'],
  broken: ['install', 'remove'],
  unsupported: [],
};

function HookSettings(): ReactNode {
  const reading = useReading(get('/v1/hooks'));
  const [plan, setPlan] = useState<HookPlanReply | null>(null);
  const isOff = whyIdle(useEntrance()) !== null;
  const look = (action: Action, agents: readonly string[]): Promise<boolean> =>
    did('hooks', 'Checking what would change…', send(post('/v1/hooks/plan', { action, agents })), (found) => {
      setPlan(found);
      return null;
    });
  return (
    <section className="panel" aria-label="Hooks">
      <p className="dim">
        With hooks an agent reports its state itself, at once and reliably. They never block it and never make it fail.
      </p>
      <ReadingNote reading={reading} />
      <ul className="hooks">
        {(reading.value?.agents ?? []).map((one) => (
          <li key={one.agent}>
            <strong>{line(one.agent)}</strong>
            <span className={`c-${stateRoles[one.state]}`}>{one.state}</span>
            <span className="dim">{one.is_used ? '' : 'not in use on this machine'}</span>
            <span className="spring" />
            {offered[one.state].map((action) => (
              <button key={action} type="button" disabled={isOff} onClick={() => void look(action, [one.agent])}>
                {action === 'remove' ? 'Remove' : 'Install'}…
              </button>
            ))}
            {[...one.notes, ...one.files.flatMap(({ problem }) => (problem === null ? [] : [problem]))].map((note) => (
              <p key={note} className="dim small">
                {line(note)}
              </p>
            ))}
          </li>
        ))}
      </ul>
      <OutcomeLine id="hooks" />
      {plan === null ? null : <PlanDialog plan={plan} onClose={() => setPlan(null)} onDone={reading.again} />}
    </section>
  );
}

interface PlanProps {
  readonly plan: HookPlanReply;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function PlanDialog({ plan, onClose, onDone }: PlanProps): ReactNode {
  const { action, agents, digest, edits, notes } = plan;
  const apply = async (): Promise<void> => {
    onClose();
    const applied = send(post('/v1/hooks/apply', { action, agents, digest }));
    await did('hooks', 'Writing…', applied, ({ written, removed }) => ({
      tone: 'good',
      words: `${written.length} files written, ${removed.length} removed`,
    }));
    onDone();
  };
  return (
    <Dialog
      title={`${action === 'install' ? 'Install' : 'Remove'} hooks: ${agents.map(line).join(', ')}`}
      onClose={onClose}
    >
      {edits.length === 0 ? <p>Nothing to change.</p> : null}
      {edits.map((edit) => (
        <div key={edit.path}>
          <p>
            {edit.change} <code>{line(edit.path)}</code>
          </p>
          <Scroll className="log diff" label={`Change of ${line(edit.path)}`}>
            <pre>{block(edit.diff)}</pre>
          </Scroll>
        </div>
      ))}
      {notes.map((note) => (
        <p key={note} className="dim">
          {line(note)}
        </p>
      ))}
      <div className="dialog-buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="primary" disabled={edits.length === 0} onClick={() => void apply()}>
          {action === 'install' ? 'Install' : 'Remove'}
        </button>
      </div>
    </Dialog>
  );
}

// Notifications: which events, by which ways, when not; and the permission that this browser needs.

/** What a person changes here, as it is shown too. */
type Change = Partial<
  Pick<NoticeSettingsReply, 'on' | 'channels' | 'skip_looked_at' | 'quiet' | 'desktop_text' | 'push_text'>
>;

const eventWords: Readonly<Record<NoticeEvent, string>> = {
  waiting_approval: 'an agent asks for approval',
  waiting_input: 'an agent asks a question',
  error: 'an agent is in error',
  completed: 'an agent is done',
};

const channelWords: Readonly<Record<NoticeChannel, string>> = {
  desktop: 'desktop',
  terminal: 'terminal',
  browser: 'browser, while a page is open',
  push: 'phones and browsers that asked for it, also while no page is open',
  command: 'your command',
  webhook: 'your webhook',
};

function NotificationSettings(): ReactNode {
  const reading = useReading(get('/v1/notifications/settings'));
  const [told, setTold] = useState<NoticeSettingsReply | null>(null);
  const settings = told ?? reading.value;
  const save = async (request: ApiRequest<NoticeSettingsReply>): Promise<boolean> => {
    const isSaved = await did('notifications', 'Saving…', send(request), (saved) => {
      setTold(saved);
      return { tone: 'good', words: 'Saved' };
    });
    if (!isSaved) setTold(settings);
    return isSaved;
  };
  const change = (changed: Change): Promise<boolean> => {
    // Shown at once; taken back when the daemon does not agree.
    if (settings !== null) setTold({ ...settings, ...changed });
    return save(post('/v1/notifications/settings', changed));
  };
  return (
    <section className="panel" aria-label="Notifications">
      <BrowserPermission />
      <PushPermission onChange={setTold} />
      <ReadingNote reading={reading} />
      {settings === null ? null : <Choices settings={settings} change={change} save={save} />}
      <OutcomeLine id="notifications" />
    </section>
  );
}

interface ChoicesProps {
  readonly settings: NoticeSettingsReply;
  readonly change: (changed: Change) => Promise<boolean>;
  readonly save: (request: ApiRequest<NoticeSettingsReply>) => Promise<boolean>;
}

const toggled = <Value,>(list: readonly Value[], value: Value, on: boolean): Value[] =>
  on ? [...list, value] : list.filter((one) => one !== value);

function Choices({ settings, change, save }: ChoicesProps): ReactNode {
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
              onChange={({ target }) => void change({ on: toggled(settings.on, event, target.checked) })}
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
              onChange={({ target }) => void change({ channels: toggled(settings.channels, channel, target.checked) })}
            />{' '}
            {channelWords[channel]} <ChannelNote settings={settings} channel={channel} isMissing={isMissing(channel)} />
          </label>
        ))}
        <label>
          <input
            type="checkbox"
            checked={settings.skip_looked_at}
            onChange={({ target }) => void change({ skip_looked_at: target.checked })}
          />{' '}
          not for the pane I am viewing
        </label>
      </fieldset>
      <fieldset className="choice" disabled={isOff}>
        <legend>On a locked phone</legend>
        <label>
          <input
            type="checkbox"
            checked={settings.push_text === 'ask'}
            onChange={({ target }) => void change({ push_text: target.checked ? 'ask' : 'names' })}
          />{' '}
          show what is asked, with buttons to answer; otherwise only who asks, and where
        </label>
      </fieldset>
      <Quiet settings={settings} change={change} save={save} />
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

function Quiet({ settings, change, save }: ChoicesProps): ReactNode {
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
          <button type="button" disabled={quiet === settings.quiet} onClick={() => void change({ quiet })}>
            Save
          </button>
        </div>
      </fieldset>
      <div className="buttons">
        <button
          type="button"
          disabled={isOff}
          onClick={() =>
            void save(isMuted ? post('/v1/notifications/unmute', {}) : post('/v1/notifications/mute', { minutes: 60 }))
          }
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

/** The same for the time when no page is open: a subscription of this browser at its own push service. */
function PushPermission({ onChange }: { readonly onChange: (settings: NoticeSettingsReply) => void }): ReactNode {
  const [isOn, setOn] = useState(isPushed);
  const isOff = whyIdle(useEntrance()) !== null;
  if (!canPush())
    return (
      <p className="dim">
        To be told while no page is open, open agtmux by localhost or HTTPS; on an iPhone, from its icon on the home
        screen.
      </p>
    );
  const set = async (on: boolean): Promise<void> => {
    const done = on ? startPush(!isOff) : stopPush();
    const isDone = await did('push', on ? 'Asking the browser…' : 'Taking it back…', done, (settings) => {
      if (settings !== null) onChange(settings);
      return { tone: 'good', words: on ? 'This browser is told, also while no page is open.' : 'Taken back' };
    });
    if (isDone) setOn(on);
  };
  return (
    <>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={({ target }) => void set(target.checked)} /> tell this browser
        also while no page is open
      </label>
      <OutcomeLine id="push" />
    </>
  );
}
