import { verify } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workplace } from '../molar.ts';
import { done, installerOf, MAINTAINER, makeRelease, needs, newKey, packages, run, sha256 } from './release.ts';

const BASE = 'https://example.com/molar';
const { key, pem } = newKey();
let place: Awaited<ReturnType<typeof workplace>>;
let release: string;
let made: Awaited<ReturnType<typeof packages>>;

const file = (name: string) => join(release, name);
const textOf = (name: string) => readFile(file(name), 'utf8');
const WHOLE = () => ['--maintainer', MAINTAINER, '--base-url', BASE, '--key', join(place.path, 'key.pem')];

/** Copies what packages are made of. */
async function copyArchives(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(release)) {
    if (/^molar-.*\.(?:xz|zip)$|^SHA256SUMS(?:\.sig)?$/.test(name)) await copyFile(file(name), join(folder, name));
  }
}

beforeAll(async () => {
  place = await workplace();
  release = join(place.path, 'release');
  await writeFile(join(place.path, 'key.pem'), pem);
  // A program of the machine's own, so that what a package needs can be read off it.
  await makeRelease(release, '1.2.0', key, { program: await readFile('/bin/true') });
  made = await packages(['--release', release, ...WHOLE()], { SOURCE_DATE_EPOCH: '1700000000' });
});

afterAll(() => place.remove());

describe('npm run packages', () => {
  it('makes every kind, and a list of them that is signed', async () => {
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const sums = await textOf('SHA256SUMS-packages');
    const listed = sums
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  '));
    expect(listed.map(([, name]) => name)).toEqual([
      'molar_1.2.0_arm64.deb',
      'molar-1.2.0-1.aarch64.rpm',
      'molar_1.2.0_amd64.deb',
      'molar-1.2.0-1.x86_64.rpm',
      'install.sh',
      'install.ps1',
      'molar.rb',
      'molar.json',
      'winget/ExampleDental.Molar.yaml',
      'winget/ExampleDental.Molar.installer.yaml',
      'winget/ExampleDental.Molar.locale.en-US.yaml',
    ]);
    for (const [sum, name = ''] of listed) expect([name, sha256(await readFile(file(name)))]).toEqual([name, sum]);
    expect(verify(null, Buffer.from(sums), key, await readFile(file('SHA256SUMS-packages.sig')))).toBe(true);
  });

  it('leaves nothing to be filled in, and no address but the one given', async () => {
    expect(await textOf('install.sh')).toBe(await installerOf(BASE, key));
    for (const name of ['install.sh', 'install.ps1', 'molar.rb', 'molar.json', ...(await winget())]) {
      const text = await textOf(name);
      expect([name, text.match(/@BASE@|@KEY@|undefined/g)]).toEqual([name, null]);
      const addresses = text.match(/https?:\/\/[^"'\s)]+/g) ?? [];
      const others = addresses.filter((address) => !address.startsWith(BASE) && !address.includes('aka.ms/winget-'));
      // Those of the installers are the pattern of what is an address.
      expect([
        name,
        others.filter((address) => /^https?:\/\/[a-z]/.test(address) && !/localhost|127/.test(address)),
      ]).toEqual([name, []]);
    }
  });

  it('makes the same bytes again, in another place', async () => {
    const again = join(place.path, 'again');
    await copyArchives(again);
    const env = { SOURCE_DATE_EPOCH: '1700000000', TZ: 'Asia/Tokyo', LC_ALL: 'C' };
    expect(await packages(['--release', again, ...WHOLE()], env)).toMatchObject({ code: 0 });
    expect(await readFile(join(again, 'SHA256SUMS-packages'), 'utf8')).toBe(await textOf('SHA256SUMS-packages'));
  });

  const damaged = 'molar-1.2.0-linux-arm64.tar.xz is not what SHA256SUMS says';
  it.each<
    [name: string, spoil: (folder: string) => Promise<unknown>, args: readonly string[], code: number, said: string]
  >([
    ['an archive that was changed', (at) => writeFile(join(at, 'molar-1.2.0-linux-arm64.tar.xz'), 'x'), [], 1, damaged],
    ['no archives', (at) => rm(join(at, 'SHA256SUMS')), [], 1, 'There is no'],
    ['archives that were not signed', (at) => rm(join(at, 'SHA256SUMS.sig')), [], 1, 'sign the archives first'],
    [
      'a signature of another key',
      (at) => writeFile(join(at, '../key.pem'), newKey().pem),
      [],
      1,
      'SHA256SUMS was not signed with the key of --key',
    ],
    ['nobody who answers for it', async () => {}, ['--maintainer', 'Ann'], 2, "--maintainer must be 'NAME <MAIL>'"],
    [
      'an address in plain http',
      async () => {},
      ['--base-url', 'http://example.com'],
      2,
      '--base-url must be an https',
    ],
    ['what it does not know', async () => {}, ['--sign', 'x'], 2, "Unknown option '--sign'"],
  ])('refuses %s', async (_name, spoil, args, code, said) => {
    const folder = join(place.path, 'spoilt', 'release');
    await rm(folder, { recursive: true, force: true });
    await copyArchives(folder);
    await writeFile(join(folder, '../key.pem'), pem);
    await spoil(folder);
    const whole = ['--maintainer', MAINTAINER, '--base-url', BASE, '--key', join(folder, '../key.pem')];
    const ended = await packages(['--release', folder, ...whole, ...args]);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(said) });
    expect((await readdir(folder)).filter((name) => /deb|rpm|install/.test(name))).toEqual([]);
  });
});

