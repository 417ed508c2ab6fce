import sql from 'sql-template-tag';
import { refusal } from '../../catalog/failures.ts';
import { type Actor, appendAudit } from '../audit/entries.ts';
import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import type { Transaction } from '../store/store.ts';
import { secretMatches } from './hashes.ts';
import { newToken, saveToken } from './tokens.ts';

/** How long an issued token is valid (D4). */
export const TOKEN_SECONDS = 3600;

/** Stands for the secret of a client that does not exist: no secret matches it. */
const NO_SECRET = 'scrypt$AAAAAAAAAAAAAAAAAAAAAA$';

interface ClientRow {
  readonly client_id: string;
  readonly secret_hash: string;
  readonly organizations: string;
  readonly scopes: string;
}

/** The client-credentials grant (D4): a token for a known client, or a Refusal (401). */
export async function issueToken(
  service: Service,
  clientId: string,
  clientSecret: string,
  from: Omit<Actor, 'who'>,
): Promise<string> {
  const client = await service.store.read.get<ClientRow>(
    sql`SELECT client_id, secret_hash, organizations, scopes FROM api_clients WHERE client_id = ${clientId}`,
  );
  // An unknown client costs the same work as a wrong secret, so that the time taken does not tell which it was.
  const matches = await secretMatches(clientSecret, client?.secret_hash ?? NO_SECRET);
  if (client === undefined || !matches) {
    throw refusal('auth.client_refused', 'client_id', 'The client id or the client secret is wrong.');
  }
  const token = newToken();
  const actor = { ...from, who: `client ${clientId}` };
  const now = service.clock();
  await service.store.write(async (tx) => {
    await dropExpired(tx, new Date(now).toISOString());
    const made = await saveToken(tx, token, {
      organizations: JSON.parse(client.organizations) as string[],
      scopes: JSON.parse(client.scopes) as string[],
      label: `client ${clientId}`,
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + TOKEN_SECONDS * 1000).toISOString(),
    });
    await appendAudit(tx, { org: null, at: nowOf(service), actor, operation: 'tokens.create', ids: [made] });
  });
  return token;
}

/**
 * Tokens that clients were given do not pile up; a day is left so that "expired" can still be told from "unknown".
 * Tokens that people made stay until they are revoked.
 */
async function dropExpired(tx: Transaction, now: string): Promise<void> {
  const dayAgo = new Date(Date.parse(now) - 86_400_000).toISOString();
  await tx.run(sql`DELETE FROM access_tokens WHERE expires_at < ${dayAgo} AND label LIKE 'client %'`);
}

/** Stores an API client; its secret as a salted slow hash. */
export async function saveClient(
  tx: Transaction,
  client: { clientId: string; secretHash: string; organizations: readonly string[]; scopes: readonly string[] },
): Promise<void> {
  await tx.run(sql`INSERT INTO api_clients (client_id, secret_hash, organizations, scopes)
    VALUES (${client.clientId}, ${client.secretHash}, ${JSON.stringify(client.organizations)}, ${JSON.stringify(client.scopes)})
    ON CONFLICT (client_id) DO UPDATE SET secret_hash = excluded.secret_hash, organizations = excluded.organizations, scopes = excluded.scopes`);
}
