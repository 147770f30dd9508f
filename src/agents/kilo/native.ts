// Kilo's own event stream: OpenCode's, from the program it is a fork of. `--port` as there.

export { natives } from '../opencode/native.ts';
