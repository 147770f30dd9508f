// Run as a process of its own by ssh.test.ts: opens a connection and a channel, says the process id of the connection,
// and waits to be killed.

import { findGuard } from '../../../src/targets/guard.ts';
import { listen, ports, sshTo, until } from './bench.ts';

const [configFile = '', runtimeDir = '', program = '', mode = ''] = process.argv.slice(2);
const guard = mode === 'guard' ? await findGuard(ports.exec, process.env) : [];
const machine = sshTo('vm1', configFile, runtimeDir, { guard });
const rest = program === 'sleep' ? 'exec sleep 60' : 'exec cat';
const { heard } = listen(machine, ['sh', '-c', `echo up; ${rest}`]);
await until(() => heard.output === 'up\n');
process.stdout.write(`${JSON.stringify(machine.masterPids())}\n`);
