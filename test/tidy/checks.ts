// All checks of this checkout in one list, under the names that the test prints.
import {
  bannedCalls,
  dodgedTests,
  foreignPaths,
  houseWordNames,
  houseWordTexts,
  longFiles,
  longFunctions,
  missingHeads,
  namedAgents,
  silencedCheckers,
} from './code-checks.ts';
import {
  architectureDrift,
  badLockEntries,
  badRules,
  deadLinks,
  misnumberedDecisions,
  staleReferences,
  strangeNumbers,
  suiteDrift,
  unknownIds,
  unlistedPackages,
  unprovedRules,
} from './paper-checks.ts';
import type { Tree } from './tree.ts';

export interface Check {
  readonly name: string;
  readonly complaints: (tree: Tree) => readonly string[];
}

export const checks: readonly Check[] = [
  { name: 'files stay short', complaints: longFiles },
  { name: 'functions stay short', complaints: longFunctions },
  { name: 'every file says at its head what lives there', complaints: missingHeads },
  { name: 'nothing is called outside its layer', complaints: bannedCalls },
  { name: 'agents are known by name in their folders only', complaints: namedAgents },
  { name: 'no checker is switched off', complaints: silencedCheckers },
  { name: 'every test runs', complaints: dodgedTests },
  { name: 'names are made of common words', complaints: houseWordNames },
  { name: 'help, messages and headings are made of common words', complaints: houseWordTexts },
  { name: 'no path of one machine', complaints: foreignPaths },
  { name: 'SPEC.md is well formed', complaints: badRules },
  { name: 'every rule of a layer that exists is proved by a test', complaints: unprovedRules },
  { name: 'every rule that is named exists', complaints: unknownIds },
  { name: 'every number that is named can be looked up', complaints: strangeNumbers },
  { name: 'ARCHITECTURE.md, the layer table and the folders agree', complaints: architectureDrift },
  { name: 'no link leads nowhere', complaints: deadLinks },
  { name: 'documents that are made from the code are fresh', complaints: staleReferences },
  { name: 'test/README.md describes every suite', complaints: suiteDrift },
  { name: 'decisions are numbered like their files', complaints: misnumberedDecisions },
  { name: 'packages are on the allow-list', complaints: unlistedPackages },
  { name: 'packages install without scripts', complaints: badLockEntries },
];
