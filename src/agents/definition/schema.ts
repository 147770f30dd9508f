// The words of an agent's definition: one TOML file that says how an agent is found, read, answered, started and heard. Here
// stands only which words there are and what may follow them; whether they make sense together is checked in read.ts.

import { z } from 'zod';
import { type AskKind, askKinds } from '../../model/asks.ts';
import { limits } from '../../model/limits.ts';
import { reasonCodes } from '../../model/reasons.ts';
import { confidences, stateNames } from '../../model/states.ts';

z.config({ jitless: true });

/** Words of a list, or commands: nobody writes more. */
const listMax = 200;

const text = z.string().min(1).max(limits.screenPatternCharsMax);
const pattern = text.describe('A regular expression as RE2 takes it.');
const texts = z.array(text).max(listMax);
const patterns = z.array(pattern).max(listMax);
const oneOrMore = z.union([text, texts]);
const command = z.array(text).min(1).max(32);
const count = z.number().int().min(1).max(limits.screenRowsMax);
const keyName = z.string().regex(/^[A-Za-z0-9][\w-]{0,19}$/, 'a key by tmux’s name for it: Escape, Enter, C-c, y, 1');
/** Keys that can take nothing that is marked and write nothing into a prompt: Enter, its other names and letters are none. */
const harmlessKeys = z
  .array(
    z
      .string()
      .regex(/^(?:Escape|BSpace|C-[a-hk-ln-z])$/, 'one of Escape, BSpace and C-a to C-z without C-i, C-j and C-m'),
  )
  .min(1)
  .max(8);

const identify = z
  .strictObject({
    commands: texts.default([]).describe('What its program is called on the PATH and as a process.'),
    places: patterns.default([]).describe('Parts of a path that nothing else has: its packages, its install folders.'),
    not_places: patterns.default([]).describe('Parts of a path that bear its name and are something else.'),
    versions: patterns.default([]).describe('What in such a path is the version, as the first group.'),
    native: z
      .enum(confidences)
      .optional()
      .describe('What the name of a native program proves where no place is known. Left out: nothing.'),
    script: z.enum(confidences).optional().describe('What the name of a script proves. Left out: nothing.'),
    kind: z
      .enum(['any', 'native', 'script'])
      .default('any')
      .describe('Where two programs have one name: only the native one, or only the script, is this agent.'),
    argv0: texts
      .default([])
      .describe('Names that a process gives itself by rewriting its own command line: kimi-code, pi.'),
    runtime_names: texts.default([]).describe('Names under which its starter calls the language runtime.'),
    headless_commands: texts.default([]).describe('First words that do one job and end.'),
    headless_flags: texts.default([]).describe('Options with which nobody talks to it in its terminal.'),
    headless_positional: z
      .boolean()
      .default(false)
      .describe('A first word that is no command is a prompt for one job.'),
    errand_commands: texts.default([]).describe('First words that are no run of the agent: servers, settings.'),
    errand_flags: texts.default([]).describe('Options that are no run of the agent: versions, help.'),
    value_flags: texts.default([]).describe('Options whose value is the next word.'),
    tool_env: patterns
      .default([])
      .describe('Names of variables that it sets for what it starts: whoever asks with one of them is no person.'),
  })
  .describe('How a process is known to be this agent.');

const condition = z.strictObject({
  in: text.describe('The region it is about.'),
  flow: z.boolean().optional().describe('All lines as one text.'),
  present: z.boolean().optional().describe('False: the region must not be there.'),
  all: oneOrMore.optional().describe('Each of them must match a line.'),
  any: oneOrMore.optional().describe('One of them must match a line.'),
  none: oneOrMore.optional().describe('None of them may match a line.'),
});

const pick = z.strictObject({
  in: text.describe('The region it is taken from.'),
  match: pattern.optional().describe('The first group of the first line that matches; left out: the whole region.'),
});

const region = z.strictObject({
  of: text.optional().describe('The region it is cut out of; `screen` when left out.'),
  after: pattern.optional().describe('Begins below the last line that matches.'),
  from: pattern.optional().describe('Begins at the last line that matches.'),
  before: pattern.optional().describe('Ends above the last line that matches.'),
  to: pattern.optional().describe('Ends at the last line that matches.'),
  open: z.boolean().optional().describe('Without its anchor it reaches to the edge.'),
  top: count.optional().describe('Only so many lines that are not blank, from above.'),
  bottom: count.optional().describe('Only so many lines that are not blank, from below.'),
  rows: count.optional().describe('With fewer lines it is not there.'),
  note: text.optional().describe('For people.'),
});

