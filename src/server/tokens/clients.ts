import sql from 'sql-template-tag';
import { refusal } from '../../catalog/failures.ts';
import { type Actor, appendAudit } from '../audit/entries.ts';
import type { Service } from '../service.ts';
import type { Reader, Transaction } from '../store/store.ts';
import { matchingHash, NO_SECRET } from './secrets.ts';
import { newToken, type Rights, type RightsRow, rightsColumns, rightsOf, saveToken } from './tokens.ts';

/** Lifetime of a token issued to a client, unless that ends before (D4). */
const TOKEN_SECONDS = 3600;

/** What a client may do, and until when. Times are UTC date-times; what an earlier molar has not noted is null. */
export interface ClientTerms extends Rights {
  readonly label: string | null;
  readonly createdAt: string | null;
  readonly expiresAt: string | null;
}

/** A client as it is listed, without its secret. */
export interface Client extends ClientTerms {
  readonly clientId: string;
  /** When its secret was last replaced. */
  readonly rotatedAt: string | null;
  /** When it last asked for a token, to the minute. */
  readonly lastUsedAt: string | null;
}

/** A secret that was replaced, by its hash, and until when it is accepted all the same. */
interface OldSecret {
  readonly hash: string;
  readonly endsAt: string;
}

/** A client with what is stored of its secrets. */
export interface StoredClient extends Client {
  readonly secretHash: string;
  readonly oldSecrets: readonly OldSecret[];
}

interface ClientRow extends RightsRow {
  readonly client_id: string;
  readonly secret_hash: string;
  readonly label: string | null;
  readonly created_at: string | null;
  readonly rotated_at: string | null;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly old_secrets: string | null;
}

const COLUMNS = sql`client_id, secret_hash, organizations, scopes, locations, read_only, label, created_at, rotated_at,
  expires_at, last_used_at, old_secrets`;

/** A client by its id. */
export async function findClient(read: Reader, clientId: string): Promise<StoredClient | undefined> {
  const row = await read.get<ClientRow>(sql`SELECT ${COLUMNS} FROM api_clients WHERE client_id = ${clientId}`);
  return row && toClient(row);
}

/** All clients, by their ids. */
export async function listClients(read: Reader): Promise<Client[]> {
  const rows = await read.all<ClientRow>(sql`SELECT ${COLUMNS} FROM api_clients ORDER BY client_id`);
  return rows.map(toClient).map(({ secretHash: _hash, oldSecrets: _old, ...client }) => client);
}

function toClient(row: ClientRow): StoredClient {
  return {
    clientId: row.client_id,
    ...rightsOf(row),
    label: row.label,
    createdAt: row.created_at,
    rotatedAt: row.rotated_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    secretHash: row.secret_hash,
    oldSecrets: JSON.parse(row.old_secrets ?? '[]') as OldSecret[],
  };
}

/** Stores a client. One that exists is replaced, and the tokens that it was given end. */
export async function saveClient(
  tx: Transaction,
  clientId: string,
  secretHash: string,
  terms: ClientTerms,
): Promise<void> {
  await removeClient(tx, clientId);
  const { organizations, scopes, locations, read_only } = rightsColumns(terms);
  const { label, createdAt, expiresAt } = terms;
  await tx.run(sql`INSERT INTO api_clients
      (client_id, secret_hash, organizations, scopes, locations, read_only, label, created_at, expires_at)
    VALUES (${clientId}, ${secretHash}, ${organizations}, ${scopes}, ${locations}, ${read_only}, ${label}, ${createdAt},
      ${expiresAt})`);
}

/** Deletes a client and every token that it was given; false when there is no such client. */
export async function removeClient(tx: Transaction, clientId: string): Promise<boolean> {
  // First of all: a request for a token that runs meanwhile waits for it, and then finds no client.
  const removed = await tx.run(sql`DELETE FROM api_clients WHERE client_id = ${clientId}`);
  await tx.run(sql`DELETE FROM access_tokens WHERE client_id = ${clientId}`);
  return removed > 0;
}

/**
 * Gives a client another secret in place of the one with the hash `replaced`; those in `oldSecrets` are accepted until
 * their ends. False when that one is not its secret any more.
 */
export async function replaceSecret(tx: Transaction, client: StoredClient, replaced: string): Promise<boolean> {
  const { clientId, rotatedAt, expiresAt, secretHash, oldSecrets } = client;
  const changed = await tx.run(sql`UPDATE api_clients SET secret_hash = ${secretHash},
    old_secrets = ${JSON.stringify(oldSecrets)}, rotated_at = ${rotatedAt}, expires_at = ${expiresAt}
    WHERE client_id = ${clientId} AND secret_hash = ${replaced}`);
  return changed > 0;
}

/** The client-credentials grant (D4): a token for a known client and its seconds of life, or a Refusal (401). */
export async function issueToken(
  service: Service,
  clientId: string,
  clientSecret: string,
  from: Omit<Actor, 'who'>,
): Promise<{ readonly token: string; readonly seconds: number }> {
  const now = service.clock();
  const at = new Date(now).toISOString();
  // An unknown client costs the same work as a wrong secret, so that the time taken does not tell which it was.
  const hashes = acceptedHashes(await findClient(service.store.read, clientId), at);
  const matching = await matchingHash(clientSecret, hashes ?? [NO_SECRET]);
  if (matching === undefined) throw clientRefused();
  const token = newToken();
  const who = `client ${clientId}`;
  const expires = await service.store.write(async (tx) => {
    await deleteExpired(tx, now);
    const minute = new Date(now - (now % 60_000)).toISOString();
    // Holds the row. The client may have been revoked, replaced or rotated while the secret was compared.
    await tx.run(sql`UPDATE api_clients SET last_used_at = ${minute} WHERE client_id = ${clientId}`);
    const client = await findClient(tx, clientId);
    if (client === undefined || !acceptedHashes(client, at)?.includes(matching)) throw clientRefused();
    const end = client.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(client.expiresAt);
    const expires = Math.min(now + TOKEN_SECONDS * 1000, end);
    const expiresAt = new Date(expires).toISOString();
    const id = await saveToken(tx, token, { ...client, clientId, label: who, createdAt: at, expiresAt });
    await appendAudit(tx, { org: null, at, actor: { ...from, who }, operation: 'tokens.create', ids: [id] });
    return expires;
  });
  return { token, seconds: Math.floor((expires - now) / 1000) };
}

/** Hashes of the secrets that a client may use at a time, UTC; undefined for a client that is unknown or has ended. */
function acceptedHashes(client: StoredClient | undefined, at: string): [string, ...string[]] | undefined {
  if (client === undefined || (client.expiresAt !== null && client.expiresAt <= at)) return undefined;
  return [client.secretHash, ...client.oldSecrets.filter(({ endsAt }) => endsAt > at).map(({ hash }) => hash)];
}

function clientRefused() {
  return refusal('auth.client_refused', 'client_id', 'The client id or the client secret is wrong.');
}

/** Deletes tokens of clients a day after they expire: until then "expired" can be told from "unknown". */
async function deleteExpired(tx: Transaction, now: number): Promise<void> {
  const dayAgo = new Date(now - 86_400_000).toISOString();
  await tx.run(sql`DELETE FROM access_tokens WHERE expires_at < ${dayAgo} AND client_id IS NOT NULL`);
}
