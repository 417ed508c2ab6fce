import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, writeDurably } from '../../filesystem/durable.ts';
import { createPrivate, isOpenToOthers, makePrivateFolder } from '../../filesystem/private.ts';
import { decodePem } from '../../text/decode.ts';
import { StoreUnusable } from '../store/store.ts';

/** Public halves by their ids: what signatures are verified with. */
export type PublicKeys = ReadonlyMap<string, KeyObject>;

/** The key that this server signs checkpoints with (contract §8). */
export interface AuditKey {
  readonly id: string;
  readonly secret: KeyObject;
  /**
   * What verifies its signatures, and those of the keys behind it in the file: of keys in use before, and of other
   * servers of the same database, so that retention goes on from what they have removed.
   */
  readonly own: PublicKeys;
  /** It did not exist before this start. */
  readonly made: boolean;
}

/** The file of the key in the folder that is its default place: never in a database, so never in a backup. */
export function auditKeyFile(folder: string): string {
  return join(folder, 'audit.key');
}

/**
 * The signing key of a file (Ed25519, PKCS#8 PEM), made with mode 0600 where there is none. Throws `StoreUnusable` for a
 * file that others may read, and for one that is no such key.
 */
export async function openAuditKey(file: string): Promise<AuditKey> {
  const made = await makeKey(file);
  if (isOpenToOthers(await stat(file))) {
    throw new StoreUnusable(
      `The audit key ${file} can be read by others.`,
      'Run chmod 600 on it; if others may have read it, move it away, and a new one is made.',
    );
  }
  const secret = parse(file, await readPemFile(file), createPrivateKey);
  return { id: idOf(createPublicKey(secret)), secret, own: await readPublicKeys(file), made };
}

/** Whether the file had to be made; another server on the same folder may be as quick. */
async function makeKey(file: string): Promise<boolean> {
  await makePrivateFolder(dirname(file));
  const handle = await createPrivate(file).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EEXIST') return undefined;
    throw new StoreUnusable(`The audit key ${file} cannot be made: ${cause.message}.`, 'Name another file.', cause);
  });
  if (handle === undefined) return false;
  await writeDurably(handle, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await syncFolder(dirname(file));
  return true;
}

/**
 * The public halves of the keys in a PEM file, which may hold several, private or public: of servers that share a
 * database, or of keys in use before. Throws `StoreUnusable` for anything else.
 */
export async function readPublicKeys(file: string): Promise<PublicKeys> {
  const blocks = (await readPemFile(file)).match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];
  if (blocks.length === 0) throw notAKey(file);
  const keys = blocks.map((block) => parse(file, block, createPublicKey));
  return new Map(keys.map((key) => [idOf(key), key]));
}

/** The keys of a place: undefined where no file is. Throws `StoreUnusable` as `readPublicKeys` does. */
export async function keysOf({ data, database, auditKey }: KeyPlace): Promise<PublicKeys | undefined> {
  // A data folder beside a database is not its place: another one may have the same.
  const file = auditKey ?? (database === undefined ? auditKeyFile(data) : undefined);
  return file !== undefined && existsSync(file) ? readPublicKeys(file) : undefined;
}

/** A data folder, and the file of the key where it is not in its default place. */
export interface KeyPlace {
  readonly data: string;
  readonly database?: string | undefined;
  readonly auditKey?: string | undefined;
}

function parse(file: string, pem: string, read: (pem: string) => KeyObject): KeyObject {
  try {
    const key = read(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Said below: the reason would be one of OpenSSL's.
  }
  throw notAKey(file);
}

async function readPemFile(file: string): Promise<string> {
  const bytes = await readFile(file);
  try {
    return decodePem(bytes);
  } catch {
    throw notAKey(file);
  }
}

function notAKey(file: string): StoreUnusable {
  return new StoreUnusable(
    `${file} is no Ed25519 key in PEM.`,
    'Name the key that molar serve made, or one of openssl genpkey -algorithm ed25519; verifying takes the public half, too.',
  );
}

/** The first 16 digits of the SHA-256 of the public half (DER, SubjectPublicKeyInfo). */
function idOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);
}