const INSTALLED = [
  'usr/bin/molar',
  'usr/lib/molar/bin/molar',
  'usr/lib/molar/lib/CHANGELOG.md',
  'usr/lib/molar/lib/large',
  'usr/lib/molar/lib/origin.json',
  'usr/lib/molar/lib/package.json',
  'usr/share/bash-completion/completions/molar',
  'usr/share/doc/molar/THIRD-PARTY-LICENSES.gz',
  'usr/share/doc/molar/changelog.gz',
  'usr/share/doc/molar/copyright',
  'usr/share/fish/vendor_completions.d/molar.fish',
  'usr/share/man/man1/molar.1.gz',
  'usr/share/man/man7/molar-filters.7.gz',
  'usr/share/zsh/site-functions/_molar',
];

/** The files below a folder, but those of the package manager. */
async function filesBelow(root: string): Promise<string[]> {
  const found = await done('find', [root, '-not', '-type', 'd', '-not', '-path', `${root}/var/*`, '-printf', '%P\n']);
  return found.split('\n').filter(Boolean).sort();
}

describe('the package of Debian', () => {
  it('says what it is and needs, and belongs to root', async () => {
    const fields = await done('dpkg-deb', ['--field', file('molar_1.2.0_arm64.deb')]);
    expect(fields).toMatch(
      /^Package: molar\nVersion: 1\.2\.0\nArchitecture: arm64\nMaintainer: Example Dental <molar@example\.com>$/m,
    );
    expect(fields).toMatch(/^Homepage: https:\/\/example\.com\/molar$/m);
    expect(fields).toMatch(/^Depends: libc6 \(>= 2\.34\), libgcc-s1, libstdc\+\+6 \(>= 11\)$/m);
    const listed = (await done('dpkg-deb', ['--contents', file('molar_1.2.0_amd64.deb')])).trimEnd().split('\n');
    expect(listed.length).toBeGreaterThan(INSTALLED.length);
    expect(
      listed.filter((line) => !/^(?:d|-)rw(?:-r--r--|xr-xr-x) root\/root |^lrwxrwxrwx root\/root /.test(line)),
    ).toEqual([]);
    expect(listed).toContainEqual(expect.stringMatching(/^-rwxr-xr-x .* \.\/usr\/lib\/molar\/bin\/molar$/));
  });

  it('is installed and removed, and leaves what is not its own', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('dpkg installs for root only');
    const root = join(place.path, 'debian');
    for (const path of ['var/lib/dpkg/info', 'var/lib/dpkg/updates', 'srv/molar'])
      await mkdir(join(root, path), { recursive: true });
    for (const name of ['status', 'available']) await writeFile(join(root, 'var/lib/dpkg', name), '');
    await writeFile(join(root, 'srv/molar/data'), 'data');
    // There is nothing in that root, so no libc either.
    const dpkg = (...args: string[]) => done('dpkg', ['--root', root, '--force-depends', '--log=/dev/null', ...args]);
    const amd64 = (await run('dpkg', ['--print-architecture'])).stdout.trim() === 'amd64';
    await dpkg('--install', file(`molar_1.2.0_${amd64 ? 'amd64' : 'arm64'}.deb`));
    expect(await filesBelow(root)).toEqual(['srv/molar/data', ...INSTALLED]);
    expect(await done('readlink', [join(root, 'usr/bin/molar')])).toBe('../lib/molar/bin/molar\n');
    expect(await done('zcat', [join(root, 'usr/share/man/man1/molar.1.gz')])).toBe('.TH molar.1 1.2.0\n');
    expect(await dpkg('--verify', 'molar')).toBe('');
    await dpkg('--remove', 'molar');
    expect(await filesBelow(root)).toEqual(['srv/molar/data']);
  });
});

