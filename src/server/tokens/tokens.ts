import { randomBytes } from 'node:crypto';
import sql from 'sql-template-tag';
import type { Reader, Transaction } from '../store/store.ts';
import { tokenHash } from './hashes.ts';

/** What a token allows. `id` names it without giving it away. Times are UTC date-times. */
export interface Grant {
  readonly id: string;
  readonly organizations: readonly string[];
  readonly scopes: readonly string[];
  readonly label: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

interface GrantRow {
  readonly id: string;
  readonly organizations: string;
  readonly scopes: string;
  readonly label: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

const COLUMNS = sql`id, organizations, scopes, label, created_at, expires_at`;

export function newToken(): string {
  return `molar_${randomBytes(32).toString('base64url')}`;
}

export async function findGrantByHash(read: Reader, hash: string): Promise<Grant | undefined> {
  const row = await read.get<GrantRow>(sql`SELECT ${COLUMNS} FROM access_tokens WHERE hash = ${hash}`);
  return row && toGrant(row);
}

export async function listGrants(read: Reader): Promise<Grant[]> {
  const rows = await read.all<GrantRow>(sql`SELECT ${COLUMNS} FROM access_tokens ORDER BY created_at, id`);
  return rows.map(toGrant);
}

/** Stores a token by its hash; the same token again takes the new terms. */
export async function saveToken(tx: Transaction, token: string, grant: Omit<Grant, 'id'>): Promise<string> {
  const hash = tokenHash(token);
  const id = hash.slice(0, 12);
  await tx.run(sql`INSERT INTO access_tokens (hash, id, organizations, scopes, label, created_at, expires_at)
    VALUES (${hash}, ${id}, ${JSON.stringify(grant.organizations)}, ${JSON.stringify(grant.scopes)}, ${grant.label},
      ${grant.createdAt}, ${grant.expiresAt})
    ON CONFLICT (hash) DO UPDATE SET organizations = excluded.organizations, scopes = excluded.scopes, expires_at = excluded.expires_at`);
  return id;
}

/** False when there is no such token. */
export async function revokeToken(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run(sql`DELETE FROM access_tokens WHERE id = ${id}`)) > 0;
}

export async function revokeTokenText(tx: Transaction, token: string): Promise<void> {
  await tx.run(sql`DELETE FROM access_tokens WHERE hash = ${tokenHash(token)}`);
}

function toGrant(row: GrantRow): Grant {
  return {
    id: row.id,
    organizations: JSON.parse(row.organizations) as string[],
    scopes: JSON.parse(row.scopes) as string[],
    label: row.label,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
