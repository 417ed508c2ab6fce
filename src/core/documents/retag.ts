import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { Failure, localFailure } from '../failure.ts';
import type { Row } from '../pages/page.ts';
import type { ApiClient, ApiResponse } from '../transport/client.ts';
import { changedTags, isChanged, type TagChange, tagsOf } from './tags.ts';

/** How often the change is made when somebody else undoes it. */
const TRIES = 3;

/**
 * Adds and removes tags of a document, and sets `others` with the first write: reads the tags, changes them, writes all
 * of them. The API has no condition for a write, so the document is read again behind it; when another writer put its
 * own list over ours at the same moment, the change is made once more to what is there now. Tags that the other wrote
 * between our reading and our writing are lost all the same, and nothing tells of them. Nothing is sent when nothing
 * would change. Throws what a request throws, and exit 5 when others keep undoing the change.
 */
export async function retag(
  client: ApiClient,
  id: number,
  change: TagChange,
  others: Row,
  signal: AbortSignal,
): Promise<{ readonly document: Row; readonly isSent: boolean }> {
  const read = async () =>
    recordIn(await client.request({ method: 'GET', path: pathOf(operationOf(documents, 'get'), id), signal }));
  const write = async (body: Row) =>
    recordIn(await client.request({ method: 'PUT', path: pathOf(operationOf(documents, 'update'), id), body, signal }));
  let document = await read();
  let rest = others;
  for (let tried = 0; ; tried++) {
    const before = tagsOf(document);
    const tags = changedTags(before, change);
    const isSame = JSON.stringify(tags) === JSON.stringify(before);
    if (isSame && Object.keys(rest).length === 0) return { document, isSent: tried > 0 };
    if (tried === TRIES) throw undone(id);
    const written = await write(isSame ? rest : { ...rest, tags });
    rest = {};
    // What was written is written, whether or not it can be looked at.
    document = await read().catch((cause: unknown) => {
      signal.throwIfAborted();
      if (cause instanceof Failure) return written;
      throw cause;
    });
    if (isChanged(tagsOf(document), change)) return { document, isSent: true };
  }
}

function recordIn({ data, requestId }: ApiResponse): Row {
  if (isPlainObject(data)) return data;
  throw localFailure('response.malformed', 'The server sent an answer without a document.', { requestId });
}

function undone(id: number): Failure {
  return new Failure(`The tags of document ${id} were written ${TRIES} times, and each time others were there again.`, {
    code: 'field.conflict',
    exitCode: EXIT.refused,
    hint: 'Somebody else is changing them now: run it again later.',
  });
}
