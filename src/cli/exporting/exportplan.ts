import { join } from 'node:path';
import { operationOf, RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { FilterContext } from '../../catalog/filter/values.ts';
import type { Environment } from '../../core/environment.ts';
import { tellsChanges } from '../../core/exports/bookmark.ts';
import { usageFailure } from '../../core/failure.ts';
import { nearest } from '../../core/nearest.ts';
import { FORMATS, type Format } from '../../core/output/formats.ts';
import type { ExportOptions } from '../flags/exports.ts';
import { readFilter } from '../flags/filters.ts';
import { readDestination } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag, textFlags } from '../flags/values.ts';
import { withPlaces } from '../rows/places.ts';
import { planRows } from '../rows/plan.ts';
import type { ResourceQuery } from './resourceexport.ts';

/** Resources that can be read to the end, page by page. */
export const EXPORTABLE: readonly Resource[] = RESOURCES.filter(
  ({ operations }) => operations.list?.paging !== undefined,
);

/** Those that can be read without a filter. */
const UNFILTERED: readonly Resource[] = EXPORTABLE.filter((resource) =>
  Object.values(operationOf(resource, 'list').filters ?? {}).every(({ required }) => !required),
);

/** The format of the files of a folder, where `--json` is about the summary. Throws a Failure (exit 2). */
export function folderFormat(flags: FlagValues): Format {
  return readDestination({ ...flags, json: false }, false, 'csv', 'files').format;
}

/** One file of a folder. */
export interface PlannedFile {
  readonly query: ResourceQuery;
  readonly file: string;
  readonly path: string;
  readonly flags: FlagValues;
  /** It holds all existing ids, not the records. */
  readonly isIds: boolean;
}

/**
 * The files of a command line of `molar export`, in its order. Throws a Refusal or a Failure (exit 2) before anything
 * is sent.
 */
export function planFiles(
  names: readonly string[],
  flags: FlagValues,
  where: Pick<ResourceQuery, 'url' | 'organization'>,
  options: ExportOptions,
  times: FilterContext,
): PlannedFile[] {
  const resources = readResources(names);
  const filters = perResource(flags, 'filter', resources);
  const fields = perResource(flags, 'fields', resources);
  const folder = textFlag(flags, 'to') ?? '';
  return resources.flatMap((resource) => {
    const draft = { resource, folder, flags, where, times, filters: filters.get(resource.name) ?? [] };
    const own = { ...draft, options, fields: fields.get(resource.name)?.join(',') };
    const records = fileOf({ ...own, options: tellsChanges(listOf(resource)) ? options : withoutBookmark(options) });
    if (!isOn(flags, 'full-ids')) return [records];
    return [records, fileOf({ ...draft, options: withoutBookmark(options), fields: 'id' }, true)];
  });
}

interface FileDraft {
  readonly resource: Resource;
  readonly folder: string;
  readonly flags: FlagValues;
  readonly where: Pick<ResourceQuery, 'url' | 'organization'>;
  readonly options: ExportOptions;
  readonly times: FilterContext;
  readonly filters: readonly string[];
  readonly fields: string | undefined;
}

function fileOf(
  { resource, folder, flags, where, options, times, filters, fields }: FileDraft,
  isIds = false,
): PlannedFile {
  const operation = listOf(resource);
  const format = folderFormat(flags);
  const file = `${resource.name}${isIds ? '.ids' : ''}.${FORMATS[format].extensions[0]}`;
  const path = join(folder, file);
  const own: FlagValues = { ...flags, json: false, format, out: path, fields };
  const shown = operation.fields ?? resource.fields;
  const plan = planRows(own, shown, resource.tableColumns, false);
  const filter = readFilter({ filter: filters }, operation.filters ?? {}, times);
  const serverDefaults = isOn(flags, 'server-defaults');
  return {
    query: { resource, operation, filter, serverDefaults, plan, options, ...where },
    file,
    path,
    flags: own,
    isIds,
  };
}

function withoutBookmark(options: ExportOptions): ExportOptions {
  return { ...options, sinceLast: undefined };
}

function readResources(names: readonly string[]): readonly Resource[] {
  const list = EXPORTABLE.map(({ name }) => name).join(', ');
  if (names.length === 0) throw usageFailure(`Name what to export, or ALL: ${list}.`, { source: 'RESOURCE' });
  const found = names.flatMap((name) => {
    if (name === 'ALL') return UNFILTERED;
    const known = EXPORTABLE.find((resource) => resource.name === name);
    if (known !== undefined) return [known];
    const near = nearest(name, [...EXPORTABLE.map((resource) => resource.name), 'ALL']);
    const suggestion = near === undefined ? '' : ` Did you mean ${near}?`;
    throw usageFailure(`${name} cannot be exported.${suggestion} These can: ${list}.`, { source: 'RESOURCE' });
  });
  return [...new Set(found)];
}

/** Values such as `patients:lastName~=Sm` by the resource they name. */
function perResource(flags: FlagValues, name: string, resources: readonly Resource[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const text of textFlags(flags, name)) {
    const [, prefix = '', rest = ''] = /^([a-z]+):([\s\S]*)$/.exec(text) ?? [];
    if (!resources.some((resource) => resource.name === prefix) || rest.trim() === '') {
      const example = `${resources[0]?.name ?? 'patients'}:${name === 'fields' ? 'A,B' : 'KEY==VALUE'}`;
      throw usageFailure(`--${name} must begin with one of the resources exported and a colon, such as ${example}.`, {
        source: `--${name}`,
      });
    }
    found.set(prefix, [...(found.get(prefix) ?? []), rest]);
  }
  return found;
}

function listOf(resource: Resource) {
  return operationOf(resource, 'list');
}

/** A file with names beside ids, and local times, in the formats that have them (D55, D56). */
export function withFilePlaces(file: PlannedFile, env: Environment): PlannedFile {
  const { resource, operation, plan } = file.query;
  return {
    ...file,
    query: { ...file.query, plan: withPlaces(plan, operation.fields ?? resource.fields, file.flags, env) },
  };
}
