// Which arguments of an agent's start may be used again when its conversation is resumed. Only options that its adapter
// names are kept, and only values that look plain: prompts and secrets stand in arguments too.

import { redact } from '../../engine/redact.ts';
import type { KeptOption } from '../../model/restore.ts';
import type { StartOption } from '../contract.ts';
import { programOf } from '../program.ts';

/** Options that many agents share. */
export const modelOption: StartOption = { names: ['--model', '-m'], hasValue: true };

const isPlainValue = (value: string): boolean =>
  /^[\w@./~][\w@.,:/~+=-]{0,199}$/.test(value) && redact(value) === value;

/** Those of the arguments that may be given again, in their order. */
export function keptOptions(argv: readonly string[], known: readonly StartOption[]): readonly KeptOption[] {
  const args = programOf({ executable: null, argv })?.args ?? argv.slice(1);
  const kept: KeptOption[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--') break;
    const [name = '', ...rest] = word.split('=');
    const option = known.find(({ names }) => names.includes(name));
    const [spelling] = option?.names ?? [];
    if (option === undefined || spelling === undefined) continue;
    const joined = rest.length === 0 ? null : rest.join('=');
    if (option.hasValue !== true) {
      if (joined === null) kept.push({ words: [spelling], skips_permissions: option.skipsPermissions !== undefined });
      continue;
    }
    if (joined === null) at += 1;
    const value = joined ?? args[at] ?? '';
    if (isPlainValue(value)) kept.push({ words: [spelling, value], skips_permissions: skips(option, value) });
  }
  return kept;
}

const skips = ({ skipsPermissions }: StartOption, value: string): boolean =>
  skipsPermissions === true || (skipsPermissions?.includes(value) ?? false);
