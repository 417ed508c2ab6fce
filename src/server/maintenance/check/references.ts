import sql from 'sql-template-tag';
import { RECORD_KINDS, type RecordKind } from '../../import/kinds.ts';
import { filedUnder } from '../../reports/filing.ts';
import type { JsonRecord } from '../../store/layout.ts';
import { parseRecord } from '../../store/schema/backfill.ts';
import type { CheckContext, CheckFindings } from './context.ts';
import { checkLinks, type LinkedRecord } from './links.ts';
import { orgsOf, PAGE } from './pages.ts';

interface ReferenceRow {
  readonly id: number;
  readonly filed_under: number | null;
  readonly json: string;
}

const TABLE = 'reference_records';

/** Records of kinds that only links know. */
export async function checkReferences(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('records');
  for (const org of await orgsOf(context.read, TABLE)) {
    const organization = context.organization(org);
    const types = await context.read.all<{ type: string }>(
      sql`SELECT DISTINCT type FROM reference_records WHERE org = ${org} ORDER BY type`,
    );
    for (const { type } of types) {
      const kind = RECORD_KINDS.get(type);
      if (kind === undefined || kind.resource !== undefined) {
        findings.report({ table: TABLE, organization, id: type, message: 'has a type that is not stored here' });
      } else {
        for await (const rows of pagesOf(context, org, type)) {
          const records: LinkedRecord[] = [];
          for (const row of rows) {
            const record = parseRecord(row.json);
            const wrong = wrongReference(kind, row, record);
            const id = `${type} ${row.id}`;
            if (wrong !== undefined) findings.report({ table: TABLE, organization, id, message: wrong });
            if (record !== undefined) records.push({ id: row.id, record });
          }
          findings.counted(rows.length);
          await checkLinks(context, book, { org, table: TABLE, fields: kind.fields, records });
          await context.turn('reference records', rows.length);
        }
      }
    }
  }
}

function wrongReference(
  { type, needed }: RecordKind,
  row: ReferenceRow,
  record: JsonRecord | undefined,
): string | undefined {
  if (record === undefined) return 'its JSON cannot be read';
  if (record.id !== row.id) return 'its JSON has another id';
  const lacking = needed.find((name) => record[name] == null);
  if (lacking !== undefined) return `its JSON has no ${lacking}`;
  return filedUnder(type, record) === row.filed_under ? undefined : 'column filed_under does not agree with its JSON';
}

async function* pagesOf({ read }: CheckContext, org: number, type: string): AsyncGenerator<readonly ReferenceRow[]> {
  for (let after = 0; ; ) {
    const rows = await read.all<ReferenceRow>(
      sql`SELECT id, filed_under, json FROM reference_records
        WHERE org = ${org} AND type = ${type} AND id > ${after} ORDER BY id LIMIT ${PAGE}`,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id ?? after;
  }
}
