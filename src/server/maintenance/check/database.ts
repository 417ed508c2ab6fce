import sql from 'sql-template-tag';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';

/** What the engine itself says of its pages and indexes; SQLite stops after a hundred lines. */
export async function checkDatabase({ read, dialect }: CheckContext, book: Book): Promise<void> {
  const findings = book.of('database');
  findings.looked(1);
  const told =
    dialect === 'sqlite'
      ? await read.all<{ message: string }>(
          sql`SELECT integrity_check AS message FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
        )
      : await read.all<{ message: string }>(
          sql`SELECT 'index ' || c.relname || ' is not valid' AS message FROM pg_index i
            JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND NOT (i.indisvalid AND i.indisready) ORDER BY c.relname`,
        );
  for (const { message } of told) {
    for (const line of message.split('\n')) {
      findings.report({ table: null, organization: null, id: null, message: line });
    }
  }
}
