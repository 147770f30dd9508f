// Where the policy file is. Whoever starts the daemon chooses its environment, and agents start it too: so the place does
// not follow the environment. For the user's own state directory it is fixed; another one remembers the place that its
// first start was given.

import { dirname, join } from 'node:path';
import { limits } from '../model/limits.ts';
import type { Files } from '../platform/files.ts';

export interface PolicyPathParts {
  readonly files: Pick<Files, 'read' | 'writeAtomic'>;
  readonly stateDir: string;
  /** The user's home and state directory as the system knows them, whatever the environment says. */
  readonly home: string;
  readonly ownStateDir: string | null;
  /** The settings of this start. */
  readonly configPath: string;
}

export async function policyPathOf(parts: PolicyPathParts): Promise<string> {
  const { files, stateDir, home, ownStateDir, configPath } = parts;
  if (stateDir === ownStateDir) return join(home, '.config/agtmux/policy.toml');
  const record = join(stateDir, 'policy-path');
  const known = await files.read(record, { bytesMax: limits.pathCharsMax * 4 });
  if (known !== null) return Buffer.from(known.bytes).toString().trimEnd();
  const path = join(dirname(configPath), 'policy.toml');
  await files.writeAtomic(record, Buffer.from(`${path}\n`));
  return path;
}
