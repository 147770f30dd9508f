// The settings without a daemon: what `agtmux config` and `agtmux doctor` read. The same reader as the daemon's own.

export { type Config, defaultConfig, readConfig } from '../config/config.ts';
