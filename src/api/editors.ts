// Pairing an editor: a person asks for a code, the editor trades it for a key, and sends that key along from then on. The key
// stands in one answer and in no list.

import { editorScopes } from '../model/actions.ts';
import { limits } from '../model/limits.ts';
import { head, noQuerySchema, time } from './common.ts';
import { z } from './zod.ts';

const scopes = z.array(z.enum(editorScopes)).min(1).describe('what the key is for');
const id = z.string().regex(/^[0-9a-f]{8}$/);

/** Printable, and short enough for a line of the audit. */
const name = z
  .string()
  .max(limits.editorNameCharsMax)
  .regex(/^[\w.@:()+ -]*\w[\w.@:()+ -]*$/)
  .describe('for the audit: the editor and its machine');

export const newEditorCodeSchema = z.strictObject({ scopes: scopes.default([...editorScopes]) });
export const editorCodeSchema = z.strictObject({
  ...head,
  code: z.string().describe('for one editor, once'),
  scopes,
  expires_at: time,
});
export const newEditorSchema = z.strictObject({ code: z.string().min(1).max(32), name });
export const pairedEditorSchema = z.strictObject({
  ...head,
  id,
  name: z.string(),
  scopes,
  key: z.string().describe('sent with every request as agtmux-editor-key; said in this answer alone'),
});
export const editorTerminalsSchema = z.strictObject({
  socket: z
    .string()
    .max(limits.editorSocketCharsMax)
    .regex(/^\/[^\0]+$/)
    .describe('where the extension answers about them'),
  secret: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('what it wants to hear with each question'),
  terminals: z
    .array(z.strictObject({ id: z.string().min(1).max(32), pid: z.int().min(2).describe('of its shell') }))
    .max(limits.editorTerminalsMax),
});
export const editorItemSchema = z.strictObject({
  id,
  name: z.string(),
  scopes: z.array(z.enum(editorScopes)),
  paired_at: time,
  opened_by: z.string().describe('who asked for the code'),
  paired_by: z.string().describe('the program that traded it'),
  used_at: time.nullable().describe('null: not since the daemon was started'),
});
export const editorsSchema = z.strictObject({ ...head, items: z.array(editorItemSchema) });

export const editorDocuments = {
  NewEditorCode: newEditorCodeSchema,
  EditorCode: editorCodeSchema,
  NewEditor: newEditorSchema,
  PairedEditor: pairedEditorSchema,
  Editors: editorsSchema,
  EditorTerminals: editorTerminalsSchema,
} as const;

export const editorRoutes = {
  editors: {
    method: 'get',
    path: '/v1/editors',
    summary: 'List the paired editors',
    query: noQuerySchema,
    reply: 'Editors',
    isLocal: true,
  },
  openEditorCode: {
    method: 'post',
    path: '/v1/editors/codes',
    summary: 'Create a code that pairs one editor; only for people',
    query: noQuerySchema,
    body: { words: 'what the key may be used for', document: 'NewEditorCode' },
    reply: 'EditorCode',
    status: 201,
    isLocal: true,
  },
  pairEditor: {
    method: 'post',
    path: '/v1/editors',
    summary: 'Trade a code for a key',
    query: noQuerySchema,
    body: { words: 'the code and the name of the editor', document: 'NewEditor' },
    reply: 'PairedEditor',
    status: 201,
    isLocal: true,
  },
  reportTerminals: {
    method: 'post',
    path: '/v1/editors/terminals',
    summary: 'Tell of the integrated terminals of one window; only for a paired editor',
    query: noQuerySchema,
    body: { words: 'all of them, with their processes', document: 'EditorTerminals' },
    reply: 'Done',
    isLocal: true,
  },
  revokeEditor: {
    method: 'delete',
    path: '/v1/editors/{id}',
    summary: 'Revoke the key of an editor, by id or name',
    query: noQuerySchema,
    reply: 'Done',
    isLocal: true,
  },
} as const;

export type EditorItem = z.infer<typeof editorItemSchema>;
