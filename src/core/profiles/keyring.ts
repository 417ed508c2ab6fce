import type { Clock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { usageFailure } from '../failure.ts';

/** Secrets by account in the system keyring; calls may reject, or hang (locked Secret Service) until aborted. */
export interface Keyring {
  /** Undefined where there is no such entry. */
  readonly read: (account: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly write: (account: string, secret: string, signal: AbortSignal) => Promise<void>;
  /** Does nothing where there is no such entry. */
  readonly remove: (account: string, signal: AbortSignal) => Promise<void>;
}

/** Why the keyring could not be used; the message is a clause that follows "because": `it cannot be used`. */
export class KeyringError extends Error {}

/** Milliseconds for one call of the keyring. */
export const KEYRING_TIMEOUT = 3_000;

/** The keyring with a timeout for every call; always rejects with KeyringError. */
export class TimedKeyring {
  readonly read: (account: string) => Promise<string | undefined>;
  readonly remove: (account: string) => Promise<void>;
  /** Resolves only when the secret was read back unchanged; otherwise removes it where possible. */
  readonly write: (account: string, secret: string) => Promise<void>;

  constructor(keyring: Keyring, clock: Clock) {
    this.read = (account) => timed(clock, (signal) => keyring.read(account, signal));
    this.remove = (account) => timed(clock, (signal) => keyring.remove(account, signal));
    this.write = async (account, secret) => {
      try {
        await timed(clock, (signal) => keyring.write(account, secret, signal));
        if ((await this.read(account)) !== secret) throw new KeyringError('it does not return what was stored');
      } catch (cause) {
        // A call that failed may have written it, or in another form.
        await this.remove(account).catch(() => undefined);
        throw cause;
      }
    };
  }
}

async function timed<T>(clock: Clock, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const working = new AbortController();
  const waiting = new AbortController();
  const late = clock.sleep(KEYRING_TIMEOUT, waiting.signal).then(() => {
    throw new KeyringError(`it does not respond within ${KEYRING_TIMEOUT / 1000} s`);
  });
  try {
    // In a step of its own: what it throws synchronously must not leave the timeout without a handler.
    return await Promise.race([Promise.resolve(working.signal).then(work), late]);
  } catch (cause) {
    throw cause instanceof KeyringError ? cause : new KeyringError('it cannot be used', { cause });
  } finally {
    working.abort();
    waiting.abort();
  }
}

/** Whether MOLAR_KEYRING allows the keyring. Throws a Failure (exit 2) for any other word than `on` and `off`. */
export function allowsKeyring({ MOLAR_KEYRING: choice }: Environment): boolean {
  if (!choice || choice === 'on') return true;
  if (choice === 'off') return false;
  throw usageFailure('MOLAR_KEYRING must be on or off.', {
    source: 'MOLAR_KEYRING',
    hint: 'off keeps secrets in the config file; on, or not set, in the system keyring where there is one.',
  });
}
