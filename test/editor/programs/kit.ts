// A real VS Code in a real browser: code-server with our extension in it, started by a person in a terminal, beside a daemon of
// its own; and what is done in it by hand.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { cliProgram } from '../../kit/self-tries.ts';
import { launchBrowser } from '../../web/kit.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const fakeAgent = join(root, 'test/system/sessions/fake-agent.ts');
const codeServer = join(root, '.agents/editor/node_modules/code-server/out/node/entry.js');
/** A window of VS Code takes this long to come up where the machine is busy. */
const windowMs = 120_000;

const settings = {
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'terminal.integrated.defaultProfile.linux': 'bash',
  'terminal.integrated.profiles.linux': { bash: { path: '/bin/bash' } },
  // Letters in the page, where a test can read them.
  'terminal.integrated.gpuAcceleration': 'off',
  'terminal.integrated.stickyScroll.enabled': false,
  'agtmux.typeIntoTerminals': true,
  'files.autoSave': 'off',
  'git.openRepositoryInParentFolders': 'never',
};

/** A second extension of this code, as one that was installed. */
export function plantExtension(extensions: string, code: string): void {
  const name = 'agent.helper-0.0.1';
  const folder = join(extensions, name);
  mkdirSync(folder);
  const manifest = {
    ...{ name: 'helper', publisher: 'agent', version: '0.0.1', engines: { vscode: '^1.100.0' } },
    ...{ main: './main.js', activationEvents: ['onStartupFinished'], extensionKind: ['workspace'] },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'main.js'), code);
  const list = join(extensions, 'extensions.json');
  const all = JSON.parse(readFileSync(list, 'utf8')) as unknown[];
  const identifier = { id: 'agent.helper' };
  const location = { $mid: 1, fsPath: folder, external: `file://${folder}`, path: folder, scheme: 'file' };
  const metadata = { installedTimestamp: Date.now(), pinned: true, source: 'vsix' };
  all.push({ identifier, version: '0.0.1', location, relativeLocation: name, metadata });
  writeFileSync(list, JSON.stringify(all));
}

export class EditorWorld extends ActingWorld {
  readonly project: string;
  /** The command line, as it stands in this checkout. */
  readonly program = cliProgram;
  browser: Browser | null = null;
  #server = '';
  #editorGroup = 0;
  #page: Page | null = null;

  constructor() {
    super();
    // Nobody is trusted here but by who they are.
    rmSync(join(this.dir, 'home/.config/agtmux/policy.toml'));
    this.project = join(this.dir, 'web-shop');
    mkdirSync(this.project);
    writeFileSync(join(this.project, 'a.ts'), 'export const a = 1;\nexport const b = 2;\nexport const c = a + b;\n');
    for (const folder of ['code/User', 'code/Machine', 'bin', 'home/.config/agtmux']) {
      mkdirSync(join(this.dir, folder), { recursive: true });
    }
    // What is of a machine is looked up there, the rest as the user's.
    for (const whose of ['User', 'Machine']) {
      writeFileSync(join(this.dir, 'code', whose, 'settings.json'), JSON.stringify(settings));
    }
    writeFileSync(join(this.dir, 'home/.config/agtmux/config.toml'), '[terminals]\nchecked_sends = true\n');
    writeFileSync(join(this.dir, 'bin/claude'), `#!/bin/sh\nexec '${process.execPath}' '${fakeAgent}' "$@"\n`, {
      mode: 0o755,
    });
  }

  /** In a shell of a person's, until it has ended. */
  async typed(line: string): Promise<string> {
    const pane = this.tmux('new-window', '-d', '-t', 'work:', '-c', this.dir, '-P', '-F', '#{pane_id}', 'exec sh -i');
    const out = join(this.dir, `typed-${Math.random().toString(36).slice(2)}`);
    this.tmux('send-keys', '-t', pane, '-l', `${line} >${out} 2>&1; echo "status $?" >>${out}`);
    this.tmux('send-keys', '-t', pane, 'Enter');
    let said = '';
    await until(() => {
      said = existsSync(out) ? readFileSync(out, 'utf8') : '';
      return /status \d+\n$/.test(said);
    }, windowMs);
    return said;
  }

  /** What this editor has done, as the audit says it once it is written. */
  async hasDone(action: string): Promise<void> {
    await until(async () =>
      (await this.audit()).some(
        (row) => row.action === action && row.result === 'delivered' && row.actor.startsWith('editor:code-server on '),
      ),
    );
  }

  async code(words = ''): Promise<string> {
    const said = await this.typed(`${process.execPath} ${cliProgram} editor pair ${words}`);
    return /^[2-9A-Z]{5}-[2-9A-Z]{5}$/m.exec(said)?.[0] ?? '';
  }

