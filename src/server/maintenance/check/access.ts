import sql from 'sql-template-tag';
import { SCOPES } from '../../../catalog/scopes.ts';
import type { CheckContext, CheckFindings } from './context.ts';

interface GrantRow {
  readonly id: string;
  readonly organizations: string;
  readonly scopes: string;
}

/** What tokens and clients allow can be read; otherwise every request with them would fail. */
export async function checkAccess({ read }: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('access');
  const grants = {
    access_tokens: await read.all<GrantRow>(sql`SELECT id, organizations, scopes FROM access_tokens ORDER BY id`),
    api_clients: await read.all<GrantRow>(
      sql`SELECT client_id AS id, organizations, scopes FROM api_clients ORDER BY client_id`,
    ),
  };
  for (const [table, rows] of Object.entries(grants)) {
    findings.counted(rows.length);
    for (const { id, organizations, scopes } of rows) {
      const report = (message: string) => findings.report({ table, organization: null, id, message });
      if (texts(organizations) === undefined) report('its organizations cannot be read');
      const known: readonly string[] = SCOPES;
      if (texts(scopes)?.every((scope) => known.includes(scope)) !== true) report('its scopes cannot be read');
    }
  }
}

function texts(json: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}
