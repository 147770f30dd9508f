import { describe, expect, it } from 'vitest';
import { born, eventOf, exit, lived, started } from '../../../test/kit/shells.ts';
import { managed, message, Played, sentBy, shellOf, shownIn, worldOf } from '../../../test/kit/tui-screens.ts';
import type { ManagedItem, MessageItem } from '../../api/sessions.ts';
import type { ShellEventItem, ShellItem } from '../../api/shells.ts';
import { AgtmuxError } from '../../model/errors.ts';
import { type MachineState, machineStates } from '../../model/sessions.ts';
import { width } from '../../text/width.ts';
import { lineText } from '../../view/shells-spans.ts';
import { chatScreen } from './index.ts';
import type { ChatOwn } from './model.ts';

const head = { schema_version: 1 as const, generated_at: '1970-01-01T00:00:00.000Z' };
const session = (item: ManagedItem): ChatOwn => ({
  is: 'followed',
  event: { type: 'session', data: { ...head, session: item } },
});
const said = (...messages: readonly MessageItem[]): ChatOwn => ({
  is: 'followed',
  event: { type: 'messages', data: { ...head, id: 's1', messages: [...messages], cursor: 1, truncated: false } },
});

const ask = {
  ask_id: 'a1',
  kind: 'command',
  scope: 'main',
  text: 'rm -r build\u202e',
  options: [],
  accepts: ['approve', 'reject'],
} satisfies NonNullable<ManagedItem['pending_ask']>;
const question = {
  ...ask,
  ask_id: 'q1',
  kind: 'question',
  text: 'Which colour?',
  options: [
    { id: 'r', label: 'red' },
    { id: 'b', label: 'blue' },
  ],
  accepts: ['option', 'text'],
} satisfies NonNullable<ManagedItem['pending_ask']>;

const chat = (item: ManagedItem | null = managed(), shells: readonly ShellItem[] = []) => {
  const play = new Played(chatScreen, { screen: 'chat', id: 's1' }, worldOf({ shells }));
  if (item !== null) play.own(session(item));
  return play;
};
/** As it is once the person had time to read it. */
const asking = (fields: Partial<ManagedItem> = {}) => {
  const play = chat(managed({ state: 'waiting_approval', pending_ask: ask, ...fields }));
  play.own({ is: 'read', ask_id: fields.pending_ask?.ask_id ?? ask.ask_id, early: 0 });
  play.took();
  return play;
};
const answering = () => asking({ state: 'waiting_input', pending_ask: question });
const footer = (play: ReturnType<typeof chat>): string =>
  chatScreen
    .keys(play.model, play.world)
    .map(({ keys, words }) => `${keys} ${words}`)
    .join(' · ');
const saidBy = (play: ReturnType<typeof chat>): string =>
  play
    .took()
    .flatMap((command) => (command.do === 'say' ? [command.text] : []))
    .join('\n');

