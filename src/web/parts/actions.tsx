// What can be done to an agent: write to it, interrupt, end, bring back, go there. What cannot be undone is asked for once
// more.

import { type FormEvent, type ReactNode, useState } from 'react';
import type { AgentItem } from '../../view/board.ts';
import { placeOf, projectOf } from '../../view/pane-words.ts';
import { agentLabel } from '../../view/words.ts';
import { refOf } from '../state/agents.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { act } from '../state/outcomes.ts';
import { Command, Dialog } from './basics.tsx';
import { MessageForm } from './message-form.tsx';
import { line } from './text.tsx';

/** `agtmux attach ...` for a terminal; the shortest reference that only means this one. */
export const attachCommand = (item: AgentItem): string => `agtmux attach ${refOf(item)}`;

export function Actions({ item }: { readonly item: AgentItem }): ReactNode {
  const [isKilling, setKilling] = useState(false);
  const [isAttaching, setAttaching] = useState(false);
  const why = whyIdle(useEntrance());
  const isOver = item.ended !== null;
  const isOff = why !== null;
  return (
    <div className="buttons" title={why ?? undefined}>
      {isOver || item.suspended ? (
        <button type="button" disabled={isOff} onClick={() => void act(item, { action: 'resume' })}>
          Resume
        </button>
      ) : (
        <button type="button" disabled={isOff} onClick={() => void act(item, { action: 'interrupt' })}>
          Interrupt
        </button>
      )}
      {item.seen === false ? (
        <button type="button" disabled={isOff} onClick={() => void act(item, { action: 'seen' })}>
          Seen
        </button>
      ) : null}
      {item.route === 'DISCONNECTED' ? (
        <button type="button" disabled={isOff} onClick={() => void act(item, { action: 'activate' })}>
          Connect
        </button>
      ) : null}
      <button type="button" disabled={isOver} onClick={() => setAttaching(true)}>
        Attach
      </button>
      <button type="button" className="danger" disabled={isOff || isOver} onClick={() => setKilling(true)}>
        Kill
      </button>
      {isKilling ? <KillDialog item={item} onClose={() => setKilling(false)} /> : null}
      {isAttaching ? (
        <Dialog title="Go to its pane" onClose={() => setAttaching(false)}>
          <p>In a terminal on this machine:</p>
          <Command>{attachCommand(item)}</Command>
          <div className="dialog-buttons">
            <button type="button" className="primary" onClick={() => setAttaching(false)}>
              Close
            </button>
          </div>
        </Dialog>
      ) : null}
    </div>
  );
}

const signals = [
  ['INT', 'Ask it to stop (INT)'],
  ['TERM', 'End it (TERM)'],
  ['KILL', 'End it at once, without saving (KILL)'],
] as const;

function KillDialog({ item, onClose }: { readonly item: AgentItem; readonly onClose: () => void }): ReactNode {
  const [signal, setSignal] = useState<(typeof signals)[number][0]>('TERM');
  const kill = (event: FormEvent): void => {
    event.preventDefault();
    onClose();
    void act(item, { action: 'kill', signal });
  };
  return (
    <Dialog title={`Kill ${line(agentLabel(item))} in ${line(projectOf(item.cwd))}?`} onClose={onClose}>
      <p>It runs in {line(placeOf(item))}. Its work in progress may be lost; the tmux pane stays.</p>
      <form onSubmit={kill}>
        <fieldset className="choice">
          <legend className="unseen">Signal</legend>
          {signals.map(([name, words]) => (
            <label key={name}>
              <input type="radio" name="signal" checked={signal === name} onChange={() => setSignal(name)} /> {words}
            </label>
          ))}
        </fieldset>
        <div className="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="danger">
            Kill it
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A message to the agent: now, or when it is ready. */
export function SendBox({ item }: { readonly item: AgentItem }): ReactNode {
  const [isWaiting, setWaiting] = useState(true);
  const why = whyIdle(useEntrance());
  return (
    <MessageForm
      label={`Message to ${line(agentLabel(item))}`}
      hint={why ?? 'Type a message. Enter sends it, Shift+Enter adds a line.'}
      {...(why === null ? { touchHint: 'Type a message.' } : {})}
      isOff={why !== null || item.ended !== null}
      onSend={(text) => act(item, { action: 'send', text, when_ready: isWaiting })}
    >
      <label className="check">
        <input type="checkbox" checked={isWaiting} onChange={(event) => setWaiting(event.target.checked)} /> wait until
        it is ready
      </label>
    </MessageForm>
  );
}
