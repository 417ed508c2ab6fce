import { expect } from 'vitest';
import type { Ran } from '../../cli/runcommand.ts';
import type { Driven } from '../driving.ts';
import type { Fields, Resource } from '../store.ts';

/** What a row knows of the service it runs against. */
export interface Setting extends Driven {
  /** Id of a stored record, as text. */
  first(resource: Resource): string;
  /** Id of a location, as text. */
  readonly location: string;
  /** What was stored before the command ran. */
  before(resource: Resource): readonly Fields[];
}

/** One command line, and what must be true once it ran. */
export interface Row {
  readonly line: (setting: Setting) => readonly string[];
  readonly stdin?: string;
  readonly prepare?: (setting: Setting) => Promise<void> | void;
  readonly check: (ran: Ran, setting: Setting) => Promise<void> | void;
  /** The service lacks what the command needs, which asks for what no specification lists. */
  readonly fails?: true;
  /** Paths that are tried because some services have them, and done without where they are missing. */
  readonly tries?: string | readonly string[];
  /** Tells what the first attempt finds, and never tries again. */
  readonly attemptsOnce?: true;
}

export type Table = Readonly<Record<string, Row>>;

/** The records of ndjson output. */
export function rowsOf(ran: Ran): readonly Fields[] {
  return ran.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Fields);
}

/** Ids of records as texts, in an order of their own. */
export function idsOf(records: readonly Fields[]): string[] {
  return records.map(({ id }) => String(id)).sort();
}

/** The record that was added since before the command: exactly one. */
export function added(setting: Setting, resource: Resource): Fields {
  const before = new Set(idsOf(setting.before(resource)));
  const now = setting.service.records(resource).filter(({ id }) => !before.has(String(id)));
  expect(now).toHaveLength(1);
  return now[0] as Fields;
}

/** What is stored under the id of the first record of a resource. */
export function stored(setting: Setting, resource: Resource, id = setting.first(resource)): Fields | undefined {
  return setting.service.records(resource).find((record) => String(record.id) === id);
}
