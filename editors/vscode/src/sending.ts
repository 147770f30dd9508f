// What is sent to the CONNECTED agent from the editor: the selection, a file, a problem, a diff. It asks for words, sends, and
// says what became of it.

import * as vscode from 'vscode';
import { type Place, problemText, quotedText, selectedPlace, sendBody } from '../../../src/view/editor.ts';

type Send = (body: ReturnType<typeof sendBody>) => Promise<void>;

/** What stands on disk is named, in the agent's own syntax; what does not goes along as text. */
function selectionIn({ document, selection }: vscode.TextEditor): {
  readonly text: string;
  readonly files: readonly Place[];
} {
  const { start, end, isEmpty } = selection;
  const place = selectedPlace(document.uri.fsPath, {
    startLine: start.line,
    endLine: end.line,
    endColumn: end.character,
    isEmpty,
  });
  if (document.uri.scheme === 'file' && !document.isDirty) return { text: '', files: [place] };
  const name = `${vscode.workspace.asRelativePath(document.uri)}, lines ${place.from}-${place.to}, not saved`;
  const text = document.getText(isEmpty ? document.lineAt(start.line).range : selection);
  return { text: quotedText(name, document.languageId, text), files: [] };
}

async function sendWith(send: Send, said: string, files: readonly Place[], about: string): Promise<void> {
  const words = await vscode.window.showInputBox({
    title: `Send ${about} to the CONNECTED agent`,
    prompt: 'Your message; empty sends only what it is about',
  });
  if (words === undefined) return;
  const text = [words, said].filter((part) => part !== '').join('\n\n');
  await send(sendBody(text, files));
}

export async function sendSelection(send: Send): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    void vscode.window.showInformationMessage('Open a file and select what to send.');
    return;
  }
  const { text, files } = selectionIn(editor);
  await sendWith(send, text, files, editor.selection.isEmpty ? 'this line' : 'the selection');
}

/** From the explorer, a tab or source control. */
export async function sendFiles(send: Send, first: unknown, all: unknown): Promise<void> {
  const uris = (Array.isArray(all) && all.length > 0 ? all : [first]).flatMap(uriOf);
  const own = vscode.window.activeTextEditor?.document.uri;
  const files = (uris.length === 0 && own !== undefined ? [own] : uris)
    .filter(({ scheme }) => scheme === 'file')
    .map(({ fsPath }) => ({ path: fsPath, from: null, to: null }));
  if (files.length > 0) await sendWith(send, '', files, files.length === 1 ? 'the file' : `${files.length} files`);
}

function uriOf(said: unknown): vscode.Uri[] {
  if (said instanceof vscode.Uri) return [said];
  const { resourceUri } = (said ?? {}) as { resourceUri?: unknown };
  return resourceUri instanceof vscode.Uri ? [resourceUri] : [];
}

interface GitRepository {
  diffWithHEAD(path: string): Promise<string>;
}
interface GitApi {
  getRepository(uri: vscode.Uri): GitRepository | null;
}

export async function sendDiff(send: Send, said: unknown): Promise<void> {
  const uri = uriOf(said)[0] ?? vscode.window.activeTextEditor?.document.uri;
  const git = vscode.extensions.getExtension<{ getAPI(version: 1): GitApi }>('vscode.git');
  const api = uri === undefined ? undefined : (await git?.activate())?.getAPI(1);
  const diff = uri === undefined ? '' : ((await api?.getRepository(uri)?.diffWithHEAD(uri.fsPath)) ?? '');
  if (uri === undefined || diff === '') {
    void vscode.window.showInformationMessage('There is no difference to the last commit here.');
    return;
  }
  await sendWith(send, quotedText(vscode.workspace.asRelativePath(uri), 'diff', diff), [], 'the difference');
}

const severities = ['error', 'warning', 'information', 'hint'];

export const sendProblem = (send: Send, uri: vscode.Uri, problem: vscode.Diagnostic): Promise<void> => {
  const { start, end } = problem.range;
  const place = selectedPlace(uri.fsPath, {
    startLine: start.line,
    endLine: end.line,
    endColumn: end.character,
    isEmpty: start.line === end.line,
  });
  const severity = severities[problem.severity] ?? 'problem';
  const text = problemText({ message: problem.message, source: problem.source ?? '', severity });
  return sendWith(send, text, [place], `this ${severity}`);
};

/** A light bulb on every problem. */
export const problemActions: vscode.CodeActionProvider = {
  provideCodeActions: (document, _, { diagnostics }) =>
    diagnostics.map((problem) => {
      const action = new vscode.CodeAction('Send to the CONNECTED agent', vscode.CodeActionKind.QuickFix);
      action.command = { command: 'agtmux.sendProblem', title: 'Send', arguments: [document.uri, problem] };
      action.diagnostics = [problem];
      return action;
    }),
};
