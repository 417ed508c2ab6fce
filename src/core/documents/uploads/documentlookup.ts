import { createHash } from 'node:crypto';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { canonicalMimeType, storedName } from '../../../catalog/resources/documentnames.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { LookUp } from '../../transport/uncertainwrite.ts';
import type { LinkFetching } from '../links/fetchlink.ts';
import { StoredDocuments } from './stored.ts';

/**
 * A way to tell whether a POST of unknown outcome stored its document; undefined for a body that lacks what that takes.
 * Looks in the organization where the body names no owner (specification, Documents).
 */
export function documentLookUp(client: ApiClient, fetching: LinkFetching, sent: unknown): LookUp | undefined {
  if (!isPlainObject(sent) || !isPlainObject(sent.file)) return undefined;
  const { name, mimeType, file } = sent;
  const type = typeof mimeType === 'string' ? canonicalMimeType(mimeType) : undefined;
  if (type === undefined || typeof name !== 'string' || typeof file.content !== 'string') return undefined;
  const owner = OWNER_FIELDS.flatMap((field) => {
    const link = sent[field];
    return isPlainObject(link) ? [{ field, id: String(link.id) }] : [];
  })[0] ?? { field: 'ownerOrganization', id: client.organization };
  const content = Buffer.from(file.content, 'base64');
  const sha256 = createHash('sha256').update(content).digest('hex');
  const sought = {
    owner,
    storedName: storedName(name.trim(), type),
    fields: sent,
    sha256,
    source: { size: content.length },
  };
  const stored = new StoredDocuments(client, fetching);
  return () => stored.find(sought, { asWished: true });
}

const OWNER_FIELDS = ['ownerPatient', 'ownerPerioExam', 'ownerOrganization'] as const;
