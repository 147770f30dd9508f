// The extension in a process of its own, with an editor around it that draws nothing: what it costs without the editor's own work.
const Module = require('node:module');
const nothing = () => undefined;
const disposable = { dispose: nothing };
class EventEmitter {
  event = () => disposable;
  fire = nothing;
}
class TreeItem {
  constructor(label) {
    this.label = label;
  }
}
class Themed {
  constructor(id) {
    this.id = id;
  }
}
const providers = [];
const status = { show: nothing };
const vscode = {
  EventEmitter,
  TreeItem,
  ThemeIcon: Themed,
  ThemeColor: Themed,
  TreeItemCollapsibleState: { Expanded: 2 },
  StatusBarAlignment: { Left: 1 },
  ProgressLocation: { Notification: 15 },
  Uri: { from: (said) => said },
  window: {
    createTreeView: (_, { treeDataProvider }) => {
      providers.push(treeDataProvider);
      return { dispose: nothing };
    },
    registerTreeDataProvider: () => disposable,
    createStatusBarItem: () => status,
    withProgress: (_, run) => run({}, { onCancellationRequested: nothing }),
  },
  workspace: {
    getConfiguration: () => ({ get: (_, otherwise) => otherwise }),
    registerTextDocumentContentProvider: () => disposable,
  },
  languages: { registerCodeActionsProvider: () => disposable },
  commands: { registerCommand: () => disposable, executeCommand: async () => undefined },
};
const load = Module._load;
Module._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));

const begun = process.hrtime.bigint();
const { activate } = require(process.argv[2]);
const secrets = { get: async () => '0a0b0c0d.x', store: nothing, delete: nothing };
activate({ subscriptions: [], secrets });
const activationMs = Number(process.hrtime.bigint() - begun) / 1e6;

process.on('message', () => {
  global.gc?.();
  const drawn = providers[0]
    .getChildren()
    .flatMap((node) => providers[0].getChildren(node))
    .map((node) => providers[0].getTreeItem(node));
  const { user, system } = process.cpuUsage();
  const { heapUsed } = process.memoryUsage();
  process.send({
    activationMs,
    cpuMs: (user + system) / 1_000,
    heapBytes: heapUsed,
    rows: drawn.length,
    status: status.text,
  });
});
