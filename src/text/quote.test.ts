// Quoting against the programs that read it: a real tmux on a private socket and a real sh.

import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Result } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { checkHostAlias, quoteSh, quoteSsh, quoteTmux, quoteTmuxFormat } from './quote.ts';

function taken<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`refused: ${result.failure.message}`);
  return result.value;
}

/** Small seeded generator (mulberry32): the same texts on every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const words =
  '" \' \\ $ $HOME $(id) `id` ~ ~root ~/x # #{pid} #(id) #[fg=red] #[ [ ##[ { } , ; ;; \\; % %% %if %H - -- -t = | & && * ? [a] ' +
  '\\n \\033 \\u0041 \\101 word 0 7 ! !! < > : @ \\\\ \\" é 漢字 🙂 \u200d \u00a0 \u009b \ufffd \x01 \x07 \x1b \x1b[201~ \x7f';
const pieces = [...words.split(' '), ' ', ' ; ', '\n', '\r', '\t', '\r\n', 'two words', `$${'{HOME}'}`];

const random = randomOf(20_250_707);
const fuzzed = Array.from({ length: 400 }, () =>
  Array.from({ length: 1 + random(8) }, () => pieces[random(pieces.length)]).join(''),
);
const everyChar = Array.from({ length: 0x17f }, (_, index) => String.fromCharCode(index + 1)).join('');
const texts = [...pieces.flatMap((piece) => [piece, `a${piece}`, `${piece}7`]), everyChar, ...fuzzed];

describe('tmux', () => {
  const directory = mkdtempSync(join(tmpdir(), 'agtmux-quote-'));
  const environment = { ...process.env, TMUX: '', TMUX_TMPDIR: directory };
  let client: ChildProcessWithoutNullStreams;
  let read = '';
  let runs = 0;
  let wake = (): void => {};

  /** A second command marks the end of the answer, for one command may answer in several blocks. */
  async function run(command: string): Promise<{ readonly failed: boolean; readonly lines: readonly string[] }> {
    expect(command).not.toMatch(/[\n\r]/);
    runs += 1;
    client.stdin.write(`${command}\ndisplay-message -p marker-${runs}\n`);
    const marker = new RegExp(`%begin .*\nmarker-${runs}\n%end .*\n`);
    while (!marker.test(read)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const lines = read.slice(0, read.search(marker)).split('\n').slice(0, -1);
    read = '';
    return { failed: lines.some((line) => line.startsWith('%error')), lines: lines.filter((line) => line[0] !== '%') };
  }

  beforeAll(async () => {
    const args = ['-L', 'quote', '-f', '/dev/null', '-C', 'new-session', 'exec sleep 600'];
    client = spawn('tmux', args, { env: environment });
    client.stdout.on('data', (bytes: Buffer) => {
      read += bytes.toString('latin1');
      wake();
    });
    await run('display-message -p ready');
  });

  afterAll(() => {
    execFileSync('tmux', ['-L', 'quote', 'kill-server'], { env: environment });
    rmSync(directory, { recursive: true, force: true });
  });

  async function throughBuffer(text: string): Promise<Buffer> {
    const path = join(directory, 'saved');
    const set = await run(`set-buffer -b quoted -- ${taken(quoteTmux(text))}`);
    expect(set, JSON.stringify(text)).toEqual({ failed: false, lines: [] });
    expect((await run(`save-buffer -b quoted ${taken(quoteTmux(path))}`)).failed).toBe(false);
    return readFileSync(path);
  }

  it('carries every text byte for byte through a control mode line', async () => {
    for (const text of texts) expect(await throughBuffer(text), JSON.stringify(text)).toEqual(Buffer.from(text));
  });

  it('carries a large text and an empty one', async () => {
    const large = fuzzed.join('').repeat(20);
    expect((await throughBuffer(large)).toString()).toBe(large);
    expect(await run(`display-message -p ${taken(quoteTmux(''))}`)).toEqual({ failed: false, lines: [''] });
  });

  it('compares literals inside formats exactly', async () => {
    const verdicts = '"display-message -p same" "display-message -p other"';
    for (const text of texts) {
      expect((await run(`set-option -g @literal ${taken(quoteTmux(text))}`)).failed).toBe(false);
      const compare = async (literal: string): Promise<readonly string[]> => {
        const format = `#{==:#{@literal},${quoteTmuxFormat(literal)}}`;
        return (await run(`if-shell -F ${taken(quoteTmux(format))} ${verdicts}`)).lines;
      };
      expect(await compare(text), JSON.stringify(text)).toEqual(['same']);
      expect(await compare(`${text}x`), JSON.stringify(text)).toEqual(['other']);
    }
  });

  it('refuses what no line can carry', () => {
    expect(quoteTmux('a\0b')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    expect(quoteTmux('a\ud800b')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
  });
});

describe('sh', () => {
  it('carries every text byte for byte', () => {
    const quoted = ['', ...texts].map((text) => taken(quoteSh(text)));
    const printed = execFileSync('sh', ['-c', `printf '%s\\000' ${quoted.join(' ')}`]);
    expect(printed.toString().split('\0').slice(0, -1)).toEqual(['', ...texts]);
  });

  it('refuses what no argument can carry', () => {
    expect(quoteSh('a\0b')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    expect(quoteSh('a\udc00b')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
  });

  it('keeps an argument vector apart on the far side of ssh', () => {
    const args = ['printf', '%s\\000', '', ...texts];
    const printed = execFileSync('sh', ['-c', taken(quoteSsh(args))], { encoding: 'utf8' });
    expect(printed.split('\0').slice(0, -1)).toEqual(args.slice(2));
  });

  it('means the same to every login shell: no line break, no !, no backslash before a quote', () => {
    const lines = [['echo', 'plain $HOME `id` "x" {a,b} ~ * ? #'], ...['', ...texts].map((text) => ['echo', text])];
    for (const line of lines.map((args) => taken(quoteSsh(args)))) {
      expect(line).toMatch(/^[ -~]*$/);
      expect(line).not.toMatch(/!|\\['\\]/);
      // Quoted parts and plain words, nothing else: each quote that opens is closed.
      expect(line).toMatch(/^(?:'[^'\n]*'|sh|-c| )*$/);
    }
    expect(taken(quoteSsh(['echo', 'a b']))).toBe("'echo' 'a b'");
  });

  const shells = ['tcsh', 'csh', 'fish', 'zsh', 'bash', 'dash', 'sh'].filter(
    (shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0,
  );
  it.each(shells)('arrives byte for byte through %s as the login shell', (shell) => {
    const args = ['printf', '%s\\000', '', ...texts];
    const printed = execFileSync(shell, ['-c', taken(quoteSsh(args))], { encoding: 'utf8' });
    expect(printed.split('\0').slice(0, -1)).toEqual(args.slice(2));
  });

  it('refuses an empty vector and a word that cannot be carried', () => {
    expect(quoteSsh([])).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    expect(quoteSsh(['tmux', 'a\0'])).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
  });
});

describe('host alias', () => {
  const good =
    'vm1 build-box.example.org user@host first.last+x@10.0.0.7 git_hub _dmarc A ::1 fe80::1%eth0 2001:db8::ff00:42:8329 ' +
    'root@2001:db8::1 ::ffff:192.0.2.1';
  const bad =
    '-oProxyCommand=id -V user@-host -l@host @host user@ a@b@c host;id host|id host& $HOME $(id) `id` ho\'st ho"st ho\\st ' +
    'host:22 ssh://host host/x host%h %h [host] [::1 ::1] [] ::1% ::1%-x ::1%$(id) hōst a!b ho*st ? ~ #x (x) {x} <x x> ' +
    'a,b host= 1:2:3:4:5:6:7:8:9 .host \u202ehost ho\0st host\n host\tx';

  it.each([...good.split(' '), 'x'.repeat(limits.hostAliasCharsMax)])('takes %j', (text) => {
    expect(checkHostAlias(text)).toEqual({ ok: true, value: text });
  });

  it.each([
    ['[::1]', '::1'],
    ['root@[fe80::1%eth0]', 'root@fe80::1%eth0'],
  ])('takes the brackets off %j', (text, value) => {
    expect(checkHostAlias(text)).toEqual({ ok: true, value });
  });

  it.each(['', ' host', 'host name', ...bad.split(' '), 'x'.repeat(limits.hostAliasCharsMax + 1)])(
    'refuses %j',
    (text) => {
      expect(checkHostAlias(text)).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    },
  );
});
