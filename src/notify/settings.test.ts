import { describe, expect, it } from 'vitest';
import { paneRow } from '../../test/kit/rows.ts';
import { noticeEvents } from '../model/notices.ts';
import { hasAgent } from '../model/rows.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import {
  changedSettings,
  channelsFor,
  defaultNoticeSettings,
  fits,
  isQuiet,
  quietOf,
  readNoticeSettings,
  writeNoticeSettings,
} from './settings.ts';
import { sequenceOf } from './terminal.ts';
import { bodyOf, countsOf, isWhole, kindWords, placeOf, projectOf, titleOf } from './words.ts';

const home = '/home/me';

describe('notifications.toml', () => {
  it('NOT7 without a file only open pages show anything', () => {
    expect(defaultNoticeSettings).toMatchObject({
      on: [...noticeEvents],
      channels: ['browser'],
      desktop_text: 'names',
    });
  });

  it('NOT7 is read back as it was written', () => {
    const text =
      'on = ["error"]\nquiet = "22:00-07:00"\n[command]\nargv = ["/bin/tell", "me"]\n[[rules]]\nagent = "codex"\non = []\n';
    const read = readNoticeSettings(text, 'n.toml');
    expect(read.ok && readNoticeSettings(writeNoticeSettings(read.value), 'n.toml')).toEqual(read);
  });

  it.each([
    ['on = ["finished"]', /on\.0/],
    ['quiet = "tonight"', /22:00-07:00/],
    ['quiet = "07:00-07:00"', /quiet/],
    ['channels = "desktop"', /channels/],
    ['colour = 1', /colour/],
    ['on = [', /line 1/],
    ['[webhook]\nurl = "file:///etc/passwd"', /url/],
    ['[webhook]\nurl = "http://h/"\nheaders = { "A:b" = "x" }', /headers/],
  ])('NOT7 %s is refused with its place', (text, words) => {
    const read = readNoticeSettings(text, 'n.toml');
    expect(read.ok ? '' : `${read.failure.code} ${read.failure.message}`).toMatch(words);
  });

  it('a change keeps what it does not name, and can take the quiet time out', () => {
    const read = readNoticeSettings('quiet = "1:00-2:00"\n[[rules]]\nagent = "codex"\n', 'n.toml');
    if (!read.ok) throw new Error(read.failure.message);
    const changed = changedSettings(read.value, { channels: ['desktop'], quiet: null });
    expect(changed.ok && changed.value).toEqual({
      ...defaultNoticeSettings,
      channels: ['desktop'],
      rules: [{ agent: 'codex' }],
    });
    expect(changedSettings(read.value, { quiet: 'x' })).toMatchObject({ ok: false, failure: { code: 'E_FILTER' } });
  });

  it('NOT7 the first rule that fits decides, for an agent, a folder and what is below it', () => {
    const read = readNoticeSettings(
      'channels = ["desktop"]\n[[rules]]\nproject = "~/secret"\non = []\n[[rules]]\nagent = "codex"\nchannels = ["webhook"]\n',
      'n.toml',
    );
    if (!read.ok) throw new Error(read.failure.message);
    const channels = (agent: string, cwd: string) => channelsFor(read.value, { event: 'error', agent, cwd }, home);
    expect(channels('claude', '/home/me/secret/app')).toBeNull();
    expect(channels('codex', '/home/me/secret')).toBeNull();
    expect(channels('codex', '/home/me/secrets')).toEqual(['webhook']);
    expect(channels('claude', '/home/me')).toEqual(['desktop']);
  });

  it.each([
    [{ agent: null, project: 'web-shop' }, true],
    [{ agent: null, project: '/home/me/web-shop/' }, true],
    [{ agent: null, project: '~' }, true],
    [{ agent: null, project: '/' }, true],
    [{ agent: null, project: '/home/me/web' }, false],
    [{ agent: 'codex', project: null }, false],
    [{ agent: 'claude', project: 'api' }, false],
  ])('%o fits claude in ~/web-shop/src: %s', (scope, isFit) => {
    expect(fits(scope, 'claude', '/home/me/web-shop/src', home)).toBe(isFit);
  });
});