describe('the package of Fedora', () => {
  it('says what it is, and needs what its program needs and nothing for lib/', async (context) => {
    await needs(context, 'rpm');
    const query = (name: string, ...args: string[]) => done('rpm', ['--query', '--package', ...args, file(name)]);
    expect(
      await query(
        'molar-1.2.0-1.aarch64.rpm',
        '--queryformat',
        '%{NAME} %{VERSION} %{ARCH} %{LICENSE} %{PACKAGER} %{URL}',
      ),
    ).toBe(`molar 1.2.0 aarch64 MIT ${MAINTAINER} ${BASE}`);
    const needed = (await query('molar-1.2.0-1.x86_64.rpm', '--requires')).trimEnd().split('\n');
    // The driver of SQLite needs the newer of the two; what lib/ brings itself is asked of nobody.
    const told = ['libc.so.6(GLIBC_2.34)(64bit)', 'libstdc++.so.6(GLIBCXX_3.4.29)(64bit)'];
    expect(needed.filter((each) => !/^(?:rpmlib|libc\.so|rtld|ld-)/.test(each))).toEqual([told[1]]);
    expect(needed).toEqual(expect.arrayContaining(told));
    if (process.arch === 'x64') expect(needed.join()).toContain('libc.so.6');
    const owners = await query('molar-1.2.0-1.x86_64.rpm', '--queryformat', '[%{FILEUSERNAME}:%{FILEGROUPNAME}\n]');
    expect(new Set(owners.trimEnd().split('\n'))).toEqual(new Set(['root:root']));
  });

  it('is installed and removed, and leaves what is not its own', async (context) => {
    await needs(context, 'rpm');
    if (process.getuid?.() !== 0) context.skip('rpm installs for root only');
    const root = join(place.path, 'fedora');
    await mkdir(join(root, 'srv/molar'), { recursive: true });
    await writeFile(join(root, 'srv/molar/data'), 'data');
    const arch = process.arch === 'x64' ? 'x86_64' : 'aarch64';
    const rpm = (...args: string[]) => done('rpm', ['--root', root, '--dbpath', '/var/lib/rpm', ...args]);
    await rpm('--install', '--nodeps', file(`molar-1.2.0-1.${arch}.rpm`));
    expect(await filesBelow(root)).toEqual(['srv/molar/data', ...INSTALLED]);
    expect(await rpm('--verify', '--nodeps', 'molar')).toBe('');
    await rpm('--erase', 'molar');
    expect(await filesBelow(root)).toEqual(['srv/molar/data']);
  });
});

const winget = async () => (await readdir(file('winget'))).map((name) => `winget/${name}`);
const sumOf = async (name: string) => sha256(await readFile(file(`molar-1.2.0-${name}`)));

