import type { FastifyRequest } from 'fastify';
import { refusal } from '../../catalog/failures.ts';
import type { Scope } from '../../catalog/scopes.ts';
import type { Actor } from '../audit/entries.ts';
import type { RefusedRequest } from '../audit/refusals.ts';
import { findOrganization, type Organization } from '../organizations.ts';
import type { Service } from '../service.ts';
import type { Store } from '../store/store.ts';
import { findGrantByHash, type Grant, tokenHash } from '../tokens/tokens.ts';
import type { Attempts } from './attempts.ts';

/** What authentication works with. */
export interface AuthContext {
  readonly service: Service;
  readonly attempts: Attempts;
}

/** Who a request comes from, and for which organization. */
export interface Caller {
  readonly grant: Grant;
  readonly organization: Organization;
}

/** Grants by token hash and organizations by id, valid until the next commit. */
interface AuthCache {
  readonly grants: Map<string, Grant>;
  readonly organizations: Map<string, Organization>;
}

/** Maximum cached entries of a kind: more than a server needs at once, so then all are looked up anew. */
const MAX_CACHED = 10_000;

const caches = new WeakMap<object, AuthCache>();

/**
 * The cache as a request arrives: a token that was revoked before, by whichever process, is not in it. Empty on a store
 * of several servers, which learn only a moment later that one of them has revoked a token.
 */
export function currentAuthCache(store: Store): AuthCache {
  const unchanged = store.shared === undefined ? store.countCache() : {};
  const cache = caches.get(unchanged) ?? { grants: new Map(), organizations: new Map() };
  caches.set(unchanged, cache);
  return cache;
}

function putCached<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.has(key)) return;
  if (map.size >= MAX_CACHED) map.clear();
  map.set(key, value);
}

/** Who sent a request, for which organization (its key), and the API client that it named. */
type Named = Pick<RefusedRequest, 'who' | 'org' | 'client'>;

const named = new WeakMap<Sender, Named>();

/** Whom a request named that is refused, as far as it was found out. */
export function namedBy(sender: Sender): Named {
  return named.get(sender) ?? {};
}

/** Keeps whom a request named, before it is refused. */
export function nameSender(sender: Sender, found: Named): void {
  named.set(sender, found);
}

type Sender = Pick<FastifyRequest, 'ip' | 'headers' | 'method'>;

/** Who an authenticated request comes from, for the audit log. */
export function actorOf(request: FastifyRequest, { who }: Pick<Grant, 'who'>): Actor {
  return { who, address: request.ip, requestId: request.id };
}

/** The caller of a request: 401, 400, 403 or 429 as `authenticate`, `identifyOrganization` and `requireScope` refuse. */
export async function identify(auth: AuthContext, sender: Sender, scope?: Scope): Promise<Caller> {
  const grant = await authenticate(auth, sender);
  const organization = await identifyOrganization(auth.service, grant, sender);
  nameSender(sender, { who: grant.who, org: organization.org });
  if (scope !== undefined) requireScope(grant, scope, sender.method);
  return { grant, organization };
}

/**
 * What the token of a request allows: 401 for one that is missing, malformed, unknown or expired (D2); 429 for a new one
 * from an address that sent too many unknown ones, before it is looked up. Synchronous where the token is cached.
 */
export function authenticate(
  auth: AuthContext,
  sender: Sender,
  cache = currentAuthCache(auth.service.store),
): Grant | Promise<Grant> {
  const hash = tokenHash(tokenOf(sender));
  const grant = cache.grants.get(hash);
  return grant !== undefined && auth.attempts.isAccepted(hash)
    ? accepted(auth, sender, grant, hash)
    : lookUp(auth, sender, cache, hash);
}

function tokenOf({ headers: { authorization } }: Sender): string {
  if (authorization === undefined || authorization.trim() === '') {
    throw refusal('auth.token_missing', 'Authorization', 'The Authorization header is missing: send "Bearer <token>".');
  }
  const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1];
  if (token === undefined) {
    throw refusal('auth.token_malformed', 'Authorization', 'The Authorization header must be "Bearer <token>".');
  }
  return token;
}

async function lookUp(auth: AuthContext, sender: Sender, cache: AuthCache, hash: string): Promise<Grant> {
  const { service, attempts } = auth;
  const succeeded = attempts.isAccepted(hash) ? () => {} : attempts.begin('token', sender.ip);
  const grant = await findGrantByHash(service.store.read, hash).catch((error: unknown) => {
    succeeded();
    throw error;
  });
  if (grant === undefined) {
    attempts.forget(hash);
    throw refusal('auth.token_unknown', 'Authorization', 'The token is unknown.');
  }
  succeeded();
  putCached(cache.grants, hash, grant);
  return accepted(auth, sender, grant, hash);
}

function accepted({ service, attempts }: AuthContext, sender: Sender, grant: Grant, hash: string): Grant {
  attempts.accept(hash);
  if (grant.expiresAt !== null && Date.parse(grant.expiresAt) <= service.clock()) {
    nameSender(sender, { who: grant.who });
    throw refusal('auth.token_expired', 'Authorization', `The token expired at ${grant.expiresAt}.`);
  }
  return grant;
}

/** The organization a request is for: 400 without the header, 403 when the token is not for it (D2). */
export function identifyOrganization(
  { store }: Service,
  grant: Grant,
  sender: Sender,
  cache = currentAuthCache(store),
): Organization | Promise<Organization> {
  const header = sender.headers['organization-id'];
  const id = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (id === '') {
    throw refusal('request.organization_missing', 'Organization-ID', 'The Organization-ID header is missing.');
  }
  if (!grant.organizations.includes(id)) throw forbidden(sender, grant);
  return cache.organizations.get(id) ?? existing(store, cache, id, sender, grant);
}

async function existing(
  store: Store,
  cache: AuthCache,
  id: string,
  sender: Sender,
  grant: Grant,
): Promise<Organization> {
  const organization = await findOrganization(store.read, id);
  if (organization === undefined) throw forbidden(sender, grant);
  putCached(cache.organizations, id, organization);
  return organization;
}

function forbidden(sender: Sender, { who }: Grant) {
  nameSender(sender, { who });
  return refusal('auth.organization_forbidden', 'Organization-ID', 'The token is not for this organization.');
}

/** Refuses (403) a token without a scope, and one that only reads for what it may not do with any (contract §8). */
export function requireScope(grant: Grant, scope: Scope, method: string): void {
  if (grant.readOnly && method !== 'GET' && method !== 'HEAD') {
    throw refusal('auth.scope_missing', 'Authorization', 'The token only reads; it may not change anything.');
  }
  if (grant.scopes.includes(scope)) return;
  throw refusal(
    'auth.scope_missing',
    'Authorization',
    `This requires the scope ${scope}; the token has ${grant.scopes.join(', ') || 'none'}.`,
  );
}
