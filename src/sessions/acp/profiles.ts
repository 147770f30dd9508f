// What ACP hides of each agent, as it was measured: how a failed request looks when the turn ends as if nothing had
// happened, how it takes up a conversation, how its tokens are counted. An agent nobody has measured has the general profile.

import { type Fields, fieldsIn, idOf, rowsOf, textOf } from '../../agents/fields.ts';

export type ProfileName = 'general' | 'gemini' | 'copilot' | 'opencode' | 'kilo' | 'claude' | 'codex';

/** One message as it came: whole, or as far as it is there. */
export interface Words {
  readonly text: string;
  readonly pieces: number;
  /** The agent gave it an id: it is the model's. */
  readonly hasId: boolean;
}

/** Whose words they are: the model's; the program's own, which may tell of a failed request, or of another try. */
export type Voice = 'model' | 'program' | 'failure' | 'retry' | 'suspect';

export interface Profile {
  voiceOf(words: Words): Voice;
  /** A piece that begins a message of its own, though nothing else says so. */
  beginsAnew(text: string): boolean;
  /** An update after which a new message begins. */
  readonly boundary: string | null;
  /** Its own state, where it tells it beside the protocol. */
  isBroken(update: Fields): boolean | null;
  /** The name by which it takes up a conversation of this id. */
  loadId(id: string): string;
  /** A prompt of which nothing came is not in its memory: to try again means to say it again. */
  readonly forgetsFailed: boolean;
  /** The tool with which it asks a question that the protocol does not carry; null: there is none. */
  readonly questionTool: string | null;
  /** Whether it counts tokens of the turn or of the whole conversation. */
  readonly counts: 'turn' | 'conversation';
  /** How to log in, as one thing to do; null: what the agent says itself. */
  readonly login: string | null;
}

/** A line that is whole at once and begins like this is written by programs, and now and then by a model. */
const looksFailed = /^(?:api[ _])?error\b/i;

const general: Profile = {
  voiceOf: ({ text, pieces }) => (pieces === 1 && looksFailed.test(text) ? 'suspect' : 'model'),
  beginsAnew: () => false,
  boundary: null,
  isBroken: () => null,
  loadId: (id) => id,
  forgetsFailed: false,
  questionTool: null,
  counts: 'turn',
  login: null,
};

/** Of agents that answer a prompt with an error when a request has failed: whatever they say is the model's. */
const honest: Profile = { ...general, voiceOf: () => 'model' };

/** Copilot 1.0.102 ends a failed turn well; only messages of its own, each in one piece, tell of it. */
const copilot: Profile = {
  ...general,
  voiceOf({ text, pieces }) {
    if (pieces > 1) return 'model';
    if (text.startsWith('Error: ')) return 'failure';
    if (/^Info: .*\bRetrying\b/.test(text)) return 'retry';
    return /^(?:Info|Warning): /.test(text) ? 'program' : 'model';
  },
  beginsAnew: (text) => /^(?:Error|Info|Warning): \S+ \S/.test(text),
  // Told before every request.
  boundary: 'usage_update',
  counts: 'conversation',
  login: 'run `copilot login`',
};

/** Gemini 0.61: of its ten tries nothing is heard; what it prints about them comes when it ends. */
const gemini: Profile = {
  ...honest,
  // It opens a record for the name it is given before it looks for the conversation, and so wipes out the one it is to
  // take up. When it looks it leaves blanks out: under a name with a blank in front both are there.
  loadId: (id) => ` ${id}`,
  forgetsFailed: true,
  login: 'run `gemini` once and choose how to log in, or set GEMINI_API_KEY',
};

/** The adapter tells the state of the thread, and what it says itself has no id (codex-acp 2.6.0). */
const codex: Profile = {
  ...general,
  voiceOf: ({ hasId }) => (hasId ? 'model' : 'program'),
  isBroken(update) {
    const status = textOf(fieldsIn(fieldsIn(fieldsIn(update._meta).codex).threadStatus).type);
    return status === null ? null : status === 'systemError';
  },
  login: 'run `codex login`',
};

const profiles: Readonly<Record<ProfileName, Profile>> = {
  general,
  gemini,
  copilot,
  opencode: { ...honest, questionTool: 'question', login: 'run `opencode auth login`' },
  kilo: { ...honest, questionTool: 'question', login: 'run `kilo auth login`' },
  claude: { ...honest, login: 'run `claude` and type /login' },
  codex,
};

export const profileOf = (name: ProfileName): Profile => profiles[name];

const names: readonly (readonly [RegExp, ProfileName])[] = [
  [/gemini/i, 'gemini'],
  [/copilot/i, 'copilot'],
  [/opencode/i, 'opencode'],
  [/kilo/i, 'kilo'],
  [/claude/i, 'claude'],
  [/codex/i, 'codex'],
];

/** Who speaks, by what it says of itself; before agents named themselves, by its ways to log in. */
export function profileIn(initialized: Fields): ProfileName {
  const named = textOf(fieldsIn(initialized.agentInfo).name);
  const logins = rowsOf(initialized.authMethods).flatMap(({ id }) => idOf(id) ?? []);
  const signs = named === null ? logins.join(' ') : named;
  return names.find(([pattern]) => pattern.test(signs))?.[1] ?? 'general';
}
