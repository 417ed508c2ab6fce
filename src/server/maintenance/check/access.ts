import sql from 'sql-template-tag';
import { SCOPES } from '../../../catalog/scopes.ts';
import type { CheckContext, CheckFindings } from './context.ts';

interface GrantRow {
  readonly id: string;
  readonly organizations: string;
  readonly scopes: string;
  readonly locations: string | null;
  readonly expires_at: string | null;
  readonly old_secrets: string | null;
}

/** What tokens and clients allow can be read; otherwise every request with them would fail. */
export async function checkAccess({ read }: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('access');
  const grants = {
    access_tokens: await read.all<GrantRow>(
      sql`SELECT id, organizations, scopes, locations, expires_at, NULL AS old_secrets FROM access_tokens ORDER BY id`,
    ),
    api_clients: await read.all<GrantRow>(
      sql`SELECT client_id AS id, organizations, scopes, locations, expires_at, old_secrets FROM api_clients
        ORDER BY client_id`,
    ),
  };
  for (const [table, rows] of Object.entries(grants)) {
    findings.counted(rows.length);
    for (const { id, organizations, scopes, locations, expires_at, old_secrets } of rows) {
      const report = (message: string) => findings.report({ table, organization: null, id, message });
      if (!isList(organizations, isText)) report('its organizations cannot be read');
      if (!isList(scopes, isScope)) report('its scopes cannot be read');
      if (locations !== null && !isList(locations, Number.isSafeInteger)) report('its locations cannot be read');
      if (expires_at !== null && !isTime(expires_at)) report('its end cannot be read');
      if (old_secrets !== null && !isList(old_secrets, isOldSecret)) report('its earlier secrets cannot be read');
    }
  }
}

const isText = (value: unknown) => typeof value === 'string';

const isScope = (value: unknown) => (SCOPES as readonly unknown[]).includes(value);

const isTime = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));

function isOldSecret(value: unknown): boolean {
  const { hash, endsAt } = (value ?? {}) as { hash?: unknown; endsAt?: unknown };
  return isText(hash) && isTime(endsAt);
}

function isList(json: string, isItem: (value: unknown) => boolean): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) && value.every(isItem);
  } catch {
    return false;
  }
}
