// Who somebody is, by what the sign-in service says.

import { expect, it } from 'vitest';
import { personOf, type SignInProvider } from './sign-in.ts';

const provider: SignInProvider = {
  tenant: 'main',
  issuer: 'https://sign-in.example.com',
  client_id: 'agtmux',
  scopes: ['openid'],
  who: 'email',
  groups: 'groups',
  roles: [{ role: 'look', owners: [], repos: [] }],
};
const who = (email_verified: unknown, more: Partial<SignInProvider> = {}): string =>
  personOf({ ...provider, ...more }, { email: 'alice@example.com', sub: 'alice', email_verified }).who;

it('HUB10 an address that was not checked lets nobody in, in whichever form the service says so', () => {
  for (const said of [false, 'false', 'no', 0, '']) expect(() => who(said), String(said)).toThrow('has not checked it');
  for (const said of [true, 'true', undefined]) expect(who(said)).toBe('alice@example.com');
  expect(who(false, { who: 'sub' })).toBe('alice');
});
