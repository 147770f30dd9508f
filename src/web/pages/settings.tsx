// Settings: this page itself, notifications, hooks, adapters and their rules.

import { type ReactNode, useState } from 'react';
import type { AdapterItem as Adapter, AgentList } from '../../api/schemas-explain.ts';
import { post } from '../door.ts';
import { OutcomeLine, PageHead, ReadingNote, Tabs } from '../parts/basics.tsx';
import { line } from '../parts/text.tsx';
import { keep } from '../port.ts';
import { did } from '../state/deeds.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { go, type Reading, useReading } from '../state/hooks.ts';
import { pathOf } from '../state/route.ts';
import { chosenTheme, setTheme, themes } from '../theme.ts';
import { HookSettings } from './settings-hooks.tsx';
import { NotificationSettings } from './settings-notifications.tsx';

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
  const why = whyIdle(entrance);
  const leave = async (): Promise<void> => {
    await post('/web/leave');
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
      <p className="dim">To install it as an app, use “Install” or “Add to home screen” in the menu of your browser.</p>
      <div className="buttons">
        <button type="button" onClick={() => void leave()}>
          Sign out
        </button>
      </div>
    </section>
  );
}

function Adapters(): ReactNode {
  const reading = useReading<AgentList>('/v1/agents');
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
    const path = `/v1/agents/${encodeURIComponent(item.agent)}`;
    await did(id, 'Changing…', post<AgentList>(path, { enabled }), () => null);
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
