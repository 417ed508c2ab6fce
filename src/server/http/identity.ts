import { refusal } from '../../catalog/failures.ts';
import type { Scope } from '../../catalog/scopes.ts';
import type { Organization, Service } from '../service.ts';
import { tokenHash } from '../tokens/hashes.ts';
import type { Grant } from '../tokens/tokens.ts';
import type { Attempts } from './attempts.ts';
import { knownGrant, knownNow, knownOrganization } from './known.ts';

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
 * from an address that sent too many unknown ones, before the token is looked at.
 */
export async function authenticate(
  { service, attempts }: Gate,
  { ip, headers }: Sender,
  known = knownNow(service.store),
): Promise<Grant> {
  const { authorization } = headers;
  if (authorization === undefined || authorization.trim() === '') {
    throw refusal('auth.token_missing', 'Authorization', 'The Authorization header is missing: send "Bearer <token>".');
  }
  const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1];
  if (token === undefined) {
    throw refusal('auth.token_malformed', 'Authorization', 'The Authorization header must be "Bearer <token>".');
  }
  const hash = tokenHash(token);
  const wasNone = attempts.isAccepted(hash) ? () => {} : attempts.begin('token', ip);
  const grant = await knownGrant(service.store, known, hash).catch((error: unknown) => {
    wasNone();
    throw error;
  });
  if (grant === undefined) {
    attempts.forget(hash);
    throw refusal('auth.token_unknown', 'Authorization', 'The token is not known here.');
  }
  wasNone();
  attempts.accept(hash);
  if (grant.expiresAt !== null && Date.parse(grant.expiresAt) <= service.clock()) {
    throw refusal('auth.token_expired', 'Authorization', `The token expired at ${grant.expiresAt}.`);
  }
  return grant;
}

/** The organization a request is for: 400 without the header, 403 when the token is not for it (D2). */
export async function identifyOrganization(
  service: Service,
  grant: Grant,
  header: string | undefined,
  known = knownNow(service.store),
): Promise<Organization> {
  const id = header?.trim() ?? '';
  if (id === '') {
    throw refusal('request.organization_missing', 'Organization-ID', 'The Organization-ID header is missing.');
  }
  const organization = grant.organizations.includes(id) ? await knownOrganization(service.store, known, id) : undefined;
  if (organization === undefined) {
    throw refusal('auth.organization_forbidden', 'Organization-ID', 'The token is not for this organization.');
  }
  return organization;
}

export function requireScope(grant: Grant, scope: Scope): void {
  if (grant.scopes.includes(scope)) return;
  throw refusal(
    'auth.scope_missing',
    'Authorization',
    `This needs the scope ${scope}; the token has ${grant.scopes.join(', ') || 'none'}.`,
  );
}