describe('the chat by state', () => {
  it.each(machineStates)('SES7 %s shows what the derived table gives, and nothing else', (state: MachineState) => {
    const play = chat(managed({ state }));
    const isShown = (name: keyof typeof shownIn): boolean => (shownIn[name] as readonly string[]).includes(state);
    const keys = footer(play);
    expect(chatScreen.moves?.(play.model, play.world)).toBe(isShown('showSpinner'));
    expect(keys.includes('ctrl+x cancel')).toBe(isShown('showCancelButton') || isShown('showDismissButton'));
    expect(keys.includes('ctrl+g resume')).toBe(isShown('showResumeButton'));
    expect(keys.includes('t retry')).toBe(isShown('showRetryButton'));
    expect(chatScreen.isTyping?.(play.model)).toBe(isShown('inputEnabled'));
    expect(play.text().includes('AUTO-APPROVE')).toBe(false);
    const auto = chat(managed({ state, auto_approve: true }));
    expect(auto.text().includes('AUTO-APPROVE: every request is approved')).toBe(isShown('showAutoModeWarning'));
    expect(auto.text()).toContain('[auto-approve]');
  });

  it.each([
    ['creating', {}, 'Creating session...'],
    ['streaming', {}, 'Working...'],
    ['completed', {}, '✓ Done. Write below to continue, or start a new agent.'],
    ['paused', { reason: 'daemon_restarted' }, '[Resume] Ctrl+G   [Cancel] Ctrl+X'],
    ['stopped', {}, '[Resume] Ctrl+G'],
    ['error', { words: 'the model said no' }, 'the model said no'],
    ['error', {}, '[Retry] t   [Cancel] Ctrl+X'],
  ] as const)('SES7 %s %j says "%s"', (state, fields, words) => {
    expect(chat(managed({ state, ...fields })).text()).toContain(words);
  });

  it('the spinner turns with frames, and rests while it is scrolled away', () => {
    const play = chat();
    play.own(said(...Array.from({ length: 40 }, (_, place) => message(`m${place}`, `word ${place}`))));
    const before = play.text();
    play.tell({ is: 'frame' });
    expect(play.text()).not.toBe(before);
    play.press('pageup');
    expect(chatScreen.moves?.(play.model, play.world)).toBe(false);
  });

  it('what cannot be resumed has no button for it', () => {
    const play = chat(managed({ state: 'stopped', is_resumable: false }));
    expect(play.text()).not.toContain('[Resume]');
    play.press('ctrl+g');
    expect(saidBy(play)).toContain('Nothing to resume');
  });

  it('SES5 what was asked before a restart is shown and cannot be answered', () => {
    const play = chat(managed({ state: 'paused', pending_ask: ask }));
    expect(play.text()).toContain('last request: rm -r build');
    play.took();
    expect(play.press('a', 'r').took()).toEqual([]);
  });

  it.each([80, 120, 36])('is never wider than %i columns, nor longer than its room', (columns) => {
    const wide = message('m1', `${'語'.repeat(200)} ${'x'.repeat(300)}`);
    for (const item of [
      ...machineStates.map((state) =>
        managed({ state, auto_approve: true, words: '語'.repeat(99), title: 'x'.repeat(99) }),
      ),
      managed({ state: 'waiting_approval', pending_ask: { ...ask, text: '語'.repeat(400) } }),
      managed({ state: 'waiting_input', pending_ask: question }),
    ]) {
      const play = chat(item).own(said(wide));
      const lines = play.lines({ columns, lines: 20 });
      expect(lines.length).toBeLessThanOrEqual(20);
      for (const line of lines) expect(width(lineText(line))).toBeLessThanOrEqual(columns);
    }
  });
});

