import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Scrypt = (secret: string, salt: Buffer, length: number, done: Done) => void;
type Done = (error: Error | null, hash: Buffer) => void;

/** The hash of tests, which is there once in a process, however often this module is loaded. */
interface Quick extends Scrypt {
  isQuick?: boolean;
}

/**
 * Makes what is derived from secrets of API clients cheap: it is slow on purpose, and each test that is given a token would
 * take 40 ms of a processor for it. Programs that tests start have the real hash.
 */
export function hashQuickly(): void {
  const known: Quick = crypto.scrypt as Scrypt;
  if (known.isQuick !== undefined) return;
  const { scrypt } = crypto;
  const quick: Quick = (secret, salt, length, done) => {
    scrypt(secret, salt, length, quick.isQuick ? { N: 2 } : {}, done);
  };
  quick.isQuick = true;
  Object.assign(crypto, { scrypt: quick });
  syncBuiltinESMExports();
}

/** Does some work with the hash that servers have. */
export async function hashingSlowly<T>(work: () => Promise<T>): Promise<T> {
  const quick: Quick = crypto.scrypt as Scrypt;
  quick.isQuick = false;
  try {
    return await work();
  } finally {
    quick.isQuick = true;
  }
}
