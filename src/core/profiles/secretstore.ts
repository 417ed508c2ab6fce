import type { Environment } from '../environment.ts';
import { localFailure } from '../failure.ts';
import type { LockOwner } from '../lockfile.ts';
import { type Profile, type ProfileSecret, readConfig, type StoredConfig } from './config.ts';
import { allowsKeyring, type Keyring, KeyringError, TimedKeyring } from './keyring.ts';
import { changeConfig, withoutProfile, withProfile } from './store.ts';

/** Where a secret was stored, and what could not be done on the way. */
export interface StoredSecret {
  readonly where: 'keyring' | 'file';
  /** Why it is in the file: a clause after "because"; undefined where the file was chosen or nothing is secret. */
  readonly reason?: string | undefined;
  /** Account of the entry with the previous secret, where it could not be removed. */
  readonly orphan?: string | undefined;
}

interface SecretContext {
  readonly env: Environment;
  readonly keyring: Keyring;
  readonly newId: () => string;
  readonly owner: LockOwner;
}

/** The secrets of profiles: in the system keyring where that works, else in the config file. */
export class SecretStore {
  constructor(private readonly context: SecretContext) {}

  /**
   * Stores a profile under a name and puts it in use. The new secret is stored and read back before the config names
   * it, and the old one removed after that, so that one of them can be read at any moment.
   */
  async saveProfile(path: string, name: string, profile: Profile): Promise<StoredSecret> {
    let old: string | undefined;
    const { secret, reason } = await this.store(name, profile.secret);
    const account = accountOf(secret);
    const change = (config: StoredConfig) => {
      old = accountOf(config.profiles[name]?.secret);
      return withProfile(config, name, { ...profile, secret });
    };
    try {
      await changeConfig(path, change, this.context.owner);
    } catch (cause) {
      if (account !== undefined)
        await this.keyring()
          ?.remove(account)
          .catch(() => undefined);
      throw cause;
    }
    const where = account === undefined ? 'file' : 'keyring';
    if (old === undefined) return { where, reason, orphan: undefined };
    const removed = this.keyring()
      ?.remove(old)
      .then(
        () => undefined,
        () => old,
      );
    return { where, reason, orphan: removed === undefined ? old : await removed };
  }

  /**
   * Removes a profile and its secret. With MOLAR_KEYRING=off an entry of the keyring stays, and its account is
   * returned. Throws a Failure (exit 2), and removes nothing, when the keyring cannot be used.
   */
  async deleteProfile(path: string, name: string): Promise<string | undefined> {
    const account = accountOf(readConfig(path).profiles[name]?.secret);
    const keyring = account === undefined ? undefined : this.keyring();
    if (account !== undefined) {
      await keyring?.remove(account).catch((cause: unknown) => {
        const message = `The secret of profile ${name} cannot be removed from the system keyring: ${clauseOf(cause)}. Nothing was removed.`;
        throw localFailure('usage.connection', message, {
          source: `profile ${name}`,
          hint: 'Unlock the keyring and run it again; or set MOLAR_KEYRING to off before, which leaves the entry in the keyring.',
          cause,
        });
      });
    }
    await changeConfig(path, (config) => withoutProfile(config, name), this.context.owner);
    return keyring === undefined ? account : undefined;
  }

  /** The secret of a profile in the keyring. Throws a Failure (exit 2) with a next step when it cannot be read. */
  async read(account: string, profile: string): Promise<string> {
    const keyring = this.keyring();
    const what = `The secret of ${profile} is in the system keyring`;
    if (keyring === undefined) {
      throw localFailure('usage.connection', `${what}, which MOLAR_KEYRING=off leaves alone.`, {
        source: profile,
        hint: `Unset MOLAR_KEYRING, or run ${loginLine(profile)} again with it to keep the secret in a file.`,
      });
    }
    const secret = await keyring.read(account).catch((cause: unknown) => {
      const hint =
        'Unlock the keyring and run it again. Where there is no desktop session (cron, a service), set MOLAR_KEYRING to off ' +
        `and run ${loginLine(profile)} again to keep it in a file, or set MOLAR_TOKEN.`;
      const message = `${what}, and cannot be read: ${clauseOf(cause)}.`;
      throw localFailure('usage.connection', message, { source: profile, hint, cause });
    });
    if (secret !== undefined) return secret;
    throw localFailure('usage.connection', `The system keyring no longer holds the secret of ${profile}.`, {
      source: profile,
      hint: `Run ${loginLine(profile)} again.`,
    });
  }

  private async store(name: string, secret: ProfileSecret): Promise<{ secret: ProfileSecret; reason?: string }> {
    const keyring = this.keyring();
    if (keyring === undefined || secret.kind === 'command' || secret.kind === 'keyring') return { secret };
    const account = `${name} ${this.context.newId()}`;
    try {
      await keyring.write(account, secret.kind === 'token' ? secret.token : secret.clientSecret);
    } catch (cause) {
      return { secret, reason: clauseOf(cause) };
    }
    if (secret.kind === 'token') return { secret: { kind: 'keyring', account } };
    const { clientSecret, ...client } = secret;
    return { secret: { ...client, kind: 'keyring', account } };
  }

  /** Undefined where MOLAR_KEYRING=off. */
  private keyring(): TimedKeyring | undefined {
    const { env, keyring, owner } = this.context;
    return allowsKeyring(env) ? new TimedKeyring(keyring, owner.clock) : undefined;
  }
}

function accountOf(secret: ProfileSecret | undefined): string | undefined {
  return secret?.kind === 'keyring' ? secret.account : undefined;
}

function clauseOf(cause: unknown): string {
  return cause instanceof KeyringError ? cause.message : 'it cannot be used';
}

function loginLine(profile: string): string {
  return `molar login --profile ${profile.replace(/^profile /, '')}`;
}
