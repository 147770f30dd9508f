// JSON that the command line makes itself, safe to look at in a terminal.

/** Characters that do something in a terminal are escaped, which means the same to every reader of JSON (SEC3). */
export function escapeEffects(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
