// Archives with the same bytes for the same files, whoever makes them, when and where.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { DistFailure, run } from './programs.mjs';

/** What GNU tar and xz of this machine say they are, a line each. Throws a DistFailure where one is missing. */
export function packers() {
  const [tar, xz] = ['tar', 'xz'].map((name) => run(name, ['--version'], '/').split('\n')[0]);
  if (!tar.includes('GNU tar')) throw new DistFailure(`Archives are made with GNU tar; this is ${tar}.`);
  return { tar, xz };
}

/** Packs a folder into a `.tar.xz`; `epoch` is the time of its files (seconds), `level` 0 to 9. */
export function packTar(folder, file, epoch, level) {
  const tar = file.replace(/\.xz$/, '');
  const same = ['--format=ustar', '--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  run('tar', [...same, `--mtime=@${epoch}`, '-cf', tar, basename(folder)], dirname(folder));
  rmSync(file, { force: true });
  // Several threads cut the file into blocks, of a number that depends on the machine.
  run('xz', ['--threads=1', `-${level}`, tar], dirname(folder));
}

/** Packs a folder into a `.zip`; as `packTar`. */
export function packZip(folder, file, epoch, level) {
  const paths = readdirSync(folder, { recursive: true }).map((path) => join(basename(folder), path));
  const entries = paths
    .sort()
    .filter((path) => statSync(join(dirname(folder), path)).isFile())
    .map((path) => [path, new Uint8Array(readFileSync(join(dirname(folder), path)))]);
  writeFileSync(file, zipSync(Object.fromEntries(entries), { level, mtime: withoutZone(epoch) }));
}

/** The time whose reading in the zone of this machine is that of `epoch` in UTC: a ZIP file holds no zone. */
function withoutZone(epoch) {
  const at = new Date(epoch * 1000);
  const day = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return new Date(...day, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds());
}