describe('an ask', () => {
  it('SEC3 is a highlighted block in which nothing is hidden', () => {
    const play = asking();
    const line = play.lines().find((one) => lineText(one).includes('approval needed'));
    expect(line?.[0]?.role).toBe('attention');
    expect(play.text()).toContain('▌ rm -r build\ufffd');
    expect(play.text()).toContain('a approve · r reject · w reject with a reason');
  });

  it.each([
    ['a', 'approve', {}],
    ['r', 'reject', {}],
  ])('ASK3 %s answers this ask and no other', async (key, deed, more) => {
    const [call] = asking().press(key).took();
    expect(await sentBy(call)).toEqual([{ path: `/v1/managed/s1/${deed}`, body: { ask_id: 'a1', ...more } }]);
  });

  it('ASK3 w rejects with a reason; Esc takes it back', async () => {
    const play = asking().press('w');
    expect(chatScreen.isTyping?.(play.model)).toBe(true);
    expect(play.press('n', 'o', 't', ' ', 'a').text()).toContain('> not a');
    expect(await sentBy(play.press('enter').took()[0])).toMatchObject([
      { path: '/v1/managed/s1/reject', body: { ask_id: 'a1', because: 'not a' } },
    ]);
    expect(asking().press('w', 'x', 'esc').took()).toEqual([]);
  });

  it('ASK3 one that has has just appeared takes no answer yet', () => {
    const play = chat(managed({ state: 'waiting_approval', pending_ask: ask }));
    expect(play.took()).toHaveLength(1);
    play.press('a');
    expect(saidBy(play)).toContain('has just appeared');
    play.own({ is: 'read', ask_id: 'another', early: 1 }).press('a');
    expect(saidBy(play)).toContain('has just appeared');
    // Whoever types on has not looked: the moment begins anew with every key.
    play.press('s').own({ is: 'read', ask_id: 'a1', early: 0 }, { is: 'read', ask_id: 'a1', early: 2 }).press('a');
    expect(saidBy(play)).toContain('has just appeared');
    play.own({ is: 'read', ask_id: 'a1', early: 4 }).press('a');
    expect(play.took()).toMatchObject([{ do: 'call' }]);
  });

  it('ASK3 one that is out of sight takes no answer: it is shown first', () => {
    const play = asking().own(said(message('m1', Array.from({ length: 60 }, () => 'x').join('\n'))));
    play.press('pageup', 'a');
    expect(saidBy(play)).toContain('press the key again');
    expect(play.text()).toContain('approval needed');
    expect(play.press('a').took()).toMatchObject([{ do: 'call' }]);
  });

  it('SES5 nothing is sent twice while the daemon has not answered', () => {
    const play = asking().press('a');
    play.took();
    play.press('a', 'r');
    expect(saidBy(play)).toContain('still waiting');
    play.own({
      is: 'refused',
      deed: 'approve',
      problem: new AgtmuxError('E_STATE_CHANGED', 'there is no pending request now'),
    });
    expect(saidBy(play)).toMatch(/not done: there is no pending request now.*\[E_STATE_CHANGED\]/);
    expect(play.press('a').took()).toMatchObject([{ do: 'call' }]);
  });

  it('options of an approval are chosen by their number', async () => {
    const play = asking({ pending_ask: { ...question, ask_id: 'a1', accepts: ['option'] } });
    expect(play.text()).toContain('2. blue');
    expect(await sentBy(play.press('2').took()[0])).toMatchObject([{ body: { ask_id: 'a1', option: 'b' } }]);
    const other = asking({ pending_ask: { ...question, ask_id: 'a1', accepts: ['option'] } });
    expect(other.tell({ is: 'key', key: '3' })).toBe(false);
    other.press('a');
    expect(saidBy(other)).toContain('does not accept that answer');
  });

  it('a question takes words, or the number of what is offered, from a focused field', async () => {
    const words = answering().press('g', 'r', 'e', 'e', 'n', 'enter').took();
    expect(await sentBy(words[0])).toMatchObject([
      { path: '/v1/managed/s1/answer', body: { ask_id: 'q1', text: 'green' } },
    ]);
    expect(await sentBy(answering().press('2', 'enter').took()[0])).toMatchObject([
      { body: { ask_id: 'q1', option: 'b' } },
    ]);
    const play = asking({ state: 'waiting_input', pending_ask: { ...question, accepts: ['option'] } });
    play.press('x', 'enter');
    expect(saidBy(play)).toContain('one of the numbers');
  });

  it('ASK3 words that were written for another question are not sent without a second look', () => {
    const play = answering().press('b', 'l', 'u', 'e');
    const other = { ...question, ask_id: 'q2', text: 'Which branch?' };
    play.own(session(managed({ state: 'waiting_input', pending_ask: other, state_version: 2 })), {
      is: 'read',
      ask_id: 'q2',
      early: 0,
    });
    play.took();
    play.press('enter');
    expect(saidBy(play)).toContain('press Enter again');
    expect(play.press('enter').took()).toMatchObject([{ do: 'call' }]);
  });
});

