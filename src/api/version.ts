// The two versions a client and a daemon compare before they trust each other's words. Loaded by the lean client, so it
// must import nothing.

/** The contract of the routes. A client and a daemon with different numbers refuse each other (E_VERSION). */
export const apiVersion = 1;

/** The shape of the documents; grows only when a field changes its meaning or goes (FED3). */
export const schemaVersion = 1;

export const apiHeader = 'agtmux-api';
export const versionHeader = 'agtmux-version';