const rule = z.strictObject({
  id: text.describe('Its name, as `explain` shows it.'),
  priority: z.number().describe('The greatest that fits decides.'),
  versions: text.optional().describe('Like ">=2.1 <3".'),
  where: z.array(condition).min(1).max(listMax).describe('All of them must hold.'),
  proves: z
    .strictObject({
      state: z.enum(stateNames),
      reason: z.enum(reasonCodes),
      confidence: z.enum(confidences).optional(),
      unfinished: z.boolean().optional(),
    })
    .describe('The state and its reason.'),
  detail: pick.optional().describe('What it is doing.'),
  ask: z
    .strictObject({
      kind: z.enum(askKinds).describe('What is asked for.'),
      text: z
        .union([pick, z.array(pick).max(listMax)])
        .optional()
        .describe('The words of the request.'),
      options: z
        .strictObject({
          in: text,
          match: pattern.describe('Two groups: what chooses the option, and its words.'),
          split: pattern.optional().describe('Splits the first group where several options stand on a line.'),
          wrap: z.union([z.literal(false), z.literal('flush')]).optional(),
        })
        .optional()
        .describe('Its options.'),
      cut: z.array(condition).max(listMax).optional().describe('One of them holds: a part is out of sight.'),
    })
    .optional()
    .describe('The request that is on the screen.'),
  shells: pick.optional().describe('How many shells run in the background.'),
  agents: pick.optional().describe('How many agents run in the background.'),
  note: text.optional().describe('For people.'),
});

const screen = z
  .strictObject({
    title: text.optional().describe('What the title of its pane proves, for people.'),
    note: text.optional().describe('For people.'),
    trim: pattern.optional().describe('What stands at the end of lines and is no part of them: a scroll bar.'),
    aside: pattern.optional().describe('How the first line begins while a column stands left of the interface.'),
    goodbye: oneOrMore.optional().describe('Lines it prints when it ends by itself.'),
    disable: oneOrMore.optional().describe('Over a built-in definition: its rules to leave out, by id.'),
    replace: z.boolean().optional().describe('Over a built-in definition: leave out all of its rules.'),
    regions: z.record(z.string(), region).optional().describe('Parts of the screen, by name.'),
    rules: z.array(rule).max(limits.screenRulesMax).optional().describe('What proves which state.'),
  })
  .describe('How its screen is read; docs/rules.md explains each word.');

const approvalKinds: readonly AskKind[] = ['command', 'edit', 'tool', 'plan', 'trust'];

const answer = z.strictObject({
  kinds: z
    .array(z.enum(askKinds))
    .min(1)
    .default([...approvalKinds])
    .describe('The requests it is about.'),
  once: patterns.default([]).describe('Options that say yes to this and to nothing else; each begins with ^.'),
  lasting: patterns.default([]).describe('Options that grant more than what is asked now: never an approval.'),
  no: patterns.default([]).describe('Options that refuse.'),
  instead: patterns.default([]).describe('Options that open a field for what to do instead.'),
  own: patterns.default([]).describe('The option of a question that opens a field for words of one’s own.'),
  menus: z.array(patterns.min(1)).max(listMax).default([]).describe('Menus, each by all of its options in order.'),
  choose: z
    .enum(['digit', 'digit+Enter', 'letter', 'label', 'arrows', 'home+arrows'])
    .describe(
      'How an option is chosen: by the digit or letter before it, by the key in brackets before or behind its words, or by walking down to it.',
    ),
  marked_rows: pattern
    .optional()
    .describe(
      'For arrows where only a colour marks an option: how the rows of the options look, with the words as the first group. Without it the first one is taken to be marked.',
    ),
  submit: z
    .strictObject({
      after: text.describe('Words, letters and blanks, that come onto the screen when an option was chosen.'),
      keys: z.array(keyName).min(1).max(4).describe('The keys that then send the answer off.'),
    })
    .optional()
    .describe('For dialogs that show the answer once more before they take it.'),
  reject: z
    .union([z.literal('no'), harmlessKeys])
    .default(['Escape'])
    .describe('The keys that refuse, or "no": by choosing the option that refuses.'),
});

const prompt = z
  .strictObject({
    mark: pattern.describe('How the row with the prompt begins, up to where the text stands.'),
    end: pattern.optional().describe('The first row below it.'),
    empty: pattern.optional().describe('What stands there as long as nothing was typed: a hint or a suggestion.'),
    suggestion: pattern
      .optional()
      .describe('What stands below it while the agent has put a text of its own into it, which is no draft.'),
    sign: pattern.optional().describe('Words that are on the screen only while the prompt is.'),
  })
  .describe('The prompt as it stands on the screen: unsent text in it is never sent along with a message.');

