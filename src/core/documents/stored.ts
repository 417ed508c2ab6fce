import { createHash } from 'node:crypto';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter } from '../../catalog/filter/grammar.ts';
import { foldText } from '../../catalog/filter/values.ts';
import { MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { Failure } from '../failure.ts';
import { type Row, walkPages } from '../pages/walk.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient } from '../transport/client.ts';
import { fetchLink, type LinkFetching } from './fetchlink.ts';
import { readLink } from './link.ts';
import type { ReadyUpload } from './plan.ts';

/**
 * The documents that are on the server. Tells whether an upload whose outcome is unknown was stored: a document of the
 * same owner, under its name or one numbered from it, with the very same bytes, that no other file of the run made.
 */
export class StoredDocuments {
  private readonly client: ApiClient;
  private readonly fetching: LinkFetching;
  private readonly claimed = new Set<string>();
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
  claim(id: string): void {
    this.claimed.add(id);
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

  private async claimIfStored(id: string, upload: ReadyUpload): Promise<Row | undefined> {
    if (this.claimed.has(id)) return undefined;
    const document = await this.get(id);
    if (document === undefined || !isOfOwner(document, upload) || !(await this.hasContent(document, upload)))
      return undefined;
    if (this.claimed.has(id)) return undefined;
    this.claim(id);
    return document;
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
    const options = { filter, fields: ['id', 'name'], pageSize: MAX_PAGE_SIZE, ...this.signal() };
    const ids: string[] = [];
    for await (const page of walkPages(this.client, operationOf(documents, 'list'), options)) {
      for (const { id, name } of page.rows) {
        this.highest = Math.max(this.highest, Number(id));
        if (Number(id) > after && typeof name === 'string' && isNumberedName(name, storedName)) ids.push(String(id));
      }
    }
    return ids;
  }

  private async hasContent(document: Row, upload: ReadyUpload): Promise<boolean> {
    const link = isPlainObject(document.storage) ? document.storage.original : undefined;
    return fetchLink(readLink(link, this.client.baseUrl), this.fetching, async (chunks) => {
      const hash = createHash('sha256');
      let size = 0;
      for await (const bytes of chunks) {
        size += bytes.byteLength;
        if (size > upload.source.size) return false;
        hash.update(bytes);
      }
      return size === upload.source.size && hash.digest('hex') === upload.sha256;
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
