import { describe, expect, it } from 'vitest';
import { born, eventOf, exit, lived, process, started, t0 } from '../../test/kit/shells.ts';
import type { ShellItem } from '../api/shells.ts';
import type { ShellLogPage, ShellRecord, ShellRow, ShellStatus } from '../model/shells.ts';
import { width } from '../text/width.ts';
import { shellItem } from './lists-items.ts';
import { badgeText, clockText, shellCard, shellHints, shellNotice, timeText } from './shells.ts';
import { type PanelOptions, selectedShell, shellDetail, shellPanel, shellsOfTab } from './shells-panel.ts';
import { cutLine, lineText, paintLine, type SpanLine, span } from './shells-spans.ts';
import { shellsTable } from './shells-text.ts';

const row = (record: ShellRecord, fields: Partial<ShellRow> = {}): ShellItem =>
  shellItem({ last_log: [], ...record, ...fields }, (time) => time);
const texts = (lines: readonly SpanLine[]): readonly string[] => lines.map(lineText);
const card = (one: ShellItem, columns = 80): readonly string[] => texts(shellCard(one, { columns }));

const background = { run_in_background: true } as const;
const promoted = lived(born(), started, eventOf('budget_elapsed'));
const killed = lived(promoted, eventOf('kill:user'), exit(143));
const build = lived(born({ command: 'npm run build' }), started, eventOf('background_request:user'));

describe('the card of a shell', () => {
  it('SHL8 after the budget', () => {
    expect(card(row(promoted))).toEqual([
      '● Shell (sleep 120)',
      '  └ Status: running · shell-3',
      '    Command: sleep 120',
      '    Reason: auto background (60s budget exceeded)',
      '    Last log:',
      '        (no output)',
    ]);
  });

  it('SHL8 killed by the user, with the status it really had', () => {
    expect(card(row(killed, { last_log: ['timeout occurred'] }))).toEqual([
      '● Failed (sleep 120)',
      '  └ Status: failed (code 143) · shell-3',
      '    Reason: killed by user (Shell panel)',
      '    Last log:',
      '        timeout occurred',
    ]);
  });

  it('SHL8 moved to the background with Ctrl+R', () => {
    expect(card(row(build, { shell_id: 'shell-5', last_log: ['compiling...'] }))).toEqual([
      '● Shell (npm run build)',
      '  └ Status: running · shell-5',
      '    Command: npm run build',
      '    Reason: moved to background by user (Ctrl+R)',
      '    Last log:',
      '        compiling...',
    ]);
  });

  it('SHL8 in the foreground it says how to send it away', () => {
    expect(card(row(lived(born({ label: 'build the docs' }), started), { last_log: ['one', 'two', 'three'] }))).toEqual(
      [
        '● Shell (build the docs)',
        '  └ Status: running · shell-3',
        '    Command: sleep 120',
        '    Last log:',
        '        two',
        '        three',
        '    Ctrl+R → background',
      ],
    );
  });

  it('completed, stopped, a second attempt', () => {
    expect(card(row(lived(promoted, exit(0)))).slice(0, 2)).toEqual([
      '● Completed (sleep 120)',
      '  └ Status: completed · shell-3',
    ]);
    expect(card(row(lived(promoted, eventOf('stopped'))))[1]).toBe('  └ Status: running, stopped · shell-3');
    expect(card(row(lived(killed, eventOf('resume:user'))))[1]).toBe('  └ Status: running, attempt 2 · shell-3');
  });

  it('running is green, completed grey, failed red, and never by colour alone', () => {
    const dot = (record: ShellRecord) => paintLine(shellCard(row(record), { columns: 80 })[0] ?? []).slice(0, 10);
    expect(dot(promoted)).toBe('\u001b[32m●\u001b[0m');
    expect(dot(lived(promoted, exit(0)))).toBe('\u001b[90m●\u001b[0m');
    expect(dot(killed)).toBe('\u001b[31m●\u001b[0m');
  });
});