const keys = z
  .strictObject({
    interrupt: harmlessKeys.optional().describe('Keys that stop a turn and leave the agent running.'),
    clear_prompt: harmlessKeys.optional().describe('Keys that empty its prompt.'),
    draft_returns_on_interrupt: z
      .boolean()
      .default(false)
      .describe('After an interrupt the last message stands in the prompt again; it is cleared with clear_prompt.'),
    enter_pause_ms: z
      .number()
      .int()
      .min(0)
      .max(5_000)
      .default(limits.enterPauseMs)
      .describe('From the sight of a text in its prompt to Enter.'),
    collapsed_paste: pattern.optional().describe('What the prompt shows instead of a long paste.'),
    paste: z
      .enum(['marked', 'plain'])
      .default('marked')
      .describe(
        'plain: it shows the marks around a paste as text. A message goes in without them, one line at most; needs [keys.prompt].',
      ),
    file_ref: z.enum(['at', 'plain']).default('plain').describe('How a file is named in a message: @path or path.'),
    never_press: z
      .array(keyName)
      .default([])
      .describe('Keys that no answer may hold: what is marked when a dialog opens may last for ever.'),
    prompt: prompt.optional(),
    answer: z.array(answer).max(32).default([]).describe('How its dialogs are answered, by their words.'),
  })
  .describe('How it is worked at the keyboard. Left out: no key is ever pressed.');

const run = z
  .strictObject({
    start: command.describe('The command that starts it.'),
    resume: command.optional().describe('Goes on with a conversation; one word holds {session}.'),
    resume_last: command.optional().describe('Goes on with the last conversation of its folder.'),
  })
  .describe('How it is started.');

/** Below the home of its user, in a folder of its own that begins with a dot. */
const ownFile = z
  .string()
  .regex(/^~\/\.[\w-][\w.-]*\/(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:json|toml)$/, 'a path such as ~/.mine/settings.json')
  .refine((path) => !path.includes('..'), 'no .. in it');

const fieldValues = z.record(z.string().regex(/^\w+$/), z.string());

const hookMeaning = z.strictObject({
  event: z
    .string()
    .regex(/^[\w.:-]{1,64}$/)
    .describe('The event, in the agent’s own words.'),
  state: z.enum(stateNames).optional().describe('What the agent is in then. Left out: nothing is told of its state.'),
  reason: z.enum(reasonCodes).optional().describe('Why; the usual reason of that state when left out.'),
  when: fieldValues.optional().describe('Only where these fields of the payload have these values.'),
  unless: fieldValues.optional().describe('Not where one of these fields has this value.'),
  prompt: z.string().optional().describe('The field with the words of a person, which are shown and never stored.'),
  goodbye: z.boolean().default(false).describe('It is about to end in good order.'),
});

const hooks = z
  .strictObject({
    file: ownFile
      .optional()
      .describe('The settings that hooks are put into, in the format of Claude Code; left out: none are put in.'),
    session: z.string().default('session_id').describe('The field with the id of the conversation.'),
    map: z.array(hookMeaning).min(1).max(listMax).describe('What each event means; the first that fits counts.'),
    also_runs_hooks_of: texts
      .default([])
      .describe('Agents whose hooks it runs as well: such a call speaks for this agent, whose process it comes from.'),
  })
  .describe('What its hooks mean, and where they are put.');

const acp = z
  .strictObject({
    command: command.describe('The command that makes it speak the Agent Client Protocol.'),
    model_flag: text.optional().describe('The option that names a model.'),
    install: text.optional().describe('How to get the program where it is not found.'),
  })
  .describe('How it is led as a managed session.');

const mcp = z
  .strictObject({
    file: ownFile.describe('The settings in which it keeps its MCP servers.'),
    at: z
      .string()
      .regex(/^\w{1,64}$/)
      .default('mcpServers')
      .describe('The table of servers in it.'),
  })
  .describe('Where our MCP server is registered.');

export const definitionSchema = z.strictObject({
  schema: z.literal(2).describe('The version of this format.'),
  agent: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'a name may contain lower-case letters, digits, - and _')
    .describe('The name that agtmux knows it by, which is also the name of the file.'),
  title: text.optional().describe('What people call it.'),
  measured: texts.default([]).describe('Versions whose behaviour was seen. Without one no key is pressed.'),
  limits: texts.default([]).describe('What cannot be told of it, one sentence each.'),
  never_prompts: z.boolean().default(false).describe('It never asks for anything: waiting is never told of it.'),
  identify: identify.optional(),
  screen: screen.optional(),
  keys: keys.optional(),
  run: run.optional(),
  hooks: hooks.optional(),
  acp: acp.optional(),
  mcp: mcp.optional(),
});

/** A definition as it was checked, with every default in its place. */
export type Definition = z.output<typeof definitionSchema>;
export type IdentifyWords = NonNullable<Definition['identify']>;
export type KeyWords = NonNullable<Definition['keys']>;
export type HookWords = NonNullable<Definition['hooks']>;
export type McpWords = NonNullable<Definition['mcp']>;
export type RunWords = NonNullable<Definition['run']>;
