// Every dialect by the name that launches and records know it by.

import { acp } from './acp/dialect.ts';
import { claudeStream } from './claude/dialect.ts';
import { codexAppServer, codexDaemon } from './codex/dialect.ts';
import type { Dialect } from './dialect.ts';
import { kiloLines } from './kilo-lines/dialect.ts';
import { opencodeHttp } from './opencode-http/dialect.ts';

const all: readonly Dialect<unknown>[] = [claudeStream, codexAppServer, codexDaemon, acp, opencodeHttp, kiloLines];

export const dialects: ReadonlyMap<string, Dialect<unknown>> = new Map(all.map((one) => [one.name, one]));
