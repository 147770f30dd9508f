// The second net for secrets. The first is the allow-list: what is not on it is never stored. This one blots out what
// looks like a credential inside text that is.

const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+/g,
];
// Every quantifier that can meet itself again is bounded: what an agent says must not be able to stall the daemon.
const bearer = /\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi;
const assignment =
  /\b([A-Za-z0-9_]{0,40}(?:password|passwd|secret|token|api_?key|access_?key)[A-Za-z0-9_]{0,40})(\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s'"]+)/gi;
const urlPassword = /(:\/\/[^\s/:@]{1,256}:)[^\s/@]{1,256}@/g;
const blot = '[redacted]';

export function redact(text: string): string {
  let out = text;
  for (const shape of shapes) out = out.replace(shape, blot);
  return out.replace(bearer, `$1 ${blot}`).replace(assignment, `$1$2${blot}`).replace(urlPassword, `$1${blot}@`);
}

/** The same for every string inside a value. */
export function redactDeep(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, redactDeep(part)]));
  }
  return value;
}
