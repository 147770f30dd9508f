// `agtmux menubar`: prints what a menu bar shows, once or at every change, and puts the plugin where SwiftBar and xbar look
// for it. Starts no daemon: a bar that runs this every few seconds must not bring back what was stopped.

import { chmodSync, lstatSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../api/client.ts';
import type { PaneList } from '../api/panes.ts';
import { barJson, down, isWritable, polybar, waybar, xbarDown, xbarMenu } from '../menubar/menubar.ts';
import { AgtmuxError } from '../model/errors.ts';
import { createRealExec } from '../platform/exec.ts';
import { errorCodeOf } from '../platform/files.ts';
import { quoteSh } from '../text/quote.ts';
import { safe } from './act.ts';
import { type Action, type Context, daemonSocket, must, sleep } from './context.ts';
import { print, printShown, whileRead } from './output.ts';
import type { Parsed } from './parse.ts';
import { askRunning, isDown } from './running.ts';
import { selfPath } from './tmux-self.ts';

type Format = 'xbar' | 'waybar' | 'polybar' | 'json';

/** Bars draw no faster, and a busy agent changes its title ten times a second. */
const followMs = 500;
const away = 'the daemon is not running; any agtmux command starts it';

export const menubarShow: Action = async (parsed, context) => {
  const format = (parsed.value('format') ?? 'xbar') as Format;
  if (!parsed.has('follow')) {
    print(await shown(format));
    return;
  }
  if (format === 'xbar') {
    throw new AgtmuxError('E_USAGE', '--follow does not work with xbar, which runs the command again itself', {
      next: 'use --format waybar, polybar or json',
    });
  }
  await whileRead(context.clock, 'text', () => follow(format, context));
};

async function shown(format: Format): Promise<string> {
  try {
    return draw(format, JSON.parse((await askRunning({ path: '/v1/panes' })).body) as PaneList);
  } catch (problem) {
    if (!isDown(problem)) throw problem;
    return format === 'xbar' ? xbarDown(away) : down[format](away);
  }
}

function draw(format: Format, list: PaneList): string {
  switch (format) {
    case 'xbar':
      return xbarMenu(list, { program: programHere() });
    case 'waybar':
      return waybar(list);
    case 'polybar':
      return polybar(list);
    case 'json':
      return barJson(list);
  }
}

/** One line at every change, for as long as somebody reads. */
async function follow(format: Format, { clock }: Context): Promise<void> {
  let last: string | null = null;
  const tell = async (): Promise<void> => {
    const line = await shown(format);
    if (line !== last) print(line);
    last = line;
  };
  for (;;) {
    try {
      for await (const event of createClient({ socketPath: daemonSocket, clock }).events({ scope: 'panes' })) {
        if (event.type === 'connected') continue;
        await tell();
        await sleep(clock, followMs);
      }
    } catch (problem) {
      if (!isDown(problem)) throw problem;
      await tell();
      await sleep(clock, followMs * 4);
    }
  }
}

/** A menu bar has a PATH of its own, without what a shell adds to it. */
const programHere = (): readonly string[] => [process.execPath, selfPath()];

const pluginName = 'agtmux.5s.sh';
const mark = '# Written by `agtmux menubar install`';

function pluginText(): string {
  const program = programHere();
  const wrong = program.find((word) => !isWritable(word));
  if (wrong !== undefined) {
    throw new AgtmuxError('E_UNSUPPORTED', `${safe(wrong)} contains a character that menu bars cannot pass on`, {
      next: 'install agtmux in a folder with a simpler name',
    });
  }
  const words = program.map((word) => must(quoteSh(word))).join(' ');
  return `#!/bin/sh\n${mark}, removed by \`agtmux menubar uninstall\`.\nexec ${words} menubar\n`;
}

export const menubarInstall: Action = async (parsed, context) => {
  const folder = await folderOf(parsed, context);
  const path = join(folder, pluginName);
  const text = pluginText();
  const held = heldAt(path);
  if (parsed.has('dry-run')) {
    printShown(`+++ ${path}\n${text.trimEnd().replaceAll(/^/gm, '+ ')}`);
    return;
  }
  if (held !== null && !held.includes(mark)) {
    throw new AgtmuxError('E_FILE', `${path} exists and was not written by agtmux`, {
      next: 'move it away, then try again',
    });
  }
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
    chmodSync(path, 0o755);
  } catch (cause) {
    throw new AgtmuxError('E_FILE', `cannot write ${path} (${errorCodeOf(cause) ?? 'unknown error'})`, { cause });
  }
  printShown(`written: ${path}`);
};

export const menubarUninstall: Action = async (parsed, context) => {
  const path = join(await folderOf(parsed, context), pluginName);
  if (heldAt(path)?.includes(mark) !== true) {
    print('no plugin was installed');
    return;
  }
  try {
    if (!parsed.has('dry-run')) unlinkSync(path);
  } catch (cause) {
    throw new AgtmuxError('E_FILE', `cannot remove ${path} (${errorCodeOf(cause) ?? 'unknown error'})`, { cause });
  }
  printShown(parsed.has('dry-run') ? `rm ${path}` : `removed: ${path}`);
};

function heldAt(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isFile() ? readFileSync(path, 'utf8') : '';
}

/** SwiftBar tells its folder; xbar has a fixed one. */
async function folderOf(parsed: Parsed, { clock }: Context): Promise<string> {
  const said = parsed.value('dir');
  if (said !== undefined) return said;
  const found = process.platform === 'darwin' ? ((await swiftBarFolder(clock)) ?? xbarFolder()) : null;
  if (found !== null) return found;
  throw new AgtmuxError('E_UNSUPPORTED', 'neither SwiftBar nor xbar was found here', {
    next: 'set their plugin folder with --dir; for Waybar and Polybar see docs/menubar.md',
  });
}

function xbarFolder(): string | null {
  const folder = join(homedir(), 'Library/Application Support/xbar/plugins');
  return lstatSync(folder, { throwIfNoEntry: false }) === undefined ? null : folder;
}

async function swiftBarFolder(clock: Context['clock']): Promise<string | null> {
  const { PATH = '/usr/bin:/bin', HOME = homedir() } = process.env;
  const asked = await createRealExec(clock).run({
    program: 'defaults',
    args: ['read', 'com.ameba.SwiftBar', 'PluginDirectory'],
    env: { PATH, HOME },
    deadlineMs: 5_000,
    outputBytesMax: 4_096,
  });
  const folder = Buffer.from(asked.stdout).toString().trim();
  return asked.status === 0 && folder.startsWith('/') ? folder : null;
}
