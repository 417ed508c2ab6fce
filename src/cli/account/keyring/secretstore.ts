import { SecretStore } from '../../../core/profiles/secretstore.ts';
import type { Context } from '../../context.ts';
import { lockOwner } from '../../process/lockowner.ts';

/** The secrets of this person's profiles. */
export function secretStore({ env, keyring, newId, clock }: Context): SecretStore {
  return new SecretStore({ env, keyring, newId, owner: lockOwner(clock) });
}
