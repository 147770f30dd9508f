import { targetId } from '../model/ids.ts';
import { createRealChannels } from '../platform/channel.ts';
import { createRealClock } from '../platform/clock.ts';
import { createRealExec } from '../platform/exec.ts';
import { createRealRandom } from '../platform/random.ts';
import { createLocalExecutor } from '../targets/local.ts';
import { hookFilesContract } from './files.contract.ts';
import { createFarHookFiles } from './files-far.ts';
import { createLocalHookFiles } from './files-local.ts';

const clock = createRealClock();
const executor = createLocalExecutor({
  target: targetId('vm1'),
  exec: createRealExec(clock),
  channels: createRealChannels(clock),
  variables: process.env,
});

hookFilesContract('files of this machine', () => createLocalHookFiles());
hookFilesContract('files of another machine, by sh', () => createFarHookFiles(executor, createRealRandom()));
