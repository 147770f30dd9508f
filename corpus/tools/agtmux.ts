// agtmux itself as a tool of the scorer: its rules on the text and title of one screen, without hooks, files or what came before.
// Usage: corpus/score --stream "node corpus/tools/agtmux.ts"

import { createInterface } from 'node:readline';
import { agents } from '../../src/agents/registry.ts';
import { classify } from '../../src/agents/screen/classify.ts';
import { type RuleFile, readRuleFile } from '../../src/agents/screen/rule-file.ts';
import { classOf } from '../../src/model/states.ts';

interface Asked {
  readonly agent: string;
  readonly version: string;
  readonly title: string;
  readonly command: string;
  readonly text: string;
}

const rulesOf = new Map<string, RuleFile>(
  agents.filter(({ screen }) => screen !== null).map(({ name, screen }) => [name, readRuleFile(screen)]),
);

for await (const line of createInterface({ input: process.stdin })) {
  const { agent, version, title, command, text } = JSON.parse(line) as Asked;
  const rules = rulesOf.get(agent);
  if (rules === undefined) process.stdout.write('unknown\n');
  else {
    const { state, reason } = classify(rules, { lines: text.split('\n'), title, command }, version);
    const word = reason === 'agent_not_running' ? 'gone' : classOf(state);
    process.stdout.write(`${word === 'unclassified' ? 'unknown' : word}\n`);
  }
}
