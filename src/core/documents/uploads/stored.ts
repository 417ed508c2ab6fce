import { createHash } from 'node:crypto';
import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { EXIT } from '../../../catalog/failures.ts';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { formatFilter } from '../../../catalog/filter/grammar.ts';
import { foldText } from '../../../catalog/filter/values.ts';
import { MAX_PAGE_SIZE } from '../../../catalog/paging.ts';
import { documents } from '../../../catalog/resources/documents.ts';
import { Failure, localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { walkPages } from '../../pages/walk.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import { toldDigest } from '../links/contentdigest.ts';
import { fetchLink, type LinkFetching } from '../links/fetchlink.ts';
import { readLink } from '../links/link.ts';
import type { ReadyUpload } from './plan.ts';

/** How often the same wrong content has to come until it counts, and how often it is asked for at most. */
const AGREEING = 3;
const MOST_ASKED = 10;

/**
 * The documents that are on the server. Tells whether an upload whose outcome is unknown was stored: a document of the
 * same owner, under its name or one numbered from it, with the very same bytes, that no other file of the run made.
 */
export class StoredDocuments {
  private readonly client: ApiClient;
  private readonly fetching: LinkFetching;
  private readonly claimed = new Map<string, ReadyUpload | undefined>();
  private highest = 0;

  constructor(client: ApiClient, fetching: LinkFetching) {
    this.client = client;
    this.fetching = fetching;
  }

  /** An id that any document stored from now on will be above (D15); 0 while none is known. */
  get highestKnown(): number {
    return this.highest;
  }

  /** Notes that a document is that of one file, so that no other file can be taken for it. */
  claim(id: string, by?: ReadyUpload): void {
    this.claimed.set(id, by);
    this.highest = Math.max(this.highest, Number(id));
  }

  /**
   * The stored document of an upload: the one an earlier run noted, or one among the ids above `after`; claims it.
   * Throws what a request throws.
   */
  async find(upload: ReadyUpload, after: number): Promise<Row | undefined> {
    const noted = upload.row.earlier?.id;
    const known = noted === undefined ? undefined : await this.claimIfStored(noted, upload);
    if (known !== undefined) return known;
    for (const id of await this.candidates(upload, after)) {
      const document = await this.claimIfStored(id, upload);
      if (document !== undefined) return document;
    }
    return undefined;
  }

  /** The document that an upload is known to be, undefined when it is gone since or another's; claims it. */
  async known(id: string, upload: ReadyUpload): Promise<Row | undefined> {
    return this.claimWhere(id, upload, async () => true);
  }

  private claimIfStored(id: string, upload: ReadyUpload): Promise<Row | undefined> {
    return this.claimWhere(id, upload, (document) => this.hasContent(document, upload));
  }

  private async claimWhere(
    id: string,
    upload: ReadyUpload,
    accept: (document: Row) => Promise<boolean>,
  ): Promise<Row | undefined> {
    if (!this.isFree(id, upload)) return undefined;
    const document = await this.get(id);
    if (document === undefined || !isOfOwner(document, upload) || !(await accept(document))) return undefined;
    if (!this.isFree(id, upload)) return undefined;
    this.claim(id, upload);
    return document;
  }

  private isFree(id: string, upload: ReadyUpload): boolean {
    return !this.claimed.has(id) || this.claimed.get(id) === upload;
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

  private async candidates(upload: ReadyUpload, after: number): Promise<string[]> {
    const { owner, storedName } = upload;
    const filter = formatFilter([{ key: `${owner.field}.id`, operator: '==', values: [owner.id] }]);
    const from = { lastId: String(after), fetched: 0, asked: 0 };
    const options = { filter, fields: ['id', 'name'], pageSize: MAX_PAGE_SIZE, from, ...this.signal() };
    const ids: string[] = [];
    for await (const page of walkPages(this.client, operationOf(documents, 'list'), options)) {
      for (const { id, name } of page.rows) {
        this.highest = Math.max(this.highest, Number(id));
        if (typeof name === 'string' && isNumberedName(name, storedName)) ids.push(String(id));
      }
    }
    return ids;
  }

  /**
   * Whether a document has the bytes of an upload. Yes is certain; no could be a line that spoils what it carries, so it
   * has to be heard several times in the same words, and the API has to be well behind the same line. Throws what that
   * last request throws.
   */
  private async hasContent(document: Row, upload: ReadyUpload): Promise<boolean> {
    const heard = new Map<string, number>();
    for (let asked = 0; asked < MOST_ASKED; asked++) {
      const content = await this.contentOf(document, upload.source.size);
      if (content === upload.sha256) return true;
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

function isOfOwner(document: Row, { owner }: ReadyUpload): boolean {
  const link = document[owner.field];
  return isPlainObject(link) && String(link.id) === owner.id;
}

/** Whether a name is the wanted one, or the one the server makes of it when it is taken: `scan (2).pdf` (rule 3, D36). */
export function isNumberedName(name: string, wanted: string): boolean {
  const folded = foldText(name);
  const base = foldText(wanted);
  const dot = base.lastIndexOf('.');
  if (folded === base) return true;
  if (!folded.startsWith(`${base.slice(0, dot)} (`) || !folded.endsWith(base.slice(dot))) return false;
  return /^\d+\)$/.test(folded.slice(dot + 2, folded.length - (base.length - dot)));
}

/** Whether a stored document has the tags and the date that are wanted; tags added since do not matter. */
export function hasWishes(document: Row, { fields }: ReadyUpload): boolean {
  const there = new Set((Array.isArray(document.tags) ? document.tags : []).map((tag) => foldText(String(tag))));
  const wanted = (fields.tags ?? []) as readonly string[];
  const date = fields.userDefinedDate;
  return wanted.every((tag) => there.has(foldText(tag))) && (date === undefined || date === document.userDefinedDate);
}

/** A file that is stored already, but not as it is wanted now: exit 5, nothing is changed. */
export function storedOtherwise(document: Row): Failure {
  return new Failure(`It is stored already as document ${document.id} with other tags, date or crop.`, {
    code: 'field.conflict',
    exitCode: EXIT.refused,
    hint: `Change its tags with molar documents update ${document.id}, or upload it under another --name.`,
  });
}
