import sql, { raw } from 'sql-template-tag';
import type { Operation, Resource } from '../../catalog/define.ts';
import { readFieldSelection } from '../../catalog/fieldselection.ts';
import { checkFilter, type Term } from '../../catalog/filter/check.ts';
import { locationFieldOf, NO_LOCATION } from '../../catalog/stream/domains.ts';
import type { Organization } from '../organizations.ts';
import { projectText } from '../rendering.ts';
import { conditionsOf } from '../store/conditions.ts';
import { columnName, tableOf } from '../store/layout.ts';
import { patientColumn } from '../store/patientof.ts';
import { locationOf } from '../store/reach.ts';
import type { Reader } from '../store/store.ts';
import { instantIn } from '../zones.ts';
import type { Delivery } from './deliverystore.ts';

/**
 * Maximum messages of a chunk, and maximum records searched to find them: both bound the work of one write, for which
 * everybody waits.
 */
const CHUNK_RECORDS = 100;
const CHUNK_SEARCHED = 2000;
/** Messages of a chunk of a report, which is computed anew for each. */
const CHUNK_COMPUTED = 500;

/** A part of a delivery. */
export interface Chunk {
  readonly records: readonly ChunkRecord[];
  /** Where the next chunk begins; undefined: this was the last one. */
  readonly reachedId: number | undefined;
}

interface ChunkRecord {
  readonly id: number;
  /** Whose data it is. */
  readonly patient: number | null;
  /** JSON text. */
  readonly payload: string;
  /** Location id as text, or `*`. */
  readonly locationId: string;
  /** Where the record is, as `locationOf` has it. */
  readonly location: number | null;
}

/** A record of a chunk as it is stored; `place` is what its routing key has. */
interface StoredRow extends Pick<ChunkRecord, 'id' | 'patient' | 'location'> {
  readonly json: string;
  readonly place: number | null;
}

/** What a delivery delivers, parsed from the stored request. */
export interface DeliveryQuery {
  readonly terms: readonly Term[];
  readonly fields: readonly string[] | undefined;
}

/** Reads the next records of a resource that is computed rather than stored: by id, those above `after`, `limit` at most. */
export type ChunkReader = (
  read: Reader,
  organization: Organization,
  query: DeliveryQuery,
  after: number,
  limit: number,
) => Promise<Chunk>;

/** The query of a delivery, which was valid when it was requested. Throws a Refusal if it no longer is. */
function queryOf(delivery: Delivery, operation: Operation, organization: Organization): DeliveryQuery {
  return {
    terms: checkFilter(delivery.filter ?? '', operation.filters ?? {}, {
      instantOf: instantIn(organization.timezone),
    }),
    fields: readFieldSelection(delivery.responseFields ?? undefined, operation.fields ?? {}, 'responseFields'),
  };
}

/** The next records of a delivery, in the order of ids (D41); `computed` reads those of a computed resource. */
export async function readChunk(
  read: Reader,
  resource: Resource,
  operation: Operation,
  organization: Organization,
  delivery: Delivery,
  computed: ChunkReader | undefined,
): Promise<Chunk> {
  const query = queryOf(delivery, operation, organization);
  if (computed !== undefined) {
    return computed(read, organization, query, delivery.reachedId ?? delivery.afterId, CHUNK_COMPUTED);
  }
  return operation.order === 'descending'
    ? storedChunk(read, resource, organization, delivery, query, 'DESC')
    : storedChunk(read, resource, organization, delivery, query, 'ASC');
}

async function storedChunk(
  read: Reader,
  resource: Resource,
  organization: Organization,
  { afterId, reachedId }: Delivery,
  { terms, fields }: DeliveryQuery,
  order: 'ASC' | 'DESC',
): Promise<Chunk> {
  const { org } = organization;
  const table = raw(tableOf(resource));
  const direction = raw(order);
  const descending = order === 'DESC';
  const [above, below] = descending ? [afterId, reachedId ?? Number.MAX_SAFE_INTEGER] : [reachedId ?? afterId, null];
  const limits = below === null ? sql`r.id > ${above}` : sql`r.id > ${above} AND r.id < ${below}`;
  // Without a filter every record searched is delivered.
  const searched =
    organization.locations === undefined && terms.every(({ all }) => all) ? CHUNK_RECORDS : CHUNK_SEARCHED;
  const range = await read.get<{ low: number | null; high: number | null }>(
    sql`SELECT MIN(id) AS low, MAX(id) AS high FROM (SELECT r.id FROM ${table} r WHERE r.org = ${org} AND ${limits}
      ORDER BY r.id ${direction} LIMIT ${searched}) AS searched`,
  );
  if (range == null || range.low === null || range.high === null) return { records: [], reachedId: undefined };
  const place = raw(locationColumn(resource));
  const rows = await read.all<StoredRow>(
    sql`SELECT r.id, r.json, ${place} AS place, ${locationOf(resource.type)} AS location,
        ${raw(patientColumn(resource))} AS patient FROM ${table} r
      WHERE r.org = ${org} AND r.id >= ${range.low} AND r.id <= ${range.high}${conditionsOf(organization, resource, terms, 'ids')}
      ORDER BY r.id ${direction} LIMIT ${CHUNK_RECORDS}`,
  );
  const records = rows.map(({ id, json, place, location, patient }) => ({
    id,
    patient,
    payload: projectText(json, fields),
    locationId: place === null ? NO_LOCATION : String(place),
    location,
  }));
  const furthest = descending ? range.low : range.high;
  return { records, reachedId: rows.length < CHUNK_RECORDS ? furthest : rows.at(-1)?.id };
}

/** The column of a record's location: every kind that has one can be filtered by it. */
function locationColumn(resource: Resource): string {
  const field = locationFieldOf(resource);
  return field === undefined ? 'NULL' : `r.${columnName(`${field}.id`)}`;
}
