// docs/reliability.md from what was tried: a row a suite, with how far it came, when, where, and what shows that it can fail.

import { type Found, isTried, type Result, type Tried } from './results.ts';
import type { Suite } from './suites.ts';

const number = (value: number): string => value.toLocaleString('en-US');
const day = (date: string): string => date.slice(0, 10);
const last = <Item>(items: readonly Item[]): Item | undefined => items.at(-1);

const commitsOf = (tried: readonly Result[]): string =>
  [...new Set(tried.map(({ commit }) => `\`${commit}\``))].slice(-3).join(', ');

/** What was tried of the product in question; where that is nothing, of the last one that was tried. */
function shownOf(all: readonly Result[], name: string, product: string): readonly Tried[] {
  const tried = all.filter(isTried).filter(({ suite }) => suite === name);
  const ofThis = tried.filter((one) => one.product === product);
  if (ofThis.length > 0) return ofThis;
  const latest = last(tried)?.product;
  return tried.filter((one) => one.product === latest);
}

function rowOf(suite: Suite, all: readonly Result[], product: string): string {
  const tried = shownOf(all, suite.name, product);
  const count = tried.reduce((sum, one) => sum + one.count, 0);
  const failed = tried.filter(({ isSound }) => !isSound).length;
  const end = last(tried);
  const share = `${number(count)} of ${number(suite.promised)} ${suite.unit}`;
  const verdict =
    tried.length === 0 ? 'not run' : failed > 0 ? `**${failed} of ${tried.length} pieces failed**` : 'kept';
  const stale = end !== undefined && end.product !== product ? ', an earlier state of the product' : '';
  const when = end === undefined ? '' : `${day(end.date)}, ${commitsOf(tried)}${stale}`;
  return `| ${suite.promise} | ${share} | ${verdict} | ${when} | \`make proof ONLY=${suite.name}\` |`;
}

function plantedRow(suite: Suite, all: readonly Result[]): readonly string[] {
  const found = all.filter((one): one is Found => one.kind === 'planted' && one.suite === suite.name);
  const bugs =
    suite.plantsItself !== undefined
      ? [...new Set(found.map(({ bug }) => bug))]
      : suite.planted.map(({ words }) => words);
  if (bugs.length === 0) return [`| ${suite.name} | none seen yet | |`];
  return bugs.map((bug) => {
    const end = last(found.filter((one) => one.bug === bug));
    const verdict = end === undefined ? 'not run' : end.isFound ? 'found' : '**not found**';
    return `| ${suite.name} | ${bug} | ${verdict}${end === undefined ? '' : `, ${day(end.date)}, \`${end.commit}\``} |`;
  });
}

/** What nobody may take for tried. */
function gaps(suites: readonly Suite[], all: readonly Result[]): string {
  const untried = suites.filter(({ name }) => !all.some((one) => isTried(one) && one.suite === name));
  const names = untried.map(({ name }) => `\`${name}\``).join(', ');
  const none = untried.length === 0 ? '' : `Not run at all: ${untried.length} of ${suites.length} rows (${names}). `;
  return `${none}A row with fewer tries than it names is not complete. One of "an earlier state of the product" says what was
true then, a failure too: something that ships has changed since.`;
}

export function report(suites: readonly Suite[], all: readonly Result[], product: string): string {
  const machines = [...new Set(all.map(({ machine }) => machine))];
  return `# Reliability

<!-- Written by test/proof/main.ts from what was tried: run \`make proof\` to go on, \`make proof REPORT=1\` to write it again. -->

What agtmux promises of faults, how often that was tried, and where it was not kept. Everything here can be repeated:

\`\`\`sh
make proof                  # goes on where the last sitting ended, until every row is complete (hours)
make proof MINUTES=60       # for an hour
make proof ONLY=damages     # one row
make proof QUICK=1          # a little of every row, in five minutes
make proof PLANTED=1        # plants each bug below into a copy of the checkout, and sees its suite fail
\`\`\`

Results are kept for each commit in the ignored folder \`tmp/proof\`. Tries count for a row as long as nothing that ships has
changed since; each try has a seed of its own, and a row that fails names it in \`tmp/proof/failed\`.

${gaps(suites, all)}
${machines.length === 0 ? '' : `\nMachine: ${machines.join('; ')}.\n`}
| promise | tried | | when, commit | again |
|---|---|---|---|---|
${suites.map((suite) => rowOf(suite, all, product)).join('\n')}

## That each can fail

A suite that cannot fail proves nothing. Each runs once on a copy of the sources, where it must pass, and once with a bug in that copy,
where it must fail. The simulations bring their own bugs.

| suite | planted bug | |
|---|---|---|
${suites.flatMap((suite) => plantedRow(suite, all)).join('\n')}
`;
}
