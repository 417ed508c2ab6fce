import type { Call } from './call.ts';
import { refuse } from './refusal.ts';
import type { Fields } from './store.ts';

/** The fields that a request wants, or undefined for all (Common conventions 3). `known`: the names that are listed. */
export function readFields(call: Call, known?: readonly string[]): readonly string[] | undefined {
  const written = call.query.get('responseFields');
  if (written === undefined || written === 'ALL') return undefined;
  const names = written.split(',');
  const unknown = names.find((name) => (known ? !known.includes(name) : !/^\w+$/.test(name)));
  return unknown === undefined ? names : refuse(`responseFields has ${unknown}, which is not listed.`);
}

/** The wanted fields of a record, and nothing else. */
export function project(record: Fields, names: readonly string[] | undefined): Fields {
  if (!names) return record;
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));
}
