// A session as a chat in a tab: drawn by the page in media/ from the view model, which is sent to it whole; the page sends back
// what was pressed. It loads nothing from elsewhere and runs no script but its own.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { ApiClient } from '../../../src/api/client.ts';
import { pathTo, sessionRequest } from '../../../src/api/requests.ts';
import type { ManagedItem, MessageItem } from '../../../src/api/sessions.ts';
import { limits } from '../../../src/model/limits.ts';
import type { SessionCommand } from '../../../src/model/sessions.ts';
import { changesText, chatPage, messagesAfter } from '../../../src/view/editor-chat.ts';

type Pressed =
  | { readonly type: 'ready' | 'stop' | 'resume' | 'retry' | 'changes' }
  | { readonly type: 'approve' | 'reject'; readonly ask_id: string }
  | { readonly type: 'option'; readonly ask_id: string; readonly option: string }
  | { readonly type: 'say'; readonly text: string };

export interface ChatParts {
  readonly client: ApiClient;
  readonly extension: vscode.Uri;
  readonly trouble: (problem: unknown) => Promise<void>;
}

const open = new Map<string, vscode.WebviewPanel>();

export function openChat(parts: ChatParts, id: string): void {
  const known = open.get(id);
  if (known !== undefined) {
    known.reveal();
    return;
  }
  const media = vscode.Uri.joinPath(parts.extension, 'media');
  const panel = vscode.window.createWebviewPanel('agtmux.chat', 'Session', vscode.ViewColumn.Active, {
    enableScripts: true,
    localResourceRoots: [media],
    retainContextWhenHidden: true,
  });
  open.set(id, panel);
  panel.webview.html = pageOf(panel.webview, media);
  const ended = new AbortController();
  panel.onDidDispose(() => {
    open.delete(id);
    ended.abort();
  });
  const chat = new Chat(parts, panel, id);
  panel.webview.onDidReceiveMessage((pressed: Pressed) => void chat.pressed(pressed).catch(parts.trouble));
  void chat.follow(ended.signal).catch(parts.trouble);
}

class Chat {
  readonly #parts: ChatParts;
  readonly #panel: vscode.WebviewPanel;
  readonly #id: string;
  #item: ManagedItem | null = null;
  #messages: ReadonlyMap<string, MessageItem> = new Map();

  constructor(parts: ChatParts, panel: vscode.WebviewPanel, id: string) {
    this.#parts = parts;
    this.#panel = panel;
    this.#id = id;
  }

  async follow(signal: AbortSignal): Promise<void> {
    for await (const event of this.#parts.client.session(this.#id, { signal })) {
      if (event.type === 'gone') return this.#panel.dispose();
      if (event.type === 'session') this.#item = event.data.session;
      if (event.type === 'messages') this.#messages = messagesAfter(this.#messages, event.data.messages);
      this.#draw();
    }
  }

  #draw(): void {
    if (this.#item === null) return;
    const page = chatPage(this.#item, this.#messages.values());
    this.#panel.title = `${page.state} ${page.title}`.slice(0, 60);
    void this.#panel.webview.postMessage(page);
  }

  async pressed(pressed: Pressed): Promise<void> {
    if (pressed.type === 'ready') return this.#draw();
    if (pressed.type === 'changes') return this.#changes();
    const command = this.#commandOf(pressed);
    if (command === null) return;
    const { session } = await this.#parts.client.send(sessionRequest(this.#id, command));
    this.#item = session;
    this.#draw();
  }

  #commandOf(pressed: Pressed): SessionCommand | null {
    const ask = this.#item?.pending_ask ?? null;
    switch (pressed.type) {
      case 'approve':
      case 'reject':
        return { action: pressed.type, ask_id: pressed.ask_id } as SessionCommand;
      case 'option':
        return { action: 'answer', ask_id: pressed.ask_id, option: pressed.option } as SessionCommand;
      case 'say':
        if (this.#item?.state === 'waiting_input' && ask !== null) {
          return { action: 'answer', ask_id: ask.ask_id, text: pressed.text } as SessionCommand;
        }
        return { action: 'send', text: pressed.text };
      case 'stop':
      case 'resume':
      case 'retry':
        return { action: pressed.type } as SessionCommand;
      case 'ready':
      case 'changes':
        return null;
    }
  }

  /** What has changed since its turn began. The daemon asks git: here, programs that the repository names would run. */
  async #changes(): Promise<void> {
    if (this.#item === null) return;
    const path = pathTo('/v1/agents/{ref}/diff', { ref: this.#item.ref });
    const content = changesText(await this.#parts.client.get(path, {}, { silenceMs: limits.actAnswerMs }));
    const document = await vscode.workspace.openTextDocument({ language: 'diff', content });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside });
  }
}

function pageOf(webview: vscode.Webview, media: vscode.Uri): string {
  const nonce = randomBytes(16).toString('hex');
  const file = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${file('chat.css')}"></head>
<body><header id="head"></header><main id="lines" aria-live="polite"></main><section id="ask"></section>
<form id="form"><textarea id="text" rows="3"></textarea><div id="buttons"></div></form>
<script nonce="${nonce}" src="${file('chat.js')}"></script></body></html>`;
}

/** Agent and first prompt are asked for; the directory is that of the window. */
export async function startChat(parts: ChatParts, agents: readonly string[], cwd: string): Promise<void> {
  const agent = await vscode.window.showQuickPick([...agents], { title: 'Start a session with which agent?' });
  if (agent === undefined) return;
  const prompt = await vscode.window.showInputBox({ title: `What should ${agent} do?`, prompt: `In ${cwd}` });
  if (prompt === undefined || prompt === '') return;
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      // What the editor needs for itself is nothing for an agent.
      value === undefined || /^(?:VSCODE_|ELECTRON_)/.test(name) ? [] : [[name, value]],
    ),
  );
  const { session } = await parts.client.post('/v1/managed', { agent, prompt, cwd, env });
  openChat(parts, session.id);
}
