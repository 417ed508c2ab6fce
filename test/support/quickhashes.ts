import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Scrypt = (secret: string, salt: Buffer, length: number, ...rest: readonly unknown[]) => void;

/** The hash of tests, which is there once in a process, however often this module is loaded. */
interface Switched extends Scrypt {
  isQuick?: boolean;
}

/**
 * Makes what is derived from secrets of API clients cheap, or as slow as it is on purpose: a test would take 40 ms of a
 * processor for each token that it is given. Programs that tests start have the real hash.
 */
export function hashQuickly(isQuick: boolean): void {
  const scrypt: Switched = crypto.scrypt as Scrypt;
  if (scrypt.isQuick !== undefined) {
    scrypt.isQuick = isQuick;
    return;
  }
  // What says itself how slow it is to be is as slow.
  const switched: Switched = (secret, salt, length, ...rest) =>
    scrypt(secret, salt, length, ...(switched.isQuick && rest.length === 1 ? [{ N: 2 }] : []), ...rest);
  switched.isQuick = isQuick;
  Object.assign(crypto, { scrypt: switched });
  syncBuiltinESMExports();
}

/** Does some work with the hash that servers have. */
export async function hashingSlowly<T>(work: () => Promise<T>): Promise<T> {
  hashQuickly(false);
  try {
    return await work();
  } finally {
    hashQuickly(true);
  }
}
