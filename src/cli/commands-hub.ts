// The words of `agtmux hub`, for the table in commands.ts. Data only.

import { hubRoles, hubShares, machineKinds } from '../model/hub.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

const share: OptionSpec = {
  name: 'share',
  value: 'what',
  choices: hubShares,
  words: 'What leaves this machine: states (no texts), asks (default), views (as asks so far)',
};
const folder: OptionSpec = {
  name: 'folder',
  value: 'path',
  words: "The hub's private folder (default: hub, in the state directory)",
};
const url: OptionSpec = {
  name: 'url',
  value: 'url',
  words: 'How people reach the hub (default: http://127.0.0.1:8138)',
};
const tenant: OptionSpec = { name: 'tenant', value: 'name', words: 'The tenant (default: main)' };

const postgres: OptionSpec = {
  name: 'postgres',
  value: 'url',
  words: 'A PostgreSQL instead of a file in the folder (or AGTMUX_HUB_POSTGRES, for an address with a password)',
};
const nats: OptionSpec = {
  name: 'nats',
  value: 'url',
  words: 'A NATS with JetStream, for several hub processes behind one address (or AGTMUX_HUB_NATS)',
};

/** For whoever runs the hub, on its machine. */
const atHub = (json: OptionSpec): readonly CommandSpec[] => [
  {
    name: 'serve',
    words: 'Run a hub in the foreground, with its own database',
    action: 'hubServe',
    options: [
      { name: 'listen', value: 'address', words: 'Address and port (default: 127.0.0.1:8138)' },
      url,
      folder,
      postgres,
      nats,
      { name: 'new-key', words: 'Go on with another hub.key than before: every machine has to join anew' },
    ],
  },
  {
    name: 'code',
    words: 'At the hub: make a code with which one machine can join',
    action: 'hubCode',
    options: [
      { name: 'owner', value: 'name', words: 'Whose machine it is' },
      { name: 'label', value: 'name', words: 'What the hub calls it (default: what it calls itself)' },
      {
        name: 'kind',
        value: 'kind',
        choices: machineKinds,
        words: 'person (default), or ci: its rows go when it does',
      },
      tenant,
      folder,
      postgres,
    ],
  },
  {
    name: 'link',
    words: 'At the hub: print a link that signs one browser in, once, within five minutes',
    action: 'hubLink',
    options: [
      { name: 'who', value: 'name', words: 'The person; hub.toml on machines names them the same' },
      {
        name: 'role',
        value: 'role',
        choices: hubRoles,
        words: `What they may: ${hubRoles.join(', ')} (default: look)`,
      },
      { name: 'owner', value: 'name', isRepeatable: true, words: 'Only machines of this owner' },
      { name: 'repo', value: 'name', isRepeatable: true, words: 'Only this project' },
      url,
      tenant,
      folder,
      postgres,
    ],
  },
  {
    name: 'machines',
    words: 'At the hub: list machines',
    action: 'hubMachines',
    options: [tenant, folder, postgres, json],
  },
  {
    name: 'revoke',
    words: 'At the hub: remove a machine for good',
    arguments: [{ name: 'machine' }],
    action: 'hubRevoke',
    options: [tenant, folder, postgres],
  },
];

export const hubCommand = ({ json }: { json: OptionSpec }): CommandSpec => ({
  name: 'hub',
  words: 'One list of the agents of many machines: serve it, join it, leave it',
  fallback: 'status',
  examples: [
    ['agtmux hub serve', 'on one machine'],
    ['agtmux hub code --owner alice', 'there: a code for one machine'],
    ['agtmux hub join https://hub.example.com --code main-1a2b3c', 'on each machine'],
    ['agtmux list panes --hub --needs-action', 'who waits, on any machine'],
  ],
  commands: [
    {
      name: 'status',
      words: 'Show the hub this daemon reports to, and what it shares',
      action: 'hubStatus',
      options: [json],
    },
    {
      name: 'join',
      words: 'Report to a hub',
      arguments: [{ name: 'url' }],
      action: 'hubJoin',
      options: [
        { name: 'code', value: 'code', words: 'The code from `agtmux hub code`, for one machine' },
        { name: 'label', value: 'name', words: 'What the hub calls this machine (default: its host name)' },
        share,
        json,
      ],
    },
    {
      name: 'share',
      words: 'Choose what leaves this machine',
      arguments: [{ name: 'what', choices: hubShares }],
      action: 'hubShare',
      options: [json],
    },
    { name: 'leave', words: 'Stop reporting to the hub', action: 'hubLeave', options: [json] },
    ...atHub(json),
  ],
});
