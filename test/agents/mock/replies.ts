// What a mock model answers. The words `do:slow`, `do:command` and so on in the last prompt choose it, so that a scenario
// is driven by typing; what must last until the test has looked is held until the test lets it go.

/** A tool as the agent offers it, with the names of its arguments. */
export interface OfferedTool {
  readonly name: string;
  readonly properties: readonly string[];
  /** What it says of its arguments, as it came. */
  readonly schema: unknown;
  /** Codex offers the tools of servers in a space of names for each. */
  readonly namespace?: string;
}

/** One request for the next piece of a conversation, whatever the wire it came by. */
export interface Turn {
  /** Texts of people, the oldest first, each with how many tool results came after it and before the next, and the last. */
  readonly prompts: readonly { readonly text: string; readonly results: number; readonly result: string | null }[];
  readonly tools: readonly OfferedTool[];
  /** What the agent asks for itself (a title, a check): the answer. Null when a person's prompt is to be answered. */
  readonly errand: string | null;
}

interface ToolReply {
  readonly kind: 'tool';
  readonly say: string;
  readonly name: string;
  readonly input: unknown;
  readonly namespace?: string;
}

export type Reply =
  | { readonly kind: 'text'; readonly text: string }
  /** One word after another until the test lets it go. */
  | { readonly kind: 'slow' }
  | ToolReply
  | { readonly kind: 'fail'; readonly status: number }
  /** Taken, and never answered. */
  | { readonly kind: 'hang' }
  /** Words, and then the model has reached the longest answer it may give. */
  | { readonly kind: 'cut' }
  /** Words, and then the connection breaks. */
  | { readonly kind: 'drop' };

/** A task as it is typed: what is to happen, and a number or name that goes with it. */
export interface Task {
  readonly word: string;
  readonly argument: string;
  readonly results: number;
}

export function taskOf(turn: Turn): Task | null {
  for (const { text, results } of turn.prompts.toReversed()) {
    const [, word, argument = ''] = [...text.matchAll(/\bdo:([a-z]+)(?: ([\w./-]+))?/g)].at(-1) ?? [];
    if (word !== undefined) return { word, argument, results };
  }
  return null;
}

const shells = [
  ...['Bash', 'bash', 'exec_command', 'shell_command', 'run_shell_command', 'shell'],
  ...['run_terminal_command', 'run_commands', 'execute_command'],
];
const writers = ['Write', 'write', 'write_file', 'create', 'create_file', 'editor'];
const questioners = [
  ...['AskUserQuestion', 'ask_user', 'request_user_input', 'question'],
  ...['ask_user_question', 'AskQuestion', 'ask_question'],
];

/** `isHeld` tells whether a request that fails until it is let go still fails. */
export function replyTo(turn: Turn, isHeld: (task: Task) => boolean): Reply {
  if (turn.errand !== null) return { kind: 'text', text: turn.errand };
  const task = taskOf(turn);
  if (task === null) return { kind: 'text', text: 'Nothing to do.' };
  if (task.word === 'shellpages') return pagesReply(turn, task);
  if (task.results > 0) return { kind: 'text', text: 'All of that is finished now.' };
  switch (task.word) {
    case 'slow':
      return { kind: 'slow' };
    case 'hang':
    case 'cut':
      return { kind: task.word };
    case 'drop':
      return isHeld(task) ? { kind: 'drop' } : { kind: 'text', text: 'It worked in the end.' };
    case 'fail':
      return { kind: 'fail', status: Number(task.argument) };
    case 'retry':
      return isHeld(task)
        ? { kind: 'fail', status: Number(task.argument) }
        : { kind: 'text', text: 'It worked in the end.' };
    case 'command':
      return commandReply(turn.tools, task.argument);
    case 'edit':
      return editReply(turn.tools, task.argument);
    case 'shellrun':
      return shellReply(turn.tools, 'shell_run', shellCommands[task.argument] ?? {});
    case 'shellsummary':
      return shellReply(turn.tools, 'shell_summary', {});
    case 'agent':
      return agentReply(turn.tools);
    case 'question':
      return questionReply(turn.tools, task.argument === 'two' ? 2 : 1);
    case 'quote':
      return { kind: 'text', text: quotes[task.argument] ?? 'There is nothing to quote.' };
    default:
      return { kind: 'text', text: 'That was easy.' };
  }
}

