import { type Failure, type LocalFailureCode, localFailure } from '../../core/failure.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { FaultKind, QueryFault } from '../../core/query/fault.ts';
import { placeText } from '../../core/query/sqltokens.ts';

const CODES: Readonly<Record<FaultKind, LocalFailureCode>> = {
  refused: 'query.sql',
  sql: 'query.sql',
  column: 'query.sql',
  table: 'query.table',
  incomplete: 'query.incomplete',
  timeout: 'query.timeout',
  missing: 'mirror.missing',
  mirror: 'mirror.unusable',
  file: 'local.file',
};

const HINTS: Partial<Readonly<Record<FaultKind, string>>> = {
  refused: 'molar query takes one SELECT, WITH, VALUES or EXPLAIN, or a PRAGMA that only tells.',
  sql: 'See molar help queries.',
};

/** What ends a command whose query has a fault: where it is, and the name that was probably meant (D52). */
export function queryFailure({ facts, cause }: QueryFault, sql: string): Failure {
  const { kind, name, at, known = [], hint = HINTS[kind] } = facts;
  const place = at === undefined ? undefined : placeText(sql, at);
  const message = `${facts.message.charAt(0).toUpperCase()}${facts.message.slice(1)}`;
  const near = name === undefined ? '' : didYouMean(name, known);
  return localFailure(CODES[kind], `${message}${place === undefined ? '' : `, at ${place}`}.${near}`, {
    ...(place !== undefined && { source: place }),
    ...(hint !== undefined && { hint }),
    cause,
  });
}
