import { existsSync } from 'node:fs';
import { EXIT } from '../../../catalog/failures.ts';
import { Failure } from '../../failure.ts';
import type { MirrorFacts, ResourceState } from '../store.ts';
import { MIRROR_TABLES, type MirrorTable } from '../tables.ts';
import { guarded, openToRead } from './connection.ts';
import { readFacts, readResource } from './state.ts';

/** What a mirror says of itself, without a sync. */
export interface MirrorContents {
  readonly facts: MirrorFacts;
  readonly resources: ReadonlyMap<MirrorTable, ResourceState>;
  /** Every column: table, name, type, unit, wire name, and what it is. */
  readonly columns: readonly Readonly<Record<string, string | null>>[];
}

/** What the mirror in a file says of itself; undefined where there is no file. Throws a Failure with exit code 9. */
export function readMirror(file: string): MirrorContents | undefined {
  if (!existsSync(file)) return undefined;
  const connection = openToRead(file);
  if (connection === undefined) return undefined;
  try {
    return guarded(file, () => {
      const { facts } = readFacts(connection);
      if (facts === undefined) return undefined;
      const columns = connection
        .prepare<[], Record<string, string | null>>(
          'SELECT table_name, column_name, type, unit, field, about FROM _columns ORDER BY rowid',
        )
        .all();
      const states = MIRROR_TABLES.map((table) => [table, readResource(connection, table.resource.name)] as const);
      return { facts, resources: new Map(states), columns };
    });
  } finally {
    connection.close();
  }
}

/** The failure of a file that is not there (exit 4). */
export function noMirror(file: string): Failure {
  return new Failure(`There is no mirror at ${file}.`, {
    code: 'mirror.missing',
    exitCode: EXIT.notFound,
    hint: 'Make it with molar mirror sync.',
  });
}
