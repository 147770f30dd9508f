// The second net for secrets. The first is the allow-list: what is not on it is never stored. This one blots out what
// looks like a credential inside text that is. It is for what is kept and shown; nothing is ever compared by it alone.

const wholes: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+/g,
];
const blot = '[redacted]';
const words = 'password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key';
// A value ends where a shell would run something: a command must not be able to hide behind the name of a secret.
const inQuotes = '(?:[^"`$]|\\$(?!\\())';
// What is blotted out already stays as it is.
const value = `(?!\\[redacted\\])(?:\\\\?"${inQuotes}*"|\\\\?"${inQuotes}+|'[^']*'|(?:[^\\s'"\`;&|<>()$]|\\$(?!\\())+)`;
// What stands before the secret, the secret, what stands behind it. Every quantifier that can meet itself again is
// bounded: what an agent says must not be able to stall the daemon.
const parts: readonly RegExp[] = [
  /\b((?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{8,})()/gi,
  // NAME=value, name: value, "name":"value".
  new RegExp(
    `\\b([A-Za-z0-9_-]{0,40}(?:(?:${words})[A-Za-z0-9_]{0,40}|[A-Za-z0-9]_(?:pass|pwd))\\\\?["']?\\s*[=:]\\s*)(${value})()`,
    'gi',
  ),
  // --name value
  new RegExp(
    `((?<![^\\s"'(])--?(?:[A-Za-z0-9_-]{0,40}(?:${words}|credentials?)|(?:[A-Za-z0-9]{1,20}[_-]){0,4}pass)\\s+)(?![-<>|&;])(${value})()`,
    'gi',
  ),
  new RegExp(`(\\bsshpass\\s+-p\\s*)(${value})()`, 'g'),
  new RegExp(`(\\bmysql[a-z]{0,10}\\b[^;|&\\n]{0,200}?\\s-p)(${value})()`, 'g'),
  new RegExp(`(\\bcurl\\b[^;|&\\n]{0,400}?\\s(?:-u|--user)[\\s=]*["']?[^\\s:'"]{1,100}:)(${value})()`, 'g'),
  /(:\/\/[^\s/:@]{1,256}:)([^\s/@'"`;&|<>()]{1,256})(@)/g,
];

/** The text without its secrets, and what was taken out. */
function split(text: string): { readonly shown: string; readonly hidden: readonly string[] } {
  const hidden: string[] = [];
  const hide = (before: string, secret: string, after: string): string => {
    hidden.push(secret);
    return `${before}${blot}${after}`;
  };
  let shown = text;
  for (const one of wholes) shown = shown.replace(one, (secret) => hide('', secret, ''));
  for (const one of parts) {
    shown = shown.replace(one, (_, before: string, secret: string, after: string) => hide(before, secret, after));
  }
  return { shown, hidden };
}

export const redact = (text: string): string => split(text).shown;

/** Whether something may be hidden in a text. One that says so itself is taken at its word. */
export const hasRedaction = (text: string): boolean => text.includes(blot);

/**
 * One word, or one string in quotes: nothing that a shell would run. Whoever says yes to a text without it has still
 * read every command in it.
 */
const plain = /^(?:[^\s'"`;&|<>()]+|'[^']*'|\\?"(?:[^"`$]|\$(?!\())*"?)$/;

/** Whether everything that is hidden in a text is a mere value. */
export const hidesValuesOnly = (text: string): boolean => split(text).hidden.every((one) => plain.test(one));

/** The same for every string inside a value. */
export function redactDeep(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, redactDeep(part)]));
  }
  return value;
}
