// What Claude Code's transcripts tell of its tokens. An answer is one line for each of its blocks, and each repeats the usage
// so far; resumed and forked conversations are copied. One answer of one request counts once.

import type { InstallPlace, UsageEntry, UsageReader, UsageSource } from '../contract.ts';
import { fieldsIn, numberIn, parseFields, textOf } from '../fields.ts';

const foldersOf = ({ home, env }: InstallPlace): readonly string[] => {
  const moved = env.CLAUDE_CONFIG_DIR;
  return moved?.startsWith('/') === true ? [moved.replace(/\/+$/, '')] : [`${home}/.claude`, `${home}/.config/claude`];
};

export const usage: UsageSource = {
  // Subagents have files of their own, below the conversation.
  places: (where) =>
    foldersOf(where).map((folder) => ({
      kind: 'lines',
      folder: `${folder}/projects`,
      levels: 4,
      name: '^[\\w-]+\\.jsonl$',
    })),
  hints: ['"usage"'],
  open: (): UsageReader => ({ take, state: () => ({}) }),
};

function take(line: string): readonly UsageEntry[] | null {
  const row = parseFields(line);
  if (row === null) return null;
  const message = fieldsIn(row.message);
  const used = fieldsIn(message.usage);
  const [id, model, time] = [textOf(message.id), textOf(message.model), Date.parse(textOf(row.timestamp) ?? '')];
  // What the program writes itself names no model of anybody's.
  if (row.type !== 'assistant' || id === null || model === null || model.startsWith('<') || Number.isNaN(time))
    return [];
  return [
    {
      key: `${id} ${textOf(row.requestId) ?? ''}`,
      time,
      session: textOf(row.sessionId),
      cwd: textOf(row.cwd),
      model,
      input: numberIn(used.input_tokens),
      output: numberIn(used.output_tokens),
      cache_read: numberIn(used.cache_read_input_tokens),
      cache_write: numberIn(used.cache_creation_input_tokens),
      cost: null,
    },
  ];
}