describe('times and badges', () => {
  it.each([
    [0, '00:00'],
    [103_999, '01:43'],
    [3_723_000, '1:02:03'],
    [183_600_000, '2d 03h'],
    [-5, '00:00'],
  ])('%i ms is %s', (ms, text) => {
    expect(clockText(ms)).toBe(text);
  });

  it('an ETA only where somebody said how long it takes, and while that can be true', () => {
    const expected = row(lived(born({ ...background, expected_duration_s: 120 }), started));
    expect(timeText(expected, t0 + 17_000)).toBe('ETA 01:43');
    expect(timeText(expected, t0 + 121_000)).toBe('02:01');
    expect(timeText(row(promoted), t0 + 17_000)).toBe('00:17');
    expect(timeText(row(lived(promoted, exit(0, { at: t0 + 9_000 }))), t0 + 99_000)).toBe('00:09');
  });

  it.each<readonly [string, ShellRecord]>([
    ['auto background · 60s', promoted],
    ['user', build],
    ['agent', lived(born(background), started)],
    ['foreground', lived(born(), started)],
    ['agent', lived(born(), started, eventOf('background_request:agent'))],
    ['user', lived(killed, eventOf('resume:user'))],
    ['agent · stopped', lived(born(background), started, eventOf('stopped'))],
    ['agent · being killed by user', lived(born(background), started, eventOf('kill:user'))],
    ['code 143 · user', killed],
    ['code 0', lived(promoted, exit(0))],
    ['SIGKILL', lived(promoted, exit(null, { signal: 'SIGKILL' }))],
    ['not started', lived(born(), eventOf('spawn_failed'))],
    ['status lost', lived(promoted, eventOf('holder_lost'))],
    ['code 143 · timeout', lived(promoted, eventOf('timeout_elapsed'), exit(143))],
  ])('SHL2 the badge %s', (badge, record) => {
    expect(badgeText(row(record), t0 + 60_000)).toBe(badge);
  });

  it('what a daemon that went away has left exceeded no budget', () => {
    expect(badgeText(row(lived(born(), started, eventOf('adopted'))), t0 + 500)).toBe('auto background');
  });
});

describe('notices and hints', () => {
  it('SHL7 one dim line that says who ended it', () => {
    const notice = { kind: 'killed', by: 'user', words: 'the user killed shell-3 (sleep 120)' } as const;
    const line = shellNotice(notice, { columns: 80 });
    expect(line).toEqual([span('· the user killed shell-3 (sleep 120) · ended by user', 'dim')]);
    const moved = { kind: 'user_background', by: 'user', words: 'the user moved shell-3 to the background' } as const;
    expect(lineText(shellNotice(moved, { columns: 80 }))).toBe('· the user moved shell-3 to the background');
    expect(lineText(shellNotice(notice, { columns: 20 }))).toBe('· the user killed s…');
  });

  it('the footer has a hint of the panel, and Ctrl+R while somebody waits', () => {
    expect(shellHints([])).toEqual([]);
    expect(shellHints([row(killed)])).toEqual(['[Shell ▾]']);
    expect(shellHints([row(promoted), row(build)])).toEqual(['[Shell ▾ 2]']);
    expect(shellHints([row(lived(born(), started))])).toEqual(['[Shell ▾ 1]', 'Ctrl+R → background']);
  });
});

const panelRows: readonly ShellItem[] = [
  row(lived(born({ expected_duration_s: 163 }), started, eventOf('budget_elapsed')), {
    shell_id: 'shell-4',
    started_at: t0 + 3,
  }),
  row(lived(born({ ...background, command: 'python countdown', expected_duration_s: 80 }), started), {
    shell_id: 'shell-2',
    started_at: t0 + 2,
  }),
  row(lived(born({ ...background, command: 'tar backup' }), started), { shell_id: 'shell-7', started_at: t0 + 1 }),
  row(lived(promoted, exit(0)), { shell_id: 'shell-1' }),
  row(killed, { shell_id: 'shell-6' }),
  row(lived(promoted, exit(3, { at: t0 + 90 })), { shell_id: 'shell-8', seen: true }),
];

