import type { Fields } from './fields/kind.ts';
import type { FilterKey, FilterKeys, Shortcut } from './filter/check.ts';
import type { FilterValue } from './filter/values.ts';
import type { Operator } from './operators.ts';
import { ASYNC_PAGING, type Paging } from './paging.ts';
import type { Scope } from './scopes.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What an operation does; server and client each have one engine per shape. */
export type Shape =
  | 'list'
  | 'count'
  | 'get'
  | 'create'
  | 'update'
  | 'delete'
  /** Rows computed for the ids of a filter (`/patients/calculated`). */
  | 'calculated'
  /** The whole list below a record, read or replaced (`/patients/{id}/billingtypes`). */
  | 'sublist'
  | 'replace'
  /** Rows computed from other records, not paged by id (production, aging, openings). */
  | 'report'
  /** First records at once, all of them on the streaming channel. */
  | 'async';

export interface Operation {
  /** `patients.list`: stable, used by logs, tests and the audit trail. */
  readonly id: string;
  readonly shape: Shape;
  readonly method: Method;
  /** Below `/api/v1`; a path parameter stands in braces and is a record id. */
  readonly path: string;
  readonly scope: Scope;
  readonly success: 200 | 201;
  readonly summary: string;
  readonly filters?: FilterKeys;
  readonly filterRequired?: boolean;
  readonly paging?: Paging;
  /** Names under which a count is answered (D18). */
  readonly countNames?: readonly string[];
  /** Fields of the records answered, and whether `responseFields` selects from them. */
  readonly fields?: Fields;
  readonly selectable?: boolean | 'required';
  /** Fields of the body. */
  readonly body?: Fields;
  readonly bodyIsArray?: boolean;
  /** The body carries a file: its limit is the document limit (D38). */
  readonly largeBody?: boolean;
  /** Bulk reads, tag list, totals, events and async endpoints share a limited rate (D43). */
  readonly rateLimited?: boolean;
  /** A date filter that our server applies when none of `limiting` is sent (D13). */
  readonly defaultDate?: DefaultDate;
  /** How any service may limit the response by date on its own, and what requests everything (D48). */
  readonly dateLimit?: DateLimit;
  /** The specification shows no paging for it: a service may return everything and ignore `lastId` and `pageSize`. */
  readonly unpaged?: boolean;
  /** Filtering by one of these without `lastId` answers newest first, by the first of them that is filtered by (D16). */
  readonly newestFirst?: readonly string[];
  /** Ascending id unless the endpoint says otherwise (specification, Async endpoints). */
  readonly order?: 'descending';
  /** The specification does not list it; a service need not have it (D23, D27). */
  readonly unlisted?: boolean;
  /** Query parameters beside filter, fields and paging. */
  readonly parameters?: Readonly<Record<string, Parameter>>;
}

/** `key >=` the later of one year ago and the organization's creation is added, with a warning (D13). */
export interface DefaultDate {
  readonly key: string;
  readonly limiting: readonly string[];
}

/**
 * What a request has to say to get records of any age from a service that limits by date (specification, Endpoints):
 * a lower bound on `key`, unless the filter has one on a key of `limiting`. `parts`, where no key is a date: terms that
 * together hold for every record, each enough to turn the limit off. `undated`: records may lack the key's value, so
 * that what the bound leaves out has to be requested as well.
 */
export type DateLimit =
  | { readonly key: string; readonly limiting: readonly string[]; readonly undated?: boolean }
  | { readonly parts: readonly string[] };

export interface Parameter {
  readonly values: readonly string[];
  readonly required: boolean;
  readonly about: string;
}

export interface Resource {
  /** Path segment and command topic: `patients`. */
  readonly name: string;
  /** Type name on the wire, in imports and on the stream: `PatientV1`. */
  readonly type: string;
  readonly one: string;
  readonly many: string;
  readonly about: string;
  readonly fields: Fields;
  /**
   * The links that tell where a record is: the first one that it has counts, and leads to a location, or to what has one.
   * A record that has none of them is everybody's; one that lacks a required one is nobody's (contract §8).
   */
  readonly locatedBy: readonly string[];
  /** Keys that its lists can be filtered by; the store has a column or rows for each (server/store/layout.ts). */
  readonly filters: FilterKeys;
  readonly operations: Readonly<Record<string, Operation>>;
  /** Columns of a table on a terminal; CSV has all fields. */
  readonly tableColumns: readonly string[];
  /** Computed from other resources: it has no records of its own. */
  readonly computed?: boolean;
  /** Indexes over several keys, beside those that the keys declare for themselves. */
  readonly indexes?: readonly CompositeIndex[];
}