  /** Installs the packed extension and starts the editor as a service: below nothing that agtmux watches. */
  async startEditor(
    variables: Readonly<Record<string, string>> = {},
    installed: (extensions: string) => void = () => undefined,
  ): Promise<void> {
    const packed = execFileSync(process.execPath, [join(root, 'scripts/editor.ts'), join(this.dir, 'packed')], {
      encoding: 'utf8',
    }).trim();
    const places = `--extensions-dir ${join(this.dir, 'ext')} --user-data-dir ${join(this.dir, 'code')}`;
    const node = `${process.execPath} ${codeServer}`;
    const said = await this.typed(`${node} ${places} --install-extension ${packed}`);
    if (!said.includes('was successfully installed')) throw new Error(said);
    installed(join(this.dir, 'ext'));
    const out = join(this.dir, 'editor.out');
    const quiet = '--auth none --disable-telemetry --disable-update-check --disable-workspace-trust';
    const own = { PATH: `${join(this.dir, 'bin')}:${process.env.PATH}`, ...variables };
    // The editor asks the user's shell for its environment, and a login shell makes a PATH of its own.
    for (const name of ['.profile', '.bash_profile', '.bashrc']) {
      writeFileSync(join(this.dir, 'home', name), `export PATH='${own.PATH}'\n`);
    }
    const words = Object.entries(own).map(([name, value]) => `'${name}=${value}'`);
    const file = join(this.dir, 'editor.sh');
    writeFileSync(file, `echo $$ >${file}.pid\n${node} ${places} ${quiet} --bind-addr 127.0.0.1:0 >${out} 2>&1\n:\n`);
    await this.typed(`setsid -f env -u TMUX -u TMUX_PANE ${words.join(' ')} sh ${file}`);
    await until(() => {
      const url = /listening on (http:\S+\/)/.exec(existsSync(out) ? readFileSync(out, 'utf8') : '')?.[1];
      this.#server = url ?? '';
      return url !== undefined;
    }, windowMs);
    this.#editorGroup = Number(readFileSync(`${file}.pid`, 'utf8'));
    this.browser = await launchBrowser();
  }

  /** A window on the project, once the extension has drawn something. */
  async openWindow(): Promise<CodeWindow> {
    if (this.browser === null) throw new Error('the editor was not started');
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${this.#server}?folder=${this.project}`, { waitUntil: 'domcontentloaded', timeout: windowMs });
    await page.locator('.monaco-workbench').waitFor({ timeout: windowMs });
    this.#page = page;
    const window = new CodeWindow(page);
    await window.status.waitFor({ timeout: windowMs });
    return window;
  }

  /** What the window shows, for the documents and for whoever looks into a failure: AGTMUX_PICTURES=FOLDER keeps it. */
  async picture(name: string): Promise<void> {
    const folder = process.env.AGTMUX_PICTURES;
    const path = `${folder}/vscode-${name}.png`;
    if (folder !== undefined) await this.#page?.screenshot({ path });
  }

  /** What the extension and its host wrote down. */
  editorLogs(): string {
    const folder = join(this.dir, 'code/logs');
    if (!existsSync(folder)) return '';
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.log'))
      .map((name) => `${name}:\n${readFileSync(join(folder, name), 'utf8')}`)
      .join('\n');
  }

  override async close(): Promise<void> {
    await this.picture('end');
    await this.browser?.close();
    if (this.#editorGroup > 0) process.kill(-this.#editorGroup, 'SIGTERM');
    await super.close();
  }
}

export class CodeWindow {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get status(): Locator {
    return this.page.locator('.statusbar-item[id*="agtmux.connected"]').first();
  }

  get toasts(): Locator {
    return this.page.locator('.notifications-toasts');
  }

  get tree(): Locator {
    return this.page.locator('.pane-body .monaco-list-row');
  }

  get input(): Locator {
    return this.page.locator('.quick-input-widget input');
  }

  /** By the palette, as one does who has no key for it. */
  async run(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    await this.input.waitFor();
    await this.input.fill(`>${title}`);
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first().waitFor();
    await this.page.keyboard.press('Enter');
  }

  /** What is asked for in the line at the top. */
  async say(text: string, title: string): Promise<void> {
    await this.page.locator('.quick-input-widget').filter({ hasText: title }).waitFor();
    await this.input.fill(text);
    await this.page.keyboard.press('Enter');
  }

  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press('Control+P');
    await this.input.waitFor();
    await this.input.fill(name);
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().waitFor();
    await this.page.keyboard.press('Enter');
    await this.page.locator(`.tab.active:has-text("${name}")`).waitFor();
    await this.page.locator('.monaco-editor.focused').first().waitFor();
  }

  async showAgents(): Promise<void> {
    await this.page.locator('.activitybar .action-label[aria-label^="agtmux"]').first().click();
    await this.page.locator('.pane-header:has-text("Agents")').waitFor();
  }

  /** The letters of the integrated terminal that is shown. */
  get terminal(): Locator {
    return this.page.locator('.terminal-wrapper.active .xterm-rows');
  }

  /** A new integrated terminal that has the keyboard, once its shell is there. */
  async openTerminal(): Promise<void> {
    await this.run('Terminal: Create New Terminal');
    await this.terminal.filter({ hasText: /[$#]/ }).waitFor();
    await this.page.locator('.terminal-wrapper.active .xterm.focus').waitFor();
  }

  /** A row of the tree of agents; its buttons show when the mouse is over it. */
  row(text: string | RegExp): Locator {
    return this.tree.filter({ hasText: text }).first();
  }

  /** The page of a session, in the tab that is shown. */
  get chat(): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready >> visible=true').frameLocator('#active-frame');
  }
}
