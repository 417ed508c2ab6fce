import { hash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(scrypt) as (secret: string, salt: Buffer, length: number) => Promise<Buffer>;

/** What is stored of an access token. Tokens are long and random, so a plain hash is enough (D4). */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex');
}

/** What is stored of a client secret, which people may choose: salted and slow. */
export async function secretHash(secret: string): Promise<string> {
  const salt = randomBytes(16);
  return `scrypt$${salt.toString('base64url')}$${(await derive(secret, salt, 32)).toString('base64url')}`;
}

export async function secretMatches(secret: string, stored: string): Promise<boolean> {
  const [, salt = '', derived = ''] = stored.split('$');
  const given = await derive(secret, Buffer.from(salt, 'base64url'), 32);
  const expected = Buffer.from(derived, 'base64url');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
