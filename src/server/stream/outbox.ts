import sql, { empty } from 'sql-template-tag';
import { NO_LOCATION, RESYNC } from '../../catalog/stream/domains.ts';
import { formatRoutingKey, type RoutingKey } from '../../catalog/stream/routingkeys.ts';
import type { Reach } from '../store/reach.ts';
import type { Reader, Transaction } from '../store/store.ts';
import { type Whose, whoseOf } from './earliermessages.ts';
import { type Places, toldIn } from './places.ts';

/** A message about to be written. */
export interface NewMessage extends Places {
  /** Key of the organization in the store. */
  readonly org: number;
  readonly key: RoutingKey;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly sendTime: string;
  readonly correlationId: string | null;
  /** JSON text. */
  readonly payload: string;
  /** Id of the record that it tells of, and whose data that is; null where it tells of none. */
  readonly recordId?: number | null;
  readonly patientId?: number | null;
}

/** A message as it is sent. */
export interface SentMessage {
  /**
   * Its number among the messages of its organization, the `id` of the envelope: increases in the order of commits, so
   * whatever is below the last one read has been seen.
   */
  readonly number: number;
  readonly routingKey: string;
  /** The last segment of the routing key: `CREATE`. */
  readonly operation: string;
  /** The whole envelope as JSON text on one line (`StreamMessage`). */
  readonly text: string;
}

/** A message of the outbox. */
export interface StoredMessage extends SentMessage, Whose {
  /** Whoever reads does not see it: it is here for its number alone. */
  readonly hidden?: true;
}

/** Rows per statement, and bytes after which no further statement is run: together they bound a page. */
const ROWS = 50;
const PAGE_BYTES = 1024 * 1024;

/**
 * Writes a message in the transaction of the change it reports, so that neither exists without the other. Numbers follow
 * the order of commits: a reader never sees a number before a lower one.
 */
export function appendMessage(tx: Transaction, message: NewMessage): Promise<void> {
  const { org, key, sendTime, correlationId, payload, places, record, recordId = null, patientId = null } = message;
  const values = [org, formatRoutingKey(key), sendTime, correlationId, payload, places, record, recordId, patientId];
  return tx.append({ log: 'stream', values });
}

/**
 * Messages within reach after a number, ascending: at most `limit`, fewer when they are large; empty only when there are
 * none. Read by index range.
 */
export async function readMessages(
  read: Reader,
  { org, locations: seen }: Reach,
  after: number,
  limit: number,
): Promise<readonly StoredMessage[]> {
  const messages: StoredMessage[] = [];
  let last = after;
  const locations = seen && new Set(seen);
  const placed = locations === undefined ? empty : sql`, places, record`;
  for (let bytes = 0; messages.length < limit && bytes < PAGE_BYTES; ) {
    const rows =
      await read.all<MessageRow>(sql`SELECT org, seq, routing_key, sent_at, correlation_id, payload, record_id, patient_id${placed}
      FROM stream_messages WHERE org = ${org} AND seq > ${last}
      ORDER BY seq LIMIT ${Math.min(ROWS, limit - messages.length)}`);
    for (const row of rows) {
      const message = await withWhose(read, row, toMessage(row, locations));
      bytes += message.text.length;
      messages.push(message);
      last = message.number;
    }
    if (rows.length < ROWS) break;
  }
  return messages;
}

/** A message with whose data it is, also when it was stored before that was. */
async function withWhose(read: Reader, row: MessageRow, message: StoredMessage): Promise<StoredMessage> {
  if (row.record_id !== null || message.hidden) return message;
  const [, , domainType = ''] = row.routing_key.split('.');
  return { ...message, ...(await whoseOf(read, row.org, domainType, row.payload)) };
}

interface MessageRow {
  readonly seq: number;
  readonly org: number;
  readonly routing_key: string;
  readonly sent_at: string;
  readonly correlation_id: string | null;
  readonly payload: string;
  readonly record_id: number | null;
  readonly patient_id: number | null;
  readonly places?: string | null;
  readonly record?: string | null;
}

/** `locations`: all that the reader sees. */
function toMessage(row: MessageRow, locations: ReadonlySet<number> | undefined): StoredMessage {
  const { seq: number, sent_at: sendTime, correlation_id: correlationId, places = null, record = null } = row;
  const [organizationId = '', locationId = '', domainType = '', operation = ''] = row.routing_key.split('.');
  const stored = { key: { organizationId, locationId, domainType, operation }, payload: row.payload };
  const told = locations === undefined ? stored : toldIn(stored, { places, record }, locations);
  const whose = { recordId: row.record_id, patientId: row.patient_id };
  if (told === undefined)
    return { number, routingKey: '', operation: '', text: '', hidden: true, recordId: null, patientId: null };
  const { key, payload } = told;
  const routingKey = locations === undefined ? row.routing_key : formatRoutingKey(key);
  const head = { id: number, routingKey, ...key, sendTime, correlationId };
  // The payload is JSON text already, and becomes the last member.
  const text = `${JSON.stringify(head).slice(0, -1)},"payload":${payload}}`;
  return { number, routingKey, operation: key.operation, text, ...whose };
}

/**
 * Tells an organization that messages after `requested` are gone, and that the stream resumes after `resumedAfter`, both
 * in its own numbers. `sendTime`: `YYYY-MM-DDTHH:mm:ss.SSSZ`.
 */
export function resyncMessage(
  organizationId: string,
  { requested, resumedAfter }: { readonly requested: number; readonly resumedAfter: number },
  sendTime: string,
): SentMessage {
  const key = { organizationId, locationId: NO_LOCATION, domainType: '*', operation: RESYNC };
  const routingKey = formatRoutingKey(key);
  const payload = { requested, resumedAfter };
  const envelope = { id: resumedAfter, routingKey, ...key, sendTime, correlationId: null, payload };
  return { number: resumedAfter, routingKey, operation: RESYNC, text: JSON.stringify(envelope) };
}