const panel = (options: Partial<PanelOptions>, rows = panelRows) => {
  const all = { tab: 'running', selected: null, columns: 120, lines: 6, now: t0 + 60_003, ...options } as const;
  return shellPanel(rows, all);
};

describe('the panel', () => {
  it('SHL8 tabs, rows with a marker, time and badge, keys', () => {
    expect(texts(panel({ selected: 'shell-4' })).map((line) => line.trimEnd())).toEqual([
      '[RUNNING] - completed - failed',
      '> shell-4  sleep 120         ETA 01:43  [auto background · 60s]',
      '  shell-2  python countdown  ETA 00:19  [agent]',
      '  shell-7  tar backup            01:00  [agent]',
      '',
      '←/→ tabs · ↑/↓ select · Enter details · k kill · d diagnostic · r resume · Ctrl+R background · q/Esc exit',
    ]);
  });

  it('the other tabs mark what nobody has seen', () => {
    expect(texts(panel({ tab: 'failed', selected: 'shell-6' })).map((line) => line.trimEnd())).toEqual([
      'running - completed - [FAILED]',
      '  shell-8  sleep 120  00:00  [code 3]',
      '> shell-6  sleep 120  00:00  [code 143 · user] new',
      '',
      '',
      '←/→ tabs · ↑/↓ select · Enter details · d diagnostic · r resume · q/Esc exit',
    ]);
    expect(lineText(panel({ tab: 'completed' })[1] ?? [])).toMatch(
      /^> shell-1 {2}sleep 120 {2}00:00 {2}\[code 0\] new/,
    );
  });

  it('the whole selected row stands out', () => {
    const lines = panel({ selected: 'shell-2' });
    expect(lines[2]).toEqual([span(expect.stringMatching(/^> shell-2 /), 'selected')]);
    expect(width(lineText(lines[2] ?? []))).toBe(120);
    expect(lines.filter((line) => lineText(line).startsWith('> '))).toHaveLength(1);
    expect(
      selectedShell(panelRows, { tab: 'running', selected: 'shell-6', columns: 1, lines: 1, now: 0 })?.shell_id,
    ).toBe('shell-4');
  });

  it('an empty tab says so', () => {
    expect(lineText(panel({}, [])[1] ?? [])).toBe('No shell is running. Agents start them with shell_run.');
  });

  const many = Array.from({ length: 100 }, (_, place) =>
    row(lived(born(background), started), { shell_id: `shell-${place}`, started_at: t0 + place }),
  );

  it.each([
    ['shell-99', 0],
    ['shell-50', 10],
    ['shell-0', 20],
  ] as const)('a long list is a window around %s', (selected, place) => {
    const lines = texts(panel({ selected, lines: 24, columns: 120 }, many));
    expect(lines).toHaveLength(24);
    expect(lines.findIndex((line) => line.startsWith(`> ${selected} `))).toBe(place + 1);
    const first = Number(/shell-(\d+)/.exec(lines[1] ?? '')?.[1]);
    expect(lines[0]?.trimEnd()).toMatch(new RegExp(`^\\[RUNNING\\] .* ${100 - first}-${100 - first + 20} of 100$`));
  });

  it('the newest comes first', () => {
    expect(
      shellsOfTab(many, 'running')
        .slice(0, 2)
        .map((one) => one.shell_id),
    ).toEqual(['shell-99', 'shell-98']);
    expect(shellsOfTab(panelRows, 'failed').map((one) => one.shell_id)).toEqual(['shell-8', 'shell-6']);
  });
});

const page = (fields: Partial<ShellLogPage> = {}): ShellLogPage => ({
  shell_id: 'shell-3',
  attempt: 1,
  lines: ['one', 'two\ttabbed'],
  cursor: '1:9',
  has_more: false,
  truncated: false,
  partial_line: false,
  has_split_line: false,
  is_capped: false,
  diagnosis: null,
  ...fields,
});

