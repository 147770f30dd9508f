// Background shells of agents: those that run first, each with its log as a document to read.

import * as vscode from 'vscode';
import type { ApiClient } from '../../../src/api/client.ts';
import { pathTo } from '../../../src/api/requests.ts';
import type { ShellItem } from '../../../src/api/shells.ts';
import { foreign, sanitizeLine } from '../../../src/text/sanitize.ts';
import { badgeText, shellLabel, timeText } from '../../../src/view/shells.ts';

const logLines = 500;

export class ShellsTree implements vscode.TreeDataProvider<ShellItem> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #shells: readonly ShellItem[] = [];

  show(shells: readonly ShellItem[]): void {
    if (shells === this.#shells) return;
    const isRunning = ({ status }: ShellItem): number => (status === 'running' ? 0 : 1);
    this.#shells = [...shells].sort((one, other) => isRunning(one) - isRunning(other));
    this.#changed.fire();
  }

  getChildren(shell?: ShellItem): ShellItem[] {
    return shell === undefined ? [...this.#shells] : [];
  }

  getTreeItem(shell: ShellItem): vscode.TreeItem {
    const item = new vscode.TreeItem(shellLabel(shell));
    const now = Date.now();
    item.id = shell.shell_id;
    item.description = `${timeText(shell, now)}  ${badgeText(shell, now)}`;
    item.tooltip = sanitizeLine(foreign(`${shell.command}  in ${shell.cwd}`));
    const icon = { running: 'sync', completed: 'check', failed: 'error' }[shell.status];
    item.iconPath = new vscode.ThemeIcon(icon);
    const uri = vscode.Uri.from({ scheme: 'agtmux-shell', path: `/${shell.shell_id}.log` });
    item.command = { command: 'vscode.open', title: 'Show the log', arguments: [uri] };
    return item;
  }

  async logOf(client: ApiClient, ref: string): Promise<string> {
    const path = pathTo('/v1/shells/{ref}/log', { ref });
    const { lines } = await client.get(path, { lines: logLines });
    return lines.map((line) => sanitizeLine(foreign(line))).join('\n');
  }
}
