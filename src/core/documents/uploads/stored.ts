import { createHash } from 'node:crypto';
import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { formatFilter } from '../../../catalog/filter/grammar.ts';
import { MAX_PAGE_SIZE } from '../../../catalog/paging.ts';
import { documents } from '../../../catalog/resources/documents.ts';
import { localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { walkPages } from '../../pages/walk.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import { toldDigest } from '../links/contentdigest.ts';
import { fetchLink, type LinkFetching } from '../links/fetchlink.ts';
import { readLink } from '../links/link.ts';
import { Listing } from './listing.ts';
import { hasWishes, isOfOwner, namedAs, type Sought } from './sought.ts';

/** How often the same wrong content has to come until it counts, and how often it is asked for at most. */
const AGREEING = 3;
const MOST_ASKED = 10;

/**
 * The documents that are on the server. Tells whether an upload whose outcome is unknown was stored: a document of the
 * same owner, under its name or one numbered from it, with the very same bytes, that no other file of the run made.
 * It looks at all documents of the owner, since their ids need not come from one sequence (D49).
 */
export class StoredDocuments {
  private readonly client: ApiClient;
  private readonly fetching: LinkFetching;
  private readonly claimed = new Map<string, Sought | undefined>();
  private readonly listings = new Map<string, Listing<Listed>>();
  /** Documents whose bytes are known to be others: content never changes (specification, Documents). */
  private readonly different = new Set<string>();

  constructor(client: ApiClient, fetching: LinkFetching) {
    this.client = client;
    this.fetching = fetching;
  }

  /** Notes that a document is that of one file, so that no other file can be taken for it. */
  claim(id: string, by?: Sought): void {
    this.claimed.set(id, by);
  }

  /**
   * The stored document of an upload, one with the tags and the date that are wanted where there is one; claims it.
   * `noted`: the id that an earlier run wrote down. `asWished`: no other will do. Throws what a request throws, and a
   * Failure when a document that may be the one cannot be read.
   */
  async find(
    sought: Sought,
    options: { readonly noted?: string | undefined; readonly asWished?: boolean } = {},
  ): Promise<Row | undefined> {
    const { noted, asWished = false } = options;
    let other: Row | undefined;
    let unread: unknown;
    for await (const id of this.candidates(sought, noted)) {
      try {
        const document = await this.holding(id, sought);
        if (document !== undefined && hasWishes(document, sought)) return this.claimedFor(document, sought);
        other ??= document;
      } catch (cause) {
        this.fetching.signal?.throwIfAborted();
        unread ??= cause;
      }
    }
    if (other !== undefined && !asWished) return this.claimedFor(other, sought);
    if (unread !== undefined) throw unread;
    return undefined;
  }

  /** The document that an upload is known to be, undefined when it is gone since or another's; claims it. */
  async known(id: string, sought: Sought): Promise<Row | undefined> {
    const document = this.isFree(id, sought) ? await this.get(id) : undefined;
    if (document === undefined || !isOfOwner(document, sought)) return undefined;
    return this.claimedFor(document, sought);
  }

  /** A document by id if it is of the same owner and has the same bytes, and no other file's. */
  private async holding(id: string, sought: Sought): Promise<Row | undefined> {
    const key = `${id} ${sought.sha256}`;
    if (!this.isFree(id, sought) || this.different.has(key)) return undefined;
    const document = await this.get(id);
    if (document === undefined || !isOfOwner(document, sought)) return undefined;
    if (await this.hasContent(document, sought)) return document;
    this.different.add(key);
    return undefined;
  }

  private claimedFor(document: Row, sought: Sought): Row {
    this.claim(String(document.id), sought);
    return document;
  }

  private isFree(id: string, sought: Sought): boolean {
    return !this.claimed.has(id) || this.claimed.get(id) === sought;
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

  private async *candidates({ owner, storedName }: Sought, noted: string | undefined): AsyncGenerator<string> {
    if (noted !== undefined) yield noted;
    const filter = formatFilter([{ key: `${owner.field}.id`, operator: '==', values: [owner.id] }]);
    const listing = this.listings.get(filter) ?? new Listing(() => this.list(filter));
    this.listings.set(filter, listing);
    const isNamed = namedAs(storedName);
    for (const { id, name } of await listing.fresh()) if (id !== noted && isNamed(name)) yield id;
  }

  private async list(filter: string): Promise<readonly Listed[]> {
    const options = { filter, fields: ['id', 'name'], pageSize: MAX_PAGE_SIZE, ...this.signal() };
    const found: Listed[] = [];
    for await (const { rows } of walkPages(this.client, operationOf(documents, 'list'), options)) {
      for (const { id, name } of rows)
        found.push({ id: String(id), name: typeof name === 'string' ? name : undefined });
    }
    return found;
  }

  /**
   * Whether a document has the bytes of an upload. Yes is certain; no could be a line that spoils what it carries, so it
   * has to be heard several times in the same words, and the API has to be well behind the same line. Throws what that
   * last request throws.
   */
  private async hasContent(document: Row, { source, sha256 }: Sought): Promise<boolean> {
    const heard = new Map<string, number>();
    for (let asked = 0; asked < MOST_ASKED; asked++) {
      const content = await this.contentOf(document, source.size);
      if (content === sha256) return true;
      const times = (heard.get(content) ?? 0) + 1;
      if (times === AGREEING) {
        await this.get(String(document.id));
        return false;
      }
      heard.set(content, times);
    }
    throw localFailure('response.malformed', `The content of document ${document.id} comes in another way each time.`);
  }

  /** The SHA-256 of a document in hex, or its size where that is not the one looked for. */
  private contentOf(document: Row, size: number): Promise<string> {
    const link = isPlainObject(document.storage) ? document.storage.original : undefined;
    return fetchLink(readLink(link, this.client.baseUrl), this.fetching, async (chunks, headers) => {
      const told = toldDigest(200, headers);
      if (told?.algorithm === 'sha256') return told.value;
      const announced = Number(headers['content-length'] ?? size);
      if (announced !== size) return `${announced} bytes`;
      const hash = createHash('sha256');
      let came = 0;
      for await (const bytes of chunks) {
        came += bytes.byteLength;
        if (came > size) return `more than ${size} bytes`;
        hash.update(bytes);
      }
      return came === size ? hash.digest('hex') : `${came} bytes`;
    });
  }

  private signal(): { signal?: AbortSignal } {
    return this.fetching.signal === undefined ? {} : { signal: this.fetching.signal };
  }
}

interface Listed {
  readonly id: string;
  /** Undefined where the list leaves it out. */
  readonly name: string | undefined;
}
