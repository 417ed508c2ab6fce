import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { foldText } from '../../catalog/filter/values.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { Failure, localFailure } from '../failure.ts';
import type { Row } from '../pages/page.ts';
import type { ApiClient } from '../transport/client.ts';

/** Tags to add to a document and to remove from it; letter case does not matter (specification, Document rule 5). */
export interface TagChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The tags of a document, as far as they are texts. */
export function tagsOf(document: Row): string[] {
  return Array.isArray(document.tags) ? document.tags.filter((tag) => typeof tag === 'string') : [];
}

/** The tags with the change made: those that stay keep order and letter case, new ones follow, each once. */
export function changedTags(tags: readonly string[], { add, remove }: TagChange): string[] {
  const removed = new Set(remove.map(folded));
  const result = tags.filter((tag) => !removed.has(folded(tag)));
  const present = new Set(result.map(folded));
  for (const tag of add) {
    if (!present.has(folded(tag))) result.push(tag.trim());
    present.add(folded(tag));
  }
  return result;
}

/** Whether the tags are as the change wants them: all that was added is there, nothing that was removed. */
export function isChanged(tags: readonly string[], { add, remove }: TagChange): boolean {
  const present = new Set(tags.map(folded));
  return add.every((tag) => present.has(folded(tag))) && !remove.some((tag) => present.has(folded(tag)));
}

/** A tag that is to be added and removed at once, undefined where there is none. */
export function contradiction({ add, remove }: TagChange): string | undefined {
  const removed = new Set(remove.map(folded));
  return add.find((tag) => removed.has(folded(tag)));
}

function folded(tag: string): string {
  return foldText(tag.trim());
}

/** Maximum number of times that the change is made when somebody else undoes it. */
const MAX_WRITES = 3;

/**
 * Adds and removes tags of a document, and sets `others` with the first write: reads the tags, changes them, writes all
 * of them. The API has no condition for a write, so the document is read again after it; when another writer replaced
 * our list at the same moment, the change is made again to what is there now. Tags that the other wrote between our
 * read and our write are lost all the same, unnoticed. Nothing is sent when nothing would change. Throws what a request
 * throws, and exit 5 when others keep undoing the change.
 */
export async function retag(
  client: ApiClient,
  id: number,
  change: TagChange,
  others: Row,
  signal: AbortSignal,
): Promise<{ readonly document: Row; readonly isSent: boolean }> {
  const request = async (method: 'GET' | 'PUT', body?: Row): Promise<Row> => {
    const path = pathOf(operationOf(documents, method === 'GET' ? 'get' : 'update'), id);
    const { data, requestId } = await client.request({ method, path, ...(body && { body }), signal });
    if (isPlainObject(data)) return data;
    throw localFailure('response.malformed', 'The server sent a response without a document.', { requestId });
  };
  let document = await request('GET');
  let rest = others;
  for (let writes = 0; ; writes++) {
    const before = tagsOf(document);
    const tags = changedTags(before, change);
    const isSame = JSON.stringify(tags) === JSON.stringify(before);
    if (isSame && Object.keys(rest).length === 0) return { document, isSent: writes > 0 };
    if (writes === MAX_WRITES) throw undone(id);
    const written = await request('PUT', isSame ? rest : { ...rest, tags });
    rest = {};
    // The write stands, whether or not it can be read back.
    document = await request('GET').catch((cause: unknown) => {
      signal.throwIfAborted();
      if (cause instanceof Failure) return written;
      throw cause;
    });
    if (isChanged(tagsOf(document), change)) return { document, isSent: true };
  }
}

function undone(id: number): Failure {
  const message = `The tags of document ${id} were written ${MAX_WRITES} times, and somebody else changed them back each time.`;
  return new Failure(message, {
    code: 'field.conflict',
    exitCode: EXIT.refused,
    hint: 'Somebody else is changing them now: run it again later.',
  });
}
