// What is released: the archives that SHA256SUMS lists, checked against it.
import { createPublicKey, sign, verify } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../archives/evidence.mjs';

const LINE = /^([0-9a-f]{64}) [ *](molar-(\d+\.\d+\.\d+)-(linux|macos|windows)-(x64|arm64)\.(?:tar\.xz|zip))$/;

/**
 * The archives of a folder: `{ version, archives: [{ file, os, arch, sha256 }] }`. Throws where an archive is not what
 * SHA256SUMS says, or where there are several versions.
 */
export function readRelease(folder) {
  const list = join(folder, 'SHA256SUMS');
  if (!existsSync(list)) throw new Error(`There is no ${list}: make the archives first.`);
  const found = readFileSync(list, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, sha256, file, version, os, arch] = LINE.exec(line) ?? [];
      return file === undefined ? [] : [{ file, version, os, arch, sha256 }];
    });
  const versions = [...new Set(found.map(({ version }) => version))];
  if (versions.length !== 1)
    throw new Error(`${list} must list archives of one version X.Y.Z; it lists ${versions.length}.`);
  for (const { file, sha256 } of found) {
    if (digestOf(join(folder, file)) !== sha256) throw new Error(`${file} is not what SHA256SUMS says: make it again.`);
  }
  return { version: versions[0], archives: found };
}

/** The public key in PEM of a key in PEM, public or private. Throws where it is no Ed25519 key, or did not sign SHA256SUMS. */
export function publicKeyOf(pem, folder) {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('--key must be an Ed25519 key in PEM form.');
  const signatureFile = join(folder, 'SHA256SUMS.sig');
  if (!existsSync(signatureFile)) throw new Error(`There is no ${signatureFile}: sign the archives first.`);
  if (!verify(null, readFileSync(join(folder, 'SHA256SUMS')), key, readFileSync(signatureFile))) {
    throw new Error('SHA256SUMS was not signed with the key of --key.');
  }
  return key.export({ type: 'spki', format: 'pem' }).trim();
}

/** The Ed25519 signature of a text, 64 bytes as in SHA256SUMS.sig; undefined where the key is a public one. */
export function signatureOf(text, pem) {
  return pem.includes('PRIVATE KEY') ? sign(null, Buffer.from(text), pem) : undefined;
}
