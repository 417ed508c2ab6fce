import type { Environment } from '../connection/settings.ts';
import { type Failure, localFailure } from '../failure.ts';
import type { LockOwner } from '../lockfile.ts';
import { type Profile, type ProfileSecret, readConfig } from './config.ts';
import { allowsKeyring, type Keyring, KeyringTrouble, PatientKeyring } from './keyring.ts';
import { changeConfig, withoutProfile, withProfile } from './store.ts';

/** Where a secret went, and what could not be done on the way. */
export interface Kept {
  readonly where: 'keyring' | 'file';
  /** Why it is in the file: a clause after "because"; undefined where the file was chosen or nothing is secret. */
  readonly because?: string | undefined;
  /** Account of the entry that held the secret before and could not be removed. */
  readonly left?: string | undefined;
}

interface World {
  readonly env: Environment;
  readonly keyring: Keyring;
  readonly newId: () => string;
  readonly owner: LockOwner;
}

/** The secrets of profiles: in the keyring of the system where that works, else in the config file. */
export class KeptSecrets {
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /**
   * Keeps a profile under a name and puts it in use. The new secret is stored and read back before the config names
   * it, and the old one removed after that, so that one of them can be read at any moment.
   */
  async keep(path: string, name: string, profile: Profile): Promise<Kept> {
    let old: string | undefined;
    const { secret, because } = await this.store(name, profile.secret);
    const account = accountOf(secret);
    try {
      await changeConfig(
        path,
        (config) => {
          old = accountOf(config.profiles[name]?.secret);
          return withProfile(config, name, { ...profile, secret });
        },
        this.world.owner,
      );
    } catch (cause) {
      if (account !== undefined) await this.remove(account).catch(() => undefined);
      throw cause;
    }
    const left = old === undefined || (await this.remove(old)) ? undefined : old;
    return { where: account === undefined ? 'file' : 'keyring', because, left };
  }

  /**
   * Removes a profile and its secret. With MOLAR_KEYRING=off an entry of the keyring stays, and its account is
   * returned. Throws a Failure (exit 2), and removes nothing, when the keyring cannot be used.
   */
  async forget(path: string, name: string): Promise<string | undefined> {
    const account = accountOf(readConfig(path).profiles[name]?.secret);
    const left = account === undefined || (await this.removeOrFail(account, name)) ? undefined : account;
    await changeConfig(path, (config) => withoutProfile(config, name), this.world.owner);
    return left;
  }

  /** What the keyring keeps for a profile. Throws a Failure (exit 2) with a way forward when it cannot be read. */
  async read(account: string, profile: string): Promise<string> {
    const keyring = this.patient();
    const what = `The secret of ${profile} is in the keyring of this system`;
    if (keyring === undefined) {
      throw localFailure('usage.connection', `${what}, which MOLAR_KEYRING=off leaves alone.`, {
        source: profile,
        hint: `Unset MOLAR_KEYRING, or run ${loginLine(profile)} again with it to keep the secret in a file.`,
      });
    }
    const secret = await keyring.read(account).catch((cause: unknown) => {
      throw unreadable(`${what}, and cannot be read: ${clauseOf(cause)}.`, profile, cause);
    });
    if (secret !== undefined) return secret;
    throw localFailure('usage.connection', `The keyring of this system no longer holds the secret of ${profile}.`, {
      source: profile,
      hint: `Run ${loginLine(profile)} again.`,
    });
  }

  private async store(name: string, secret: ProfileSecret): Promise<{ secret: ProfileSecret; because?: string }> {
    const keyring = this.patient();
    if (keyring === undefined || secret.kind === 'command' || secret.kind === 'keyring') return { secret };
    const account = `${name} ${this.world.newId()}`;
    try {
      await keyring.write(account, secret.kind === 'token' ? secret.token : secret.clientSecret);
    } catch (cause) {
      return { secret, because: clauseOf(cause) };
    }
    if (secret.kind === 'token') return { secret: { kind: 'keyring', account } };
    const { clientSecret, ...client } = secret;
    return { secret: { ...client, kind: 'keyring', account } };
  }

  /** False where the keyring is left alone or does not do it. */
  private async remove(account: string): Promise<boolean> {
    const keyring = this.patient();
    if (keyring === undefined) return false;
    return keyring.remove(account).then(
      () => true,
      () => false,
    );
  }

  private async removeOrFail(account: string, name: string): Promise<boolean> {
    const keyring = this.patient();
    if (keyring === undefined) return false;
    await keyring.remove(account).catch((cause: unknown) => {
      const message = `The secret of profile ${name} cannot be removed from the keyring of this system: ${clauseOf(cause)}. Nothing was removed.`;
      throw localFailure('usage.connection', message, {
        source: `profile ${name}`,
        hint: `Unlock the keyring and run it again; or run MOLAR_KEYRING=off molar profiles remove ${name}, which leaves the entry in the keyring.`,
        cause,
      });
    });
    return true;
  }

  private patient(): PatientKeyring | undefined {
    const { env, keyring, owner } = this.world;
    return allowsKeyring(env) ? new PatientKeyring(keyring, owner.clock) : undefined;
  }
}

function accountOf(secret: ProfileSecret | undefined): string | undefined {
  return secret?.kind === 'keyring' ? secret.account : undefined;
}

function clauseOf(cause: unknown): string {
  return cause instanceof KeyringTrouble ? cause.message : 'it cannot be used';
}

function unreadable(message: string, profile: string, cause?: unknown): Failure {
  const hint =
    'Unlock the keyring and run it again. Where there is no session of a desktop (cron, a service), keep it in a file ' +
    `with MOLAR_KEYRING=off ${loginLine(profile)}, or set MOLAR_TOKEN.`;
  return localFailure('usage.connection', message, { source: profile, hint, cause });
}

function loginLine(profile: string): string {
  return `molar login --profile ${profile.replace(/^profile /, '')}`;
}
