// The conversation of one session: messages as they stream in, the ask in its place, and the buttons that its state allows.

import { type ReactNode, useEffect, useReducer, useRef, useState } from 'react';
import { followSession } from '../../api/client-session.ts';
import { pathTo, sessionRequest } from '../../api/requests.ts';
import type { ManagedItem, MessageItem } from '../../api/sessions.ts';
import { AgtmuxError } from '../../model/errors.ts';
import { isReasonCode, reasons } from '../../model/reasons.ts';
import type { SessionCommand } from '../../model/sessions.ts';
import { projectOf } from '../../view/pane-words.ts';
import { autoWarning, machineLabel } from '../../view/sessions.ts';
import { AskText, Choices } from '../parts/ask.tsx';
import { Dialog, Empty, Link, OutcomeLine } from '../parts/basics.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { MessageForm } from '../parts/message-form.tsx';
import { Age, block, line } from '../parts/text.tsx';
import { clock } from '../port.ts';
import { open, send } from '../requests.ts';
import { type Chat, emptyChat, heard, machineRoles } from '../state/chat.ts';
import { useEntrance, whyIdle } from '../state/entrance.ts';
import { useModel } from '../state/hooks.ts';
import { did } from '../state/outcomes.ts';
import { pathOf } from '../state/route.ts';

/** Follows it while the page shows it; what ends the following for good is told as gone. */
function useChat(id: string, link: string): Chat {
  const [chat, tell] = useReducer(heard, emptyChat);
  const after = useRef(0);
  const isLive = link === 'live';
  useEffect(() => {
    if (!isLive) return;
    const leaving = new AbortController();
    const follow = async (): Promise<void> => {
      const path = pathTo('/v1/managed/{id}', { id });
      for await (const event of followSession({ path, clock, open, after: after.current, signal: leaving.signal })) {
        if (event.type === 'messages') after.current = event.data.cursor;
        tell(event);
      }
    };
    follow().catch((error: unknown) => {
      if (leaving.signal.aborted) return;
      const isUnknown = error instanceof AgtmuxError && error.code === 'E_REF_NOT_FOUND';
      tell(isUnknown ? { type: 'gone' } : { type: 'lost', error: new AgtmuxError('E_DAEMON_DOWN', 'lost') });
    });
    return () => leaving.abort();
  }, [id, isLive]);
  return chat;
}

export type ScreenAction = (busy: string, command: SessionCommand) => Promise<boolean>;

const deedFor =
  (id: string): ScreenAction =>
  (busy, command) =>
    did(`session:${id}`, busy, send(sessionRequest(id, command)), () => null);

export function ChatPage({ id }: { readonly id: string }): ReactNode {
  const { link } = useModel();
  const chat = useChat(id, link);
  const { session } = chat;
  if (chat.isGone)
    return (
      <Empty title="This session no longer exists.">
        <Link to={pathOf('sessions')}>All sessions</Link>
      </Empty>
    );
  if (session === null)
    return (
      <p className="waiting" role="status">
        <span className="spinner" aria-hidden="true" /> Loading…
      </p>
    );
  const deed = deedFor(id);
  return (
    <article className="chat" data-agent={session.runtime_id} aria-label={line(session.title)}>
      <ChatHead session={session} deed={deed} />
      <Messages chat={chat} />
      <PendingAsk session={session} deed={deed} />
      <OutcomeLine id={`session:${id}`} />
      <ChatInput session={session} deed={deed} />
    </article>
  );
}

interface PartProps {
  readonly session: ManagedItem;
  readonly deed: ScreenAction;
}

function ChatHead({ session, deed }: PartProps): ReactNode {
  const why =
    session.words ?? (session.reason !== null && isReasonCode(session.reason) ? reasons[session.reason].words : '');
  return (
    <header className="chat-head">
      <Link to={pathOf('sessions')} className="back only-narrow">
        ← Sessions
      </Link>
      <h2>{line(session.title)}</h2>
      <p className="agent-facts">
        <span className={`state c-${machineRoles[session.state]}`}>{machineLabel(session)}</span>
        <span>
          {line(session.agent)}
          {session.model === null ? '' : `, ${line(session.model)}`}
        </span>
        <span className="dim">in {line(projectOf(session.cwd))}</span>
        <Age since={session.created_at} />
        {session.queued === 0 ? null : <span className="tag">{session.queued} waiting</span>}
        <Link to={pathOf('agents', session.runtime_id, 'explain')}>Why?</Link>
      </p>
      {why === '' ? null : <p className="dim small">{line(why)}</p>}
      {session.view.showAutoModeWarning || session.auto_approve ? (
        <p className={session.view.showAutoModeWarning ? 'warning' : 'warning is-calm'}>▲ {autoWarning}</p>
      ) : null}
      <ChatButtons session={session} deed={deed} />
    </header>
  );
}

