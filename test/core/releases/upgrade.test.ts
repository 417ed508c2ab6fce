import { describe, expect, it } from 'vitest';
import { upgradeOf } from '../../../src/core/releases/upgrade.ts';

const AT = 'https://example.com/molar';
const DEB = '/var/lib/dpkg/info/molar.list';

describe('an upgrade', () => {
  it.each<[root: string, upgrade: string, more?: { platform?: string; arch?: string; exists?: string }]>([
    ['/srv/ann/.local/lib/molar/molar-0.1.0-linux-x64/lib', `curl -fsSL ${AT}/install.sh | sh`],
    [
      "/opt/ann's/lib/molar/molar-0.1.0-linux-x64/lib",
      `curl -fsSL ${AT}/install.sh | sh -s -- --prefix '/opt/ann'\\''s'`,
    ],
    [
      '/usr/lib/molar/lib',
      `curl -fLO ${AT}/molar_0.2.0_amd64.deb && sudo apt install ./molar_0.2.0_amd64.deb`,
      { exists: DEB },
    ],
    ['/usr/lib/molar/lib', `sudo dnf install ${AT}/molar-0.2.0-1.aarch64.rpm`, { arch: 'arm64' }],
    ['/opt/homebrew/Cellar/molar/0.1.0/libexec/lib', 'brew upgrade molar', { platform: 'darwin' }],
    ['C:\\ann\\scoop\\apps\\molar\\0.1.0\\lib', 'scoop update molar', { platform: 'win32' }],
    [
      'C:\\ann\\AppData\\Local\\Microsoft\\WinGet\\Packages\\X.Molar_x\\molar-0.1.0-windows-x64\\lib',
      'winget upgrade molar',
      { platform: 'win32' },
    ],
    [
      'C:\\ann\\AppData\\Local\\Programs\\molar\\molar-0.1.0-windows-x64\\lib',
      `irm ${AT}/install.ps1 | iex`,
      { platform: 'win32' },
    ],
    ['/usr/local/lib/node_modules/molar-cli', 'npm install --global ./molar-cli-0.2.0.tgz'],
    ['/srv/ann/molar', 'git pull && npm run build', { exists: '/srv/ann/molar/.git' }],
    ['/opt/molar-0.1.0-linux-x64/lib', 'Start a container of an image of that version.', { exists: '/.dockerenv' }],
    ['/opt/molar-0.1.0-linux-x64/lib', `Unpack ${AT}/molar-0.2.0-linux-x64.tar.xz in place of this one.`],
    ['/srv/molar-0.1.0-linux-x64/lib', `Unpack ${AT}/molar-0.2.0-linux-x64.tar.xz in place of this one.`],
    [
      'D:\\molar-0.1.0-windows-arm64\\lib',
      `Unpack ${AT}/molar-0.2.0-windows-arm64.zip in place of this one.`,
      { platform: 'win32', arch: 'arm64' },
    ],
    [
      '/srv/mac/molar-0.1.0-macos-arm64/lib',
      `Unpack ${AT}/molar-0.2.0-macos-arm64.tar.xz in place of this one.`,
      { platform: 'darwin', arch: 'arm64' },
    ],
  ])('of %s', (root, upgrade, { platform = 'linux', arch = 'x64', exists } = {}) => {
    const installed = { root, platform, arch, home: '/srv/ann', exists: (path: string) => path === exists };
    expect(upgradeOf(installed, '0.2.0', AT)).toBe(upgrade);
  });
});
