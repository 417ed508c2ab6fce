// The package of Debian and Ubuntu.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './tree.mjs';

const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

/** Makes `molar_VERSION_ARCH.deb` in `folder` of a tree that is laid out, and gives its name. `epoch`: seconds. */
export function makeDeb(root, folder, { version, arch, about, epoch }) {
  const control = [
    'Package: molar',
    `Version: ${version}`,
    `Architecture: ${ARCHITECTURES[arch]}`,
    `Maintainer: ${about.maintainer}`,
    'Section: utils',
    'Priority: optional',
    // What the driver of SQLite is linked with; Node itself is content with older ones.
    'Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11)',
    ...(about.homepage === undefined ? [] : [`Homepage: ${about.homepage}`]),
    `Description: ${about.summary}`,
    ...about.description.match(/\S.{0,76}(?= |$)/g).map((line) => ` ${line}`),
  ];
  mkdirSync(join(root, 'DEBIAN'));
  writeFileSync(join(root, 'DEBIAN/control'), `${control.join('\n')}\n`);
  const name = `molar_${version}_${ARCHITECTURES[arch]}.deb`;
  // One thread: how many there are is to make no difference to the bytes.
  run('dpkg-deb', ['--root-owner-group', '--threads-max=1', '-Zxz', '--build', root, join(folder, name)], {
    SOURCE_DATE_EPOCH: epoch,
  });
  return name;
}
