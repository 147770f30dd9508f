import { describe, expect, it } from 'vitest';
import { type ServiceFacts, serviceOf } from './service.ts';

const facts: ServiceFacts = {
  platform: 'linux',
  home: '/home/me',
  configHome: undefined,
  uid: 501,
  argv: ['/opt/no de/bin/node', '/opt/50%/$HOME/"x"/agtmux', 'daemon', 'run'],
  path: '/usr/bin:/bin',
  variables: [['AGTMUX_STATE_DIR', '/srv/a & <b>']],
};

describe('the service', () => {
  it('under systemd quotes what systemd would read as its own', () => {
    const { file, text, install } = serviceOf(facts);
    expect(file).toBe('/home/me/.config/systemd/user/agtmux.service');
    expect(text).toContain('ExecStart="/opt/no de/bin/node" "/opt/50%%/$$HOME/\\"x\\"/agtmux" "daemon" "run"\n');
    expect(text).toContain('Environment="AGTMUX_STATE_DIR=/srv/a & <b>"\n');
    expect(install.at(-1)).toEqual(['systemctl', '--user', 'enable', '--now', 'agtmux.service']);
    expect(serviceOf({ ...facts, configHome: '/c' }).file).toBe('/c/systemd/user/agtmux.service');
  });

  it('under launchd is XML', () => {
    const { file, text, uninstall } = serviceOf({ ...facts, platform: 'darwin' });
    expect(file).toMatch(/^\/home\/me\/Library\/LaunchAgents\/.*\.plist$/);
    expect(text).toContain('<string>/opt/50%/$HOME/&quot;x&quot;/agtmux</string>');
    expect(text).toContain('<key>AGTMUX_STATE_DIR</key><string>/srv/a &amp; &lt;b&gt;</string>');
    expect(uninstall[0]?.at(-1)).toMatch(/^gui\/501\//);
  });
});