/** An index over several filter keys of the records that have a value for the first (`present`), or for which `unless` does not hold. */
export interface CompositeIndex {
  readonly keys: readonly string[];
  readonly present?: boolean;
  readonly unless?: { readonly key: string; readonly values: readonly string[] };
}

/** One filter key: operators and value, the flags that stand for it, and what it selects. */
export function key(
  operators: readonly Operator[],
  value: FilterValue,
  about: string,
  options: KeyOptions = {},
): Omit<FilterKey, 'key'> {
  const { flags = {}, required = false, ...rest } = options;
  const shortcuts: Shortcut[] = Object.entries(flags).map(([flag, operator]) => ({ flag, operator }));
  return { operators, value, about, shortcuts, required, ...indexOf(value), ...rest };
}

/** The index that suits a kind of value: one of a short list finds too many records for an index to pay. */
function indexOf({ name, all = false }: FilterValue): Pick<FilterKey, 'index' | 'fewValues'> {
  const listed = name === 'choice' || name === 'yesNo';
  const everywhere = all || name === 'date' || name === 'dateTime';
  return { index: listed ? 'none' : everywhere ? 'plain' : 'present', fewValues: listed || all };
}

interface KeyOptions extends Partial<Pick<FilterKey, 'missing' | 'willBeRequired' | 'index' | 'fewValues'>> {
  /** Command-line flags that stand for the key, and the operator each one means. */
  readonly flags?: Readonly<Record<string, Operator>>;
  readonly required?: boolean;
}

export function filterKeys(keys: Readonly<Record<string, Omit<FilterKey, 'key'>>>): FilterKeys {
  return Object.fromEntries(Object.entries(keys).map(([name, rest]) => [name, { key: name, ...rest }]));
}

type Draft = Omit<Operation, 'id'>;

/** Declares a resource; operation ids are made from its name and their keys. */
export function resource(
  draft: Omit<Resource, 'operations'> & { readonly operations: Readonly<Record<string, Draft>> },
): Resource {
  const operations = Object.fromEntries(
    Object.entries(draft.operations).map(([verb, operation]) => [verb, { id: `${draft.name}.${verb}`, ...operation }]),
  );
  return Object.freeze({ ...draft, operations: Object.freeze(operations) });
}

interface ReadOptions extends Pick<Operation, 'parameters' | 'rateLimited' | 'unlisted'> {
  readonly summary: string;
  readonly scope?: Scope;
}

type Bulk = ReadOptions & Pick<Operation, 'filters' | 'filterRequired' | 'defaultDate' | 'dateLimit'>;

export function listOperation(
  path: string,
  draft: Bulk & Pick<Operation, 'paging' | 'fields' | 'newestFirst' | 'unpaged'>,
): Draft {
  return {
    shape: 'list',
    method: 'GET',
    path,
    scope: 'model:read',
    success: 200,
    selectable: true,
    rateLimited: true,
    ...draft,
  };
}

export function countOperation(path: string, draft: Bulk & Pick<Operation, 'countNames'>): Draft {
  return { shape: 'count', method: 'GET', path, scope: 'model:read', success: 200, rateLimited: true, ...draft };
}

export function asyncOperation(path: string, draft: Bulk & Pick<Operation, 'fields' | 'order'>): Draft {
  return {
    shape: 'async',
    method: 'GET',
    path,
    scope: 'model:read',
    success: 200,
    selectable: true,
    rateLimited: true,
    paging: ASYNC_PAGING,
    ...draft,
  };
}

export function reportOperation(path: string, draft: Bulk & Pick<Operation, 'fields' | 'selectable'>): Draft {
  return { shape: 'report', method: 'GET', path, scope: 'model:read', success: 200, rateLimited: true, ...draft };
}

export function getOperation(path: string, draft: ReadOptions & Pick<Operation, 'fields'>): Draft {
  return { shape: 'get', method: 'GET', path, scope: 'model:read', success: 200, selectable: true, ...draft };
}

export function createOperation(
  path: string,
  draft: ReadOptions & Pick<Operation, 'fields' | 'body' | 'largeBody'>,
): Draft {
  return { shape: 'create', method: 'POST', path, scope: 'model:write', success: 201, ...draft };
}

export function updateOperation(path: string, draft: ReadOptions & Pick<Operation, 'fields' | 'body'>): Draft {
  return { shape: 'update', method: 'PUT', path, scope: 'model:write', success: 200, selectable: true, ...draft };
}

export function deleteOperation(path: string, draft: ReadOptions): Draft {
  return { shape: 'delete', method: 'DELETE', path, scope: 'model:write', success: 200, ...draft };
}
