import { RESOURCES } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { EXIT } from '../../catalog/failures.ts';
import { emittedFields } from '../../catalog/record.ts';
import { readComplete } from '../pages/complete.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient } from '../transport/client.ts';
import { linkedId, linkedKind } from './namecolumns.ts';
import { keyOf, type NameRow, unnamed } from './namerows.ts';

/** Records of a resource that are read, from the first and, where there are more, of those changed lately. */
const MOST = 2000;
const PAGE_SIZE = 500;
/** Days that count as lately. */
const LATELY = 90;

/** What reading a service needs. */
export interface LearnContext {
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called with each resource that was read, and whether all of it was. */
  readonly onRead: (resource: Resource, isWhole: boolean) => void;
  /** Called for each resource that the service does not have, or the token may not read. */
  readonly onRefused: (resource: Resource, failure: ApiFailure) => void;
}

/** Lists whose records link to what has names, and that can be read without knowing a location. */
function lists(): { readonly resource: Resource; readonly operation: Operation; readonly fields: readonly string[] }[] {
  return RESOURCES.flatMap((resource) => {
    const operation = (resource.operations as Readonly<Record<string, Operation | undefined>>).list;
    const fields = emittedFields(resource.fields).filter((name) => linkedKind(name, resource.fields) !== undefined);
    const isOpen = operation?.paging !== undefined && operation.filterRequired !== true;
    return operation === undefined || !isOpen || fields.length === 0 ? [] : [{ resource, operation, fields }];
  });
}

/** The ids that records of a service show, by few requests: a row each, once. Throws what a request throws. */
export async function learnFromService(client: ApiClient, context: LearnContext): Promise<NameRow[]> {
  const found = new Map<string, NameRow>();
  for (const { resource, operation, fields } of lists()) {
    const read = async (filter: string | undefined) => {
      const { now, signal } = context;
      const options = { parallel: 1, filter, fields: ['id', ...fields], limit: MOST, pageSize: PAGE_SIZE, now, signal };
      let count = 0;
      for await (const { rows } of readComplete(client, operation, options)) {
        count += rows.length;
        for (const row of rows) {
          for (const field of fields) {
            const [kind, id] = [linkedKind(field, resource.fields), linkedId(row, field)];
            if (kind !== undefined && id !== undefined) found.set(keyOf({ kind, id }), unnamed({ kind, id }));
          }
        }
      }
      return count < MOST;
    };
    try {
      const isWhole = await read(undefined);
      if (!isWhole) await read(changedLately(operation, context.now()));
      context.onRead(resource, isWhole);
    } catch (cause) {
      if (!(cause instanceof ApiFailure) || !isRefusal(cause)) throw cause;
      context.onRefused(resource, cause);
    }
  }
  return [...found.values()];
}

function changedLately({ filters = {} }: Operation, now: number): string | undefined {
  const key = filters.lastModified ?? filters.start;
  return key && `${key.key}>=${new Date(now - LATELY * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
}

/** Not 401: then nothing can be read. */
function isRefusal({ status, exitCode }: ApiFailure): boolean {
  return status === 403 || status === 405 || exitCode === EXIT.notFound;
}
