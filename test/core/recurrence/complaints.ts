import type { Complain } from '../../../src/core/recurrence/draft.ts';

/** Collects what is complained of. */
export function complaints(): { readonly complain: Complain; readonly told: string[] } {
  const told: string[] = [];
  const complain: Complain = (description) => {
    told.push(description);
    return undefined;
  };
  return { complain, told };
}
