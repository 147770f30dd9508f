// Codex as a managed session: in an app-server of its own, and as one more client of the user's shared server.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../kit/live.ts';
import { agentsDir } from '../../stage.ts';
import type { Place } from '../place.ts';
import type { Player } from '../player.ts';

const configText = (port: number): string => `model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
default_mode_request_user_input = true

[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
`;

export const codex: Player = {
  agent: 'codex',
  label: 'codex',
  version: '0.166.0',
  driver: 'codex-app-server',
  model: null,
  env: () => ({ MOCK_KEY: 'dummy' }),
  seed: ({ home, port }) => {
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), configText(port));
  },
  retryStatus: 500,
  cannot: { rejoin: 'Its process ends with the daemon: the session is resumed instead.' },
};

/** The server that a user's own Codex leaves behind. */
async function serve(place: Place): Promise<void> {
  const env = place.env(codexShared);
  const program = join(agentsDir, 'bin/codex');
  spawn(program, ['app-server', '--listen', 'unix://'], { env, cwd: place.project('serve'), stdio: 'ignore' }).unref();
  const socket = join(place.home, '.codex/app-server-control/app-server-control.sock');
  await until(() => existsSync(socket), 30_000);
}

export const codexShared: Player = {
  ...codex,
  label: 'codex, shared server',
  driver: 'codex-daemon',
  serve,
  cannot: {},
};
