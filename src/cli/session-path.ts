// Where a session is found in the API, by whatever a person calls it.

import { pathTo } from '../api/requests.ts';

export const pathOf = (ref: string) => pathTo('/v1/managed/{id}', { id: ref });
