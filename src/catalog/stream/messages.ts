import type { StreamOperation } from './domains.ts';

/** Where the stream is served, below the API's prefix (D42). */
export const STREAM_PATH = '/stream';

export const EVENT_STREAM_TYPE = 'text/event-stream';
export const NDJSON_TYPE = 'application/x-ndjson';

/** The header of an async response that names its delivery, and of an opened stream that says where it begins. */
export const CORRELATION_HEADER = 'X-Correlation-ID';
export const POSITION_HEADER = 'X-Stream-Position';

/** The topic exchange of a broker that gets every message, where no other is named (D42). */
export const DEFAULT_EXCHANGE = 'molar.stream';

/** One stream message, as it stands in `data:` of an event, on an NDJSON line and in the body of an AMQP message (D40). */
export interface StreamMessage {
  /** Its number in the organization: increases in the order of commits, and is never given again. */
  readonly id: number;
  readonly routingKey: string;
  readonly organizationId: string;
  /** Location id as text, `*` where the record has none. */
  readonly locationId: string;
  /** `PatientV1` and so on; `*` in a resync. */
  readonly domainType: string;
  readonly operation: StreamOperation;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly sendTime: string;
  /** The async response it belongs to; null for changes. */
  readonly correlationId: string | null;
  /**
   * CREATE and READ: the record. UPDATE: its id, its type where the record has one, and what changed. DELETE: its id.
   * READ_COMPLETE: `{total}`. resync: `{requested, resumedAfter}`, message ids. Transactions always have their
   * `ledgerType`.
   */
  readonly payload: Readonly<Record<string, unknown>>;
}
