// One spelling for one value, and its fingerprint. Order and identity of events rest on both, so neither may ever depend
// on key order, on arrival or on a clock. The fingerprint is fast, not cryptographic: it breaks ties and finds copies;
// whoever can forge one can already write events as this user.

/** JSON with sorted keys; what JSON cannot say becomes null. */
export function canonical(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const part of value) text += text === '' ? canonical(part) : `,${canonical(part)}`;
    return `[${text}]`;
  }
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record).sort()) {
    const part = record[key];
    if (part !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(part)}`;
  }
  return `{${text}}`;
}

/** Whether two values of plain data say the same; key order does not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) =>
    isSame((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
  );
}

/** Whether a value nests deeper than the bound; checked before anything walks it. */
export function deeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depthMax === 0) return true;
  return Object.values(value).some((part) => deeperThan(part, depthMax - 1));
}

/** Two mixed 32-bit lanes as one 53-bit integer: the widest that a number holds exactly. */
function mix(left: number, right: number): number {
  const high = Math.imul(left ^ (left >>> 16), 0x85ebca6b) ^ Math.imul(right ^ (right >>> 13), 0xc2b2ae35);
  const low = Math.imul(right ^ (right >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}

/** 106 bits in 22 characters of fixed length, so that comparing text compares numbers. */
export function hashText(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  let c = 0x2545f491;
  let d = 0x6c8e9cf5;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
    c = Math.imul(c ^ unit, 0x85ebca77);
    d = Math.imul(d ^ unit, 0xc2b2ae3d);
  }
  return mix(a, b).toString(36).padStart(11, '0') + mix(c, d).toString(36).padStart(11, '0');
}

export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const point of text) {
    const code = point.codePointAt(0) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
