import { findOrganization } from '../organizations.ts';
import type { Organization } from '../service.ts';
import type { Store } from '../store/store.ts';
import { findGrantByHash, type Grant } from '../tokens/tokens.ts';

/** Tokens and organizations that were looked up since somebody last committed. */
export interface Known {
  readonly grants: Map<string, Grant>;
  readonly organizations: Map<string, Organization>;
}

/** More tokens than a server has at once: then all are looked up anew. */
const MOST = 10_000;

const kept = new WeakMap<object, Known>();

/** What a token allows, by its hash. */
export async function lookUpGrant(store: Store, { grants }: Known, hash: string): Promise<Grant | undefined> {
  const grant = await findGrantByHash(store.read, hash);
  if (grant !== undefined) keep(grants, hash, grant);
  return grant;
}

export async function lookUpOrganization(
  store: Store,
  { organizations }: Known,
  id: string,
): Promise<Organization | undefined> {
  const organization = await findOrganization(store.read, id);
  if (organization !== undefined) keep(organizations, id, organization);
  return organization;
}

/**
 * What is known when a request comes in: a token that was revoked before, by whichever process, is not. Empty on a store
 * of several servers, where it is heard only a moment later that one of them has revoked a token.
 */
export function knownNow(store: Store): Known {
  if (store.shared !== undefined) return none();
  const unchanged = store.countCache();
  const known = kept.get(unchanged) ?? none();
  kept.set(unchanged, known);
  return known;
}

function none(): Known {
  return { grants: new Map(), organizations: new Map() };
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.has(key)) return;
  if (map.size >= MOST) map.clear();
  map.set(key, value);
}
