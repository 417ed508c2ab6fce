import { hash, randomBytes } from 'node:crypto';
import sql from 'sql-template-tag';
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

/** A token as it is listed. */
export interface TokenListing extends Grant {
  /** When it was last used, to the minute; null for never. */
  readonly lastUsedAt: string | null;
}

/** Rights as tokens and clients store them: lists are JSON. */
export interface RightsRow {
  readonly organizations: string;
  readonly scopes: string;
  readonly locations: string | null;
  readonly read_only: number;
}

interface GrantRow extends RightsRow {
  readonly id: string;
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

/** The id of a token with this hash. */
export function idOfHash(hash: string): string {
  return hash.slice(0, 12);
}

/** The grant of a token by its hash; undefined for an unknown one. */
export async function findGrantByHash(read: Reader, hash: string): Promise<Grant | undefined> {
  const row = await read.get<GrantRow>(sql`SELECT ${COLUMNS} FROM access_tokens WHERE hash = ${hash}`);
  return row && toGrant(row);
}

/** A token by its id, and the client that it was given to. */
export async function findGrant(
  read: Reader,
  id: string,
): Promise<(Grant & { readonly clientId: string | null }) | undefined> {
  const row = await read.get<GrantRow>(sql`SELECT ${COLUMNS} FROM access_tokens WHERE id = ${id}`);
  return row && { ...toGrant(row), clientId: row.client_id };
}

/** All tokens, oldest first. */
export async function listTokens(read: Reader): Promise<TokenListing[]> {
  const rows = await read.all<GrantRow & { last_used_at: string | null }>(
    sql`SELECT ${COLUMNS}, last_used_at FROM access_tokens ORDER BY created_at, id`,
  );
  return rows.map((row) => ({ ...toGrant(row), lastUsedAt: row.last_used_at }));
}

function toGrant(row: GrantRow): Grant {
  const { id, client_id, label, created_at, expires_at } = row;
  return {
    id,
    who: client_id === null ? `token ${id}` : `client ${client_id}`,
    ...rightsOf(row),
    label,
    createdAt: created_at,
    expiresAt: expires_at,
  };
}

/** Rights as they are stored. */
export function rightsOf({ organizations, scopes, locations, read_only }: RightsRow): Rights {
  return {
    organizations: JSON.parse(organizations) as string[],
    scopes: JSON.parse(scopes) as string[],
    locations: locations === null ? null : (JSON.parse(locations) as number[]),
    readOnly: read_only === 1,
  };
}

/** How rights are stored. */
export function rightsColumns({ organizations, scopes, locations, readOnly }: Rights): RightsRow {
  return {
    organizations: JSON.stringify(organizations),
    scopes: JSON.stringify(scopes),
    locations: locations && JSON.stringify(locations),
    read_only: Number(readOnly),
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
  const id = idOfHash(hash);
  const { organizations, scopes, locations, read_only } = rightsColumns({ locations: null, readOnly: false, ...grant });
  const { clientId = null, label, createdAt, expiresAt } = grant;
  await tx.run(sql`INSERT INTO access_tokens
      (hash, id, organizations, scopes, locations, read_only, client_id, label, created_at, expires_at)
    VALUES (${hash}, ${id}, ${organizations}, ${scopes}, ${locations}, ${read_only}, ${clientId}, ${label}, ${createdAt},
      ${expiresAt})
    ON CONFLICT (hash) DO UPDATE SET organizations = excluded.organizations, scopes = excluded.scopes,
      locations = excluded.locations, read_only = excluded.read_only, expires_at = excluded.expires_at`);
  return id;
}

/** Ends a token at a time, UTC; false when there is no such token. */
export async function endToken(tx: Transaction, id: string, endsAt: string): Promise<boolean> {
  return (await tx.run(sql`UPDATE access_tokens SET expires_at = ${endsAt} WHERE id = ${id}`)) > 0;
}

/** Deletes a token by its id; false when there is no such token. */
export async function revokeToken(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM access_tokens WHERE id = ${id}`)) > 0;
}

/** Deletes a token by its text; false when there is no such token. */
export async function revokeTokenText(tx: Transaction, token: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM access_tokens WHERE hash = ${tokenHash(token)}`)) > 0;
}
