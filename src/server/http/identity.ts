import type { FastifyRequest } from 'fastify';
import { Refusal, refusal } from '../../catalog/failures.ts';
import type { Scope } from '../../catalog/scopes.ts';
import type { Actor } from '../audit/entries.ts';
import { boundTo, findOrganization, type Organization } from '../organizations.ts';
import type { Service } from '../service.ts';
import type { SignIn } from '../signin/signin.ts';
import type { Reader, Store } from '../store/store.ts';
import { findGrantByHash, type Grant, idOfHash, tokenHash } from '../tokens/tokens.ts';
import type { Attempts } from './attempts.ts';
import { nameSender } from './sender.ts';

/** What authentication works with. */
export interface AuthContext extends SignIn {
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

type Sender = Pick<FastifyRequest, 'ip' | 'headers' | 'method' | 'raw'>;

/** Who an authenticated request comes from, for the audit log. */
export function actorOf(request: FastifyRequest, { who }: Pick<Grant, 'who'>): Actor {
  return { who, address: request.ip, requestId: request.id };
}

/** The caller of a request: 401, 400, 403 or 429 as `authenticate`, `identifyOrganization` and `requireScope` refuse. */
export async function identify(auth: AuthContext, sender: Sender, scope?: Scope): Promise<Caller> {
  const grant = await authenticate(auth, sender);
  const organization = await identifyOrganization(auth.service, grant, sender);
  nameSender(sender, { token: grant.id, who: grant.who, org: organization.org });
  if (scope !== undefined) requireScope(grant, scope, sender.method);
  return { grant, organization };
}

/**
 * What the token of a request allows, or the certificate where no token was sent: 401 for one that is missing, malformed,
 * unknown or expired (D2); 429 for an unknown one from an address that sent too many of them. Synchronous where the token
 * is cached.
 */
export function authenticate(
  auth: AuthContext,
  sender: Sender,
  cache = currentAuthCache(auth.service.store),
): Grant | Promise<Grant> {
  const certified = certificateOf(auth, sender);
  if (certified !== undefined) return named(sender, certified);
  const token = tokenOf(sender);
  if (auth.issuer?.isNamedBy(token)) {
    return auth.issuer.grantOf(token).then(
      (grant) => named(sender, grant),
      (error: unknown) => refuseCounted(auth, sender, error),
    );
  }
  const hash = tokenHash(token);
  const grant = cache.grants.get(hash);
  return grant !== undefined ? accepted(auth, sender, grant) : lookUp(auth, sender, cache, hash);
}

/** The grant of the certificate, which counts where no token was sent. */
function certificateOf(auth: AuthContext, sender: Sender): Grant | undefined {
  if (auth.certificates === undefined || sender.headers.authorization !== undefined) return undefined;
  try {
    return auth.certificates.grantOf(sender.raw.socket, auth.service.clock());
  } catch (error) {
    return refuseCounted(auth, sender, error);
  }
}

/**
 * Counts a failure as one of an unknown token, only now, when it is known to be one: nobody whose credential is good is
 * refused because of others. Throws the refusal, or 429.
 */
function refuseCounted({ attempts }: AuthContext, { ip }: Sender, error: unknown): never {
  if (error instanceof Refusal && error.status === 401) attempts.countToken(ip);
  throw error;
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
  const grant = await findGrantByHash(auth.service.store.lookupsFor(idOfHash(hash)), hash);
  if (grant === undefined) {
    auth.attempts.countToken(sender.ip);
    throw refusal('auth.token_unknown', 'Authorization', 'The token is unknown.');
  }
  putCached(cache.grants, hash, grant);
  return accepted(auth, sender, grant);
}

/** Keeps whose grant it is, whichever way it was found, for what refuses the request later. */
function named(sender: Sender, grant: Grant): Grant {
  nameSender(sender, { token: grant.id, who: grant.who });
  return grant;
}

function accepted({ service }: AuthContext, sender: Sender, grant: Grant): Grant {
  named(sender, grant);
  // An end that cannot be read is no end far away.
  if (grant.expiresAt !== null && !(Date.parse(grant.expiresAt) > service.clock())) {
    throw refusal('auth.token_expired', 'Authorization', `The token expired at ${grant.expiresAt}.`);
  }
  service.tokenUses.note(grant.id);
  return grant;
}

/** The organization a request is for, as its caller sees it: 400 without the header, 403 when the token is not for it (D2). */
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
  if (!grant.organizations.includes(id)) throw forbidden();
  const known = cache.organizations.get(id);
  if (known !== undefined) return boundTo(known, grant.locations);
  return existing(store.lookupsFor(grant.id), cache, id).then((found) => boundTo(found, grant.locations));
}

async function existing(read: Reader, cache: AuthCache, id: string): Promise<Organization> {
  const organization = await findOrganization(read, id);
  if (organization === undefined) throw forbidden();
  putCached(cache.organizations, id, organization);
  return organization;
}

function forbidden() {
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