describe('deeds', () => {
  it.each([
    ['completed', ['h', 'i', 'enter'], 'send', { text: 'hi' }],
    ['paused', ['ctrl+g'], 'resume', {}],
    ['stopped', ['g', 'o', 'ctrl+g'], 'resume', { text: 'go' }],
    ['error', ['t'], 'retry', {}],
    ['error', ['ctrl+x'], 'stop', {}],
    ['streaming', ['ctrl+x'], 'stop', {}],
    ['creating', ['ctrl+x'], 'stop', {}],
  ] as const)('SES7 %s, %j: %s %j', async (state, keys, deed, body) => {
    const [call] = chat(managed({ state }))
      .press(...keys)
      .took();
    expect(await sentBy(call)).toEqual([{ path: `/v1/managed/s1/${deed}`, body: { ...body } }]);
  });

  it.each([
    ['streaming', 'ctrl+g', 'Nothing to resume'],
    ['stopped', 'ctrl+x', 'Nothing to cancel'],
    ['completed', 'enter', 'Type a message first'],
  ] as const)('SES7 %s, %s: refused with words', (state, key, words) => {
    const play = chat(managed({ state }));
    play.press(key);
    expect(saidBy(play)).toContain(words);
  });

  it('what was written goes when it was sent, and stays when it was not', () => {
    const play = chat(managed({ state: 'completed' })).press('h', 'i', 'enter');
    play.own({ is: 'refused', deed: 'send', problem: new AgtmuxError('E_STATE_CHANGED', 'no') });
    expect(play.text()).toContain('> hi');
    play
      .press('enter')
      .own({ is: 'done', deed: 'send', item: managed({ state: 'completed', state_version: 2 }), words: 'sent' });
    expect(play.text()).not.toContain('> hi');
  });

  it.each([
    ['ctrl+n', { do: 'open', place: { screen: 'new' } }],
    ['down', { do: 'open', place: { screen: 'shells' } }],
    ['esc', { do: 'back' }],
  ])('%s goes elsewhere', (key, command) => {
    for (const state of ['streaming', 'completed'] as const) {
      expect(chat(managed({ state })).press(key).took()).toEqual([command]);
    }
  });

  it('a paste is written where there is a field, and refused where there is none', () => {
    const play = chat(managed({ state: 'completed' }));
    play.tell({ is: 'paste', text: 'one\ntwo' });
    expect(play.text()).toContain('> one\n  two');
    const busy = chat();
    busy.tell({ is: 'paste', text: 'x' });
    expect(saidBy(busy)).toContain('accepts no text');
  });
});

