// `agtmux grep`: what all agents have shown and said (GRP1). Screens are asked for first: their lines stand there at once.

import type { GrepReply } from '../api/grep.ts';
import { get } from '../api/requests.ts';
import { AgtmuxError } from '../model/errors.ts';
import { type GrepPlace, grepPlaces } from '../model/grep.ts';
import { limits } from '../model/limits.ts';
import { hitHead, hitLine, searchedWords } from '../view/grep-text.ts';
import { paint } from '../view/paint.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { hasColour, note, print } from './output.ts';
import type { Parsed } from './parse.ts';

/** As grep has it: nothing was found. */
const nothingStatus = 1;

export const grep: Action = async (parsed, context) => {
  const [pattern = ''] = parsed.args;
  if (pattern === '') throw new AgtmuxError('E_USAGE', 'the pattern is empty', { next: 'write what to look for' });
  const said = parsed.values('in');
  const wanted = said.length === 0 ? grepPlaces : grepPlaces.filter((place) => said.includes(place));
  const hits = hitsOf(parsed);
  const ask = async (places: readonly GrepPlace[], rest: number) => {
    const request = get('/v1/grep', { pattern, in: places, hits: rest }, { silenceMs: limits.actAnswerMs });
    return askDaemon(context, request, { isQuiet: parsed.has('json') });
  };
  if (parsed.has('json')) {
    const { body, reply } = await ask(wanted, hits);
    print(body);
    if (reply.items.length === 0) process.exitCode = nothingStatus;
    return;
  }
  const at = { items: [] as GrepReply['items'], is_cut: false, searched: 0, left_out: 0 };
  // What is read first takes its time.
  for (const places of [wanted.filter(isQuick), wanted.filter((place) => !isQuick(place))]) {
    if (places.length === 0 || at.items.length >= hits) continue;
    const { reply } = await ask(places, hits - at.items.length);
    for (const hit of reply.items) print(lineOf(hit, hasColour(parsed)));
    at.items = [...at.items, ...reply.items];
    at.is_cut ||= reply.is_cut;
    at.searched += reply.searched;
    at.left_out += reply.left_out;
  }
  note(searchedWords(at));
  if (at.items.length === 0) process.exitCode = nothingStatus;
};

const isQuick = (place: GrepPlace): boolean => place === 'screens';

const lineOf = (hit: GrepReply['items'][number], isColoured: boolean): string =>
  `${isColoured ? paint(hitHead(hit), 'work') : hitHead(hit)}: ${hitLine(hit)}`;

function hitsOf(parsed: Parsed): number {
  const said = parsed.value('hits');
  if (said === undefined) return limits.grepHitsDefault;
  const hits = /^\d{1,6}$/.test(said) ? Number(said) : 0;
  if (hits >= 1 && hits <= limits.grepHitsMax) return hits;
  throw new AgtmuxError('E_USAGE', `--hits must be a number from 1 to ${limits.grepHitsMax}`, {
    next: 'for example 50',
  });
}
