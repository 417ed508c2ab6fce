import type { Operation, Resource } from '../../catalog/define.ts';
import { FAILURES, type FailureCode } from '../../catalog/failures.ts';

const NO_TOKEN: readonly FailureCode[] = [
  'auth.token_missing',
  'auth.token_malformed',
  'auth.token_unknown',
  'auth.token_expired',
];

/** Failures that every operation of the API can answer with. */
const COMMON: readonly FailureCode[] = [
  ...NO_TOKEN,
  'request.organization_missing',
  'request.malformed',
  'auth.organization_forbidden',
  'auth.scope_missing',
  // Failed authentication is limited everywhere.
  'limit.rate',
  'request.timeout',
  'server.unexpected',
];

const FILTER: readonly FailureCode[] = ['filter.syntax', 'filter.key', 'filter.operator', 'filter.value'];

const BODY: readonly FailureCode[] = [
  'body.not_json',
  'body.shape',
  'body.unknown_property',
  'body.too_large',
  'body.media_type',
  'field.missing',
  'field.type',
  'field.length',
  'field.range',
  'field.choice',
  'field.format',
  'field.conflict',
  'field.duplicate',
  'field.link_unknown',
  'field.read_only',
];

const IDEMPOTENCY: readonly FailureCode[] = ['idempotency.key', 'idempotency.body_differs', 'idempotency.running'];

/** Every failure that an operation can answer with, in the order of the failure table. */
export function failuresOf(resource: Resource, operation: Operation): FailureCode[] {
  const { filters, filterRequired, paging, selectable, parameters, body, method, path } = operation;
  const keys = Object.values(filters ?? {});
  const possible = new Set<FailureCode>([
    ...COMMON,
    ...(filters ? FILTER : []),
    ...(filterRequired || keys.some((key) => key.required || key.willBeRequired) ? (['filter.missing'] as const) : []),
    ...(paging ? (['query.page_size', 'query.page'] as const) : []),
    ...(paging?.style === 'cursor' ? (['query.last_id'] as const) : []),
    ...(selectable ? (['query.fields'] as const) : []),
    ...(selectable === 'required' ? (['query.missing'] as const) : []),
    ...(parameters ? (['query.missing', 'field.choice'] as const) : []),
    ...(body ? BODY : []),
    ...(operation.largeBody ? (['file.content', 'server.images'] as const) : []),
    ...(method === 'POST' ? IDEMPOTENCY : []),
    // A path id that names no record, or a report without anything to report (D5, D33, D34).
    ...(path.includes('{') || resource.computed ? (['record.not_found'] as const) : []),
  ]);
  return (Object.keys(FAILURES) as FailureCode[]).filter((code) => possible.has(code));
}

/** Codes of a list by their HTTP status, statuses ascending. */
export function byStatus(codes: readonly FailureCode[]): ReadonlyMap<number, readonly FailureCode[]> {
  const groups = new Map<number, FailureCode[]>();
  for (const code of codes) {
    const { status } = FAILURES[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return new Map([...groups].sort(([a], [b]) => a - b));
}
