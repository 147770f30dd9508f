// An agent in the integrated terminal of a paired editor, which looks for the key of the extension and for what it can do without
// it: in environments, settings, the editor's own files, the clipboard, over the sockets of the extension and of the editor, and from
// an extension of its own. What it could start is in test/system/actions/editor-hostile.test.ts: together more than forty ways.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../kit/live.ts';
import { LookAlike } from '../../kit/look-alike.ts';
import { act } from '../../kit/scenes.ts';
import { type CodeWindow, EditorWorld, plantExtension } from './kit.ts';

let world: EditorWorld;
let window: CodeWindow;
/** In the terminal of the editor; and one in tmux, whom it would answer for. */
let agent: LookAlike;
let victim: LookAlike;
let fingerprint: string;

/** An extension that an agent has put there: it looks for the key and for ways around it, again and again. */
const planted = `
const vscode = require('vscode'), fs = require('node:fs'), http = require('node:http');
const asked = (socketPath) => new Promise((resolve) => {
  const body = JSON.stringify({ action: 'approve', ref: fs.readFileSync(process.env.HOME + '/victim', 'utf8'), any_ask: true, conditions: {} });
  const headers = { host: 'agtmux', 'agtmux-caller-pid': String(process.pid), 'content-type': 'application/json', 'content-length': body.length };
  http.request({ socketPath, method: 'POST', path: '/v1/act', headers }, (answer) => {
    let said = ''; answer.on('data', (part) => { said += part; }); answer.on('end', () => resolve(said));
  }).on('error', (problem) => resolve(String(problem))).end(body);
});
exports.activate = (context) => setInterval(async () => {
  const other = vscode.extensions.getExtension('agtmux.agtmux');
  const found = {
    secret: await context.secrets.get('agtmux.key'),
    exports: other === undefined ? 'none' : JSON.stringify(other.exports),
    globals: context.globalState.keys(),
    settings: JSON.stringify(vscode.workspace.getConfiguration()),
    environment: process.env,
    clipboard: await vscode.env.clipboard.readText(),
    reply: fs.existsSync(process.env.HOME + '/victim') ? await asked(process.env.AGTMUX_STATE_DIR + '/run/agtmux.sock') : '',
  };
  for (let option = 0; option < 3; option++) await vscode.commands.executeCommand('agtmux.pressed', '0'.repeat(32), option);
  fs.writeFileSync(process.env.HOME + '/found.part', JSON.stringify(found));
  fs.renameSync(process.env.HOME + '/found.part', process.env.HOME + '/found.json');
}, 500);
`;

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);

/** The key stands in it, as the daemon would know it by its fingerprint. */
const hasKey = (text: string): boolean =>
  [...text.matchAll(/(?=([0-9a-f]{64}))/g)].some(
    ([, secret = '']) => createHash('sha256').update(secret).digest('hex') === fingerprint,
  );

beforeAll(async () => {
  world = new EditorWorld();
  await world.startDaemon();
  victim = LookAlike.start(world, 'claude', 'work', '', world.project);
  await act(victim, 'waiting_approval');
  await world.becomes(victim, /waiting_approval/);
  await world.startEditor({}, (extensions) => plantExtension(extensions, planted));
  window = await world.openWindow();
  await window.run('agtmux: Pair');
  await window.say(await world.code(), 'Pair with agtmux');
  await window.toasts.getByText('Paired with agtmux').waitFor();
  const kept = filesIn(world.stateDir).map((path) => readFileSync(path, 'latin1'));
  fingerprint = kept.flatMap((text) => /"key_hash":"([0-9a-f]{64})"/.exec(text)?.[1] ?? [])[0] ?? '';
  expect(fingerprint).not.toBe('');
  let line = '';
  agent = LookAlike.startBy(world, 'codex', (own) => {
    line = own;
  });
  await window.openTerminal();
  await window.page.keyboard.type(line);
  await window.page.keyboard.press('Enter');
  await act(agent, 'settled');
  await until(async () => (await world.items()).some(({ pid, ended }) => pid === agent.pid && ended === null));
  writeFileSync(join(world.dir, 'home/victim'), victim.pane);
}, 300_000);
afterAll(async () => world.close());

/** What a command of the agent's prints, below it in the integrated terminal. */
async function prints(command: string): Promise<string> {
  const out = join(world.dir, `prints-${Math.random().toString(36).slice(2)}`);
  await agent.call([{ argv: ['sh', '-c', `{ ${command} ; } >${out}.part 2>&1; mv ${out}.part ${out}`], input: '' }]);
  let said = '';
  await until(() => {
    try {
      said = readFileSync(out, 'latin1');
      return true;
    } catch {
      return false;
    }
  }, 60_000);
  return said;
}

