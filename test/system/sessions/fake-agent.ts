// A scripted agent that speaks Claude's stream-json: what it does is the first word of each prompt. Everything it is told is
// written to the file that FAKE_LOG names, so that a test can see what really arrived.

import { spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const log = process.env.FAKE_LOG ?? '/dev/null';
const argv = process.argv.slice(2);
const resumed = /(?:^| )--resume[= ](\S+)/.exec(argv.join(' '))?.[1];
const session = resumed ?? `conversation-${process.pid}`;
let count = 0;
let streaming: NodeJS.Timeout | undefined;

const note = (words: string): void => appendFileSync(log, `${words}\n`);
const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const fresh = (what: string): string => {
  count += 1;
  return `${what}-${process.pid}-${count}`;
};

note(`start ${process.pid} ${argv.join(' ')}`);
process.on('exit', () => note(`exit ${process.pid}`));

const init = (): void => say({ type: 'system', subtype: 'init', session_id: session, uuid: fresh('turn') });
const result = (more: object = {}): void =>
  say({ type: 'result', subtype: 'success', is_error: false, uuid: fresh('result'), session_id: session, ...more });

const event = (value: object): void => say({ type: 'stream_event', event: value, parent_tool_use_id: null });

function begin(): string {
  const id = fresh('message');
  event({ type: 'message_start', message: { id } });
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  return id;
}
const grow = (text: string): void =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const stop = (): void => event({ type: 'message_stop' });

function answer(text: string): void {
  begin();
  grow(text);
  stop();
}

/** Words at a steady pace, each with the time it was said, until somebody stops it. */
function stream(everyMs: number, countMax: number): void {
  let said = 0;
  begin();
  streaming = setInterval(() => {
    said += 1;
    if (said % 100 === 0) {
      stop();
      begin();
    }
    grow(`${Date.now()} `);
    if (said >= countMax) end();
  }, everyMs);
  const end = (): void => {
    clearInterval(streaming);
    stop();
    result();
  };
}

async function flood(megabytes: number): Promise<void> {
  const words = 'x'.repeat(1_000);
  for (let kilobytes = 0; kilobytes < megabytes * 1_024; kilobytes += 1) {
    if (kilobytes % 60 === 0) {
      stop();
      begin();
    }
    grow(words);
    if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  stop();
  result();
}

let asked = 0;
function ask(tool: string, input: object): void {
  asked += 1;
  say({
    type: 'control_request',
    request_id: fresh('ask'),
    request: { subtype: 'can_use_tool', tool_name: tool, input },
  });
}

const question = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [{ label: 'red' }, { label: 'blue' }],
};

/** By the first word of the prompt. */
const scenes: Readonly<Record<string, (rest: string) => void>> = {
  text: (rest) => {
    answer(rest);
    result();
  },
  approve: (rest) => ask('Bash', { command: rest === '' ? 'make it so' : rest }),
  twice: () => {
    ask('Bash', { command: 'the first' });
    ask('Bash', { command: 'the second' });
  },
  question: () => ask('AskUserQuestion', { questions: [question] }),
  /** Says something and goes on with nothing. */
  hold: (rest) => {
    begin();
    grow(rest);
  },
  slow: (rest) => stream(Number(rest) || 50, Number.POSITIVE_INFINITY),
  paced: (rest) => {
    const [everyMs = 50, countMax = 100] = rest.split(' ').map(Number);
    stream(everyMs, countMax);
  },
  flood: (rest) => void flood(Number(rest)),
  line: (rest) => {
    process.stdout.write(`${'y'.repeat(Number(rest) * 1_048_576)}\n`);
    answer('after the long line');
    result();
  },
  garbage: () => {
    process.stdout.write('{"type":"assis\u0000\u001b[31m not json\n\n[1,2\n{"type":17}\nplain words\n{"type":"sys');
    setTimeout(() => {
      process.stdout.write('tem","subtype":"strange"}\n');
      answer('still here');
      result();
    }, 50);
  },
  secret: () => {
    answer('the key is sk-abcdefghijklmnopqrstuvwxyz123456 and that is all');
    result();
  },
  fail: (rest) =>
    result({ subtype: 'error_during_execution', is_error: true, result: rest === '' ? 'it broke' : rest }),
  exit: (rest) => process.exit(Number(rest)),
  child: () => {
    const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    child.unref();
    note(`child ${child.pid}`);
    answer('started');
    result();
  },
  /** Two commands beside it, one in its own group and one in another, as the tools of agents start them. */
  children: (rest) => {
    for (const detached of [false, true]) {
      const child = spawn('sh', ['-c', `trap "" TERM; while :; do sleep 1; done`], { detached, stdio: 'ignore' });
      child.unref();
      note(`child ${child.pid}`);
    }
    answer('started');
    result();
    if (rest === 'exit') setTimeout(() => process.exit(0), 1_000);
  },
  'go-on': () => {
    answer('went on');
    result();
  },
};

/** A command that it starts once a file is there; `below`: as its own child, without the mark; `apart`: without parents. */
interface Run {
  readonly how: 'below' | 'apart';
  readonly command: string;
  readonly go: string;
}
if (process.env.FAKE_RUN !== undefined) {
  const { how, command, go }: Run = JSON.parse(process.env.FAKE_RUN);
  const { AGTMUX_AGENT: mark, PATH, HOME, AGTMUX_STATE_DIR } = process.env;
  // None of the marks that agents leave in an environment themselves.
  const env = { PATH, HOME, AGTMUX_STATE_DIR };
  const looking = setInterval(() => {
    if (!existsSync(go)) return;
    clearInterval(looking);
    if (how === 'below') spawn('sh', ['-c', command], { env, stdio: 'ignore' });
    else
      spawn('sh', ['-c', `( ${command} ) &`], { env: { ...env, AGTMUX_AGENT: mark }, detached: true, stdio: 'ignore' });
  }, 50);
}

/** Ignores everything that is meant to end it in good order. */
const isStubborn = process.env.FAKE_STUBBORN === '1';
if (isStubborn)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => note(`signal ${signal}`));

if (process.env.FAKE_BROKEN !== undefined) {
  process.stderr.write(`${process.env.FAKE_BROKEN}\n`);
  process.exit(1);
}

function hearPrompt(text: string): void {
  if (process.env.FAKE_SILENT === '1') return;
  const [name = '', ...rest] = text.split(' ');
  init();
  const scene = scenes[name] ?? scenes['go-on'];
  scene?.(rest.join(' '));
}

function hearAnswer(response: {
  request_id: string;
  response?: { behavior: string; message?: string; updatedInput?: object };
}): void {
  const { behavior, message } = response.response ?? { behavior: 'error' };
  asked -= 1;
  answer(behavior === 'allow' ? `allowed ${JSON.stringify(response.response?.updatedInput)}` : `denied: ${message}`);
  if (asked === 0) result();
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  note(`told ${line}`);
  const value = JSON.parse(line);
  if (value.type === 'user') hearPrompt(value.message.content[0].text);
  else if (value.type === 'control_response') hearAnswer(value.response);
  else if (value.type === 'control_request') {
    clearInterval(streaming);
    say({ type: 'control_response', response: { subtype: 'success', request_id: value.request_id } });
    result({ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_streaming' });
  }
});
lines.on('close', () => {
  note(`closed ${process.pid}`);
  if (isStubborn) setInterval(() => undefined, 1_000);
  else process.exit(0);
});
