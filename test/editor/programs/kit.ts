// A real VS Code in a real browser: code-server with our extension in it, started by a person in a terminal, beside a daemon of
// its own; and what is done in it by hand.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { ActingWorld } from '../../kit/acting.ts';
import { until } from '../../kit/live.ts';
import { cliProgram } from '../../kit/self-tries.ts';
import { launchBrowser } from '../../web/kit.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const codeServer = join(root, '.agents/editor/node_modules/code-server/out/node/entry.js');
/** A window of VS Code takes this long to come up where the machine is busy. */
const windowMs = 120_000;

const settings = {
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'chat.disableAIFeatures': true,
  'terminal.integrated.defaultProfile.linux': 'sh',
  'terminal.integrated.profiles.linux': { sh: { path: '/bin/sh' } },
  'files.autoSave': 'off',
  'git.openRepositoryInParentFolders': 'never',
};

export class EditorWorld extends ActingWorld {
  readonly project: string;
  /** The command line, as it stands in this checkout. */
  readonly program = cliProgram;
  browser: Browser | null = null;
  #server = '';

  constructor() {
    super();
    // Nobody is trusted here but by who they are.
    rmSync(join(this.dir, 'home/.config/agtmux/policy.toml'));
    this.project = join(this.dir, 'web-shop');
    mkdirSync(this.project);
    writeFileSync(join(this.project, 'a.ts'), 'export const a = 1;\nexport const b = 2;\nexport const c = a + b;\n');
    mkdirSync(join(this.dir, 'code/User'), { recursive: true });
    writeFileSync(join(this.dir, 'code/User/settings.json'), JSON.stringify(settings));
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
    });
    return said;
  }

  async code(words = ''): Promise<string> {
    const said = await this.typed(`${process.execPath} ${cliProgram} editor pair ${words}`);
    return /^[2-9A-Z]{5}-[2-9A-Z]{5}$/m.exec(said)?.[0] ?? '';
  }

  /** Installs the packed extension and starts the editor, as a person types it. */
  async startEditor(): Promise<void> {
    const packed = execFileSync(process.execPath, [join(root, 'scripts/editor.ts'), join(this.dir, 'packed')], {
      encoding: 'utf8',
    }).trim();
    const places = `--extensions-dir ${join(this.dir, 'ext')} --user-data-dir ${join(this.dir, 'code')}`;
    const node = `${process.execPath} ${codeServer}`;
    const said = await this.typed(`${node} ${places} --install-extension ${packed}`);
    if (!said.includes('was successfully installed')) throw new Error(said);
    const out = join(this.dir, 'editor.out');
    const quiet = '--auth none --disable-telemetry --disable-update-check --disable-workspace-trust';
    const pane = this.terminal();
    this.tmux('send-keys', '-t', pane, '-l', `${node} ${places} ${quiet} --bind-addr 127.0.0.1:0 >${out} 2>&1`);
    this.tmux('send-keys', '-t', pane, 'Enter');
    await until(() => {
      const url = /listening on (http:\S+\/)/.exec(existsSync(out) ? readFileSync(out, 'utf8') : '')?.[1];
      this.#server = url ?? '';
      return url !== undefined;
    }, windowMs);
    this.browser = await launchBrowser();
  }

  /** A window on the project, once the extension has drawn something. */
  async openWindow(): Promise<CodeWindow> {
    if (this.browser === null) throw new Error('the editor was not started');
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${this.#server}?folder=${this.project}`, { waitUntil: 'domcontentloaded', timeout: windowMs });
    await page.locator('.monaco-workbench').waitFor({ timeout: windowMs });
    const window = new CodeWindow(page);
    await window.status.waitFor({ timeout: windowMs });
    return window;
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
    await this.browser?.close();
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
}
