import sql from 'sql-template-tag';
import type { Actor } from '../audit/entries.ts';
import type { Reader, Transaction } from '../store/store.ts';

/** What one call of an async endpoint still has to deliver to the stream, and its position (D41). */
export interface Delivery {
  readonly id: number;
  readonly org: number;
  readonly correlationId: string;
  /** Operation id of the catalog: `patients.async`. */
  readonly operation: string;
  readonly filter: string | null;
  readonly responseFields: string | null;
  /** The only locations that exist for who asked; null: all. */
  readonly locations: readonly number[] | null;
  /** Records with an id above this are delivered. */
  readonly afterId: number;
  /** Where the next chunk begins; null: at the beginning. */
  readonly reachedId: number | null;
  /** Messages delivered so far. */
  readonly total: number;
  /** Who asked for it, and by which request. */
  readonly actor: Actor;
}

interface DeliveryRow {
  readonly id: number;
  readonly org: number;
  readonly correlation_id: string;
  readonly operation: string;
  readonly filter: string | null;
  readonly response_fields: string | null;
  readonly locations: string | null;
  readonly after_id: number;
  readonly reached_id: number | null;
  readonly total: number;
  readonly who: string | null;
  readonly address: string | null;
  readonly request_id: string | null;
}

export async function addDelivery(
  tx: Transaction,
  delivery: Omit<Delivery, 'id' | 'reachedId' | 'total'>,
  createdAt: string,
): Promise<void> {
  const { org, correlationId, operation, filter, responseFields, locations, afterId, actor } = delivery;
  const { who, address, requestId } = actor;
  await tx.run(sql`INSERT INTO async_deliveries
      (org, correlation_id, operation, filter, response_fields, locations, after_id, total, created_at,
        who, address, request_id)
    VALUES (${org}, ${correlationId}, ${operation}, ${filter}, ${responseFields}, ${locations && JSON.stringify(locations)},
      ${afterId}, 0, ${createdAt}, ${who}, ${address}, ${requestId})`);
}

const COLUMNS = sql`id, org, correlation_id, operation, filter, response_fields, locations, after_id, reached_id, total,
  who, address, request_id`;

/** The delivery after another, starting over with the oldest: deliveries are served in turn. */
export async function nextDelivery(read: Reader, after: number): Promise<Delivery | undefined> {
  const row = await read.get<DeliveryRow>(
    sql`SELECT ${COLUMNS} FROM async_deliveries ORDER BY id <= ${after}, id LIMIT 1`,
  );
  return row && toDelivery(row);
}

/** A delivery by its key. */
type DeliveryKey = Pick<Delivery, 'org' | 'id'>;

/** A delivery in its current state; undefined when it is complete. */
export async function findDelivery(read: Reader, { org, id }: DeliveryKey): Promise<Delivery | undefined> {
  const row = await read.get<DeliveryRow>(
    sql`SELECT ${COLUMNS} FROM async_deliveries WHERE org = ${org} AND id = ${id}`,
  );
  return row && toDelivery(row);
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    org: row.org,
    correlationId: row.correlation_id,
    operation: row.operation,
    filter: row.filter,
    responseFields: row.response_fields,
    locations: row.locations === null ? null : (JSON.parse(row.locations) as number[]),
    afterId: row.after_id,
    reachedId: row.reached_id,
    total: row.total,
    // Of one that was accepted by an earlier molar nobody knows who asked.
    actor: { who: row.who ?? 'delivery', address: row.address, requestId: row.request_id ?? row.correlation_id },
  };
}

/** Saves the position of a delivery. */
export async function advanceDelivery(
  tx: Transaction,
  { org, id }: DeliveryKey,
  reachedId: number,
  total: number,
): Promise<void> {
  await tx.run(
    sql`UPDATE async_deliveries SET reached_id = ${reachedId}, total = ${total} WHERE org = ${org} AND id = ${id}`,
  );
}

export async function removeDelivery(tx: Transaction, { org, id }: DeliveryKey): Promise<void> {
  await tx.run(sql`DELETE FROM async_deliveries WHERE org = ${org} AND id = ${id}`);
}

export async function countDeliveries(read: Reader): Promise<number> {
  const row = await read.get<{ waiting: number }>(sql`SELECT COUNT(*) AS waiting FROM async_deliveries`);
  return row?.waiting ?? 0;
}
