// `agtmux schema`: the contract as text for other programs. Needs no daemon.

import { jsonSchema, openApi } from '../api/schema-text.ts';
import type { Action } from './context.ts';
import { print } from './output.ts';

export const schema: Action = async (parsed, context) => {
  print(JSON.stringify(parsed.has('openapi') ? openApi(context.version) : jsonSchema(), null, 2));
};