function ChatButtons({ session, deed }: PartProps): ReactNode {
  const [isRemoving, setRemoving] = useState(false);
  const isOff = whyIdle(useEntrance()) !== null;
  const { view } = session;
  const button = (isShown: boolean, words: string, action: 'stop' | 'resume' | 'retry', busy: string): ReactNode =>
    isShown ? (
      <button type="button" disabled={isOff} onClick={() => void deed(busy, { action })}>
        {words}
      </button>
    ) : null;
  return (
    <div className="buttons">
      {button(view.showCancelButton, 'Stop', 'stop', 'Stopping…')}
      {button(view.showResumeButton && session.is_resumable, 'Resume', 'resume', 'Resuming…')}
      {button(view.showRetryButton, 'Retry', 'retry', 'Retrying…')}
      {button(view.showDismissButton, 'Dismiss', 'stop', 'Dismissing…')}
      {view.isActive ? null : (
        <button type="button" className="danger" disabled={isOff} onClick={() => setRemoving(true)}>
          Remove
        </button>
      )}
      {isRemoving ? (
        <Dialog title="Remove this session?" onClose={() => setRemoving(false)}>
          <p>Its messages are deleted. The agent keeps its own history, and a worktree with changes stays.</p>
          <div className="dialog-buttons">
            <button type="button" onClick={() => setRemoving(false)}>
              Cancel
            </button>
            <button
              type="button"
              className="danger"
              onClick={() => {
                setRemoving(false);
                void deed('Removing…', { action: 'remove', force: false });
              }}
            >
              Remove it
            </button>
          </div>
        </Dialog>
      ) : null}
    </div>
  );
}

function Messages({ chat }: { readonly chat: Chat }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const last = chat.messages.at(-1);
  const grown = `${chat.messages.length} ${last?.text.length ?? 0}`;
  // Follows what is said, unless somebody has scrolled up to read.
  useEffect(() => {
    if (grown !== '' && isAtEnd.current) box.current?.scrollTo(0, box.current.scrollHeight);
  }, [grown]);
  const scrolled = (): void => {
    const now = box.current;
    if (now !== null) isAtEnd.current = now.scrollHeight - now.scrollTop - now.clientHeight < 40;
  };
  return (
    <div className="messages" role="log" aria-label="Messages" tabIndex={0} ref={box} onScroll={scrolled}>
      {chat.isTruncated ? <p className="dim small">Older messages were dropped.</p> : null}
      {chat.messages.length === 0 ? <p className="dim">No messages yet.</p> : null}
      {chat.messages.map((message) => (
        <Message key={message.id} message={message} />
      ))}
      {chat.session?.view.showSpinner === true ? (
        <p className="waiting">
          <span className="spinner" aria-hidden="true" />{' '}
          {chat.session.state === 'creating' ? 'Creating the session…' : 'Working…'}
        </p>
      ) : null}
    </div>
  );
}

const toolMarks = { pending: '○', running: '●', done: '✓', failed: '✕' } as const;
const toolRoles = { pending: 'quiet', running: 'work', done: 'good', failed: 'bad' } as const;

function Message({ message }: { readonly message: MessageItem }): ReactNode {
  const { role, tool, text, partial } = message;
  const whole = role === 'agent' && tool === undefined ? <Markdown text={text} /> : <pre>{block(text)}</pre>;
  if (tool === undefined)
    return (
      <div className={`message m-${role} ${partial ? 'is-partial' : ''}`}>
        <span className="who">{role}</span>
        {role === 'thought' ? (
          <details>
            <summary>thought</summary>
            {whole}
          </details>
        ) : (
          whole
        )}
      </div>
    );
  return (
    <details className="message m-tool" open={tool.status === 'failed'}>
      <summary>
        <span className={`c-${toolRoles[tool.status]}`}>
          {toolMarks[tool.status]} <span className="unseen">{tool.status}</span>
        </span>{' '}
        {line(tool.name)} <span className="dim">{line(text.slice(0, 120))}</span>
      </summary>
      {whole}
    </details>
  );
}

function PendingAsk({ session, deed }: PartProps): ReactNode {
  const ask = session.pending_ask;
  const [isBusy, setBusy] = useState(false);
  const isOpen = session.state === 'waiting_approval' || session.state === 'waiting_input';
  if (ask === null) return null;
  const { ask_id, accepts } = ask;
  const doing = async (command: SessionCommand): Promise<void> => {
    setBusy(true);
    await deed('Answering…', command);
    setBusy(false);
  };
  return (
    <section
      className={`card b-${session.state === 'waiting_input' ? 'ask' : 'attention'}`}
      aria-label="Pending request"
    >
      {isOpen ? null : <p className="dim small">Last request:</p>}
      <AskText ask={ask} />
      {isOpen ? (
        <Choices
          ask={accepts.includes('option') ? ask : { ...ask, options: [] }}
          isBusy={isBusy}
          hasText={accepts.includes('text')}
          onApprove={() => void doing({ action: 'approve', ask_id })}
          onReject={() => void doing({ action: 'reject', ask_id })}
          onOption={(option) => void doing({ action: 'answer', ask_id, option })}
          onText={(text) => void doing({ action: 'answer', ask_id, text })}
        />
      ) : null}
    </section>
  );
}

/** Which deed a message is, by what the session is in. */
const deedOfText = ({ state }: ManagedItem): 'resume' | 'send' =>
  state === 'paused' || state === 'stopped' ? 'resume' : 'send';

function ChatInput({ session, deed }: PartProps): ReactNode {
  const why = whyIdle(useEntrance());
  if (session.state === 'waiting_input' || session.state === 'error') return null;
  const hint = session.view.inputEnabled
    ? 'Type a message. Enter sends it.'
    : 'It is working; a message is queued until its turn has ended.';
  return (
    <MessageForm
      label="Message"
      hint={why ?? hint}
      {...(why === null && session.view.inputEnabled ? { touchHint: 'Type a message.' } : {})}
      isOff={why !== null}
      onSend={(text) => deed('Sending…', { action: deedOfText(session), text })}
    >
      <span className="spring" />
    </MessageForm>
  );
}
