import sql from 'sql-template-tag';
import type { ReadContext } from '../../catalog/fields/kind.ts';
import { utcMilliseconds } from '../../catalog/fields/times.ts';
import { readFields } from '../../catalog/record.ts';
import { revokeTokenText, saveClient, saveToken, secretHash } from '../tokens/tokens.ts';
import { GLOBAL_KINDS } from './kinds.ts';
import type { ImportLine } from './lines.ts';
import type { ImportState } from './records.ts';

/** A line of type AccessToken or ApiClient (contract §7). Messages never repeat the token or the secret. */
export async function importGlobal(state: ImportState, type: string, { line, record }: ImportLine): Promise<void> {
  const { type: _, deleted, ...given } = record;
  const fields = GLOBAL_KINDS[type] ?? {};
  // Tokens belong to no place: a time without a zone is UTC.
  const context: ReadContext = { mode: 'import', problems: [], warnings: [], instantOf: utcMilliseconds };
  const values = readFields(fields, given, context);
  const needed =
    deleted === true ? Object.keys(fields).slice(0, 1) : Object.keys(fields).filter((name) => fields[name]?.required);
  for (const name of needed) {
    if (given[name] == null)
      context.problems.push({ code: 'field.missing', source: name, description: `${name} is required.` });
  }
  state.problems.addAll(line, context.problems);
  if (context.problems.length > 0) return;
  if (type === 'AccessToken') await token(state, values, deleted === true);
  else await client(state, values, deleted === true);
}

async function token(state: ImportState, values: Record<string, unknown>, deleted: boolean): Promise<void> {
  if (deleted) return revokeTokenText(state.tx, String(values.token));
  await saveToken(state.tx, String(values.token), {
    organizations: values.organizations as string[],
    scopes: values.scopes as string[],
    label: 'imported',
    createdAt: state.now,
    expiresAt: (values.expiresAt as string | null | undefined) ?? null,
  });
}

async function client(state: ImportState, values: Record<string, unknown>, deleted: boolean): Promise<void> {
  const clientId = String(values.clientId);
  if (deleted) {
    await state.tx.run(sql`DELETE FROM api_clients WHERE client_id = ${clientId}`);
    return;
  }
  await saveClient(state.tx, {
    clientId,
    secretHash: await secretHash(String(values.clientSecret)),
    organizations: values.organizations as string[],
    scopes: values.scopes as string[],
  });
}
