// Run as a process of its own by ssh.test.ts: opens a connection and a channel, says their process ids, and waits to be
// killed.

import { listen, sshTo, until } from './bench.ts';

const [configFile = '', runtimeDir = ''] = process.argv.slice(2);
const machine = sshTo('vm1', configFile, runtimeDir);
const { channel, heard } = listen(machine, ['sh', '-c', 'echo up; exec sleep 600']);
await until(() => heard.output === 'up\n');
process.stdout.write(`${JSON.stringify([...machine.masterPids(), channel.pid])}\n`);