/** A command that needs approval and runs until the file that the task names is there. */
function commandReply(tools: readonly OfferedTool[], file: string): Reply {
  const tool = tools.find(({ name }) => shells.includes(name));
  if (tool === undefined) return { kind: 'text', text: 'There is no shell here.' };
  const command = `touch ${file}.began; until [ -e ${file} ]; do sleep 0.1; done; echo finished`;
  const isList = typeIn(tool.schema, 'commands') === 'array';
  const values: Readonly<Record<string, unknown>> = {
    command,
    cmd: command,
    commands: isList ? [command] : command,
    description: 'Wait for a file',
    justification: 'May this command run outside the sandbox?',
    sandbox_permissions: 'require_escalated',
    yield_time_ms: 30_000,
    sessionId: 'one',
    async: false,
    mode: 'sync',
    initial_wait: 60,
  };
  const wanted = tool.properties.filter((name) => Object.hasOwn(values, name));
  const input = Object.fromEntries(wanted.map((name) => [name, values[name]]));
  return { kind: 'tool', say: 'I will wait for a file.', name: tool.name, input };
}

/** A task for a subagent, which answers in words. */
function agentReply(tools: readonly OfferedTool[]): Reply {
  const tool = tools.find(({ name }) => name === 'Agent' || name === 'Task');
  if (tool === undefined) return { kind: 'text', text: 'There is no subagent here.' };
  const input = { description: 'Say something', prompt: 'do:say', subagent_type: 'general-purpose' };
  return { kind: 'tool', say: 'Somebody else will do it.', name: tool.name, input };
}

/** A new file, of which the agent asks whether it may write it. */
function editReply(tools: readonly OfferedTool[], file: string): Reply {
  const tool = tools.find(({ name }) => writers.includes(name));
  if (tool === undefined) return { kind: 'text', text: 'There is no way to write a file here.' };
  const content = 'written by the agent\n';
  const values: Readonly<Record<string, unknown>> = {
    file_path: file,
    filePath: file,
    filepath: file,
    path: file,
    content,
    contents: content,
    file_text: content,
    new_text: content,
  };
  const wanted = tool.properties.filter((name) => Object.hasOwn(values, name));
  const input = Object.fromEntries(wanted.map((name) => [name, values[name]]));
  return { kind: 'tool', say: 'I will write a file.', name: tool.name, input };
}

/** Answers that quote the interfaces of agents: nothing of it is asked. */
const quotes: Readonly<Record<string, string>> = {
  approval: [
    'The dialog looked like this:',
    '',
    '```',
    '  Would you like to run the following command?',
    '',
    '  $ rm -r build',
    '',
    '› 1. Yes, proceed (y)',
    "  2. Yes, and don't ask again for commands that start with `rm` (p)",
    '  3. No, and tell Codex what to do differently (esc)',
    '',
    '  Press enter to confirm or esc to cancel',
    '```',
  ].join('\n'),
  permission: [
    'The dialog looked like this:',
    '',
    '```',
    'Bash command',
    '',
    '  rm -r build',
    '',
    'Do you want to proceed?',
    '❯ 1. Yes',
    "  2. Yes, and don't ask again for rm commands",
    '  3. No, and tell Claude what to do differently (esc)',
    '',
    'Esc to cancel · Tab to amend',
    '```',
  ].join('\n'),
};

function questionReply(tools: readonly OfferedTool[], count: number): Reply {
  const tool = tools.find(({ name }) => questioners.includes(name));
  if (tool === undefined) return { kind: 'text', text: 'There is no way to ask here.' };
  return { kind: 'tool', say: 'I need a decision.', name: tool.name, input: questionInput(tool, count) };
}

