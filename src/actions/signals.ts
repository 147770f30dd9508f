// A signal to an agent's process group, on the machine it runs on: who it is is checked there, right before (IDN3). Where
// its start time is not the one that was seen, nothing is sent.

import type { ProcessIdentity } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Executor } from '../targets/executor.ts';

/** Arguments: pid, start, signal. Ends with 0 when it was sent, 3 when it is another process or none. */
const script = `
pid=$1 start=$2 signal=$3
if [ -r /proc/self/stat ]; then
  text=$(cat /proc/"$pid"/stat 2>/dev/null) || exit 3
  set -- \${text##*') '}
  [ "\${20}" = "$start" ] || exit 3
  group=$3
else
  seen=$(LC_ALL=C ps -o lstart= -p "$pid") || exit 3
  [ "$(echo $seen)" = "$(echo $start)" ] || exit 3
  group=$(ps -o pgid= -p "$pid" | tr -d ' ')
fi
if [ "$group" = "$pid" ]; then kill -s "$signal" -- "-$group"; else kill -s "$signal" "$pid"; fi
`;

export type AgentSignal = 'INT' | 'TERM' | 'KILL' | 'CONT';

export async function sendSignal(
  executor: Executor,
  process: ProcessIdentity,
  signal: AgentSignal,
): Promise<'sent' | 'gone' | 'down' | 'unclear'> {
  const argv = ['sh', '-c', script, 'sh', String(process.pid), process.start, signal];
  const result = await executor.run(argv, { deadlineMs: limits.tmuxRequestMs, outputBytesMax: 1_024 });
  if (result.failure !== undefined) return 'down';
  if (result.status === 0) return 'sent';
  return result.status === 3 ? 'gone' : 'unclear';
}