const extensionSockets = (): readonly string[] =>
  readdirSync(join(world.stateDir, 'run'))
    .filter((name) => name.startsWith('editor-'))
    .map((name) => join(world.stateDir, 'run', name));

const asking = (socket: string, question: object): string =>
  `${process.execPath} -e 'const s = require("net").connect(process.argv[1]); s.on("data", (d) => process.stdout.write(d)); s.write(process.argv[2] + "\\n")' '${socket}' '${JSON.stringify(question)}'`;

describe('an agent in the integrated terminal', () => {
  it.each([
    ['its environment', 'env; cat /proc/self/environ'],
    [
      'the environments of all its parents',
      'p=$$; while [ "$p" -gt 1 ]; do cat /proc/$p/environ; p=$(ps -o ppid= -p $p | tr -d " "); done',
    ],
    ['the environments of all processes of the user', 'cat /proc/[0-9]*/environ'],
    ['the arguments of all processes', 'cat /proc/[0-9]*/cmdline'],
    ['the history and files of shells', 'cat $HOME/.*history $HOME/.bashrc $HOME/.profile'],
    ['the temporary files of the editor', 'cat /tmp/vscode-* /tmp/code-* $TMPDIR/*'],
    ['the clipboard, by the terminal', 'printf "\\033]52;c;?\\a" >/dev/tty; timeout 2 head -c 200 </dev/tty'],
    ['the clipboard, by a program', 'xclip -o -selection clipboard; xsel -b; wl-paste'],
  ])('EDI1 EDI9 finds no key in %s', async (_, command) => {
    expect(hasKey(await prints(command))).toBe(false);
  });

  it('EDI1 EDI9 finds no key in settings, storage, logs and extensions of the editor, nor in its home', () => {
    for (const folder of ['code', 'ext', 'home', 'web-shop'].map((name) => join(world.dir, name))) {
      for (const path of filesIn(folder)) {
        expect([path, hasKey(readFileSync(path, 'latin1'))]).toEqual([path, false]);
      }
    }
  });

  it('EDI9 is told nothing at the socket of the extension, and moves nothing there, without the secret', async () => {
    const [socket = ''] = extensionSockets();
    expect(socket).not.toBe('');
    for (const secret of [undefined, '', '0'.repeat(64), fingerprint, 7]) {
      for (const ask of ['list', 'capture', 'show', 'send']) {
        const said = await prints(asking(socket, { secret, ask, id: '1', text: 'echo stolen\r' }));
        expect([ask, said.trim()]).toEqual([ask, '{}']);
      }
    }
    expect(await window.terminal.textContent()).not.toContain('stolen');
    // Other users cannot even come near.
    expect(statSync(join(world.stateDir, 'run')).mode & 0o077).toBe(0);
  });

  it('EDI9 may not tell of terminals itself, and so gets no messages of others', async () => {
    const body = JSON.stringify({
      socket: '/tmp/mine.sock',
      secret: '0'.repeat(64),
      terminals: [{ id: '1', pid: agent.pid }],
    });
    const said = await prints(
      `curl -s --unix-socket ${world.stateDir}/run/agtmux.sock -H "agtmux-caller-pid: $$" -H 'content-type: application/json' -d '${body}' http://localhost/v1/editors/terminals`,
    );
    expect(said).toContain('E_ROLE');
  });

  it('EDI3 gains nothing by the command line of the editor, which answers in its terminals', async () => {
    const done = async () => (await world.audit()).filter(({ actor }) => actor.startsWith('editor:')).length;
    const before = await done();
    const hook = await prints('printf %s "$VSCODE_IPC_HOOK_CLI"');
    expect(hook).not.toBe('');
    for (const uri of [
      'command:agtmux.pressed',
      'vscode://agtmux.agtmux/approve',
      'code-oss://agtmux.agtmux/approve',
    ]) {
      const body = JSON.stringify({ type: 'openExternal', uris: [uri] });
      await prints(
        `curl -s --max-time 5 --unix-socket ${hook} -H 'content-type: application/json' -d '${body}' http://localhost/`,
      );
    }
    expect(await done()).toBe(before);
  });

  it('EDI3 EDI9 an extension of its own gets neither the secret nor more than a program without the key', async () => {
    const found = (): Readonly<Record<string, unknown>> => {
      try {
        return JSON.parse(readFileSync(join(world.dir, 'home/found.json'), 'utf8')) as Readonly<
          Record<string, unknown>
        >;
      } catch {
        return {};
      }
    };
    await until(() => String(found().reply ?? '') !== '', 60_000);
    expect(hasKey(JSON.stringify(found()))).toBe(false);
    expect(found().secret).toBeUndefined();
    expect(String(found().reply)).toContain('E_ROLE');
    // What it pressed with a token of its own was nobody's.
    expect(victim.typed()).toBe('');
  });
});