describe('the screen of one shell', () => {
  const options = { columns: 80, lines: 18, now: t0 + 10_050, scroll: 0 };

  it('status, timing and log', () => {
    const lines = texts(shellDetail(row(killed), page(), options));
    expect(lines).toEqual([
      '● shell-3  sleep 120',
      '  Status: failed (code 143) new',
      '  Command: sleep 120',
      '  Folder: /srv/web-shop',
      '  Time: ran 00:00 · ended 00:10 ago · timeout 00:30',
      '  Mode: foreground, moved to background by system, started by agent',
      '  Agent: codex',
      '  Ended by: user',
      '  Reason: killed by user (Shell panel)',
      `─ Log ${'─'.repeat(74)}`,
      'one',
      'two    tabbed',
      '',
      '',
      '',
      '',
      '',
      '↑/↓ scroll · c copy log · d diagnostic · r resume · Esc/q back',
    ]);
  });

  it('says what is odd about the log, and scrolls', () => {
    const lines = Array.from({ length: 50 }, (_, place) => `line ${place}`);
    const odd = page({
      lines,
      truncated: true,
      is_capped: true,
      partial_line: true,
      has_split_line: true,
      has_more: true,
    });
    const text = texts(shellDetail(row(lived(born(), started)), odd, { ...options, columns: 140, scroll: 20 }));
    expect(text.join('\n')).toContain(
      '─ Log · older lines were dropped · full: later output was not stored · last line incomplete · long lines split · more follows ─',
    );
    expect(text.filter((line) => line.startsWith('line ')).at(0)).toBe('line 20');
    expect(text.at(-1)).toBe('↑/↓ scroll · c copy log · d diagnostic · k kill · Ctrl+R → background · Esc/q back');
    const end = texts(shellDetail(row(killed), odd, { ...options, scroll: 900 }));
    expect(end.filter((line) => line.startsWith('line ')).at(-1)).toBe('line 49');
  });

  it('with what a diagnosis says, while it is read, and without output', () => {
    const found = texts(shellDetail(row(killed), page({ diagnosis: 'failed; ended by user', lines: [] }), options));
    expect(found.slice(0, 3)).toEqual(['● shell-3  sleep 120', '  failed', '  ended by user']);
    expect(found[4]).toBe('(no output)');
    expect(texts(shellDetail(row(killed), null, options))[10]).toBe('  reading…');
  });

  it('shows a long command as far as it fits, and hides nothing in it', () => {
    const command = Array.from({ length: 7 }, (_, place) => `echo ${place}`).join('\n');
    const lines = texts(shellDetail(row(lived(born({ command }), started)), page(), options));
    expect(lines.slice(2, 7)).toEqual([
      '  Command: echo 0',
      '           echo 1',
      '           echo 2',
      '           echo 3',
      '           … 3 more lines',
    ]);
    const sly = texts(shellDetail(row(lived(born({ command: 'rm -rf /\r\u001b[2Kls' }), started)), page(), options));
    expect(sly[2]).toBe('  Command: rm -rf /␍␛[2Kls');
  });
});

describe('the table of shells', () => {
  it('says in one line what each is and why', () => {
    expect(shellsTable(panelRows.slice(2), { columns: 120, colour: false, now: t0 + 60_003 })).toEqual([
      'STATUS                   SHELL    WHAT        TIME   BY               AGENT  REASON',
      '● running                shell-7  tar backup  01:00  agent            codex',
      '● completed new          shell-1  sleep 120   00:00  code 0           codex  auto background (60s budget exceeded)',
      '● failed (code 143) new  shell-6  sleep 120   00:00  code 143 · user  codex  killed by user (Shell panel)',
      '● failed (code 3)        shell-8  sleep 120   00:00  code 3           codex  exited with status 3',
    ]);
  });

  it('colours change no column, and an empty table says what would fill it', () => {
    const options = { columns: 120, now: t0 };
    const plain = shellsTable(panelRows, { ...options, colour: false });
    const coloured = shellsTable(panelRows, { ...options, colour: true });
    expect(coloured.join('\n')).toContain('\u001b[31m● failed (code 3)\u001b[0m');
    expect(coloured.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, '').trimEnd())).toEqual(plain);
    expect(shellsTable([], { ...options, colour: false })[0]).toBe('No shell to show.');
  });
});

