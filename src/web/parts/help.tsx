// The keys, in a dialog, and how to read the marks.

import type { ReactNode } from 'react';
import { statesInOrder } from '../../view/words.ts';
import { Dialog } from './basics.tsx';
import { StateText } from './text.tsx';

const keys: readonly (readonly [string, string])[] = [
  ['j  k', 'next and previous row'],
  ['Enter', 'open it'],
  ['a  r', 'approve or reject the request, which is shown first'],
  ['s', 'send a message to the agent of this page'],
  ['/', 'filter'],
  ['n', 'a new session'],
  ['1 … 8', 'the pages, from Overview to Settings'],
  ['?', 'this help'],
];

export function Help({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keys and marks" onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd className="key">{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p className="marks">
        {statesInOrder.map((state) => (
          <StateText key={state} state={state} />
        ))}
      </p>
      <p className="dim small">A ~ before the word means: not certain. A dot after “done” means: not seen yet.</p>
      <div className="dialog-buttons">
        <button type="button" className="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
