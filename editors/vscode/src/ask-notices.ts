// Asks as notifications with the agent's own options, and taken back when they are settled anywhere. A notification of VS Code
// cannot be withdrawn, one that shows progress can: so an ask is one of those, and its options are links that are good for the
// very ask they were shown with.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type AskAnswer, type AskOffer, noticeText } from '../../../src/view/editor.ts';

interface Shown {
  readonly offer: AskOffer;
  readonly token: string;
  readonly close: () => void;
}

export class AskNotices {
  readonly #answer: (offer: AskOffer, body: AskAnswer) => Promise<void>;
  readonly #elsewhere: (offer: AskOffer) => Promise<void>;
  readonly #shown = new Map<string, Shown>();
  /** Put away by hand: not shown again while it asks the same. */
  readonly #dismissed = new Set<string>();

  constructor(answer: AskNotices['answerOf'], elsewhere: (offer: AskOffer) => Promise<void>) {
    this.#answer = answer;
    this.#elsewhere = elsewhere;
  }

  declare readonly answerOf: (offer: AskOffer, body: AskAnswer) => Promise<void>;

  show(offers: readonly AskOffer[]): void {
    const open = new Map(offers.map((offer) => [offer.key, offer]));
    for (const [key, { close }] of [...this.#shown]) if (!open.has(key)) close();
    for (const key of [...this.#dismissed]) if (!open.has(key)) this.#dismissed.delete(key);
    for (const [key, offer] of open) if (!this.#shown.has(key) && !this.#dismissed.has(key)) this.#open(offer);
  }

  /** What a link was pressed for; a link of an ask that is gone does nothing. */
  async press(token: unknown, option: unknown): Promise<void> {
    const found = [...this.#shown.values()].find((one) => one.token === token);
    if (found === undefined) return;
    if (option === 'show') return this.dialog(found.offer);
    const chosen = typeof option === 'number' ? found.offer.options[option] : undefined;
    if (chosen !== undefined) await this.#answer(found.offer, chosen.body);
  }

  /** All of it, with its options as buttons. */
  async dialog(offer: AskOffer): Promise<void> {
    if (offer.shown === 'elsewhere') return this.#elsewhere(offer);
    const items = offer.options.map(({ words, body }) => ({ title: words, body }));
    const chosen = await vscode.window.showInformationMessage(
      `${offer.who} asks`,
      { modal: true, detail: offer.text },
      ...items,
    );
    if (chosen !== undefined) await this.#answer(offer, chosen.body);
  }

  #open(offer: AskOffer): void {
    const token = randomBytes(16).toString('hex');
    const link = (words: string, option: number | string): string =>
      `[${words.replace(/[[\]()\\]/g, ' ')}](command:agtmux.pressed?${encodeURIComponent(JSON.stringify([token, option]))})`;
    const links =
      offer.shown === 'notice'
        ? offer.options.map(({ words }, index) => link(words, index))
        : [link(offer.shown === 'dialog' ? 'Show' : 'Open the agent', 'show')];
    const said = offer.shown === 'notice' ? noticeText(offer.text) : 'a longer question';
    const title = `${offer.who} asks: ${said}  ${links.join('  ·  ')}`;
    void vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      (_, cancel) =>
        new Promise<void>((resolve) => {
          const close = (): void => {
            this.#shown.delete(offer.key);
            resolve();
          };
          cancel.onCancellationRequested(() => {
            this.#dismissed.add(offer.key);
            close();
          });
          this.#shown.set(offer.key, { offer, token, close });
        }),
    );
  }

  end(): void {
    for (const { close } of [...this.#shown.values()]) close();
  }
}
