import { randomBytes } from 'node:crypto';
import { type Refusal, refusal } from '../../catalog/failures.ts';
import { appendCommand } from '../audit/commands.ts';
import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import { findClient, removeClient, replaceSecret, saveClient } from './clients.ts';
import { earlierOf, type RightsRequest, readOverlap, readRights, renewedEnd } from './rights.ts';
import { secretHash } from './secrets.ts';

/** Creates a client for organizations that exist; its secret is returned here and never again. Throws a Refusal. */
export async function createClient(service: Service, request: RightsRequest) {
  const terms = await readRights(service, request);
  const clientId = randomBytes(8).toString('hex');
  const clientSecret = newSecret();
  const hash = await secretHash(clientSecret);
  await service.store.write(async (tx) => {
    await saveClient(tx, clientId, hash, terms);
    await appendCommand(tx, terms.createdAt, { operation: 'clients.create', ids: [clientId], client: clientId });
  });
  return { clientId, clientSecret, ...terms };
}

/**
 * Gives a client another secret, with which it lives as long again; the earlier one ends after `overlap`, a duration.
 * Tokens that it was given stay. Throws a Refusal: 404 for an unknown client.
 */
export async function rotateClient(service: Service, clientId: string, overlap: string) {
  const overlapMs = readOverlap(overlap);
  const clientSecret = newSecret();
  const known = await findClient(service.store.read, clientId);
  if (known === undefined) throw noSuchClient(clientId);
  const hash = await secretHash(clientSecret, known.secretHash);
  const now = service.clock();
  const rotatedAt = new Date(now).toISOString();
  const endsAt = earlierOf(known.expiresAt, new Date(now + overlapMs).toISOString());
  const replaced = { hash: known.secretHash, endsAt };
  const client = {
    ...known,
    secretHash: hash,
    oldSecrets: [...known.oldSecrets, replaced].filter((old) => old.endsAt > rotatedAt),
    rotatedAt,
    expiresAt: renewedEnd(known.rotatedAt ?? known.createdAt, known.expiresAt, now),
  };
  await service.store.write(async (tx) => {
    // Revoked, replaced or rotated meanwhile.
    if (!(await replaceSecret(tx, client, known.secretHash))) throw noSuchClient(clientId);
    await appendCommand(tx, rotatedAt, { operation: 'clients.rotate', ids: [clientId], client: clientId });
  });
  const { organizations, scopes, locations, readOnly, label, createdAt, expiresAt } = client;
  const terms = { organizations, scopes, locations, readOnly, label, createdAt, rotatedAt, expiresAt };
  return { clientId, clientSecret, ...terms, oldSecretEndsAt: endsAt };
}

/** Revokes a client and every token that it was given. Throws a Refusal (404) when there is no such client. */
export async function revokeClient(service: Service, clientId: string): Promise<void> {
  const revoked = await service.store.write(async (tx) => {
    if (!(await removeClient(tx, clientId))) return false;
    await appendCommand(tx, nowOf(service), { operation: 'clients.delete', ids: [clientId], client: clientId });
    return true;
  });
  if (!revoked) throw noSuchClient(clientId);
}

function newSecret(): string {
  return `molar_secret_${randomBytes(32).toString('base64url')}`;
}

function noSuchClient(clientId: string): Refusal {
  const description = `There is no client ${clientId}. "molar server clients list" shows the ids.`;
  return refusal('record.not_found', 'id', description);
}
