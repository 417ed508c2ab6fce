import sql from 'sql-template-tag';
import { allOperations } from '../../../catalog/catalog.ts';
import type { CheckContext } from './context.ts';
import type { Book } from './findings.ts';

interface DeliveryRow {
  readonly id: number;
  readonly org: number;
  readonly operation: string;
  readonly total: number;
  readonly created_at: string;
}

/** Deliveries of async endpoints that wait: of an organization and an operation that exist. */
export async function checkDeliveries(context: CheckContext, book: Book): Promise<void> {
  const findings = book.of('deliveries');
  const operations = new Set(allOperations().map(({ operation }) => operation.id));
  const rows = await context.read.all<DeliveryRow>(
    sql`SELECT id, org, operation, total, created_at FROM async_deliveries ORDER BY id`,
  );
  findings.looked(rows.length);
  for (const row of rows) {
    const organization = context.organization(row.org);
    const report = (message: string) =>
      findings.report({ table: 'async_deliveries', organization, id: row.id, message });
    if (organization === null) report('is of an organization that does not exist');
    if (!operations.has(row.operation)) report('is of an operation that does not exist');
    if (row.total < 0) report('has told of less than nothing');
    if (Number.isNaN(Date.parse(row.created_at))) report('its time cannot be read');
  }
}
