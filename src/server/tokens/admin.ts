import { Refusal, refusal } from '../../catalog/failures.ts';
import { appendCommand } from '../audit/commands.ts';
import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import { earlierOf, type NewTerms, type RightsRequest, readOverlap, readRights, renewedEnd } from './rights.ts';
import { endToken, findGrant, newToken, revokeToken, saveToken } from './tokens.ts';

/** Creates a token for organizations that exist; its text is returned here and never again. Throws a Refusal. */
export async function createToken(service: Service, request: RightsRequest) {
  const terms = await readRights(service, request);
  const token = newToken();
  const id = await service.store.write(async (tx) => {
    const made = await saveToken(tx, token, terms);
    await appendCommand(tx, terms.createdAt, { operation: 'tokens.create', ids: [made] });
    return made;
  });
  return { id, token, ...terms };
}

/**
 * Creates a token with the rights of another one, to live as long; that one ends after `overlap`, a duration. Throws a
 * Refusal: 404 for an unknown one, and for one that has expired or that a client was given.
 */
export async function rotateToken(service: Service, id: string, overlap: string) {
  const overlapMs = readOverlap(overlap);
  const found = await findGrant(service.store.read, id);
  if (found === undefined) throw noSuchToken(id);
  const now = service.clock();
  const createdAt = new Date(now).toISOString();
  if (found.clientId !== null) {
    throw invalid(`Token ${id} was given to the client ${found.clientId}, which asks for a new one by itself.`);
  }
  if (found.expiresAt !== null && found.expiresAt <= createdAt) {
    throw invalid(`Token ${id} has expired; make another one with "molar server tokens create".`);
  }
  const { organizations, scopes, locations, readOnly, label } = found;
  const expiresAt = renewedEnd(found.createdAt, found.expiresAt, now);
  const terms: NewTerms = { organizations, scopes, locations, readOnly, label, createdAt, expiresAt };
  const token = newToken();
  const endsAt = earlierOf(found.expiresAt, new Date(now + overlapMs).toISOString());
  const made = await service.store.write(async (tx) => {
    // It may have been revoked meanwhile: then it must not live on in another one.
    if (!(await endToken(tx, id, endsAt))) throw noSuchToken(id);
    const made = await saveToken(tx, token, terms);
    await appendCommand(tx, createdAt, { operation: 'tokens.rotate', ids: [id, made] });
    return made;
  });
  return { id: made, token, ...terms, replaces: { id, expiresAt: endsAt } };
}

/** Revokes a token by its id. Throws a Refusal (404) when there is no such token. */
export async function revoke(service: Service, id: string): Promise<void> {
  const revoked = await service.store.write(async (tx) => {
    if (!(await revokeToken(tx, id))) return false;
    await appendCommand(tx, nowOf(service), { operation: 'tokens.delete', ids: [id] });
    return true;
  });
  if (!revoked) throw noSuchToken(id);
}

function noSuchToken(id: string): Refusal {
  return refusal('record.not_found', 'id', `There is no token ${id}. "molar server tokens list" shows the ids.`);
}

function invalid(description: string): Refusal {
  return new Refusal([{ code: 'field.conflict', source: 'id', description }]);
}
