// The program of an archive: Node as a single executable application, or Node and a script that starts it.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { run } from './programs.mjs';
import { withoutSymbols } from './symbols.mjs';

/** What Node looks for in itself to learn that it is a single executable application (its manual has it). */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * Writes the launcher of a target into the folder of its archive. `node` is the Node that becomes part of it,
 * `hostNode` the same version for this machine, `scratch` a folder to work in. On macOS Node stays as it is, signed by
 * its makers: an executable that was changed would have to be signed anew, and macOS asks for a paid certificate.
 */
export function writeLauncher({ os }, folder, node, hostNode, scratch) {
  mkdirSync(join(folder, 'bin'));
  if (os === 'darwin') {
    mkdirSync(join(folder, 'libexec'));
    copy(node, join(folder, 'libexec', 'node'));
    copy(join(import.meta.dirname, 'launcher.sh'), join(folder, 'bin', 'molar'));
    return;
  }
  const launcher = join(folder, 'bin', os === 'win32' ? 'molar.exe' : 'molar');
  const shorten = os === 'win32' ? withoutSignature : withoutSymbols;
  writeFileSync(launcher, shorten(readFileSync(node)), { mode: 0o755 });
  const blob = join(scratch, 'launcher.blob');
  // Relative, because the path of the main program becomes part of the executable.
  copyFileSync(join(import.meta.dirname, 'launcher.js'), join(scratch, 'launcher.js'));
  const settings = { main: 'launcher.js', output: 'launcher.blob', disableExperimentalSEAWarning: true };
  writeFileSync(join(scratch, 'launcher.json'), JSON.stringify(settings));
  run(hostNode, ['--experimental-sea-config', 'launcher.json'], scratch);
  const postject = join(dirname(createRequire(import.meta.url).resolve('postject')), 'cli.js');
  run(hostNode, [postject, launcher, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE], scratch);
}

function copy(from, to) {
  copyFileSync(from, to);
  chmodSync(to, 0o755);
}

/** Where the certificate table is in the data directories of a PE file of 64 bits, and where those begin. */
const CERTIFICATES = 4;
const DIRECTORIES = 24 + 112;

/** Where its checksum is, which Windows asks of drivers alone; 0 says that there is none. */
const CHECKSUM = 24 + 64;

/** A Windows program without its signature, which is about a file that it will no longer be. */
function withoutSignature(program) {
  const header = program.readUInt32LE(0x3c);
  const entry = header + DIRECTORIES + CERTIFICATES * 8;
  const [start, size] = [program.readUInt32LE(entry), program.readUInt32LE(entry + 4)];
  if (size === 0) return program;
  if (start + size !== program.length) throw new Error('The signature of node.exe is not at its end.');
  program.fill(0, entry, entry + 8);
  program.writeUInt32LE(0, header + CHECKSUM);
  return program.subarray(0, start);
}
