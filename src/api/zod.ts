// The schema library as the API uses it. Set up before any schema is made: they are walked, never compiled, since text is
// not run here.

import { z } from 'zod';

z.config({ jitless: true });

export { z };
