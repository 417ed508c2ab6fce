import type { Environment } from '../connection/settings.ts';
import { usageFailure } from '../failure.ts';
import type { Clock } from '../transport/exchange.ts';

/**
 * Secrets by account name in the keyring of the system. Every call may reject, and may never end: a locked or absent
 * Secret Service hangs. It stops what it does when the signal is aborted.
 */
export interface Keyring {
  /** Undefined where there is no such entry. */
  readonly read: (account: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly write: (account: string, secret: string, signal: AbortSignal) => Promise<void>;
  /** Does nothing where there is no such entry. */
  readonly remove: (account: string, signal: AbortSignal) => Promise<void>;
}

/** Why the keyring could not be used; the message is a clause that follows "because": `it does not answer`. */
export class KeyringTrouble extends Error {}

/** Milliseconds that the keyring has for one answer. */
export const KEYRING_PATIENCE = 3_000;

/** The keyring with an end to every wait. What it rejects with is KeyringTrouble, always. */
export class PatientKeyring {
  private readonly keyring: Keyring;
  private readonly clock: Clock;

  constructor(keyring: Keyring, clock: Clock) {
    this.keyring = keyring;
    this.clock = clock;
  }

  read(account: string): Promise<string | undefined> {
    return this.within((signal) => this.keyring.read(account, signal));
  }

  /** Resolves only when the secret was read back as it was given; nothing of it is left otherwise, if that can be. */
  async write(account: string, secret: string): Promise<void> {
    try {
      await this.within((signal) => this.keyring.write(account, secret, signal));
      if ((await this.read(account)) !== secret) throw new KeyringTrouble('it does not give back what it was given');
    } catch (cause) {
      // It may have been written by a call that came to nothing, or in another form.
      await this.remove(account).catch(() => undefined);
      throw cause;
    }
  }

  remove(account: string): Promise<void> {
    return this.within((signal) => this.keyring.remove(account, signal));
  }

  private async within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const working = new AbortController();
    const waiting = new AbortController();
    const late = this.clock.sleep(KEYRING_PATIENCE, waiting.signal).then(() => {
      throw new KeyringTrouble(`it does not answer within ${KEYRING_PATIENCE / 1000} s`);
    });
    try {
      // In a step of its own: what it throws at once must not leave the wait without anybody who hears its end.
      return await Promise.race([Promise.resolve(working.signal).then(work), late]);
    } catch (cause) {
      throw cause instanceof KeyringTrouble ? cause : new KeyringTrouble('it cannot be used', { cause });
    } finally {
      working.abort();
      waiting.abort();
    }
  }
}

/** Whether the keyring may be used: MOLAR_KEYRING is `off` where not. Throws a Failure (exit 2) for any other word but `on`. */
export function allowsKeyring({ MOLAR_KEYRING: choice }: Environment): boolean {
  if (!choice || choice === 'on') return true;
  if (choice === 'off') return false;
  throw usageFailure('MOLAR_KEYRING must be on or off.', {
    source: 'MOLAR_KEYRING',
    hint: 'off keeps secrets in the config file; on, or not set, in the keyring of the system where there is one.',
  });
}
