import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../model/limits.ts';
import { createQuestions, fullArgv, isSameTopology, parseServer, rowsMaxOf, topologyOf } from './topology.ts';

const nonce = 'a1b2';
const questions = createQuestions(nonce, { escapesDollars: false, rowsMax: rowsMaxOf('local') });

/** What is asked for with a bound, without it. */
const unbounded = /#\{\?#\{e\|>\|:#\{n:(\w+)\},\d+\},.*?,(#\{\1\})\}/g;

/** As tmux would answer: the format of the question with its fields filled in. */
function answer(question: string, panes: readonly Readonly<Record<string, string>>[], isEscaped = false): Uint8Array {
  const format = question.replace(unbounded, '$2');
  const text = panes.map((fields) => format.replace(/#\{(\w+)\}/g, (_, name: string) => fields[name] ?? '')).join('\n');
  return Buffer.from(isEscaped ? text.replaceAll('\x1e', '\\036').replaceAll('\x1f', '\\037') : text);
}

const [, , , fullFormat = ''] = fullArgv(nonce);

const sample = {
  pane_id: '%5',
  pane_pid: '42',
  window_activity: '1700000000',
  pane_title: '⠋ title',
  pane_dead: '0',
  pane_in_mode: '1',
  session_id: '$1',
  window_id: '@3',
  window_index: '2',
  pane_index: '1',
  pane_tty: '/dev/pts/3',
  session_name: 'work',
  pane_active: '1',
  window_active: '1',
  session_attached_list: 'client-77,/dev/pts/9',
  pane_width: '80',
  pane_height: '24',
  window_name: 'editor',
  pane_current_command: 'node',
  pane_current_path: '/home/me',
};

const server = { pid: 1, startTime: 2, version: '3.3a', socketPath: '/s' };

describe('the full answer', () => {
  it('is read field by field', () => {
    const [row] = questions.parseFull(answer(fullFormat, [sample]));
    expect(row?.activity).toBe(1_700_000_000);
    expect(row?.view).toEqual({
      pane: '%5',
      panePid: 42,
      tty: '/dev/pts/3',
      sessionId: '$1',
      sessionName: 'work',
      windowId: '@3',
      windowIndex: 2,
      windowName: 'editor',
      paneIndex: 1,
      visible: true,
      viewers: '/dev/pts/9',
      dead: false,
      deadStatus: null,
      deadSignal: null,
      inMode: true,
      width: 80,
      height: 24,
      title: '⠋ title',
      currentCommand: 'node',
      cwd: '/home/me',
    });
  });

  it('SEC3 no name, command or path can forge another pane or another field', () => {
    const hostile = fc
      .array(fc.constantFrom('\x1e', '\x1f', '\n', '%1', '\x1e%1\x1f1\x1f', '#{pid}', 'a', '\\036', '"', '🚀'), {
        maxLength: 8,
      })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (window_name, pane_current_command, path, name) => {
        const pane_current_path = `/${path}`;
        const names = { pane_title: name, session_name: name };
        const panes = [
          { ...sample, ...names, window_name, pane_current_command, pane_current_path },
          { ...sample, pane_id: '%6' },
        ];
        const rows = questions.parseFull(answer(fullFormat, panes));
        expect(rows.map(({ pane }) => pane)).toEqual(['%5', '%6']);
        expect(rows[0]?.view).toMatchObject({
          title: name,
          sessionName: name,
          windowName: window_name,
          currentCommand: pane_current_command,
          cwd: pane_current_path,
        });
        expect(rows[1]?.view).toMatchObject({ windowName: 'editor', currentCommand: 'node', cwd: '/home/me' });
      }),
    );
  });

  it('is read alike where tmux prints control characters escaped', () => {
    expect(questions.parseFull(answer(fullFormat, [sample, sample], true))).toEqual(
      questions.parseFull(answer(fullFormat, [sample, sample])),
    );
  });

  it('SEC3 a name that holds what tmux 3.4 and 3.5 print for a separator hides no pane, and a path is the real one', () => {
    const told = {
      pane_title: 't\\037\\036',
      session_name: '\\037\\037',
      window_name: '\\036%1',
      pane_current_command: '\\037',
    };
    const pane = { ...sample, ...told, pane_current_path: '/a\x1f\tb' };
    const [row] = questions.parseFull(answer(fullFormat, [pane], true));
    expect(row?.view).toMatchObject({ title: told.pane_title, sessionName: told.session_name, cwd: '/a\x1f\tb' });
    const gateFormat = /"(.*)"$/.exec(questions.gateCommand)?.[1] ?? '';
    const raw = gateFormat.replaceAll('\\036', '\x1e').replaceAll('\\037', '\x1f');
    for (const isEscaped of [false, true]) {
      expect(questions.parseGate(answer(raw, [pane], isEscaped)).map(({ title }) => title)).toEqual([told.pane_title]);
    }
  });

  it('a backslash that tmux 3.4 writes before a dollar is not part of a name', () => {
    const printed = { ...sample, pane_title: '\\$HOME 5$ \\$_x', pane_current_path: '/\\$a/\\\\$b' };
    const titles = (escapesDollars: boolean): readonly unknown[] => {
      const [row] = createQuestions(nonce, { escapesDollars, rowsMax: 10 }).parseFull(
        answer(fullFormat, [printed], true),
      );
      return [row?.view.title, row?.view.cwd];
    };
    expect(titles(true)).toEqual(['$HOME 5$ $_x', '/$a/\\$b']);
    expect(titles(false)).toEqual([printed.pane_title, printed.pane_current_path]);
  });

  it('garbage gives no panes, a flood not more than allowed', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void expect(questions.parseFull(bytes)).toEqual([])));
    const record = `\x1e${nonce}\x1e`;
    expect(questions.parseFull(Buffer.from(`${record}%x\x1f1${record}${record}%1`))).toEqual([]);
    const many = `${record}%1\x1f2\x1f3\x1ftitle\n`.repeat(limits.panesPerServerMax + 10);
    expect(questions.parseGate(Buffer.from(many)).length).toBe(limits.panesPerServerMax);
  });

  it('SEC5 a machine behind ssh tells of no more panes than its share, and none with more words than tmux prints', () => {
    const far = createQuestions(nonce, { escapesDollars: false, rowsMax: rowsMaxOf('ssh') });
    const record = `\x1e${nonce}\x1e`;
    const row = (pane: number, title: string): string => `${record}%${pane}\x1f2\x1f3\x1f${title}\n`;
    const many = Array.from({ length: 20_000 }, (_, pane) => row(pane, 'title')).join('');
    expect(far.parseGate(Buffer.from(many)).length).toBe(limits.farPanesMax);
    const long = row(1, 'x'.repeat(limits.tmuxRowCharsMax));
    // One that is too long counts as well: a flood of them ends as one of others does.
    expect(far.parseGate(Buffer.from(row(0, 'a') + long + row(2, 'b'))).map(({ pane }) => pane)).toEqual(['%0', '%2']);
    expect(far.parseGate(Buffer.from(long.repeat(limits.farPanesMax) + row(2, 'b')))).toEqual([]);
  });

  it('a pane counts as seen only by a client with a terminal', () => {
    const visible = (list: string): boolean | undefined =>
      questions.parseFull(answer(fullFormat, [{ ...sample, session_attached_list: list }]))[0]?.view.visible;
    expect([visible(''), visible('client-1'), visible('client-1,client-22'), visible('/dev/pts/0')]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});

describe('topology', () => {
  it('a window linked into two sessions is one pane, visible when it is in either', () => {
    const rows = questions.parseFull(
      answer(fullFormat, [
        { ...sample, session_attached_list: '', session_name: 'first' },
        { ...sample, session_name: 'second' },
      ]),
    );
    const { panes } = topologyOf(server, rows);
    expect([...panes.values()].map(({ sessionName, visible }) => [sessionName, visible])).toEqual([['first', true]]);
    expect([...panes.values()][0]?.otherSessions).toEqual(['second']);
    const again = topologyOf(server, rows);
    expect(isSameTopology(topologyOf(server, rows), again)).toBe(true);
    const alone = topologyOf(server, rows.slice(1));
    expect(isSameTopology(again, alone)).toBe(false);
    // Twice in one session is one name.
    const twice = topologyOf(server, [...rows, ...rows]);
    expect([...twice.panes.values()][0]?.otherSessions).toEqual(['second']);
  });

  it('any field that differs makes another topology', () => {
    const one = topologyOf(server, questions.parseFull(answer(fullFormat, [sample])));
    expect(isSameTopology(one, topologyOf({ ...server }, questions.parseFull(answer(fullFormat, [sample]))))).toBe(
      true,
    );
    for (const name of Object.keys(sample).filter((field) => field !== 'window_activity')) {
      const other = { ...sample, [name]: name === 'pane_id' ? '%7' : name === 'session_attached_list' ? '' : '0' };
      if (name === 'pane_dead') other.pane_dead = '1';
      expect(isSameTopology(one, topologyOf(server, questions.parseFull(answer(fullFormat, [other])))), name).toBe(
        false,
      );
    }
    expect(isSameTopology(one, { ...one, server: { ...server, pid: 9 } })).toBe(false);
    expect(isSameTopology(one, topologyOf(server, []))).toBe(false);
  });

  it('IDN2 the server tells who it is', () => {
    expect(parseServer(Buffer.from('12 1700000000 3.3a /tmp/tmux 0/a b\n'))).toEqual({
      pid: 12,
      startTime: 1_700_000_000,
      version: '3.3a',
      socketPath: '/tmp/tmux 0/a b',
    });
    expect(parseServer(Buffer.from('no server running'))).toBeNull();
  });
});
