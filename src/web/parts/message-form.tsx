// The box in which a message is written: Enter sends, Shift+Enter is a new line, and what was not taken comes back to it. On
// glass Enter is a new line, as there is no Shift+Enter, and the button sends.

import { type FormEvent, type ReactNode, useState } from 'react';
import { hasTouchKeyboard } from '../port.ts';
import { notTaken } from '../state/outcomes.ts';

interface MessageFormProps {
  readonly label: string;
  readonly hint: string;
  /** The same where Enter makes a line. */
  readonly touchHint?: string;
  readonly isOff: boolean;
  /** True when it was taken. */
  readonly onSend: (text: string) => Promise<boolean>;
  /** What stands beside the button. */
  readonly children: ReactNode;
}

export function MessageForm({ label, hint, touchHint, isOff, onSend, children }: MessageFormProps): ReactNode {
  const [text, setText] = useState('');
  const [isTouch] = useState(hasTouchKeyboard);
  const isEmpty = text.trim() === '';
  const send = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault();
    if (isEmpty || isOff) return;
    // Emptied at once: what is written meanwhile is the next message.
    setText('');
    if (!(await onSend(text))) setText((next) => notTaken(text, next));
  };
  return (
    <form className="send" onSubmit={(event) => void send(event)}>
      <textarea
        data-message
        rows={2}
        aria-label={label}
        placeholder={isTouch ? (touchHint ?? hint) : hint}
        enterKeyHint={isTouch ? 'enter' : 'send'}
        value={text}
        disabled={isOff}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || isTouch) return;
          event.preventDefault();
          void send();
        }}
      />
      <div className="send-foot">
        {children}
        <button type="submit" className="primary" disabled={isOff || isEmpty}>
          Send
        </button>
      </div>
    </form>
  );
}