describe('what was said', () => {
  it('SES10 grows in place, in the order in which it began', () => {
    const play = chat().own(said(message('m1', 'on', { partial: true }), message('m2', 'second')));
    play.own(said(message('m1', 'on it')));
    expect(play.text()).toMatch(/on it\n\nsecond/);
    expect(play.text().match(/on it/g)).toHaveLength(1);
  });

  it('SEC3 has no effects: it can forge neither rows nor titles', () => {
    const hostile = 'a\u001b[2J\u001b[1;1H\u001b]0;x\u0007\u001b]52;c;eA==\u0007\rb';
    const play = chat(managed({ title: hostile, words: hostile, agent: hostile, state: 'error' })).own(
      said(
        message('m1', hostile),
        message('m2', hostile, { role: 'tool', tool: { name: hostile, status: 'running' } }),
      ),
    );
    for (const line of play.lines()) expect(lineText(line)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it('roles read differently, and long output of a tool is cut', () => {
    const long = Array.from({ length: 20 }, (_, place) => `out ${place}`).join('\n');
    const play = chat().own(
      said(
        message('m1', 'do it', { role: 'user' }),
        message('m2', 'hm', { role: 'thought' }),
        message('m3', long, { role: 'tool', tool: { name: 'Bash', status: 'done' } }),
        message('m4', 'a notice', { role: 'notice' }),
      ),
    );
    for (const text of ['> do it', '  hm', '▸ Bash (done)', '    out 5', '    … 14 more lines', '· a notice']) {
      expect(play.text()).toContain(text);
    }
  });

  it('stays where the person reads while more comes, and End goes on', () => {
    const lines = (from: number) =>
      Array.from({ length: 50 }, (_, place) => message(`m${from + place}`, `word ${from + place}`));
    const play = chat()
      .own(said(...lines(0)))
      .press('pageup');
    const before = play.text();
    expect(play.own(said(...lines(50))).text()).toBe(before);
    expect(before).toMatch(/more lines below, End shows them/);
    expect(play.press('end').text()).toContain('word 99');
    expect(play.press('home').text()).toMatch(/word 0$/m);
    expect(play.press('up', 'up').text()).toMatch(/word 0$/m);
  });

  it('says so when it is lost, gone or was never there, and follows anew', () => {
    const play = chat();
    const problem = new AgtmuxError('E_DAEMON_DOWN', 'it left');
    play.own({ is: 'followed', event: { type: 'lost', error: problem } });
    expect(play.text()).toContain('The daemon stopped');
    play.own(session(managed({ state_version: 2 })));
    expect(play.text()).not.toContain('daemon stopped');
    const key = (): string | undefined => chatScreen.streams?.(play.model, play.world)[0]?.key;
    const before = key();
    play.own({ is: 'unfollowed', problem }).becomes({});
    expect(key()).not.toBe(before);
    play.own({ is: 'unfollowed', problem: new AgtmuxError('E_REF_NOT_FOUND', 'no session s1') }).becomes({});
    expect(play.text()).toContain('no session s1');
    play.own({ is: 'followed', event: { type: 'gone' } });
    expect(play.text()).toContain('was removed');
    expect(key()).toBeUndefined();
    expect(chat(null).text()).toContain('Loading session s1');
  });

  it('an older word on the session does not undo a newer one', () => {
    const play = chat(managed({ state: 'completed', state_version: 5 }));
    play.own(session(managed({ state: 'streaming', state_version: 4 })));
    expect(play.text()).toContain('✓ Done');
  });
});

describe('shells in the chat', () => {
  const owner = { key: 'r1', runtime_id: 'r1', client: null, thread: null };
  const mine = (item: ShellItem, fields: Partial<ShellItem> = {}): ShellItem => ({ ...item, owner, ...fields });
  const foreground = mine(shellOf(lived(born(), started)));
  const event = (kind: ShellEventItem['kind'], fields: Partial<ShellEventItem> = {}): ShellEventItem => ({
    seq: 1,
    at: '1970-01-01T00:17:00.000Z',
    kind,
    call_id: '',
    shell_id: 'shell-3',
    attempt: 1,
    pid: null,
    start_mode: 'background',
    ended_by: null,
    exit_code: null,
    ...fields,
  });

  it('SHL8 one card for each shell of this session, in place whatever becomes of it', () => {
    const later = mine(shellOf(lived(born({ command: 'make' }), started)), { shell_id: 'shell-4' });
    const foreign = shellOf(lived(born({ command: 'not mine' }), started), { shell_id: 'shell-5' });
    const play = chat(managed(), [foreground, later, foreign]);
    expect(play.text()).toContain('● Shell (sleep 120)');
    expect(play.text()).toContain('Ctrl+R → background');
    expect(play.text()).not.toContain('not mine');
    const again = mine(shellOf(lived(born(), started, exit(0))), {
      attempt: 2,
      started_at: '1970-01-01T01:00:00.000Z',
    });
    play.becomes({ shells: [later, again] });
    expect(play.text().indexOf('Completed (sleep 120)')).toBeLessThan(play.text().indexOf('Shell (make)'));
    expect(play.text().match(/\(sleep 120\)/g)).toHaveLength(1);
  });

  it('SHL2 Ctrl+R sends its foreground shell to the background; without one the frame looks', async () => {
    const play = chat(managed(), [foreground]).press('ctrl+r');
    expect(await sentBy(play.took()[0])).toEqual([{ path: '/v1/shells/shell-3/background', body: { via: 'Ctrl+R' } }]);
    play.own({ is: 'said', text: 'moved' });
    expect(saidBy(play)).toBe('moved');
    expect(chat(managed(), []).tell({ is: 'key', key: 'ctrl+r' })).toBe(false);
  });

  it.each([
    ['kill:user', 143, '· shell-3 killed with status 143 · ended by user'],
    ['kill:agent', 143, '· shell-3 killed with status 143 · ended by agent'],
    ['budget_elapsed', 3, '· shell-3 exited with status 3 · ended by system'],
  ])('SHL1 %s: a dim notice with who ended it', (what, code, words) => {
    const play = chat(managed(), [mine(shellOf(lived(born(), started, eventOf(what), exit(code))))]);
    expect(play.text()).toContain(words);
    const line = play.lines().find((one) => lineText(one) === words);
    expect(line?.[0]?.role).toBe('dim');
  });

  it('SHL8 every kill has its line, also of an attempt before the one that the card shows', () => {
    const again = mine(shellOf(lived(born(), started, eventOf('kill:user'), exit(143))), { attempt: 2 });
    const first = event('terminate', { ended_by: 'user', exit_code: 143 });
    const second = event('terminate', { seq: 3, attempt: 2, ended_by: 'user', exit_code: 143 });
    const play = chat(managed(), [again]).becomes({ shellEvents: [first, event('resume', { seq: 2 }), second] });
    expect(play.text()).toContain('· shell-3 ended with status 143, killed by the user · ended by user');
    expect(play.text().match(/ended by user/g)).toHaveLength(2);
    const well = event('terminate', { ended_by: 'system', exit_code: 0 });
    expect(play.becomes({ shellEvents: [well] }).text()).not.toContain('ended with status 0');
  });

  it('SHL8 a call of our own tool stands on the card of its shell, and not beside it', () => {
    const call = (id: string, name: string, text: string, status: 'running' | 'done' | 'failed'): MessageItem =>
      message(id, text, { role: 'tool', tool: { name, status } });
    const play = chat(managed(), [foreground]);
    play.own(
      said(
        call('t1', 'mcp__agtmux__shell_run', '{"command":"sleep 120"}', 'running'),
        call('t2', 'agtmux.shell_run', 'agtmux.shell_run {"command":"x"}\n{"shell_id":"shell-3","pid":7}', 'done'),
        call('t3', 'shell_run (agtmux MCP Server)', 'Started: it runs\nshell-3 (sleep 120): running', 'done'),
      ),
    );
    expect(play.text()).not.toContain('shell_run');
    expect(play.text().match(/\(sleep 120\)/g)).toHaveLength(1);
    play.own(
      said(
        call('t4', 'mcp__agtmux__shell_run', '{"command":"other"}\n{"result":"Refused"}', 'failed'),
        call('t5', 'mcp__agtmux__shell_log', '{"shell_id":"shell-3"}', 'done'),
        call('t6', 'mcp__agtmux__shell_run', '{"command":"y"}\n{"shell_id":"shell-31"}', 'done'),
      ),
    );
    for (const words of ['Refused', 'shell_log', 'shell-31']) expect(play.text()).toContain(words);
  });

  it('SHL2 moves to the background are told once, by who moved it', () => {
    const auto = mine(shellOf(lived(born(), started, eventOf('budget_elapsed'))));
    const play = chat(managed(), [auto]).becomes({ shellEvents: [event('promote'), event('start')] });
    expect(play.text()).toContain('· shell-3 continues in the background');
    const user = mine(shellOf(lived(born(), started, eventOf('background_request:user'))));
    play.becomes({ shells: [user], shellEvents: [event('background_request'), event('promote', { seq: 2 })] });
    expect(play.text()).toContain('· shell-3 was sent to the background by the user');
    expect(play.text()).not.toContain('runs on');
    play.becomes({ shellEvents: [event('resume'), event('resume', { shell_id: 'shell-9' })] });
    expect(play.text().match(/was resumed by the user/g)).toHaveLength(1);
  });

  it('SHL1 one that ended well is told by its card alone', () => {
    const play = chat(managed(), [mine(shellOf(lived(born(), started, exit(0))))]);
    expect(play.text()).not.toContain('ended by');
  });
});
