// `agtmux approve`, `reject` and `answer`. Whoever names no ask is shown the one that is open before anything is sent, and
// says y to it, or has said --yes to whatever it is; the answer names that ask, and no other gets it (ASK3).

import type { ExplanationDocument } from '../api/explain.ts';
import { get } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { foreign, sanitizeRevealed } from '../text/sanitize.ts';
import { act, type Wanted } from './act.ts';
import { askDaemon } from './connect.ts';
import type { Action, Context } from './context.ts';
import { print } from './output.ts';
import type { Parsed } from './parse.ts';
import { answerTo, hasTerminal, isYes } from './question.ts';
import { refOf } from './refs.ts';

/** What is open, with the words of the dialog as its screen shows them. */
type Ask = NonNullable<ExplanationDocument['item']['ask']> & { readonly shown: string | null };

export const approve: Action = (parsed, context) => reply(parsed, context, (to) => ({ action: 'approve', ...to }));

export const reject: Action = (parsed, context) =>
  reply(parsed, context, (to) => {
    const because = parsed.value('because');
    return { action: 'reject', ...to, ...(because === undefined ? {} : { because }) };
  });

export const answer: Action = async (parsed, context) => {
  const option = parsed.value('option');
  const text = parsed.value('text');
  if ((option === undefined) === (text === undefined)) {
    throw new AgtmuxError('E_USAGE', 'answer needs one option or one text', {
      next: 'use --option N, as `agtmux explain` lists them, or --text TEXT',
    });
  }
  if (option === '' || text === '') throw new AgtmuxError('E_USAGE', 'the answer is empty; nothing was sent');
  const said = option === undefined ? { text: text ?? '' } : { option };
  await reply(parsed, context, (to) => ({ action: 'answer', ...to, ...said }));
};

interface Whom {
  readonly ref: string;
  readonly ask_id?: string;
  readonly any_ask?: true;
}

async function reply(parsed: Parsed, context: Context, wanted: (to: Whom) => Wanted): Promise<void> {
  const ref = await refOf(context, parsed.args[0]);
  const said = parsed.value('ask');
  const mustAsk = said === undefined && !parsed.has('yes');
  if (mustAsk && !hasTerminal()) {
    throw new AgtmuxError(
      'E_USAGE',
      'an answer needs the id of its request, because there is no terminal to show it on',
      {
        next: 'use --ask ID, as `agtmux explain` shows it, or --yes for the pending request',
      },
    );
  }
  const open = said === undefined ? await openAsk(context, ref) : null;
  if (mustAsk && open !== null && !(await confirmed(open))) {
    throw new AgtmuxError('E_USAGE', 'nothing was sent', { next: 'answer y, or use --yes' });
  }
  const id = said ?? open?.ask_id;
  // Nothing was shown: the daemon refuses an answer that names nothing, and leaves its audit row. Only --yes means whatever
  // is open by then.
  const whatever = parsed.has('yes') ? { any_ask: true as const } : {};
  const receipt = await act(parsed, context, wanted({ ref, ...(id === undefined ? whatever : { ask_id: id }) }));
  if (open === null || mustAsk || parsed.has('json')) return;
  const doubt = receipt.outcome === 'unconfirmed' ? ', may still be pending' : '';
  print([`the request (${open.kind}${doubt}):`, ...wordsOf(open)].join('\n'));
}

const wordsOf = ({ text }: Pick<Ask, 'text'>): readonly string[] =>
  text.split('\n').map((line) => `  ${sanitizeRevealed(foreign(line))}`);

async function confirmed(open: Ask): Promise<boolean> {
  const options = open.options.map(
    ({ id, label }) => `  ${sanitizeRevealed(foreign(id === label ? id : `${id}: ${label}`))}`,
  );
  const offers = options.length === 0 ? [] : ['options:', ...options];
  // The agent's word may be another than what its dialog says: whoever says yes says it to the dialog.
  const { shown } = open;
  const asked = [`pending request (${open.kind}):`, ...wordsOf(open)];
  const screen = shown === null || shown === open.text ? [] : ['on its screen:', ...wordsOf({ text: shown })];
  return isYes(await answerTo([...asked, ...screen, ...offers, 'Send your answer? [y/N] '].join('\n')));
}

/** Null when none is open, several are, or nobody has that name: the daemon says so, and leaves its audit row. */
async function openAsk(context: Context, ref: string): Promise<Ask | null> {
  try {
    const request = get('/v1/explain', { ref });
    const { reply } = await askDaemon(context, request, { isQuiet: true });
    const { item, screen } = reply;
    return item.asks_open > 1 || item.ask === null ? null : { ...item.ask, shown: screen?.ask ?? null };
  } catch (problem) {
    if (problem instanceof AgtmuxError && problem.code.startsWith('E_REF_')) return null;
    throw problem;
  }
}
