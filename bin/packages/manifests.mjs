// What Homebrew, scoop and winget have to know of a release. Each gives texts by the names of their files.

/** Archives by system and processor, `macos-arm64`; throws where one of `wanted` is missing. */
function byTarget({ archives }, wanted) {
  const found = new Map(archives.map((archive) => [`${archive.os}-${archive.arch}`, archive]));
  return wanted.map((target) => {
    const archive = found.get(target);
    if (archive === undefined) throw new Error(`There is no archive for ${target}: make them all first.`);
    return archive;
  });
}

/** The formula of a tap of Homebrew. */
export function homebrew(release, { base, about }) {
  const [macosArm, macosIntel, linuxArm, linuxIntel] = byTarget(release, [
    'macos-arm64',
    'macos-x64',
    'linux-arm64',
    'linux-x64',
  ]);
  const system = (name, arm, intel) => [
    `  on_${name} do`,
    ...processor('arm', arm),
    ...processor('intel', intel),
    '  end',
    '',
  ];
  const processor = (name, { file, sha256 }) => [
    `    on_${name} do`,
    `      url "${base}/${file}"`,
    `      sha256 "${sha256}"`,
    '    end',
  ];
  const lines = [
    'class Molar < Formula',
    `  desc "${about.summary}"`,
    `  homepage "${about.homepage}"`,
    `  version "${release.version}"`,
    `  license "${about.license}"`,
    '',
    ...system('macos', macosArm, macosIntel),
    ...system('linux', linuxArm, linuxIntel),
    '  def install',
    '    libexec.install Dir["*"]',
    '    bin.install_symlink libexec/"bin/molar"',
    '    %w[1 5 7].each { |section| (man/"man#{section}").install_symlink Dir[libexec/"share/man/man#{section}/*"] }',
    '    bash_completion.install_symlink libexec/"share/completions/molar.bash" => "molar"',
    '    fish_completion.install_symlink libexec/"share/completions/molar.fish"',
    '    zsh_completion.install_symlink libexec/"share/completions/_molar"',
    '  end',
    '',
    '  test do',
    '    assert_match version.to_s, shell_output("#{bin}/molar --version")',
    '  end',
    'end',
  ];
  return { 'molar.rb': `${lines.join('\n')}\n` };
}

/** The manifest of a bucket of scoop, which finds later versions by itself. */
export function scoop(release, { base, about }) {
  const [x64, arm64] = byTarget(release, ['windows-x64', 'windows-arm64']);
  const folder = ({ file }) => file.replace(/\.zip$/, '');
  const now = (archive) => ({ url: `${base}/${archive.file}`, hash: archive.sha256, extract_dir: folder(archive) });
  const later = (archive) => {
    const file = archive.file.replace(release.version, '$version');
    return { url: `${base}/${file}`, extract_dir: folder({ file }) };
  };
  const manifest = {
    version: release.version,
    description: about.summary,
    homepage: about.homepage,
    license: about.license,
    architecture: { '64bit': now(x64), arm64: now(arm64) },
    bin: 'bin\\molar.exe',
    checkver: { url: `${base}/SHA256SUMS`, regex: 'molar-([\\d.]+)-windows-x64\\.zip' },
    autoupdate: {
      architecture: { '64bit': later(x64), arm64: later(arm64) },
      hash: { url: `${base}/SHA256SUMS` },
    },
  };
  return { 'molar.json': `${JSON.stringify(manifest, null, 4)}\n` };
}

const WINGET_SCHEMA = '1.6.0';

/** The three manifests of winget: of the version, the archives, and the words. Texts in quotes, as YAML and JSON have them. */
export function winget(release, { base, about }) {
  const publisher = about.maintainer.replace(/\s*<.*/, '');
  const id = `${publisher.replace(/[^A-Za-z0-9]/g, '')}.Molar`;
  const manifest = (type, lines) => [
    `# yaml-language-server: $schema=https://aka.ms/winget-manifest.${type}.${WINGET_SCHEMA}.schema.json`,
    `PackageIdentifier: ${id}`,
    `PackageVersion: ${JSON.stringify(release.version)}`,
    ...lines,
    `ManifestType: ${type}`,
    `ManifestVersion: ${WINGET_SCHEMA}`,
  ];
  const installers = byTarget(release, ['windows-x64', 'windows-arm64']).flatMap(({ file, arch, sha256 }) => [
    `- Architecture: ${arch}`,
    `  InstallerUrl: ${JSON.stringify(`${base}/${file}`)}`,
    `  InstallerSha256: ${sha256.toUpperCase()}`,
    '  NestedInstallerFiles:',
    `  - RelativeFilePath: ${file.replace(/\.zip$/, '')}\\bin\\molar.exe`,
    '    PortableCommandAlias: molar',
  ]);
  const words = [
    'PackageLocale: en-US',
    `Publisher: ${JSON.stringify(publisher)}`,
    'PackageName: molar',
    `PackageUrl: ${JSON.stringify(about.homepage)}`,
    `License: ${about.license}`,
    `ShortDescription: ${JSON.stringify(about.summary)}`,
    `Description: ${JSON.stringify(about.description)}`,
    'Moniker: molar',
  ];
  const texts = {
    '': manifest('version', ['DefaultLocale: en-US']),
    '.installer': manifest('installer', [
      'InstallerType: zip',
      'NestedInstallerType: portable',
      'Commands:',
      '- molar',
      'Installers:',
      ...installers,
    ]),
    '.locale.en-US': manifest('defaultLocale', words),
  };
  return Object.fromEntries(
    Object.entries(texts).map(([part, lines]) => [`winget/${id}${part}.yaml`, `${lines.join('\n')}\n`]),
  );
}
