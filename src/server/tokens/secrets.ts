import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(scrypt) as (secret: string, salt: Buffer, length: number) => Promise<Buffer>;

/** Stands for the secret of a client that does not exist: no secret matches it. */
export const NO_SECRET = 'scrypt$AAAAAAAAAAAAAAAAAAAAAA$';

/**
 * What is stored of a client secret, which people may choose: a salted slow hash. `beside`: a hash whose salt is taken,
 * so that one derivation compares a secret with both.
 */
export async function secretHash(secret: string, beside?: string): Promise<string> {
  const salt = beside === undefined ? randomBytes(16) : saltOf(beside);
  return `scrypt$${salt.toString('base64url')}$${(await derive(secret, salt, 32)).toString('base64url')}`;
}

/** Of hashes that `secretHash` made with one salt, the one behind which a secret is; undefined for none. */
export async function matchingHash(
  secret: string,
  hashes: readonly [string, ...string[]],
): Promise<string | undefined> {
  const given = await derive(secret, saltOf(hashes[0]), 32);
  return hashes.filter((hash) => {
    const expected = Buffer.from(hash.split('$')[2] ?? '', 'base64url');
    return given.length === expected.length && timingSafeEqual(given, expected);
  })[0];
}

function saltOf(stored: string): Buffer {
  return Buffer.from(stored.split('$')[1] ?? '', 'base64url');
}
