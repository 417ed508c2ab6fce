import { EXIT } from '../../../catalog/failures.ts';
import { Failure } from '../../failure.ts';
import type { MirrorFacts, ResourceState } from '../store.ts';
import { MIRROR_TABLES, type MirrorTable } from '../tables.ts';
import type { MirrorDatabase } from './database.ts';
import { readFacts, readResources } from './state.ts';

/** What a mirror says of itself, without a sync. */
export interface MirrorContents {
  readonly facts: MirrorFacts;
  readonly resources: ReadonlyMap<MirrorTable, ResourceState>;
}

/** The same, and what it says of its tables. */
export interface DescribedMirror extends MirrorContents {
  /** The schema of its tables. */
  readonly schema: string;
  /** Every column: table, name, type, unit, wire name, and what it is. */
  readonly columns: readonly Readonly<Record<string, string | null>>[];
}

/** What the mirror in a database says of itself; undefined where it was just made. */
export async function readContents(database: MirrorDatabase): Promise<MirrorContents | undefined> {
  const { facts } = await readFacts(database);
  if (facts === undefined) return undefined;
  const states = await readResources(database);
  const resources = MIRROR_TABLES.map((table) => [table, states.get(table.resource.name) as ResourceState] as const);
  return { facts, resources: new Map(resources) };
}

/** What the mirror in a database says of itself and its tables; undefined where it was just made. */
export async function readDescription(database: MirrorDatabase): Promise<DescribedMirror | undefined> {
  const contents = await readContents(database);
  if (contents === undefined) return undefined;
  const columns = await database.rows<Record<string, string | null>>(database.dialect.columns('1 = 1'));
  return { ...contents, schema: database.schema, columns };
}

/** The failure of a mirror that is not there (exit 4). */
export function noMirror(name: string): Failure {
  return new Failure(`There is no mirror at ${name}.`, {
    code: 'mirror.missing',
    exitCode: EXIT.notFound,
    hint: 'Make it with molar mirror sync.',
  });
}
