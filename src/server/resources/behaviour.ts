import type { Resource } from '../../catalog/define.ts';
import type { Problem } from '../../catalog/failures.ts';
import type { Actor } from '../audit/entries.ts';
import type { Organization } from '../organizations.ts';
import type { ReferenceRecord } from '../references.ts';
import type { Handler, OperationRequest, Service } from '../service.ts';
import type { JsonRecord, OwnValues } from '../store/layout.ts';
import type { StoredRecord } from '../store/records.ts';
import type { Reader, Transaction } from '../store/store.ts';
import type { ChunkReader } from '../stream/chunks.ts';
import type { Grant } from '../tokens/tokens.ts';

/** Where a record is rendered: for whom, and under which origin its links stand. */
export interface RenderContext {
  readonly service: Service;
  readonly organization: Organization;
  readonly baseUrl: string;
  readonly grant: Pick<Grant, 'who'>;
}

/** A record on its way into the store. Rules change `after` and report what is wrong. */
export interface Draft {
  readonly organization: Organization;
  /** Undefined for an import, which tells of its changes at its end. */
  readonly actor: Actor | undefined;
  readonly service: Service;
  /** The record as it was; undefined for a new one. */
  readonly before: JsonRecord | undefined;
  /** The stored row behind `before`, own columns included. */
  readonly row: StoredRecord | undefined;
  /** The whole record as it will be. */
  readonly after: Record<string, unknown> & { id: number };
  /** An import knows for certain that there is no record with this id. */
  readonly fresh?: boolean;
  /** Names that the body or the import line gave. */
  readonly given: ReadonlySet<string>;
  readonly problems: Problem[];
  /** Values of own columns that come with a new record. */
  readonly own?: OwnValues;
  /** The cached locations and operatories of an import. */
  readonly locations?: LocationFinder;
  /** Everything an import line gave, what the wire does not have included. */
  readonly imported?: JsonRecord;
}

export interface LocationFinder {
  find(org: number, type: 'Location' | 'Operatory', id: number | undefined): Promise<ReferenceRecord | undefined>;
}

/** A record about to be deleted. */
interface Deletion {
  readonly service: Service;
  readonly organization: Organization;
  readonly actor: Actor;
  readonly before: JsonRecord & { readonly id: number };
  readonly row: StoredRecord;
}

/** What the catalog cannot say about a resource: rules, side effects, computed parts, operations of its own. */
export interface Behaviour {
  readonly resource: Resource;
  /** Adds computed parts to the stored JSON text. */
  readonly render?: (row: StoredRecord, context: RenderContext) => string;
  /** Rules that look at the record alone. */
  readonly check?: (draft: Draft) => void;
  /** Fills what follows from other fields or records; runs before the record is compared and stored. */
  readonly complete?: (read: Reader, draft: Draft) => Promise<void>;
  /** Values of the columns that do not follow from the record (store/owncolumns.ts). */
  readonly ownValues?: (draft: Draft) => OwnValues;
  /** Rows derived from the record that reports and filters read; written for imported records too. */
  readonly indexed?: (tx: Transaction, draft: Draft) => Promise<void>;
  /** Further records that follow a change made through the API. True when they changed the record itself once more. */
  readonly stored?: (tx: Transaction, draft: Draft) => Promise<boolean>;
  /** Time zone of local times in a body, when it is not the organization's (D7). */
  readonly zone?: (request: OperationRequest) => Promise<string | undefined>;
  /** Refuses a deletion, or does what goes with it. */
  readonly beforeDelete?: (tx: Transaction, deletion: Deletion) => Promise<void>;
  /** DELETE answers the whole record (D6). */
  readonly answersDeleted?: boolean;
  /** How async deliveries read a computed resource (D41). */
  readonly readChunk?: ChunkReader;
  /** Handlers in place of the engine's, by operation id. */
  readonly handlers?: Readonly<Record<string, Handler>>;
}

export function renderRecord(behaviour: Behaviour, row: StoredRecord, context: RenderContext): string {
  return behaviour.render?.(row, context) ?? row.json;
}
