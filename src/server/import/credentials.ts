import sql from 'sql-template-tag';
import type { ReadContext } from '../../catalog/fields/kind.ts';
import { utcMilliseconds } from '../../catalog/fields/times.ts';
import { readFields } from '../../catalog/record.ts';
import { appendAudit } from '../audit/entries.ts';
import { findOrganization } from '../organizations.ts';
import type { Reader, Transaction } from '../store/store.ts';
import { removeClient, saveClient } from '../tokens/clients.ts';
import { secretHash } from '../tokens/secrets.ts';
import { idOfHash, revokeTokenText, saveToken, tokenHash } from '../tokens/tokens.ts';
import { IMPORT } from './changes.ts';
import { GLOBAL_KINDS, GLOBAL_NAMES } from './kinds.ts';
import { type ImportLine, missingField, type ProblemList } from './lines.ts';

/** What a line of a credential writes. */
export type CredentialWrite = (tx: Transaction) => Promise<void>;

/**
 * Lines of type AccessToken and ApiClient (contract §7): whoever wrote one can sign in. So they are taken only when that
 * was allowed, or into a store that has no organization yet, and then for organizations of the same file alone
 * (contract §8). Messages never repeat the token or the secret.
 */
export class CredentialLines {
  private isFirst = false;
  /** Organizations that credentials name, and the first line that does. */
  private readonly named = new Map<string, number>();

  constructor(
    private readonly reader: Reader,
    private readonly now: string,
    private readonly problems: ProblemList,
    private readonly allowed: boolean,
  ) {}

  /** To be called before any line is read. */
  async open(): Promise<void> {
    this.isFirst = (await this.reader.get(sql`SELECT 1 AS found FROM organizations LIMIT 1`)) === undefined;
  }

  /** Reads one line of a kind of `GLOBAL_KINDS`; the write that it asks for, which notes it in the audit log. */
  async readLine(type: string, { line, record }: ImportLine): Promise<CredentialWrite | undefined> {
    if (!this.allowed && !this.isFirst) {
      this.problems.add(line, 'type', `Lines of type ${type} are taken only with --allow-credentials.`);
      return undefined;
    }
    const { type: _, deleted, ...given } = record;
    const values =
      deleted === true
        ? this.read(line, nameOf(type, given), GLOBAL_NAMES[type] ?? {})
        : this.read(line, given, GLOBAL_KINDS[type] ?? {});
    if (values === undefined) return undefined;
    for (const id of (values.organizations as string[] | undefined) ?? []) {
      if (!this.named.has(id)) this.named.set(id, line);
    }
    const write = type === 'AccessToken' ? this.token(values, deleted) : await this.client(values, deleted);
    return async (tx) => {
      const done = await write(tx);
      if (done !== undefined) await appendAudit(tx, { org: null, at: this.now, actor: IMPORT, ...done });
    };
  }

  /** Reports organizations that the file does not bring: whoever makes them later would not know who may read them. */
  async settle(): Promise<void> {
    if (this.allowed) return;
    for (const [id, line] of this.named) {
      if ((await findOrganization(this.reader, id)) !== undefined) continue;
      const message = `There is no organization ${id} in the file; for one that comes later use --allow-credentials.`;
      this.problems.add(line, 'organizations', message);
    }
  }

  private read(
    line: number,
    given: ImportLine['record'],
    fields: (typeof GLOBAL_KINDS)[string],
  ): Record<string, unknown> | undefined {
    // Tokens belong to no location: a time without a zone is UTC.
    const context: ReadContext = { mode: 'import', problems: [], warnings: [], instantOf: utcMilliseconds };
    const values = readFields(fields, given, context);
    for (const name of Object.keys(fields)) {
      if (fields[name]?.required && given[name] == null) context.problems.push(missingField(name));
    }
    this.problems.addAll(line, context.problems);
    return context.problems.length > 0 ? undefined : values;
  }

  private token(values: Record<string, unknown>, deleted: unknown) {
    const token = String(values.token);
    const ids = [idOfHash(tokenHash(token))];
    const terms = this.termsOf(values);
    return async (tx: Transaction) => {
      if (deleted === true) return (await revokeTokenText(tx, token)) ? { operation: 'tokens.delete', ids } : undefined;
      await saveToken(tx, token, terms);
      return { operation: 'tokens.create', ids };
    };
  }

  private async client(values: Record<string, unknown>, deleted: unknown) {
    const clientId = String(values.clientId);
    const named = { ids: [clientId], client: clientId };
    const terms = { ...this.termsOf(values), locations: null, readOnly: false };
    // Slow by design: not while others wait for a transaction.
    const hash = deleted === true ? '' : await secretHash(String(values.clientSecret));
    return async (tx: Transaction) => {
      if (deleted === true)
        return (await removeClient(tx, clientId)) ? { operation: 'clients.delete', ...named } : undefined;
      await saveClient(tx, clientId, hash, terms);
      return { operation: 'clients.create', ...named };
    };
  }

  private termsOf({ organizations, scopes, expiresAt }: Record<string, unknown>) {
    return {
      organizations: organizations as string[],
      scopes: scopes as string[],
      label: 'imported',
      createdAt: this.now,
      expiresAt: (expiresAt as string | null | undefined) ?? null,
    };
  }
}

/** What a line that deletes needs to say. */
function nameOf(type: string, given: ImportLine['record']): ImportLine['record'] {
  return Object.fromEntries(Object.keys(GLOBAL_NAMES[type] ?? {}).map((name) => [name, given[name]]));
}
