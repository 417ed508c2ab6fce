import sql from 'sql-template-tag';
import type { JsonRecord } from '../../store/layout.ts';
import { parseRecord } from '../../store/schema/backfill.ts';
import type { CheckContext, CheckFindings } from './context.ts';
import { orgsOf, PAGE } from './pages.ts';

const RECURRENCE = [
  'recurrenceType',
  'recurrenceStart',
  'recurrenceEnd',
  'recurrenceFrequency',
  'recurrenceDays',
  'recurrenceWeek',
  'recurrenceDay',
];

interface EventRow {
  readonly id: number;
  readonly group_id: string;
  readonly json: string;
}

/** All occurrences of a series share its recurrence (D39); read by the index of groups, so one lies beside the next. */
export async function checkSeries(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('series');
  for (const org of await orgsOf(context.read, 'events')) {
    let rule: { readonly group: string; readonly text: string } | undefined;
    for (let after = { group_id: '', id: 0 }; ; ) {
      const rows: EventRow[] = await context.read.all<EventRow>(
        sql`SELECT id, group_id, json FROM events WHERE org = ${org} AND group_id IS NOT NULL
          AND (group_id, id) > (${after.group_id}, ${after.id}) ORDER BY group_id, id LIMIT ${PAGE}`,
      );
      for (const row of rows) {
        const text = recurrenceText(parseRecord(row.json));
        if (rule === undefined || rule.group !== row.group_id) rule = { group: row.group_id, text };
        if (rule.text === text) continue;
        const message = 'has another recurrence than the first of its group';
        findings.report({ table: 'events', organization: context.organization(org), id: row.id, message });
      }
      findings.counted(rows.length);
      await context.turn('occurrences', rows.length);
      if (rows.length < PAGE) break;
      after = rows.at(-1) ?? after;
    }
  }
}

function recurrenceText(record: JsonRecord | undefined): string {
  return JSON.stringify(RECURRENCE.map((name) => record?.[name] ?? null));
}
