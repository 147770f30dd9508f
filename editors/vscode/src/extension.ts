// The VS Code extension: puts the link to the daemon, the tree, the status bar, asks and commands together. What is shown is
// decided in src/view, what may be done by the daemon.

import * as vscode from 'vscode';
import type { ActBody } from '../../../src/api/actions.ts';
import { AgtmuxError } from '../../../src/model/errors.ts';
import { limits } from '../../../src/model/limits.ts';
import { type AgentItem, boardItems } from '../../../src/view/board.ts';
import {
  type AskAnswer,
  type AskOffer,
  askOffer,
  connectedOf,
  editorGroups,
  failureWords,
  type Moment,
  plainAnswer,
  receiptWords,
  statusLine,
} from '../../../src/view/editor.ts';
import { agentLabel } from '../../../src/view/words.ts';
import { AgentsTree, type Node } from './agents-tree.ts';
import { AskNotices } from './ask-notices.ts';
import { openChat, startChat } from './chat.ts';
import { DaemonLink, socketFolder } from './daemon-link.ts';
import { openPlan, terminalOf } from './places.ts';
import { problemActions, sendDiff, sendFiles, sendProblem, sendSelection } from './sending.ts';
import { ShellsTree } from './shells-tree.ts';
import { Terminals } from './terminals.ts';

const secretName = 'agtmux.key';
/** Ages are words; they are drawn anew while something is shown. */
const agesMs = 15_000;

const moment = (): Moment => ({ nowMs: Date.now(), offsetMinutes: -new Date().getTimezoneOffset() });
const settings = () => vscode.workspace.getConfiguration('agtmux');
const program = (): string => settings().get<string>('program', 'agtmux');

