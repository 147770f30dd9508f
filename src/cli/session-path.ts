// Where a session is found in the API, by whatever a person calls it.

/** Names may hold anything, also a slash. */
export const pathOf = (ref: string, more = ''): string => `/v1/managed/${encodeURIComponent(ref)}${more}`;
