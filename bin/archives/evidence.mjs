// What says of the archives what they hold, how they were made, and that they are ours.
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageAt } from '../licences.mjs';
import { sealed } from '../sbom.mjs';
import { DistFailure, run } from './programs.mjs';
import { NODE, TARGETS } from './targets.mjs';

/** The digest of a file in hexadecimal digits; `algorithm` as node:crypto has it. */
export const digestOf = (file, algorithm = 'sha256') => createHash(algorithm).update(readFileSync(file)).digest('hex');

/**
 * The list of materials of archives, CycloneDX: of `base`, the one of the npm package, what is bundled and what of
 * `packages` was installed (by path, as npm's lock files have it), and the Nodes of `targets`. `epoch` is in seconds.
 */
export function materials(base, packages, targets, epoch) {
  const installed = new Set(Object.entries(packages).map(([path, entry]) => packageAt(path, entry)));
  const isBundled = ({ properties = [] }) => properties.some(({ name }) => name === 'cdx:npm:package:bundled');
  const kept = base.components.filter((each) => isBundled(each) || installed.has(each['bom-ref']));
  const nodes = targets.map((target) => nodeComponent(TARGETS[target]));
  const root = base.metadata.component['bom-ref'];
  const refs = new Set([root, ...kept.map((each) => each['bom-ref'])]);
  const { serialNumber: _, $schema, bomFormat, specVersion, ...rest } = base;
  const { timestamp: _built, ...metadata } = rest.metadata;
  return sealed(
    { $schema, bomFormat, specVersion },
    {
      ...rest,
      metadata: { timestamp: new Date(epoch * 1000).toISOString(), ...metadata },
      components: [...kept, ...nodes],
      dependencies: [
        ...base.dependencies
          .filter(({ ref }) => refs.has(ref))
          .map(({ ref, dependsOn }) => ({
            ref,
            dependsOn: [
              ...dependsOn.filter((each) => refs.has(each)),
              ...(ref === root ? nodes.map((node) => node['bom-ref']) : []),
            ],
          })),
        ...nodes.map((node) => ({ ref: node['bom-ref'], dependsOn: [] })),
      ],
    },
  );
}

function nodeComponent({ node, integrity }) {
  const ref = `${node}@${NODE}`;
  return {
    'bom-ref': ref,
    type: 'application',
    name: node,
    version: NODE,
    scope: 'required',
    purl: `pkg:npm/${ref}`,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
    licenses: [{ license: { id: 'MIT' } }],
  };
}

/**
 * How the archives were made, as an in-toto statement with the SLSA provenance predicate (version 1). Nobody vouches for
 * it but whoever signs SHA256SUMS, in which its digest stands.
 */
export function provenance({ root, archives, targets, nodes, epoch, level, tools }) {
  const { commit, modified } = sourceOf(root);
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: archives.map((file) => ({ name: file.split('/').at(-1), digest: { sha256: digestOf(file) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:molar:npm-run-dist:1',
        externalParameters: { command: 'npm run dist', targets, level, sourceDateEpoch: epoch },
        internalParameters: { ...tools, node: NODE, modified },
        resolvedDependencies: [
          ...(commit === undefined ? [] : [{ name: 'source', digest: { gitCommit: commit } }]),
          { name: 'package-lock.json', digest: { sha256: digestOf(join(root, 'package-lock.json')) } },
          ...Object.entries(nodes).map(([target, { tarball }]) => ({
            uri: `pkg:npm/${TARGETS[target].node}@${NODE}`,
            digest: { sha256: digestOf(tarball), sha512: digestOf(tarball, 'sha512') },
          })),
        ],
      },
      runDetails: { builder: { id: 'urn:molar:whoever-signs-SHA256SUMS' } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

/** The commit that the checkout is at, and whether files of it were changed; no commit outside of Git. */
function sourceOf(root) {
  try {
    const commit = run('git', ['rev-parse', 'HEAD'], root).trim();
    return { commit, modified: run('git', ['status', '--porcelain', '--untracked-files=no'], root) !== '' };
  } catch (error) {
    if (error instanceof DistFailure) return { commit: undefined, modified: undefined };
    throw error;
  }
}

/** Writes SHA256SUMS of all files of a folder but what this module makes of it, as sha256sum reads it; gives its path. */
export function writeSums(folder) {
  const names = readdirSync(folder).filter((name) => !name.startsWith('SHA256SUMS'));
  const file = join(folder, 'SHA256SUMS');
  writeFileSync(
    file,
    names
      .sort()
      .map((name) => `${digestOf(join(folder, name))}  ${name}\n`)
      .join(''),
  );
  return file;
}

/** The private key of a file. Throws a DistFailure when it is no Ed25519 key in PEM. */
export function readKey(file) {
  try {
    const key = createPrivateKey(readFileSync(file));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (error) {
    throw new DistFailure(`The key ${file} cannot be read: ${error.message}. ${MAKE_KEY}`);
  }
  throw new DistFailure(`The key ${file} is not an Ed25519 key. ${MAKE_KEY}`);
}

const MAKE_KEY = 'One is made by: openssl genpkey -algorithm ed25519 -out molar.key';

/**
 * Signs a file: FILE.sig is the 64 bytes that openssl verifies, FILE.minisig is for minisign. Gives the public key as
 * minisign wants it.
 */
export function signFile(file, key, comment) {
  const content = readFileSync(file);
  writeFileSync(`${file}.sig`, sign(null, content, key));
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  const id = createHash('sha256').update(publicKey).digest().subarray(0, 8);
  // The form that minisign has written since 0.6: ED, of the digest; the second signature is of the first and the comment.
  const signature = sign(null, createHash('blake2b512').update(content).digest(), key);
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key);
  const first = Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64');
  const lines = [
    'untrusted comment: signature of molar',
    first,
    `trusted comment: ${comment}`,
    whole.toString('base64'),
  ];
  writeFileSync(`${file}.minisig`, `${lines.join('\n')}\n`);
  return Buffer.concat([Buffer.from('Ed'), id, publicKey]).toString('base64');
}
