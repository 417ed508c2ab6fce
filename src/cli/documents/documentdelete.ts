import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { Failure } from '../../core/failure.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import { DeleteCommand } from '../crud/deletecommand.ts';

/** Deletes documents; the question names them, since nobody knows documents by their ids. */
export abstract class DocumentDeleteCommand extends DeleteCommand {
  protected override readonly resource = documents;

  protected override async nameOf(client: ApiClient, id: number): Promise<string | undefined> {
    const { signal } = this.context;
    const path = pathOf(operationOf(documents, 'get'), id);
    try {
      const { data } = await client.request({ method: 'GET', path, query: { responseFields: 'id,name' }, signal });
      return isPlainObject(data) && typeof data.name === 'string' ? terminalText(data.name) : undefined;
    } catch (cause) {
      // The question works without names; what is wrong shows on deletion.
      signal.throwIfAborted();
      if (cause instanceof Failure) return undefined;
      throw cause;
    }
  }
}
