// Ed25519 signatures and digests, as texts that fit into JSON. A key is made from 32 bytes of the random port, so that there is
// one place for chance.

import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** What stands before the seed of an Ed25519 key in PKCS #8. */
const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface SigningKey {
  /** 32 bytes as base64url. */
  readonly publicKey: string;
  sign(text: string): string;
}

export function signingKeyOf(seed: Uint8Array): SigningKey {
  const key = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = String(createPublicKey(key).export({ format: 'jwk' }).x);
  return { publicKey, sign: (text) => sign(null, Buffer.from(text), key).toString('base64url') };
}

/** Made again for every signature they cost more than the check itself. */
const known = new Map<string, KeyObject>();
const knownMax = 4_096;

export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  try {
    let key = known.get(publicKey);
    if (key === undefined) {
      key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
      if (known.size >= knownMax) known.clear();
      known.set(publicKey, key);
    }
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    // No key at all, or no signature.
    return false;
  }
}

/** Lower-case hex. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The id of whoever holds this key. */
export const daemonIdOf = (publicKey: string): string => digestOf(`agtmux daemon ${publicKey}`).slice(0, 32);
