// The versions a client and a daemon compare before they trust each other's words. Loaded by the lean client, so it must
// import nothing.

/** The contract of the routes. A client and a daemon with different numbers refuse each other (E_VERSION). */
export const apiVersion = 1;

/** The shape of the documents; grows only when a field changes its meaning or goes (FED3). */
export const schemaVersion = 1;

/** Put in by the bundler: `scripts/build-version.ts`. */
declare const AGTMUX_BUILD_VERSION: string | undefined;

/** This build, with its commit: `0.1.0+1a2b3c4d5e6f`. Null where the sources run as they are. */
export const buildVersion: string | null = typeof AGTMUX_BUILD_VERSION === 'string' ? AGTMUX_BUILD_VERSION : null;

export const apiHeader = 'agtmux-api';
export const versionHeader = 'agtmux-version';

/** Who asks: a process of this machine, which the daemon looks at itself, and how many agents the message went through (ACT6). */
export const callerPidHeader = 'agtmux-caller-pid';
/** The key of a paired editor (EDI1). */
export const editorKeyHeader = 'agtmux-editor-key';
export const callerHopsHeader = 'agtmux-caller-hops';