describe('the manifests', () => {
  it('of Homebrew are Ruby, and have the archive of each system with its sum', async (context) => {
    await needs(context, 'ruby');
    // What Homebrew defines, as far as a formula asks for it: it notes what each system would download.
    const script = `
      class Formula
        def self.method_missing(name, *given) = given
        def self.on_macos = (@os = 'macos'; yield)
        def self.on_linux = (@os = 'linux'; yield)
        def self.on_arm = (@arch = 'arm64'; yield)
        def self.on_intel = (@arch = 'x64'; yield)
        def self.url(at) = (@url = at)
        def self.sha256(sum) = puts("#{@os}-#{@arch} #{@url} #{sum}")
        def self.test = nil
      end
      load ARGV[0]`;
    const lines = (await done('ruby', ['-w', '-e', script, file('molar.rb')])).trimEnd().split('\n');
    const wanted = ['macos-arm64', 'macos-x64', 'linux-arm64', 'linux-x64'].map(
      async (target) => `${target} ${BASE}/molar-1.2.0-${target}.tar.xz ${await sumOf(`${target}.tar.xz`)}`,
    );
    expect(lines).toEqual(await Promise.all(wanted));
  });

  it('of scoop have the archives with their sums, and find later ones', async () => {
    const manifest = JSON.parse(await textOf('molar.json'));
    expect(manifest.architecture).toEqual({
      '64bit': {
        url: `${BASE}/molar-1.2.0-windows-x64.zip`,
        hash: await sumOf('windows-x64.zip'),
        extract_dir: 'molar-1.2.0-windows-x64',
      },
      arm64: {
        url: `${BASE}/molar-1.2.0-windows-arm64.zip`,
        hash: await sumOf('windows-arm64.zip'),
        extract_dir: 'molar-1.2.0-windows-arm64',
      },
    });
    const found = new RegExp(manifest.checkver.regex).exec(await textOf('SHA256SUMS'))?.[1];
    expect(found).toBe('1.2.0');
    const { url } = manifest.autoupdate.architecture['64bit'];
    expect(url.replaceAll('$version', found)).toBe(manifest.architecture['64bit'].url);
  });

  it('of winget are YAML, and have the archives with their sums', async (context) => {
    await needs(context, 'ruby');
    const script = 'puts JSON.generate(ARGV.map { |name| YAML.safe_load(File.read(name)) })';
    const names = (await winget()).sort().map(file);
    const read = JSON.parse(await done('ruby', ['-ryaml', '-rjson', '-e', script, ...names]));
    const common = { PackageIdentifier: 'ExampleDental.Molar', PackageVersion: '1.2.0', ManifestVersion: '1.6.0' };
    expect(read).toMatchObject([
      {
        ...common,
        ManifestType: 'installer',
        InstallerType: 'zip',
        NestedInstallerType: 'portable',
        Installers: await Promise.all(
          ['x64', 'arm64'].map(async (arch) => ({
            Architecture: arch,
            InstallerUrl: `${BASE}/molar-1.2.0-windows-${arch}.zip`,
            InstallerSha256: (await sumOf(`windows-${arch}.zip`)).toUpperCase(),
            NestedInstallerFiles: [
              { RelativeFilePath: `molar-1.2.0-windows-${arch}\\bin\\molar.exe`, PortableCommandAlias: 'molar' },
            ],
          })),
        ),
      },
      { ...common, ManifestType: 'defaultLocale', PackageLocale: 'en-US', Publisher: 'Example Dental', License: 'MIT' },
      { ...common, ManifestType: 'version', DefaultLocale: 'en-US' },
    ]);
  });
});

describe('install.ps1', () => {
  it('has the key that signed the archives, and the address', async () => {
    const script = await textOf('install.ps1');
    const [, inside = ''] = /\$MolarKey = @'\n([\s\S]*?)\n'@/.exec(script) ?? [];
    const sums = await readFile(file('SHA256SUMS'));
    expect(verify(null, sums, inside, await readFile(file('SHA256SUMS.sig')))).toBe(true);
    expect(script).toContain(`$MolarBase = '${BASE}'\n`);
  });
});