class Extension {
  readonly #context: vscode.ExtensionContext;
  readonly #link: DaemonLink;
  readonly #tree = new AgentsTree();
  readonly #shells = new ShellsTree();
  readonly #view: vscode.TreeView<Node>;
  readonly #status = vscode.window.createStatusBarItem('agtmux.connected', vscode.StatusBarAlignment.Left, 50);
  readonly #asks: AskNotices;
  readonly #terminals: Terminals;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    const { secrets } = context;
    const keys = {
      get: async () => secrets.get(secretName),
      put: async (key: string) => secrets.store(secretName, key),
      drop: async () => secrets.delete(secretName),
    };
    this.#link = new DaemonLink(keys, program, () => this.#draw());
    this.#view = vscode.window.createTreeView('agtmux.agents', { treeDataProvider: this.#tree });
    this.#asks = new AskNotices(
      (offer, body) => this.#answer(offer, body),
      (offer) => this.#open(offer.runtime),
    );
    this.#terminals = new Terminals({
      client: this.#link.client,
      folder: socketFolder,
      mayType: () => settings().get('typeIntoTerminals', false),
      warn: (words) => console.warn(words),
    });
    this.#status.name = 'agtmux: CONNECTED agent';
    this.#status.show();
    const redraw = setInterval(() => this.#draw(), agesMs);
    context.subscriptions.push(
      this.#view,
      this.#status,
      vscode.window.registerTreeDataProvider('agtmux.shells', this.#shells),
      vscode.workspace.registerTextDocumentContentProvider('agtmux-shell', {
        provideTextDocumentContent: (uri) =>
          this.#shells.logOf(this.#link.client, uri.path.slice(1).replace(/\.log$/, '')),
      }),
      vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, problemActions),
      {
        dispose: () => {
          clearInterval(redraw);
          this.#asks.end();
          this.#terminals.end();
          this.#link.end();
        },
      },
    );
    this.#register();
    this.#draw();
    void this.#link.start();
  }

  #register(): void {
    const send = (body: ActBody): Promise<void> => this.#sendConnected(body);
    const commands: Readonly<Record<string, (...args: never[]) => unknown>> = {
      pair: () => this.#pair(),
      forget: () => this.#link.forget(),
      choose: () => this.#choose(),
      help: () => this.#help(),
      open: (node: Node) => this.#withRow(node, (item) => this.#open(item.runtime_id)),
      approve: (node: Node) => this.#withRow(node, (item) => this.#plain(item, 'approve')),
      reject: (node: Node) => this.#withRow(node, (item) => this.#plain(item, 'reject')),
      answer: (node: Node) => this.#withRow(node, (item) => this.#ask(item)),
      connect: (node: Node) => this.#withRow(node, (item) => this.#actOn(item, { action: 'activate' })),
      interrupt: (node: Node) => this.#withRow(node, (item) => this.#actOn(item, { action: 'interrupt' })),
      kill: (node: Node) => this.#withRow(node, (item) => this.#kill(item)),
      pressed: (token: unknown, option: unknown) => this.#asks.press(token, option),
      send: () => sendSelection(send),
      sendFile: (first: unknown, all: unknown) => sendFiles(send, first, all),
      sendDiff: (said: unknown) => sendDiff(send, said),
      sendProblem: (uri: vscode.Uri, problem: vscode.Diagnostic) => sendProblem(send, uri, problem),
      startSession: () => this.#startSession(),
    };
    for (const [name, run] of Object.entries(commands)) {
      const safely = async (...args: never[]): Promise<void> => {
        try {
          await run(...args);
        } catch (problem) {
          await this.#trouble(problem);
        }
      };
      this.#context.subscriptions.push(vscode.commands.registerCommand(`agtmux.${name}`, safely));
    }
  }

  #items(): readonly AgentItem[] {
    return boardItems(this.#link.feed.rows.values(), Date.now());
  }

  #draw(): void {
    const { link, feed } = this.#link;
    const now = moment();
    this.#tree.show(editorGroups(feed.rows.values(), now), this.#view);
    this.#shells.show(feed.shells);
    const { text, tooltip, tone } = statusLine(feed.rows.values(), link, now);
    this.#status.text = text;
    this.#status.tooltip = tooltip;
    this.#status.backgroundColor =
      tone === 'plain'
        ? undefined
        : new vscode.ThemeColor(`statusBarItem.${tone === 'bad' ? 'error' : 'warning'}Background`);
    this.#status.command = link.is === 'connected' ? 'agtmux.choose' : 'agtmux.help';
    void vscode.commands.executeCommand('setContext', 'agtmux.link', link.is);
    void vscode.commands.executeCommand('setContext', 'agtmux.isPaired', this.#link.isPaired);
    this.#terminals.become(this.#link.isPaired && link.is === 'connected');
    const isAsking = this.#link.isPaired && link.is === 'connected' && settings().get('notifications', true);
    this.#asks.show(
      isAsking
        ? this.#items().flatMap((item) => {
            const offer = askOffer(item);
            return offer === null ? [] : [offer];
          })
        : [],
    );
  }

  async #withRow(node: Node | undefined, deed: (item: AgentItem) => Promise<void> | void): Promise<void> {
    const runtime = node !== undefined && 'row' in node ? node.row.runtime : undefined;
    const item = this.#items().find(({ runtime_id }) => runtime_id === runtime);
    if (item !== undefined) await deed(item);
  }

  /** To this very run of it, and to no other that took its place. */
  async #actOn(item: AgentItem, deed: object): Promise<void> {
    const conditions = { if_runtime: item.runtime_id };
    await this.#act({ ref: item.ref, conditions, ...deed } as ActBody, agentLabel(item));
  }

  async #sendConnected(body: ActBody): Promise<void> {
    const connected = connectedOf(this.#items());
    await this.#act(body, connected === null ? 'the CONNECTED agent' : agentLabel(connected));
  }

  async #act(body: ActBody, who: string): Promise<void> {
    if (!this.#link.isPaired) return this.#askToPair();
    const receipt = await this.#link.client.post('/v1/act', body as never, { silenceMs: limits.actAnswerMs });
    const { tone, words } = receiptWords(receipt, who);
    if (tone === 'good') vscode.window.setStatusBarMessage(`$(check) ${words}`, 8_000);
    else if (tone === 'doubt') void vscode.window.showWarningMessage(words);
    else void vscode.window.showErrorMessage(words);
  }

  async #answer(offer: AskOffer, body: AskAnswer): Promise<void> {
    const item = this.#items().find(({ runtime_id }) => runtime_id === offer.runtime);
    if (item === undefined || askOffer(item)?.key !== offer.key) {
      void vscode.window.showInformationMessage('This was answered or has changed meanwhile.');
      return;
    }
    await this.#actOn(item, body);
  }

  async #plain(item: AgentItem, wish: 'approve' | 'reject'): Promise<void> {
    const offer = askOffer(item);
    if (offer === null || item.ask === null) return;
    const answer = plainAnswer(offer, item.ask, wish);
    // A row shows the beginning of what is asked: whoever has not seen all of it is shown it first.
    const isSeen = offer.shown === 'notice' && !offer.text.includes('\n');
    if (answer === null || !isSeen) await this.#asks.dialog(offer);
    else await this.#answer(offer, answer);
  }

  async #ask(item: AgentItem): Promise<void> {
    const offer = askOffer(item);
    if (offer === null) return;
    if (offer.options.length > 0) return this.#asks.dialog(offer);
    const text = await vscode.window.showInputBox({ title: `${offer.who} asks`, prompt: offer.text });
    if (text !== undefined && text !== '') await this.#actOn(item, { action: 'answer', ask_id: offer.ask_id, text });
  }

  async #kill(item: AgentItem): Promise<void> {
    const who = agentLabel(item);
    const yes = 'Kill';
    const chosen = await vscode.window.showWarningMessage(
      `Kill ${who}? What it was doing is lost.`,
      { modal: true },
      yes,
    );
    if (chosen === yes) await this.#actOn(item, { action: 'kill', signal: 'TERM' });
  }

  /** An integrated terminal of this window, the session as a chat, its tmux pane, or where agtmux says it is. */
  async #open(runtime: string): Promise<void> {
    const item = this.#items().find(({ runtime_id }) => runtime_id === runtime);
    if (item === undefined) return;
    if (item.session !== null) return openChat(this.#chatParts(), item.session.id);
    const here = item.pid === null ? null : await terminalOf(item.pid);
    if (here !== null) return here.show();
    if (!this.#link.isPaired) return this.#askToPair();
    const conditions = { if_runtime: item.runtime_id };
    const plan = await this.#link.client.post('/v1/attach', { ref: item.ref, conditions } as never);
    if (plan.terminal !== null && plan.terminal.command === null) {
      vscode.window.setStatusBarMessage(`Its ${plan.terminal.name} window is in front now`, 8_000);
      return;
    }
    openPlan(plan, `agtmux ${agentLabel(item)} ${item.identity.pane_id ?? ''}`.trim());
  }

  #chatParts() {
    const { client } = this.#link;
    return { client, extension: this.#context.extensionUri, trouble: (problem: unknown) => this.#trouble(problem) };
  }

  async #startSession(): Promise<void> {
    if (!this.#link.isPaired) return this.#askToPair();
    const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    if (cwd === undefined) throw new AgtmuxError('E_USAGE', 'no folder is open', { next: 'open one first' });
    const { items } = await this.#link.client.get('/v1/agents');
    await startChat(
      this.#chatParts(),
      items.filter(({ enabled }) => enabled).map(({ agent }) => agent),
      cwd,
    );
  }

  async #choose(): Promise<void> {
    const living = this.#items().filter(({ ended }) => ended === null);
    const picks = editorGroups(living, moment()).flatMap(({ title, rows }) => [
      { label: title, kind: vscode.QuickPickItemKind.Separator, runtime: '' },
      ...rows.map(({ label, description, runtime }) => ({ label, description, runtime })),
    ]);
    const chosen = await vscode.window.showQuickPick(picks, { title: 'Send to which agent from now on?' });
    const item = living.find(({ runtime_id }) => runtime_id === chosen?.runtime);
    if (item !== undefined) await this.#actOn(item, { action: 'activate' });
  }

  async #pair(): Promise<void> {
    const code = await vscode.window.showInputBox({
      title: 'Pair with agtmux',
      prompt: `Run "${program()} editor pair" in a terminal of your own, and type the code it prints`,
      ignoreFocusOut: true,
    });
    if (code === undefined || code.trim() === '') return;
    await this.#link.pair(code.trim(), vscode.env.appName);
    void vscode.window.showInformationMessage('Paired with agtmux. `agtmux editor revoke` takes it back.');
  }

  async #askToPair(): Promise<void> {
    const pair = 'Pair';
    const chosen = await vscode.window.showInformationMessage('This editor is not paired with agtmux yet.', pair);
    if (chosen === pair) await this.#pair();
  }

  /** What is missing, and the one step that mends it. */
  async #help(): Promise<void> {
    const { link } = this.#link;
    if (link.is === 'down' && !link.hasProgram) {
      const open = 'Show the first steps';
      const words = `The program "${program()}" was not found. Install agtmux, or set agtmux.program.`;
      if ((await vscode.window.showErrorMessage(words, open)) === open) {
        await vscode.commands.executeCommand('workbench.action.openWalkthrough', 'agtmux.agtmux#agtmux.start');
      }
    } else if (link.is === 'other') {
      void vscode.window.showErrorMessage(`${link.words}. Install the extension that comes with your agtmux.`);
    } else if (link.is !== 'connected') {
      const start = 'Start it';
      if ((await vscode.window.showErrorMessage('The agtmux daemon does not run.', start)) !== start) return;
      const terminal = vscode.window.createTerminal({ name: 'agtmux' });
      terminal.show();
      terminal.sendText(`${program()} daemon start`);
    }
  }

  async #trouble(problem: unknown): Promise<void> {
    if (!(problem instanceof AgtmuxError)) throw problem;
    if (problem.code === 'E_SIGNED_OUT' && this.#link.isPaired) await this.#link.forget();
    const pair = 'Pair';
    const buttons = problem.code === 'E_SIGNED_OUT' ? [pair] : [];
    if ((await vscode.window.showErrorMessage(failureWords(problem), ...buttons)) === pair) await this.#pair();
  }
}

export function activate(context: vscode.ExtensionContext): void {
  new Extension(context);
}
