// The extension in a process of its own, with an editor around it that draws nothing: it writes down what it is told to draw and
// answers what it is told to answer. Asked over IPC, or by POST at a port that it writes into a file: node hosted.cjs EXTENSION [FILE].
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const Module = require('node:module');
const nothing = () => undefined;
const disposable = { dispose: nothing };
/** What happens in terminals: who listens is told. */
const told = () => {
  const listeners = [];
  const event = (listener) => {
    listeners.push(listener);
    return disposable;
  };
  return { event, fire: (value) => listeners.map((listener) => listener(value)) };
};
const [opened, closed, started, ended] = [told(), told(), told(), told()];
const settings = {};
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
class Uri {}
Uri.from = (said) => Object.assign(new Uri(), said);
Uri.joinPath = (uri, ...parts) => Object.assign(new Uri(), { fsPath: [uri.fsPath, ...parts].join('/') });
const providers = [];
const status = { show: nothing };
const commands = new Map();
/** What is on the screen besides the tree: notifications that show progress, messages, and what was asked for. */
const seen = { notices: new Map(), messages: [], asked: [], shown: [] };
/** What a person would type or press next. */
const answers = [];
const view = {};
/** The page of the session that was opened last: what it was told to draw, and its way back. */
const chat = { page: null, pressed: nothing };
const webview = {
  cspSource: 'self',
  asWebviewUri: ({ fsPath }) => fsPath,
  onDidReceiveMessage: (pressed) => {
    chat.pressed = pressed;
  },
  postMessage: async (page) => {
    chat.page = page;
  },
};
const message = async (text, options, ...items) => {
  seen.messages.push(options?.modal === true ? `${text}: ${options.detail}` : text);
  return options?.modal === true ? items[answers.shift()] : undefined;
};
const vscode = {
  EventEmitter,
  TreeItem,
  ThemeIcon: Themed,
  ThemeColor: Themed,
  Uri,
  TreeItemCollapsibleState: { Expanded: 2 },
  StatusBarAlignment: { Left: 1 },
  ViewColumn: { Active: -1, Beside: -2 },
  ProgressLocation: { Notification: 15 },
  env: { appName: 'VS Code' },
  window: {
    terminals: [],
    onDidOpenTerminal: opened.event,
    onDidCloseTerminal: closed.event,
    onDidStartTerminalShellExecution: started.event,
    onDidEndTerminalShellExecution: ended.event,
    createTreeView: (_, { treeDataProvider }) => {
      providers.push(treeDataProvider);
      return view;
    },
    registerTreeDataProvider: () => disposable,
    createStatusBarItem: () => status,
    setStatusBarMessage: message,
    showInformationMessage: message,
    showWarningMessage: message,
    showErrorMessage: message,
    showTextDocument: async () => undefined,
    showInputBox: async ({ title }) => {
      seen.asked.push(title);
      return answers.shift();
    },
    showQuickPick: async (_, { title }) => {
      seen.asked.push(title);
      return answers.shift();
    },
    createWebviewPanel: () => ({ webview, reveal: nothing, dispose: nothing, onDidDispose: nothing }),
    withProgress: async ({ title }, run) => {
      seen.notices.set(title, true);
      await run({}, { onCancellationRequested: nothing });
      seen.notices.delete(title);
    },
  },
  workspace: {
    workspaceFolders: [{ uri: { fsPath: process.cwd() } }],
    openTextDocument: async ({ content }) => seen.messages.push(content),
    getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise }),
    registerTextDocumentContentProvider: () => disposable,
    asRelativePath: ({ fsPath }) => fsPath.split('/').at(-1),
  },
  languages: { registerCodeActionsProvider: () => disposable },
  commands: {
    registerCommand: (name, run) => {
      commands.set(name, run);
      return disposable;
    },
    executeCommand: async () => undefined,
  },
};
const load = Module._load;
Module._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));

const begun = process.hrtime.bigint();
const { activate } = require(process.argv[2]);
const kept = new Map();
const secrets = {
  get: async (name) => kept.get(name),
  store: async (name, value) => kept.set(name, value),
  delete: async (name) => kept.delete(name),
};
activate({ subscriptions: [], secrets, extensionUri: Uri.from({ fsPath: '/extension' }) });
const activationMs = Number(process.hrtime.bigint() - begun) / 1e6;

const nodes = () => providers[0].getChildren().flatMap((node) => providers[0].getChildren(node));

function state() {
  const rows = nodes().map((node) => providers[0].getTreeItem(node));
  const { user, system } = process.cpuUsage();
  return {
    activationMs,
    cpuMs: (user + system) / 1_000,
    heapBytes: process.memoryUsage().heapUsed,
    rows: rows.length,
    labels: rows.map(({ label, contextValue }) => `${contextValue} ${label}`),
    badge: view.badge?.value ?? 0,
    status: status.text,
    notices: [...seen.notices.keys()],
    messages: seen.messages,
    asked: seen.asked,
    shown: seen.shown,
    chat: chat.page,
  };
}

process.on('message', () => {
  global.gc?.();
  process.send(state());
});

/** An integrated terminal: a shell on a terminal of its own that runs one command, whose output the shell integration tells. */
async function openTerminal(name, command) {
  const script = spawn('script', ['-qfc', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const child = `/proc/${script.pid}/task/${script.pid}/children`;
  while (fs.readFileSync(child, 'utf8') === '') await new Promise((resolve) => setTimeout(resolve, 20));
  const terminal = {
    name,
    processId: Promise.resolve(Number(fs.readFileSync(child, 'utf8').trim())),
    show: () => seen.shown.push(name),
    sendText: (text) => script.stdin.write(text),
  };
  vscode.window.terminals.push(terminal);
  opened.fire(terminal);
  started.fire({ terminal, execution: { read: () => script.stdout.setEncoding('utf8') } });
  script.once('exit', () => {
    terminal.exitStatus = {};
    vscode.window.terminals.splice(vscode.window.terminals.indexOf(terminal), 1);
    closed.fire(terminal);
  });
}

/** What a person does in the editor. */
async function done({ command, args = [], row, type = [], selection, set, terminal, press }) {
  if (press !== undefined) chat.pressed(press);
  Object.assign(settings, set);
  if (terminal !== undefined) await openTerminal(terminal.name, terminal.command);
  answers.push(...type);
  if (selection !== undefined) {
    const { path, from, to, isDirty } = selection;
    const lines = fs.readFileSync(path, 'utf8').split('\n');
    vscode.window.activeTextEditor = {
      selection: { start: { line: from, character: 0 }, end: { line: to, character: 0 }, isEmpty: false },
      document: {
        uri: { scheme: 'file', fsPath: path },
        isDirty,
        languageId: 'typescript',
        getText: () => lines.slice(from, to).join('\n'),
      },
    };
  }
  const wordsOf = ({ label, description }) => `${label} ${description}`;
  const node = row === undefined ? [] : nodes().filter((one) => wordsOf(providers[0].getTreeItem(one)).includes(row));
  if (command !== undefined) await commands.get(command)(...node, ...args);
  return state();
}

const [, , , file] = process.argv;
if (file !== undefined) {
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    response.end(JSON.stringify(await done(JSON.parse(text))));
  });
  server.listen(0, '127.0.0.1', () => {
    fs.writeFileSync(`${file}.part`, String(server.address().port));
    fs.renameSync(`${file}.part`, file);
  });
}
