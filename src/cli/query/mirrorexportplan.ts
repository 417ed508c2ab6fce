import { join } from 'node:path';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { Field } from '../../catalog/fields/kind.ts';
import { text } from '../../catalog/fields/text.ts';
import type { Environment } from '../../core/environment.ts';
import { usageFailure } from '../../core/failure.ts';
import { didYouMean } from '../../core/nearest.ts';
import { FORMATS } from '../../core/output/formats.ts';
import type { MirrorSource } from '../../core/query/mirrorsource.ts';
import type { MirroredTable } from '../../core/query/mirrortables.ts';
import { type PlannedFile, withFilePlaces } from '../exporting/exportplan.ts';
import { readDestination } from '../flags/output.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import { planRows } from '../rows/plan.ts';

/** A file of an export of a mirror, and what it is made of. */
export interface MirrorFile {
  readonly planned: PlannedFile;
  readonly table: MirroredTable;
}

/** The resources that are named, each once; undefined for all. Throws a Failure (exit 2). */
export function namedResources(names: readonly string[]): readonly Resource[] | undefined {
  if (names.length === 0 || names.includes('ALL')) return undefined;
  const known = STORED_RESOURCES.map(({ name }) => name);
  const found = names.map((name) => {
    const resource = STORED_RESOURCES.find((each) => each.name === name);
    if (resource !== undefined) return resource;
    const near = didYouMean(name, [...known, 'ALL']);
    throw usageFailure(`${name} is not mirrored.${near} These are: ${known.join(', ')}.`, { source: 'RESOURCE' });
  });
  return [...new Set(found)];
}

/** The format of the files, where `--json` is about the summary. Throws a Failure (exit 2). */
export function mirrorFormatOf(flags: FlagValues) {
  return readDestination({ ...flags, json: false }, false, 'csv', 'mirror').format;
}

/**
 * The files of a mirror, named as `molar export` names them: of the resources that are named, else of all that the
 * service gives.
 */
export function planMirrorFiles(
  named: readonly Resource[] | undefined,
  { tables, isDeidentified }: Pick<MirrorSource, 'tables' | 'isDeidentified'>,
  flags: FlagValues,
  env: Environment,
): MirrorFile[] {
  const files = (named ?? STORED_RESOURCES).flatMap((resource) => {
    const table = tables.find((each) => each.resource === resource.name);
    if (table === undefined) return [];
    if (isDeidentified) return [{ table, planned: planned(inYears(resource), table, flags) }];
    return [{ table, planned: withFilePlaces(planned(resource, table, flags), env) }];
  });
  return named === undefined ? files.filter(({ table }) => table.complete || table.unavailable === null) : files;
}

/** A resource whose dates and instants are years, which are text. */
function inYears(resource: Resource): Resource {
  const isTime = ({ kind }: Field) => kind.name === 'date' || kind.name === 'dateTime';
  const year = (field: Field): Field => (isTime(field) ? { ...field, kind: text() } : field);
  const fields = Object.fromEntries(Object.entries(resource.fields).map(([name, field]) => [name, year(field)]));
  const { list, async } = resource.operations;
  const operations = { ...(list && { list: { ...list, fields } }), ...(async && { async: { ...async, fields } }) };
  return { ...resource, fields, operations: { ...resource.operations, ...operations } };
}

function planned(resource: Resource, { url, organization }: MirroredTable, flags: FlagValues): PlannedFile {
  const operation = resource.operations.list ?? resource.operations.async;
  if (operation === undefined) throw new Error(`${resource.name} has no list.`);
  const format = mirrorFormatOf(flags);
  const file = `${resource.name}.${FORMATS[format].extensions[0]}`;
  const path = join(textFlag(flags, 'to') ?? '', file);
  const own: FlagValues = { ...flags, json: false, format, out: path };
  const plan = planRows(own, operation.fields ?? resource.fields, resource.tableColumns, false, 'mirror');
  const options = { resume: false, receipt: true, sinceLast: undefined, parallel: 1 };
  const query = { resource, operation, filter: undefined, serverDefaults: false, plan, options, url, organization };
  return { query, file, path, flags: own, isIds: false };
}