describe('quiet time', () => {
  it.each([
    ['22:00-07:00', 21 * 60 + 59, false],
    ['22:00-07:00', 22 * 60, true],
    ['22:00-07:00', 0, true],
    ['22:00-07:00', 7 * 60, false],
    ['9:30-17:00', 12 * 60, true],
    ['9:30-17:00', 9 * 60, false],
  ])('NOT7 %s at minute %i: %s', (text, minute, expected) => {
    const quiet = quietOf(text);
    expect(quiet !== null && isQuiet(quiet, minute)).toBe(expected);
  });

  it.each(['', '24:00-07:00', '22:60-07:00', '22-07', '08:00-08:00'])('%s is none', (text) => {
    expect(quietOf(text)).toBeNull();
  });
});

describe('the words', () => {
  const row = paneRow({
    state: 'waiting_approval',
    fields: { nick: 'boss\u001b[31m', cwd: '/home/me/a\nb/' },
  });

  it('SEC3 NOT4 names pass the gate, and the kind of an ask says nothing of what is asked', () => {
    if (!hasAgent(row)) throw new Error('no agent');
    expect(titleOf('waiting_approval', row)).toMatch(/^▲ boss in a\S?\s?b: approve$/);
    expect(kindWords({ event: 'waiting_approval', ask_kind: 'command' })).toBe('wants to run a command');
    expect(noticeEvents.map((event) => kindWords({ event, ask_kind: null }))).toHaveLength(4);
    expect(countsOf(['error', 'waiting_approval', 'error'])).toBe('▲1 ✕2');
  });

  it('NOT4 folders and sessions pass the gate and are blotted out as well', () => {
    if (!hasAgent(row)) throw new Error('no agent');
    const token = `ghp_${'a1'.repeat(18)}`;
    expect(titleOf('error', { ...row, cwd: `/tmp/${token}` })).not.toContain(token);
    expect(projectOf('/tmp/a\u001b]0;x\u0007b\u202e')).toBe(sanitizeLine(foreign('a\u001b]0;x\u0007b\u202e')));
    const odd = { ...row, identity: { ...row.identity, session_name: 'a\u0000\u202e\nb' } };
    expect(placeOf(odd)).toBe(sanitizeLine(foreign(placeOf(odd))));
  });

  it.each([
    ['rm -rf build', true],
    ['API_KEY="abc$(rm -rf /)" ls', false],
    ['API_KEY="abc" ls', false],
    ['touch a\n\n\tMakes a file\r\n', true],
    ['ls \rrm -rf /', false],
    ['ls \u202e/ fr- mr', false],
    ['ls \u001b[8mrm -rf /\u001b[0m', false],
  ])('NOT5 %j is shown whole: %s', (text, expected) => {
    if (!hasAgent(row)) throw new Error('no agent');
    expect(isWhole(text, bodyOf({ ...row, detail: text }))).toBe(expected);
  });

  it('NOT4 what looks like a secret is blotted out', () => {
    if (!hasAgent(row)) throw new Error('no agent');
    expect(bodyOf({ ...row, detail: 'token=abcdef0123456789 failed' })).toBe('token=[redacted] failed');
    // NOT5: an ask comes here with its secrets hidden already; whoever reads it has not read the whole.
    expect(isWhole('TOKEN=[redacted] make deploy', 'TOKEN=[redacted] make deploy')).toBe(false);
    expect(bodyOf({ ...row, detail: 'ls # all is well\n  rm -rf /\n' })).toBe('ls # all is well ⏎ rm -rf /');
    expect(bodyOf({ ...row, reason_code: 'usage_limit' })).toBe('hit a usage limit');
  });

  it.each([
    ['xterm-256color', '\u001b]9;a, b: c\u001b\\'],
    ['foot', '\u001b]777;notify;a, b;c\u001b\\'],
    ['tmux-256color', '\u0007'],
    ['linux', '\u0007'],
  ])('NOT4 %s is told as it can show it', (term, expected) => {
    expect(sequenceOf(term, 'a; b', 'c\u001b\\\u0007\u009c')).toBe(expected);
  });
});
