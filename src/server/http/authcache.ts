import { findOrganization, type Organization } from '../organizations.ts';
import type { Store } from '../store/store.ts';
import { findGrantByHash, type Grant } from '../tokens/tokens.ts';

/** Grants by token hash and organizations by id, valid until the next commit. */
export interface AuthCache {
  readonly grants: Map<string, Grant>;
  readonly organizations: Map<string, Organization>;
}

/** Maximum cached entries of a kind: more than a server needs at once, so then all are looked up anew. */
const MAX_CACHED = 10_000;

const caches = new WeakMap<object, AuthCache>();

/** What a token allows, by its hash; undefined for an unknown one. */
export async function lookUpGrant(store: Store, { grants }: AuthCache, hash: string): Promise<Grant | undefined> {
  return cached(grants, hash, await findGrantByHash(store.read, hash));
}

/** The organization of an id; undefined for an unknown one. */
export async function lookUpOrganization(
  store: Store,
  { organizations }: AuthCache,
  id: string,
): Promise<Organization | undefined> {
  return cached(organizations, id, await findOrganization(store.read, id));
}

/**
 * The cache as a request arrives: a token that was revoked before, by whichever process, is not in it. Empty on a store
 * of several servers, which learn only a moment later that one of them has revoked a token.
 */
export function currentAuthCache(store: Store): AuthCache {
  if (store.shared !== undefined) return emptyCache();
  const unchanged = store.whileUnchanged();
  const cache = caches.get(unchanged) ?? emptyCache();
  caches.set(unchanged, cache);
  return cache;
}

function emptyCache(): AuthCache {
  return { grants: new Map(), organizations: new Map() };
}

function cached<T>(map: Map<string, T>, key: string, value: T | undefined): T | undefined {
  if (value === undefined || map.has(key)) return value;
  if (map.size >= MAX_CACHED) map.clear();
  map.set(key, value);
  return value;
}
