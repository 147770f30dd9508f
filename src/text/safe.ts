// The type of text that passed the gate. Only the gate makes it; no functions live here, so that every room of text can
// name it without importing the gate.

declare const brand: unique symbol;

/** Text without effects: it may go to a terminal, a page, a log or a notification (SEC3). */
export type SafeText = string & { readonly [brand]: 'SafeText' };
