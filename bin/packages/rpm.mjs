// The package of Fedora, Red Hat and SUSE.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './tree.mjs';

const ARCHITECTURES = { x64: 'x86_64', arm64: 'aarch64' };

/** The description of the package. Programs are as they are in the archive: nothing is stripped, and lib/ needs nothing. */
function spec(root, { version, about, epoch }) {
  const lines = [
    '%global __os_install_post %{nil}',
    '%global debug_package %{nil}',
    '%global _build_id_links none',
    '%global _binary_payload w6.xzdio',
    '%global __requires_exclude_from ^/usr/lib/molar/lib/',
    '%global __provides_exclude_from ^/usr/lib/molar/lib/',
    '%global _buildhost localhost',
    '%global use_source_date_epoch_as_buildtime 1',
    '%global clamp_mtime_to_source_date_epoch 1',
    // As in deb.mjs; what is below lib/ is not looked through.
    'Requires: libc.so.6(GLIBC_2.34)(64bit), libstdc++.so.6(GLIBCXX_3.4.29)(64bit)',
    'Name: molar',
    `Version: ${version}`,
    'Release: 1',
    `Summary: ${about.summary}`,
    `License: ${about.license}`,
    `Packager: ${about.maintainer}`,
    ...(about.homepage === undefined ? [] : [`URL: ${about.homepage}`]),
    '%description',
    about.description,
    '%install',
    `cp -a '${root}/.' %{buildroot}/`,
    '%files',
    '%defattr(-,root,root)',
    '/usr/bin/molar',
    '/usr/lib/molar',
    '/usr/share/man/man*/*',
    '/usr/share/bash-completion/completions/*',
    '/usr/share/fish/vendor_completions.d/*',
    '/usr/share/zsh/site-functions/*',
    '%license /usr/share/doc/molar',
    '%changelog',
    `* ${rpmDate(epoch)} ${about.maintainer} - ${version}-1`,
    `- Version ${version}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** `Mon Nov 23 2026`. */
function rpmDate(epoch) {
  const [weekday, day, month, year] = new Date(Number(epoch) * 1000).toUTCString().replace(',', '').split(' ');
  return `${weekday} ${month} ${day} ${year}`;
}

/** Makes `molar-VERSION-1.ARCH.rpm` in `folder` of a tree that is laid out, and gives its name; works in `work`. */
export function makeRpm(root, folder, work, { arch, ...facts }) {
  const file = join(work, 'molar.spec');
  mkdirSync(work, { recursive: true });
  writeFileSync(file, spec(root, facts));
  const target = ARCHITECTURES[arch];
  run('rpmbuild', ['-bb', '--quiet', '--target', `${target}-linux`, '--define', `_topdir ${work}`, file], {
    SOURCE_DATE_EPOCH: facts.epoch,
  });
  const name = `molar-${facts.version}-1.${target}.rpm`;
  copyFileSync(join(work, 'RPMS', target, name), join(folder, name));
  return name;
}
