import { documents } from '../../catalog/resources/documents.ts';
import type { LinkFetching } from '../../core/documents/links/linkattempt.ts';
import { documentLookUp } from '../../core/documents/uploads/documentlookup.ts';
import { createdRecordLookups } from '../../core/lookup/createdrecord.ts';
import type { ApiClient, ApiRequest } from '../../core/transport/client.ts';
import { knownOperation, type RawRequest } from './request.ts';

/**
 * How to find out what became of a raw POST (D49): by looking for what it makes where the catalog knows that, by
 * sending it again where that changes nothing, else not at all.
 */
export function settlingOf(
  client: ApiClient,
  { method, path, body }: RawRequest,
  fetching: LinkFetching,
): Pick<ApiRequest, 'repeatable' | 'lookUp' | 'checkDuplicates'> {
  const known = method === 'POST' ? knownOperation(method, path) : undefined;
  if (known?.operation.shape === 'replace') return { repeatable: true };
  if (known?.operation.shape !== 'create') return {};
  if (known.resource !== documents) return createdRecordLookups(client, known.resource, body?.value);
  const lookUp = documentLookUp(client, fetching, body?.value);
  return lookUp === undefined ? {} : { lookUp };
}
