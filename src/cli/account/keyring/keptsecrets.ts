import { KeptSecrets } from '../../../core/profiles/keptsecrets.ts';
import type { Context } from '../../context.ts';
import { lockOwner } from '../../lockowner.ts';

/** The secrets of this person's profiles. */
export function keptSecrets({ env, keyring, newId, clock }: Context): KeptSecrets {
  return new KeptSecrets({ env, keyring, newId, owner: lockOwner(clock) });
}
