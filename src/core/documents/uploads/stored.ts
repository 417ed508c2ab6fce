import { createHash } from 'node:crypto';
import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { formatFilter } from '../../../catalog/filter/grammar.ts';
import { MAX_PAGE_SIZE } from '../../../catalog/paging.ts';
import { canonicalMimeType, storedName } from '../../../catalog/resources/documentnames.ts';
import { documents } from '../../../catalog/resources/documents.ts';
import { sharedRun } from '../../../filesystem/sharedrun.ts';
import { localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { walkPages } from '../../pages/walk.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { LookUp } from '../../transport/uncertainwrite.ts';
import { reportedDigest } from '../links/contentdigest.ts';
import { readLink } from '../links/documentlink.ts';
import { fetchLink, type LinkFetching } from '../links/fetchlink.ts';
import { hasTagsAndDate, isOfOwner, nameMatcher, type SoughtDocument } from './documentmatch.ts';

/** Times the same different content has to be seen until it counts, and the maximum number of downloads. */
const AGREEING_DOWNLOADS = 3;
const MAX_DOWNLOADS = 10;

/**
 * The documents that are on the server. Finds out whether an upload of unknown outcome was stored: a document of the same
 * owner, under its name or one numbered from it, with the very same bytes, that no other file of the run made. Searches
 * all documents of the owner, since their ids need not come from one sequence (D49).
 */
export class StoredDocuments {
  private readonly claimed = new Map<string, SoughtDocument | undefined>();
  private readonly listings = new Map<string, () => Promise<readonly ListedDocument[]>>();
  /** Documents whose bytes are known to differ: content never changes (specification, Documents). */
  private readonly different = new Set<string>();

  constructor(
    private readonly client: ApiClient,
    private readonly fetching: LinkFetching,
  ) {}

  /** Records that a document is that of one file, so that no other file can be taken for it. */
  claim(id: string, by?: SoughtDocument): void {
    this.claimed.set(id, by);
  }

  /**
   * The stored document of an upload, preferably one with the wanted tags and date; claims it. `noted`: the id that an
   * earlier run recorded. `exact`: only one with the wanted tags and date. Throws what a request throws, and a Failure
   * when a document that may be the one cannot be read.
   */
  async find(
    sought: SoughtDocument,
    { noted, exact = false }: { readonly noted?: string | undefined; readonly exact?: boolean } = {},
  ): Promise<Row | undefined> {
    let other: Row | undefined;
    let unread: unknown;
    for await (const id of this.candidates(sought, noted)) {
      try {
        const document = await this.withContent(id, sought);
        if (document !== undefined && hasTagsAndDate(document, sought)) return this.claimedFor(document, sought);
        other ??= document;
      } catch (cause) {
        this.fetching.signal?.throwIfAborted();
        unread ??= cause;
      }
    }
    if (other !== undefined && !exact) return this.claimedFor(other, sought);
    if (unread !== undefined) throw unread;
    return undefined;
  }

  /** The document that an upload is known to be, undefined when it is gone since or another's; claims it. */
  async known(id: string, sought: SoughtDocument): Promise<Row | undefined> {
    const document = await this.ofOwner(id, sought);
    return document && this.claimedFor(document, sought);
  }

  /** A document by id, undefined when it is gone. */
  async get(id: string): Promise<Row | undefined> {
    try {
      const path = pathOf(operationOf(documents, 'get'), id);
      const { data } = await this.client.request({ method: 'GET', path, ...this.signal() });
      return isPlainObject(data) ? data : undefined;
    } catch (cause) {
      if (cause instanceof ApiFailure && cause.status === 404) return undefined;
      throw cause;
    }
  }

  /** A document by id if it is of the same owner, and no other file's. */
  private async ofOwner(id: string, sought: SoughtDocument): Promise<Row | undefined> {
    if (this.claimed.has(id) && this.claimed.get(id) !== sought) return undefined;
    const document = await this.get(id);
    return document && isOfOwner(document, sought) ? document : undefined;
  }

  private async withContent(id: string, sought: SoughtDocument): Promise<Row | undefined> {
    const key = `${id} ${sought.sha256}`;
    const document = this.different.has(key) ? undefined : await this.ofOwner(id, sought);
    if (document === undefined || (await this.hasContent(document, sought))) return document;
    this.different.add(key);
    return undefined;
  }

  private claimedFor(document: Row, sought: SoughtDocument): Row {
    this.claim(String(document.id), sought);
    return document;
  }

  private async *candidates({ owner, storedName }: SoughtDocument, noted: string | undefined): AsyncGenerator<string> {
    if (noted !== undefined) yield noted;
    const filter = formatFilter([{ key: `${owner.field}.id`, operator: '==', values: [owner.id] }]);
    const listing = this.listings.get(filter) ?? sharedRun(() => this.list(filter));
    this.listings.set(filter, listing);
    const isNamed = nameMatcher(storedName);
    for (const { id, name } of await listing()) if (id !== noted && isNamed(name)) yield id;
  }

  private async list(filter: string): Promise<readonly ListedDocument[]> {
    const options = { filter, fields: ['id', 'name'], pageSize: MAX_PAGE_SIZE, ...this.signal() };
    const found: ListedDocument[] = [];
    for await (const { rows } of walkPages(this.client, operationOf(documents, 'list'), options)) {
      for (const { id, name } of rows)
        found.push({ id: String(id), name: typeof name === 'string' ? name : undefined });
    }
    return found;
  }

  /**
   * Whether a document has the bytes of an upload. Yes is certain; no could be a connection that corrupts its content, so
   * the same other content has to arrive several times, and the API has to work over the same connection. Throws what
   * that last request throws.
   */
  private async hasContent(document: Row, { source, sha256 }: SoughtDocument): Promise<boolean> {
    const seen = new Map<string, number>();
    for (let downloads = 0; downloads < MAX_DOWNLOADS; downloads++) {
      const content = await this.contentOf(document, source.size);
      if (content === sha256) return true;
      const times = (seen.get(content) ?? 0) + 1;
      if (times === AGREEING_DOWNLOADS) {
        await this.get(String(document.id));
        return false;
      }
      seen.set(content, times);
    }
    throw localFailure('response.malformed', `The content of document ${document.id} differs with each download.`);
  }

  /** The SHA-256 of a document in hex, or its size in words where that differs from the expected one. */
  private contentOf(document: Row, size: number): Promise<string> {
    const link = isPlainObject(document.storage) ? document.storage.original : undefined;
    return fetchLink(readLink(link, this.client.baseUrl), this.fetching, async (chunks, headers) => {
      const reported = reportedDigest(200, headers);
      if (reported?.algorithm === 'sha256') return reported.value;
      const announced = Number(headers['content-length'] ?? size);
      if (announced !== size) return `${announced} bytes`;
      const hash = createHash('sha256');
      let received = 0;
      for await (const bytes of chunks) {
        received += bytes.byteLength;
        if (received > size) return `more than ${size} bytes`;
        hash.update(bytes);
      }
      return received === size ? hash.digest('hex') : `${received} bytes`;
    });
  }

  private signal(): { signal?: AbortSignal } {
    return this.fetching.signal === undefined ? {} : { signal: this.fetching.signal };
  }
}

interface ListedDocument {
  readonly id: string;
  /** Undefined where the list leaves it out. */
  readonly name: string | undefined;
}

/** Looks for the document of a POST of unknown outcome; undefined for a body that lacks what that takes. */
export function documentLookUp(client: ApiClient, fetching: LinkFetching, body: unknown): LookUp | undefined {
  if (!isPlainObject(body) || !isPlainObject(body.file)) return undefined;
  const { name, mimeType, file } = body;
  const type = typeof mimeType === 'string' ? canonicalMimeType(mimeType) : undefined;
  if (type === undefined || typeof name !== 'string' || typeof file.content !== 'string') return undefined;
  const [owner = { field: 'ownerOrganization', id: client.organization } as const] = OWNER_FIELDS.flatMap((field) => {
    const link = body[field];
    return isPlainObject(link) ? [{ field, id: String(link.id) }] : [];
  });
  const content = Buffer.from(file.content, 'base64');
  const sought = {
    owner,
    storedName: storedName(name.trim(), type),
    fields: body,
    sha256: createHash('sha256').update(content).digest('hex'),
    source: { size: content.length },
  };
  const stored = new StoredDocuments(client, fetching);
  return () => stored.find(sought, { exact: true });
}

const OWNER_FIELDS = ['ownerPatient', 'ownerPerioExam', 'ownerOrganization'] as const;
