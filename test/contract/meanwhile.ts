import type { Service } from '../../src/server/service.ts';
import type { Store, Transaction } from '../../src/server/store/store.ts';
import type { TestService } from '../support/service.ts';

/** A service before whose every transaction somebody else is quicker: after what it has read, and before what it writes. */
export function inTheWay({ service }: TestService, other: (tx: Transaction) => Promise<unknown>): Service {
  const { store } = service;
  const write: Store['write'] = async (work, org) => {
    await store.write(other);
    return store.write(work, org);
  };
  return Object.create(service, { store: { value: Object.create(store, { write: { value: write } }) } });
}