describe('hostile words and any size', () => {
  const evil = 'x\n> shell-9  forged  ETA 00:01\u001b[2J\u001b]0;owned\u0007\r\u202e日本語👩‍👩‍👧‍👦\u0000'.repeat(3);
  const hostile: readonly ShellItem[] = [promoted, killed, lived(promoted, exit(0)), lived(born(), started)].map(
    (record, place) =>
      row(
        { ...record, label: place % 2 === 0 ? evil : null, command: evil, cwd: evil, words: evil },
        {
          shell_id: `shell-${place + 1}`,
          owner: { key: evil, runtime_id: null, client: evil, thread: evil },
          last_log: [evil, evil],
          process,
        },
      ),
  );
  const wide = row(promoted, { label: '日本語のビルド'.repeat(9), shell_id: 'shell-77' });
  const sizes = [
    [80, 24],
    [120, 40],
    [36, 50],
    [36, 6],
    [10, 3],
    [1, 1],
  ] as const;
  const tabs: readonly ShellStatus[] = ['running', 'completed', 'failed'];

  function screens(columns: number, lines: number): readonly (readonly SpanLine[])[] {
    const all = [...hostile, wide];
    const odd = page({ lines: [evil, '漢字'.repeat(80)], diagnosis: evil });
    return [
      ...tabs.map((tab) => shellPanel(all, { tab, selected: null, columns, lines, now: t0 + 99_000 })),
      ...all.map((one) => shellDetail(one, odd, { columns, lines, now: t0 + 99_000, scroll: 0 })),
    ];
  }

  it.each(sizes)('SEC3 in %i columns and %i lines nothing wraps, is forged or has an effect', (columns, lines) => {
    for (const screen of screens(columns, lines)) {
      expect(screen).toHaveLength(lines);
      for (const text of texts(screen)) {
        expect(width(text), text).toBeLessThanOrEqual(columns);
        expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
        expect(text).not.toMatch(/^> shell-9/);
      }
    }
    const others = [...hostile, wide].flatMap((one) => [
      ...texts(shellCard(one, { columns })),
      lineText(shellNotice({ kind: 'killed', by: 'user', words: evil }, { columns })),
    ]);
    const table = shellsTable([...hostile, wide], { columns, colour: false, now: t0 });
    expect(table).toHaveLength(hostile.length + 2);
    for (const text of [...others, ...table]) {
      expect(width(text), text).toBeLessThanOrEqual(columns);
      expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    }
  });

  it('SEC3 a label stays in its column', () => {
    const lines = texts(
      shellPanel([...hostile, wide], { tab: 'running', selected: null, columns: 80, lines: 24, now: t0 }),
    );
    const rows = lines.filter((line) => /^[> ] shell-/.test(line));
    expect(rows).toHaveLength(3);
    const starts = rows.map((line) => width(line.slice(0, line.lastIndexOf('['))));
    expect(new Set(starts).size).toBe(1);
  });

  it('80 x 24, 120 x 40 and 36 x 50 as they are', () => {
    const shot = (columns: number, lines: number): string =>
      texts(
        shellPanel([...panelRows, wide], { tab: 'running', selected: 'shell-77', columns, lines, now: t0 + 60_003 }),
      )
        .map((line) => line.trimEnd())
        .join('\n');
    expect([shot(80, 24), shot(120, 40), shot(36, 50)]).toMatchSnapshot();
  });

  it('a line is cut where it ends, through its pieces', () => {
    const line = [span('abc'), span('def', 'dim'), span('ghi')];
    expect(lineText(cutLine(line, 9))).toBe('abcdefghi');
    expect(lineText(cutLine(line, 6))).toBe('abcde…');
    expect(lineText(cutLine(line, 4))).toBe('abc…');
    expect(lineText(cutLine(line, 3))).toBe('ab…');
    expect(lineText(cutLine(line, 0))).toBe('');
  });
});
