// The form of a new agent as data: its fields, which of them is focused, and the request that they make.

import { resolve } from 'node:path/posix';
import type { ManagedItem, NewSessionBody } from '../../api/schemas-sessions.ts';
import { type AgtmuxError, fail, ok, type Result } from '../../model/errors.ts';
import type { World } from '../contract.ts';
import { emptyField, fieldOf, type TextField } from './text-field.ts';

export const fieldNames = ['agent', 'directory', 'model', 'auto', 'worktree', 'prompt'] as const;
export type FieldName = (typeof fieldNames)[number];

export interface FormModel {
  readonly focus: FieldName;
  readonly agent: TextField;
  readonly directory: TextField;
  readonly model: TextField;
  readonly isAuto: boolean;
  readonly isWorktree: boolean;
  readonly branch: TextField;
  readonly prompt: TextField;
  /** The request is under way. */
  readonly isStarting: boolean;
  readonly frame: number;
  readonly problem: string | null;
}

export type FormOwn =
  | { readonly is: 'started'; readonly item: ManagedItem }
  | { readonly is: 'failed'; readonly problem: AgtmuxError };

export const firstForm = ({ self }: Pick<World, 'self'>): FormModel => ({
  focus: 'prompt',
  agent: fieldOf(self.agents[0] ?? ''),
  directory: fieldOf(self.cwd),
  model: emptyField,
  isAuto: false,
  isWorktree: false,
  branch: emptyField,
  prompt: emptyField,
  isStarting: false,
  frame: 0,
  problem: null,
});

export type Wanted = Omit<NewSessionBody, 'env' | 'pid' | 'hops'>;

/** What is missing is said before anybody is asked. */
export function wantedOf(form: FormModel, { cwd, home }: World['self']): Result<Wanted> {
  const [agent, typed, prompt] = [form.agent, form.directory, form.prompt].map(({ text }) => text.trim());
  if (agent === undefined || agent === '') return fail('E_INPUT', 'missing agent', 'name one');
  if (prompt === undefined || prompt === '') return fail('E_INPUT', 'missing prompt', 'type a prompt');
  const directory = (typed ?? '').replace(/^~(?=\/|$)/, home);
  return ok({
    agent,
    prompt,
    cwd: resolve(cwd, directory),
    model: form.model.text.trim() === '' ? null : form.model.text.trim(),
    auto_approve: form.isAuto,
    worktree: form.isWorktree ? form.branch.text.trim() : null,
  });
}
