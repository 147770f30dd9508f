// Targets: the machines and tmux sockets that are watched, how each is, and how to add one.

import { type FormEvent, type ReactNode, useState } from 'react';
import { pathTo, post, remove } from '../../api/requests.ts';
import type { TargetItem } from '../../api/targets.ts';
import { hasNoServer, healthWord } from '../../view/pane-words.ts';
import { Dialog, Empty, OutcomeLine, PageHead } from '../parts/basics.tsx';
import { Age, healthClass, line } from '../parts/text.tsx';
import { send } from '../requests.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useModel } from '../state/hooks.ts';
import { did } from '../state/outcomes.ts';

export function TargetsPage(): ReactNode {
  const { targets, isFilled } = useModel();
  return (
    <>
      <PageHead title="Targets" />
      {targets.length === 0 && isFilled ? (
        <Empty title="No machines yet.">
          <p className="dim">This machine appears with its first tmux server.</p>
        </Empty>
      ) : null}
      <ul className="targets">
        {targets.map((target) => (
          <Target key={target.target} item={target} />
        ))}
      </ul>
      <AddTarget />
    </>
  );
}

function Target({ item }: { readonly item: TargetItem }): ReactNode {
  const [isRemoving, setRemoving] = useState(false);
  const isOff = whyIdle(useEntrance()) !== null;
  const names = { name: item.target };
  const id = `target:${item.target}`;
  const connect = (): Promise<boolean> =>
    did(id, 'Connecting…', send(post(pathTo('/v1/targets/{name}/connect', names))), ({ target }) => ({
      tone: target.health === 'ok' ? 'good' : 'doubt',
      words: target.health === 'ok' ? 'Connected' : `Not yet: ${target.trouble ?? target.health}`,
    }));
  const forget = (): void => {
    setRemoving(false);
    void did(id, 'Forgetting…', send(remove(pathTo('/v1/targets/{name}', names))), () => null);
  };
  return (
    <li className="panel target" data-row={item.target} tabIndex={-1}>
      <h2>
        <span className={`dot ${healthClass(item)}`} aria-hidden="true" /> {line(item.target)}{' '}
        <span className="dim">
          {item.kind === 'ssh' ? 'over ssh' : 'this machine'}, {healthWord(item)}
        </span>
      </h2>
      {item.trouble === null || hasNoServer(item) ? null : <p className="trouble">{line(item.trouble)}</p>}
      <p className="dim">
        {item.panes} panes{item.tmux_version === null ? '' : `, tmux ${line(item.tmux_version)}`}, last seen{' '}
        {item.last_seen_at === null ? 'never' : <Age since={item.last_seen_at} after=" ago" />}
      </p>
      <div className="buttons">
        <button type="button" disabled={isOff} onClick={() => void connect()}>
          Connect now
        </button>
        <button type="button" className="danger" disabled={isOff} onClick={() => setRemoving(true)}>
          Remove
        </button>
      </div>
      <OutcomeLine id={id} />
      {isRemoving ? (
        <Dialog title={`Remove ${line(item.target)}?`} onClose={() => setRemoving(false)}>
          <p>Nothing changes on that machine; its agents are no longer shown.</p>
          <div className="dialog-buttons">
            <button type="button" onClick={() => setRemoving(false)}>
              Cancel
            </button>
            <button type="button" className="danger" onClick={forget}>
              Remove it
            </button>
          </div>
        </Dialog>
      ) : null}
    </li>
  );
}

function AddTarget(): ReactNode {
  const [name, setName] = useState('');
  const [host, setHost] = useState('');
  const why = whyIdle(useEntrance());
  const add = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const body = { name, kind: 'ssh', connection_ref: host === '' ? name : host } as const;
    const isAdded = await did('target+', 'Adding…', send(post('/v1/targets', body)), ({ target }) => ({
      tone: 'good',
      words: `${target.target} is watched now`,
    }));
    if (isAdded) setName('');
    if (isAdded) setHost('');
  };
  return (
    <section className="panel" aria-labelledby="add-title">
      <h2 id="add-title">Watch another machine</h2>
      <p className="dim">
        Any host that <code>ssh</code> reaches without asking; nothing is installed there. Its name in your ssh
        configuration is enough.
      </p>
      <form className="fields" onSubmit={(event) => void add(event)}>
        <label className="field">
          Name
          <input required value={name} placeholder="vm1" onChange={(event) => setName(event.target.value)} />
        </label>
        <label className="field">
          Host in ssh
          <input
            value={host}
            placeholder={name === '' ? 'the same' : name}
            onChange={(event) => setHost(event.target.value)}
          />
        </label>
        <button type="submit" className="primary" disabled={why !== null || name === ''} title={why ?? undefined}>
          Add
        </button>
      </form>
      <OutcomeLine id="target+" />
    </section>
  );
}
