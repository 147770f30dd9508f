// `agtmux editor`: a code for an editor, which a person reads here and types there; the paired editors; and taking a key back.

import type { EditorItem } from '../api/editors.ts';
import { get, pathTo, post, remove } from '../api/requests.ts';
import { type EditorScope, editorScopes } from '../model/actions.ts';
import { AgtmuxError } from '../model/errors.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { askDaemon } from './connect.ts';
import type { Action } from './context.ts';
import { print } from './output.ts';
import type { Parsed } from './parse.ts';

export const editorPair: Action = async (parsed, context) => {
  const body = { scopes: scopesOf(parsed) };
  const { body: text, reply } = await askDaemon(context, post('/v1/editors/codes', body), {
    isQuiet: parsed.has('json'),
  });
  if (parsed.has('json')) return print(text);
  print(
    [
      reply.code,
      `Valid for one editor, once, for five minutes. In VS Code, run "agtmux: Pair" and type it.`,
      `The editor may then: ${reply.scopes.map((scope) => scopeWords[scope]).join('; ')}.`,
    ].join('\n'),
  );
};

const scopeWords: Readonly<Record<EditorScope, string>> = {
  look: 'show agents and their output',
  send: 'send messages and start agents',
  answer: 'answer what agents ask',
  control: 'interrupt and kill agents',
};

function scopesOf(parsed: Parsed): EditorScope[] {
  const said = parsed.value('scope');
  if (said === undefined) return [...editorScopes];
  return said.split(',').map((word) => {
    const scope = editorScopes.find((one) => one === word.trim());
    if (scope !== undefined) return scope;
    throw new AgtmuxError('E_USAGE', `there is no scope "${word}"; there are ${editorScopes.join(', ')}`);
  });
}

export const editorList: Action = async (parsed, context) => {
  const { body, reply } = await askDaemon(context, get('/v1/editors'), { isQuiet: parsed.has('json') });
  if (parsed.has('json')) return print(body);
  if (reply.items.length === 0) return print('No editor is paired; `agtmux editor pair` prints a code for one.');
  print(reply.items.map(lineOf).join('\n'));
};

const lineOf = ({ id, name, scopes, paired_at, paired_by, used_at }: EditorItem): string =>
  sanitizeLine(
    foreign(
      `${id}  ${name}  ${scopes.join(',')}  paired ${paired_at} by ${paired_by}, ${used_at === null ? 'not used since the daemon was started' : `last used ${used_at}`}`,
    ),
  );

export const editorRevoke: Action = async (parsed, context) => {
  const which = parsed.args[0] ?? '';
  const request = remove(pathTo('/v1/editors/{id}', { id: which }));
  const { body } = await askDaemon(context, request, { isQuiet: parsed.has('json') });
  print(parsed.has('json') ? body : `revoked: ${sanitizeLine(foreign(which))}`);
};
