// Signing in at the hub by whatever the organisation signs in with: OpenID Connect, code flow with PKCE, by a library.

import * as oidc from 'openid-client';
import { AgtmuxError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { foreign, sanitizeLine } from '../text/sanitize.ts';
import { isLoopback, personOf, type SignedInPerson, type SignInFlow, type SignInProvider } from './sign-in-file.ts';

export class SignIn {
  readonly #providers: readonly SignInProvider[];
  readonly #known = new Map<string, Promise<oidc.Configuration>>();

  constructor(providers: readonly SignInProvider[]) {
    this.#providers = providers;
  }

  get tenants(): readonly string[] {
    return this.#providers.map(({ tenant }) => tenant);
  }

  /** Where the browser goes, and what it has to bring back. */
  async begin(tenant: string, callback: string): Promise<{ readonly url: URL; readonly flow: SignInFlow }> {
    const { provider, configuration } = await this.#of(tenant);
    const flow = {
      tenant,
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: provider.scopes.join(' '),
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    });
    return { url, flow };
  }

  async finish(flow: SignInFlow, came: URL): Promise<SignedInPerson> {
    const { provider, configuration } = await this.#of(flow.tenant);
    const claims = await this.#claims(configuration, flow, came).catch((cause: unknown) => {
      const words = cause instanceof Error ? cause.message : String(cause);
      throw new AgtmuxError('E_SIGNED_OUT', `signing in failed: ${sanitizeLine(foreign(words))}`, {
        next: 'sign in again',
        cause,
      });
    });
    return personOf(provider, claims);
  }

  async #claims(
    configuration: oidc.Configuration,
    { state, nonce, verifier }: SignInFlow,
    came: URL,
  ): Promise<Readonly<Record<string, unknown>>> {
    const tokens = await oidc.authorizationCodeGrant(configuration, came, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('there is no ID token');
    // Many providers keep the ID token short, and say groups and addresses only here.
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const more = hasMore ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
    return { ...more, ...claims };
  }

  async #of(tenant: string) {
    const provider = this.#providers.find((one) => one.tenant === tenant);
    if (provider === undefined) throw new AgtmuxError('E_ROUTE', 'nobody signs in like this at this hub');
    const known = this.#known.get(tenant) ?? discover(provider);
    this.#known.set(tenant, known);
    // One that is away now is asked again with the next try.
    known.catch(() => this.#known.delete(tenant));
    return { provider, configuration: await known };
  }
}

async function discover({ issuer, client_id, client_secret }: SignInProvider): Promise<oidc.Configuration> {
  const url = new URL(issuer);
  const execute = url.protocol === 'http:' && isLoopback(url) ? [oidc.allowInsecureRequests] : [];
  try {
    return await oidc.discovery(url, client_id, client_secret, client_secret === undefined ? oidc.None() : undefined, {
      execute,
      timeout: limits.hubConnectMs / 1_000,
    });
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new AgtmuxError('E_HUB', `the sign-in service cannot be reached: ${sanitizeLine(foreign(words))}`, { cause });
  }
}
