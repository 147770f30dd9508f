// What an agent asks, in its own words, and the buttons that answer exactly this ask and no later one (ASK3).

import { type FormEvent, type ReactNode, useState } from 'react';
import { stateOfAsk } from '../../model/asks.ts';
import type { AgentItem } from '../../view/board.ts';
import { projectOf } from '../../view/pane-words.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useNow } from '../state/hooks.ts';
import { act, isAnswered } from '../state/outcomes.ts';
import { Dialog } from './basics.tsx';
import { line, revealed } from './text.tsx';

type Ask = NonNullable<AgentItem['ask']>;

export function AskText({ ask }: { readonly ask: Pick<Ask, 'text'> }): ReactNode {
  return <pre className="ask-text">{revealed(ask.text)}</pre>;
}

export const isApproval = (ask: Pick<Ask, 'kind'>): boolean => stateOfAsk(ask.kind) === 'waiting_approval';

interface ChoicesProps {
  readonly ask: Pick<Ask, 'ask_id' | 'kind' | 'options'>;
  readonly isBusy: boolean;
  readonly hasText: boolean;
  readonly onApprove: () => void;
  readonly onReject: () => void;
  readonly onOption: (id: string) => void;
  readonly onText: (text: string) => void;
}

/** Options as the agent shows them; yes and no where it shows none. */
export function Choices(props: ChoicesProps): ReactNode {
  const { ask, isBusy, hasText } = props;
  const why = whyIdle(useEntrance());
  const isOff = isBusy || why !== null;
  return (
    <div className="choices">
      {ask.options.length === 0 && isApproval(ask) ? (
        <>
          <button type="button" className="primary" disabled={isOff} onClick={props.onApprove}>
            Approve
          </button>
          <button type="button" disabled={isOff} onClick={props.onReject}>
            Reject
          </button>
        </>
      ) : null}
      {ask.options.map(({ id, label }, place) => (
        <button
          key={id}
          type="button"
          className={place === 0 ? 'primary' : undefined}
          disabled={isOff}
          onClick={() => props.onOption(id)}
        >
          <span className="option-id">{line(id)}</span> {line(label)}
        </button>
      ))}
      {hasText ? <AnswerText isOff={isOff} onText={props.onText} /> : null}
      {why === null ? null : <p className="dim small">{why}</p>}
    </div>
  );
}

function AnswerText({
  isOff,
  onText,
}: {
  readonly isOff: boolean;
  readonly onText: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState('');
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    onText(text);
    setText('');
  };
  return (
    <form className="answer" onSubmit={send}>
      <input
        aria-label="Answer in your own words"
        placeholder="Answer in your own words"
        value={text}
        disabled={isOff}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" disabled={isOff || text.trim() === ''}>
        Answer
      </button>
    </form>
  );
}

/** The ask of an agent with its buttons. */
export function AskBox({ item }: { readonly item: AgentItem }): ReactNode {
  const [isBusy, setBusy] = useState(false);
  // Looked at again every second: an answer that did nothing is no answer.
  useNow();
  const { ask } = item;
  if (ask === null) return null;
  if (isAnswered(item)) return <p className="calm-note">Answered. Waiting for the agent to continue.</p>;
  const { ask_id } = ask;
  const doing = async (deed: Parameters<typeof act>[1]): Promise<void> => {
    setBusy(true);
    await act(item, deed);
    setBusy(false);
  };
  return (
    <>
      <AskText ask={ask} />
      <Choices
        ask={ask}
        isBusy={isBusy}
        hasText={!isApproval(ask)}
        onApprove={() => void doing({ action: 'approve', ask_id })}
        onReject={() => void doing({ action: 'reject', ask_id })}
        onOption={(option) => void doing({ action: 'answer', ask_id, option })}
        onText={(text) => void doing({ action: 'answer', ask_id, text })}
      />
    </>
  );
}

interface ConfirmProps {
  readonly item: AgentItem;
  readonly wish: 'approve' | 'reject';
  readonly onClose: () => void;
}

/** What the keys `a` and `r` open: the ask is shown first, and only this one is answered. */
export function ConfirmAnswer({ item, wish, onClose }: ConfirmProps): ReactNode {
  // The ask as it was when the key was pressed: should another come meanwhile, the daemon refuses.
  const [ask] = useState(item.ask);
  const [because, setBecause] = useState('');
  if (ask === null) return null;
  const { ask_id } = ask;
  const confirm = (event: FormEvent): void => {
    event.preventDefault();
    onClose();
    const more = because.trim() === '' ? {} : { because };
    void act(item, wish === 'approve' ? { action: 'approve', ask_id } : { action: 'reject', ask_id, ...more });
  };
  const title = `${wish === 'approve' ? 'Approve' : 'Reject'} the request of ${line(item.agent)} in ${line(projectOf(item.cwd))}?`;
  return (
    <Dialog title={title} onClose={onClose}>
      <AskText ask={ask} />
      <form onSubmit={confirm}>
        {wish === 'reject' ? (
          <label className="field">
            Reason (optional)
            <input data-first value={because} onChange={(event) => setBecause(event.target.value)} />
          </label>
        ) : null}
        <div className="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" data-first={wish === 'approve' ? true : undefined}>
            {wish === 'approve' ? 'Approve' : 'Reject'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
