import { hash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import sql from 'sql-template-tag';
import { refusal } from '../../catalog/failures.ts';
import { type Actor, appendAudit } from '../audit/entries.ts';
import type { Service } from '../service.ts';
import type { Reader, Transaction } from '../store/store.ts';

/** What the holder of a credential may do. */
export interface Rights {
  readonly organizations: readonly string[];
  readonly scopes: readonly string[];
  /** Ids of the only locations that exist for the holder; null: every location. */
  readonly locations: readonly number[] | null;
  /** Every method but GET and HEAD is refused, whatever the scopes. */
  readonly readOnly: boolean;
}

/** What a token allows. `id` names it without disclosing it. Times are UTC date-times. */
export interface Grant extends Rights {
  readonly id: string;
  /** Who holds it, as the audit log names them: `token ID`, `client CLIENTID`, `person SUBJECT`, `certificate NAME`. */
  readonly who: string;
  readonly label: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

interface GrantRow {
  readonly id: string;
  readonly organizations: string;
  readonly scopes: string;
  readonly locations: string | null;
  readonly read_only: number;
  readonly client_id: string | null;
  readonly label: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

const COLUMNS = sql`id, organizations, scopes, locations, read_only, client_id, label, created_at, expires_at`;

/** A new random access token. */
export function newToken(): string {
  return `molar_${randomBytes(32).toString('base64url')}`;
}

/** What is stored of an access token. Tokens are long and random, so a plain hash is enough (D4). */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The grant of a token by its hash; undefined for an unknown one. */
export async function findGrantByHash(read: Reader, hash: string): Promise<Grant | undefined> {
  const row = await read.get<GrantRow>(sql`SELECT ${COLUMNS} FROM access_tokens WHERE hash = ${hash}`);
  return row && toGrant(row);
}

/** All grants, oldest first. */
export async function listGrants(read: Reader): Promise<Grant[]> {
  const rows = await read.all<GrantRow>(sql`SELECT ${COLUMNS} FROM access_tokens ORDER BY created_at, id`);
  return rows.map(toGrant);
}

function toGrant(row: GrantRow): Grant {
  const { id, organizations, scopes, locations, read_only, client_id, label, created_at, expires_at } = row;
  return {
    id,
    who: client_id === null ? `token ${id}` : `client ${client_id}`,
    organizations: JSON.parse(organizations) as string[],
    scopes: JSON.parse(scopes) as string[],
    locations: locations === null ? null : (JSON.parse(locations) as number[]),
    readOnly: read_only === 1,
    label,
    createdAt: created_at,
    expiresAt: expires_at,
  };
}

/** A token to store, for every location and for writing when nothing else is said. */
export interface NewToken extends Pick<Grant, 'organizations' | 'scopes' | 'label' | 'createdAt' | 'expiresAt'> {
  readonly locations?: Grant['locations'];
  readonly readOnly?: boolean;
  /** The client that it is issued to. */
  readonly clientId?: string;
}

/** Stores a token by its hash and returns its id; a token that exists takes the new terms. */
export async function saveToken(tx: Transaction, token: string, grant: NewToken): Promise<string> {
  const hash = tokenHash(token);
  const id = hash.slice(0, 12);
  const { organizations, scopes, locations = null, readOnly = false, clientId = null } = grant;
  const { label, createdAt, expiresAt } = grant;
  await tx.run(sql`INSERT INTO access_tokens
      (hash, id, organizations, scopes, locations, read_only, client_id, label, created_at, expires_at)
    VALUES (${hash}, ${id}, ${JSON.stringify(organizations)}, ${JSON.stringify(scopes)},
      ${locations && JSON.stringify(locations)}, ${Number(readOnly)}, ${clientId}, ${label}, ${createdAt}, ${expiresAt})
    ON CONFLICT (hash) DO UPDATE SET organizations = excluded.organizations, scopes = excluded.scopes,
      locations = excluded.locations, read_only = excluded.read_only, expires_at = excluded.expires_at`);
  return id;
}

/** Deletes a token by its id; false when there is no such token. */
export async function revokeToken(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM access_tokens WHERE id = ${id}`)) > 0;
}

/** Deletes a token by its text. */
export async function revokeTokenText(tx: Transaction, token: string): Promise<void> {
  await tx.run(sql`DELETE FROM access_tokens WHERE hash = ${tokenHash(token)}`);
}

/** Lifetime of a token issued to a client (D4). */
export const TOKEN_SECONDS = 3600;

/** Stands for the secret of a client that does not exist: no secret matches it. */
const NO_SECRET = 'scrypt$AAAAAAAAAAAAAAAAAAAAAA$';

interface ApiClient {
  readonly clientId: string;
  readonly secretHash: string;
  readonly organizations: readonly string[];
  readonly scopes: readonly string[];
}

/** The client-credentials grant (D4): a token for a known client, or a Refusal (401). */
export async function issueToken(
  service: Service,
  clientId: string,
  clientSecret: string,
  from: Omit<Actor, 'who'>,
): Promise<string> {
  const client = await service.store.read.get<{ secret_hash: string; organizations: string; scopes: string }>(
    sql`SELECT secret_hash, organizations, scopes FROM api_clients WHERE client_id = ${clientId}`,
  );
  // An unknown client costs the same work as a wrong secret, so that the time taken does not tell which it was.
  const matches = await secretMatches(clientSecret, client?.secret_hash ?? NO_SECRET);
  if (client === undefined || !matches) {
    throw refusal('auth.client_refused', 'client_id', 'The client id or the client secret is wrong.');
  }
  const token = newToken();
  const who = `client ${clientId}`;
  const now = service.clock();
  const at = new Date(now).toISOString();
  await service.store.write(async (tx) => {
    await deleteExpired(tx, now);
    const id = await saveToken(tx, token, {
      organizations: JSON.parse(client.organizations) as string[],
      scopes: JSON.parse(client.scopes) as string[],
      clientId,
      label: who,
      createdAt: at,
      expiresAt: new Date(now + TOKEN_SECONDS * 1000).toISOString(),
    });
    await appendAudit(tx, { org: null, at, actor: { ...from, who }, operation: 'tokens.create', ids: [id] });
  });
  return token;
}

/** Deletes tokens of clients a day after they expire: until then "expired" can be told from "unknown". */
async function deleteExpired(tx: Transaction, now: number): Promise<void> {
  const dayAgo = new Date(now - 86_400_000).toISOString();
  await tx.run(sql`DELETE FROM access_tokens WHERE expires_at < ${dayAgo} AND label LIKE 'client %'`);
}

/** Stores an API client; one that exists is replaced. */
export async function saveClient(tx: Transaction, client: ApiClient): Promise<void> {
  await tx.run(sql`INSERT INTO api_clients (client_id, secret_hash, organizations, scopes)
    VALUES (${client.clientId}, ${client.secretHash}, ${JSON.stringify(client.organizations)}, ${JSON.stringify(client.scopes)})
    ON CONFLICT (client_id) DO UPDATE SET secret_hash = excluded.secret_hash, organizations = excluded.organizations, scopes = excluded.scopes`);
}

const derive = promisify(scrypt) as (secret: string, salt: Buffer, length: number) => Promise<Buffer>;

/** What is stored of a client secret, which people may choose: a salted slow hash. */
export async function secretHash(secret: string): Promise<string> {
  const salt = randomBytes(16);
  return `scrypt$${salt.toString('base64url')}$${(await derive(secret, salt, 32)).toString('base64url')}`;
}

/** Whether a secret is the one behind a hash of `secretHash`. */
export async function secretMatches(secret: string, stored: string): Promise<boolean> {
  const [, salt = '', derived = ''] = stored.split('$');
  const given = await derive(secret, Buffer.from(salt, 'base64url'), 32);
  const expected = Buffer.from(derived, 'base64url');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
