import { type Problem, Refusal, refusal } from '../../catalog/failures.ts';
import { isDate, parseInstant } from '../../catalog/fields/times.ts';
import { appendAudit, commandActor } from '../audit/entries.ts';
import { nowOf } from '../clock.ts';
import { findOrganization } from '../organizations.ts';
import type { Service } from '../service.ts';
import { type Grant, newToken, revokeToken, saveToken } from './tokens.ts';

interface TokenRequest {
  readonly organizations: readonly string[];
  readonly scopes: readonly string[];
  /** A date (UTC midnight) or a date-time. */
  readonly expires: string | undefined;
  readonly label: string | undefined;
}

/** Creates a token for organizations that exist; its text is returned here and never again. Throws a Refusal. */
export async function createToken(service: Service, request: TokenRequest) {
  const problems: Problem[] = [];
  for (const id of request.organizations) {
    if ((await findOrganization(service.store.read, id)) !== undefined) continue;
    const description = `There is no organization ${id} in this data folder.`;
    problems.push({ code: 'field.link_unknown', source: '--for', description });
  }
  const expiresAt = request.expires === undefined ? null : expiry(request.expires, service.clock(), problems);
  if (problems.length > 0) throw new Refusal(problems);
  const token = newToken();
  const grant = {
    organizations: request.organizations,
    scopes: request.scopes,
    label: request.label ?? null,
    createdAt: nowOf(service),
    expiresAt: expiresAt ?? null,
  };
  const id = await service.store.write(async (tx) => {
    const made = await saveToken(tx, token, grant);
    await appendAudit(tx, {
      org: null,
      at: grant.createdAt,
      actor: commandActor(),
      operation: 'tokens.create',
      ids: [made],
    });
    return made;
  });
  return { id, token, ...grant };
}

function expiry(text: string, now: number, problems: Problem[]): string | undefined {
  const instant = parseInstant(isDate(text) ? `${text}T00:00:00Z` : text, {});
  if (typeof instant !== 'number') {
    const description = '--expires must be a date, or a date-time with a zone such as 2027-01-01T08:00:00Z.';
    problems.push({ code: 'field.format', source: '--expires', description });
    return undefined;
  }
  if (instant <= now)
    problems.push({ code: 'field.range', source: '--expires', description: '--expires is in the past.' });
  return new Date(Math.floor(instant)).toISOString();
}

/** The tokens as text for people, one line each. */
export function tokenText(grants: readonly Grant[]): string {
  if (grants.length === 0) return 'There are no tokens.\n';
  const rows = grants.map((grant) => [
    grant.id,
    grant.label ?? '',
    grant.organizations.join(','),
    grant.scopes.join(','),
    `expires ${grant.expiresAt ?? 'never'}`,
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return padded.map((line) => `${line.trimEnd()}\n`).join('');
}

/** Revokes a token by its id. Throws a Refusal (404) when there is no such token. */
export async function revoke(service: Service, id: string): Promise<void> {
  const revoked = await service.store.write(async (tx) => {
    if (!(await revokeToken(tx, id))) return false;
    await appendAudit(tx, {
      org: null,
      at: nowOf(service),
      actor: commandActor(),
      operation: 'tokens.delete',
      ids: [id],
    });
    return true;
  });
  if (revoked) return;
  throw refusal('record.not_found', 'id', `There is no token ${id}. "molar server tokens list" shows the ids.`);
}
