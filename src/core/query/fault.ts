/**
 * What is wrong with a query. `refused`: it does not only read. `table`, `column`: a name that is not there. `sql`:
 * anything else about the statement or its values. `incomplete`: it reads what is not loaded yet. `mirror`: the file or
 * the database is no mirror. `missing`: there is no such file or database. `file`: the disk or the file. `timeout`: it took
 * longer than it may.
 */
export type FaultKind =
  | 'refused'
  | 'table'
  | 'column'
  | 'sql'
  | 'incomplete'
  | 'mirror'
  | 'missing'
  | 'file'
  | 'timeout';

/** Facts of a fault that can be sent from one process to another. */
export interface FaultFacts {
  readonly kind: FaultKind;
  /** A phrase without a full stop. */
  readonly message: string;
  /** The name that is not there. */
  readonly name?: string;
  /** Index in the statement of what is wrong. */
  readonly at?: number;
  /** Names that may have been meant. */
  readonly known?: readonly string[];
  /** What to do, where more is known than the kind tells. */
  readonly hint?: string;
}

/** A query that cannot be read. */
export class QueryFault extends Error {
  constructor(
    readonly facts: FaultFacts,
    cause?: unknown,
  ) {
    super(facts.message, { cause });
    this.name = 'QueryFault';
  }
}