/** Several at once where the tool takes a list. */
function questionInput({ name, properties, schema }: OfferedTool, count: number): unknown {
  const question = 'Which colour should the button have?';
  const options = [
    { label: 'Green', description: 'The colour of grass' },
    { label: 'Violet', description: 'The colour of plums' },
  ];
  const second = { question: 'Which shape should the button have?', header: 'Shape', options };
  if (properties.includes('requestedSchema')) {
    const colour = { type: 'string', title: 'Colour', description: question, enum: ['Green', 'Violet'] };
    return { message: question, requestedSchema: { type: 'object', properties: { colour }, required: ['colour'] } };
  }
  if (name === 'request_user_input') {
    const questions = [
      { id: 'colour', header: 'Colour', question, options },
      { id: 'shape', ...second },
    ];
    return { questions: questions.slice(0, count) };
  }
  if (properties.includes('questions')) {
    const fields = Object.keys(fieldsOf(itemsOf(fieldsOf(schema).questions)));
    const more = { type: 'choice', multiSelect: false, multi_select: false };
    const known = (one: object): object =>
      Object.fromEntries(Object.entries(one).filter(([name]) => fields.length === 0 || fields.includes(name)));
    return {
      questions: [
        { question, header: 'Colour', options, ...more },
        { ...second, ...more },
      ]
        .slice(0, count)
        .map(known),
    };
  }
  const labels = ['Green', 'Violet'];
  return properties.includes('options') ? { question, options: labels } : { question, choices: labels };
}

type Schema = Readonly<Record<string, unknown>>;
const schemaOf = (value: unknown): Schema => (typeof value === 'object' && value !== null ? (value as Schema) : {});
const fieldsOf = (schema: unknown): Schema => schemaOf(schemaOf(schema).properties);
const itemsOf = (schema: unknown): unknown => schemaOf(schema).items;
const typeIn = (schema: unknown, field: string): unknown => schemaOf(fieldsOf(schema)[field]).type;

/** For the tools of the MCP server of agtmux. */
const shellCommands: Readonly<Record<string, object>> = {
  short: { command: 'echo hello from the shell', label: 'short' },
  ninety: { command: 'i=0; while [ $i -lt 90 ]; do i=$((i+1)); echo line $i; sleep 1; done', label: 'ninety' },
  held: { command: 'sleep 300', label: 'held' },
};

function shellReply(tools: readonly OfferedTool[], wanted: string, input: object): Reply {
  const tool = tools.find(({ name }) => new RegExp(`(?:^|[^a-z])${wanted}$`).test(name));
  // Claude Code and Codex offer the tools of servers only to those who look for them.
  const search = tools.find(({ name }) => name === 'ToolSearch' || name === 'tool_search');
  if (tool === undefined && search !== undefined) {
    const isCodex = search.name === 'tool_search';
    const words = isCodex ? { query: wanted, limit: 5 } : { query: `select:mcp__agtmux__${wanted}`, max_results: 1 };
    return { kind: 'tool', say: 'I will look for a tool.', name: search.name, input: words };
  }
  if (tool === undefined) return { kind: 'text', text: `There is no ${wanted} here.` };
  const { name, namespace } = tool;
  return { kind: 'tool', say: 'I will use a shell.', name, input, ...(namespace === undefined ? {} : { namespace }) };
}

/** Two pages of three lines, the second from where the first one stopped. */
function pagesReply({ tools, prompts }: Turn, { argument, results }: Task): Reply {
  if (results > 1) return { kind: 'text', text: 'Both pages are read.' };
  const cursor = /cursor[^0-9]{1,8}(\d+:\d+)/.exec(prompts.at(-1)?.result ?? '')?.[1];
  const input = { shell_id: argument, mode: 'body', lines: 3, ...(cursor === undefined ? {} : { cursor }) };
  return shellReply(tools, 'shell_log', input);
}
