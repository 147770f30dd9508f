// What the registrations of our MCP server have in common: its name, and how an entry of ours is known.

import { jsonEntryFile } from '../config-text/json-entry.ts';
import type { JsonObject } from '../config-text/json-text.ts';
import type { InstallFile } from '../contract.ts';

/** Under this name agents show it, and offer its tools. */
export const serverName = 'agtmux';

/** By the name of the program: its folder may have been another one. */
export const isOurProgram = (command: string): boolean => /(?:^|\/)agtmux-mcp$/.test(command);

/** An entry in a JSON file, which names the program in a word or as the first of a list. */
export const serverEntry = (path: string, table: string, value: JsonObject): InstallFile =>
  jsonEntryFile({
    path,
    table,
    name: serverName,
    value,
    fixed: ['type', 'command'],
    isOurs: ([program = '']) => isOurProgram(program),
  });
