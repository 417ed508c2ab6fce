/** What an upgrade depends on: where this molar is installed, and what is there instead. */
export interface Installed {
  /** The folder of package.json. */
  readonly root: string;
  /** As Node names it: `win32`. */
  readonly platform: string;
  readonly arch: string;
  readonly home: string | undefined;
  readonly exists: (path: string) => boolean;
}

/**
 * How this molar is upgraded, as a command line or a sentence. Where molar lies tells how it was installed: each way has a
 * folder of its own. `releases` is the address of the release, without a slash at the end.
 */
export function upgradeOf(installed: Installed, version: string, releases: string): string {
  const root = installed.root.replaceAll('\\', '/');
  for (const [pattern, way] of WAYS) {
    const found = pattern.exec(root);
    if (found !== null) return way({ ...installed, root, version, releases, prefix: found[1] ?? '' });
  }
  if (installed.exists(`${root}/.git`)) return 'git pull && npm run build';
  if (CONTAINERS.some((file) => installed.exists(file))) return 'Start a container of an image of that version.';
  const os = { win32: 'windows', darwin: 'macos' }[installed.platform] ?? 'linux';
  const archive = `molar-${version}-${os}-${installed.arch}.${os === 'windows' ? 'zip' : 'tar.xz'}`;
  return `Unpack ${releases}/${archive} in place of this one.`;
}

/** Files that Docker and Podman put into each container. */
const CONTAINERS = ['/.dockerenv', '/run/.containerenv'];

interface Way extends Installed {
  readonly version: string;
  readonly releases: string;
  /** What the parentheses of the pattern found. */
  readonly prefix: string;
}

const WAYS: readonly (readonly [pattern: RegExp, upgrade: (way: Way) => string])[] = [
  [/\/Cellar\/molar\//, () => 'brew upgrade molar'],
  [/\/scoop\/apps\/molar\//i, () => 'scoop update molar'],
  [/\/WinGet\/Packages\//i, () => 'winget upgrade molar'],
  [/^\/usr\/lib\/molar\//, systemPackage],
  [/^(.*)\/lib\/molar\/molar-[^/]+\//, ({ prefix, home, releases }) => shellInstaller(prefix, home, releases)],
  [/\/Programs\/molar\/molar-[^/]+\//i, ({ releases }) => `irm ${releases}/install.ps1 | iex`],
  [/\/node_modules\/molar-cli$/, ({ version }) => `npm install --global ./molar-cli-${version}.tgz`],
];

/** dpkg keeps a list of the files of each package; rpm is what else installs there. */
function systemPackage({ exists, arch, version, releases }: Way): string {
  if (!exists('/var/lib/dpkg/info/molar.list')) {
    return `sudo dnf install ${releases}/molar-${version}-1.${arch === 'x64' ? 'x86_64' : 'aarch64'}.rpm`;
  }
  const file = `molar_${version}_${arch === 'x64' ? 'amd64' : 'arm64'}.deb`;
  return `curl -fLO ${releases}/${file} && sudo apt install ./${file}`;
}

function shellInstaller(prefix: string, home: string | undefined, releases: string): string {
  const line = `curl -fsSL ${releases}/install.sh | sh`;
  return prefix === `${home}/.local` ? line : `${line} -s -- --prefix '${prefix.replaceAll("'", "'\\''")}'`;
}
