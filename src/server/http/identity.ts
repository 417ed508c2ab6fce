import { refusal } from '../../catalog/failures.ts';
import type { Scope } from '../../catalog/scopes.ts';
import type { Organization } from '../organizations.ts';
import type { Service } from '../service.ts';
import type { Store } from '../store/store.ts';
import { tokenHash } from '../tokens/hashes.ts';
import type { Grant } from '../tokens/tokens.ts';
import type { Attempts } from './attempts.ts';
import { type Known, knownNow, lookUpGrant, lookUpOrganization } from './authcache.ts';

/** What requests are identified with. */
export interface Gate {
  readonly service: Service;
  readonly attempts: Attempts;
}

/** What of a request tells who sent it. */
export interface Sender {
  readonly ip: string;
  readonly headers: { readonly authorization?: string | undefined };
}

/**
 * Who a request comes from: 401 for a token that is missing, malformed, unknown or expired (D2); 429 for a new token
 * from an address that sent too many unknown ones, before the token is looked at. At once where the token is known.
 */
export function authenticate(gate: Gate, sender: Sender, known = knownNow(gate.service.store)): Grant | Promise<Grant> {
  const hash = tokenHash(tokenOf(sender));
  const grant = known.grants.get(hash);
  return grant !== undefined && gate.attempts.isAccepted(hash)
    ? accepted(gate, grant, hash)
    : lookUp(gate, sender, known, hash);
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

async function lookUp(gate: Gate, { ip }: Sender, known: Known, hash: string): Promise<Grant> {
  const { service, attempts } = gate;
  const wasNone = attempts.isAccepted(hash) ? () => {} : attempts.begin('token', ip);
  const grant = await lookUpGrant(service.store, known, hash).catch((error: unknown) => {
    wasNone();
    throw error;
  });
  if (grant === undefined) {
    attempts.forget(hash);
    throw refusal('auth.token_unknown', 'Authorization', 'The token is not known here.');
  }
  wasNone();
  return accepted(gate, grant, hash);
}

function accepted({ service, attempts }: Gate, grant: Grant, hash: string): Grant {
  attempts.accept(hash);
  if (grant.expiresAt !== null && Date.parse(grant.expiresAt) <= service.clock()) {
    throw refusal('auth.token_expired', 'Authorization', `The token expired at ${grant.expiresAt}.`);
  }
  return grant;
}

/** The organization a request is for: 400 without the header, 403 when the token is not for it (D2). */
export function identifyOrganization(
  { store }: Service,
  grant: Grant,
  header: string | undefined,
  known = knownNow(store),
): Organization | Promise<Organization> {
  const id = header?.trim() ?? '';
  if (id === '') {
    throw refusal('request.organization_missing', 'Organization-ID', 'The Organization-ID header is missing.');
  }
  if (!grant.organizations.includes(id)) throw forbidden();
  return known.organizations.get(id) ?? findOrganization(store, known, id);
}

async function findOrganization(store: Store, known: Known, id: string): Promise<Organization> {
  const organization = await lookUpOrganization(store, known, id);
  if (organization === undefined) throw forbidden();
  return organization;
}

function forbidden() {
  return refusal('auth.organization_forbidden', 'Organization-ID', 'The token is not for this organization.');
}

export function requireScope(grant: Grant, scope: Scope): void {
  if (grant.scopes.includes(scope)) return;
  throw refusal(
    'auth.scope_missing',
    'Authorization',
    `This needs the scope ${scope}; the token has ${grant.scopes.join(', ') || 'none'}.`,
  );
}
