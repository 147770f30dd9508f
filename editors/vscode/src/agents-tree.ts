// The tree of agents in the side bar, drawn from the view model: groups, rows, the number on the icon.

import * as vscode from 'vscode';
import { badgeOf, type EditorGroup, type EditorRow } from '../../../src/view/editor.ts';

export type Node = { readonly group: EditorGroup } | { readonly row: EditorRow };

const icons: Readonly<Record<EditorRow['colour'], readonly [icon: string, colour: string]>> = {
  attention: ['warning', 'list.warningForeground'],
  ask: ['question', 'charts.blue'],
  bad: ['error', 'list.errorForeground'],
  doubt: ['circle-outline', 'disabledForeground'],
  good: ['check', 'charts.green'],
  work: ['sync', 'charts.blue'],
  quiet: ['circle-outline', 'disabledForeground'],
};

export class AgentsTree implements vscode.TreeDataProvider<Node> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #groups: readonly EditorGroup[] = [];
  #drawn = '';

  /** True: something is drawn otherwise than before. */
  show(groups: readonly EditorGroup[], view: vscode.TreeView<Node>): boolean {
    const drawn = JSON.stringify(groups);
    if (drawn === this.#drawn) return false;
    this.#drawn = drawn;
    this.#groups = groups;
    const value = badgeOf(groups);
    view.badge =
      value === 0 ? undefined : { value, tooltip: value === 1 ? '1 agent needs you' : `${value} agents need you` };
    this.#changed.fire();
    return true;
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return this.#groups.map((group) => ({ group }));
    return 'group' in node ? node.group.rows.map((row) => ({ row })) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if ('group' in node) {
      const item = new vscode.TreeItem(node.group.title, vscode.TreeItemCollapsibleState.Expanded);
      item.id = node.group.key;
      return item;
    }
    const { row } = node;
    const item = new vscode.TreeItem(row.label);
    item.id = row.runtime;
    item.description = row.description;
    // Plain text: nothing that an agent said becomes a link here.
    item.tooltip = row.tooltip;
    item.contextValue = row.kind;
    const [icon, colour] = icons[row.colour];
    item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
    item.command = { command: 'agtmux.open', title: 'Open', arguments: [node] };
    return item;
  }
}
