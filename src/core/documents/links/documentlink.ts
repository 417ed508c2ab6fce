import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { EXIT } from '../../../catalog/failures.ts';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { documents } from '../../../catalog/resources/documents.ts';
import { Failure, localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { LinkFetching } from './fetchlink.ts';
import { readLink } from './link.ts';

/** What can be downloaded of a document: `storage` has a link for each that exists (specification, Document). */
export const VARIANTS = ['original', 'thumbnail', 'resized', 'cropped'] as const;

export type Variant = (typeof VARIANTS)[number];

export interface Downloading {
  readonly client: ApiClient;
  readonly fetching: LinkFetching;
  readonly variant: Variant;
  /** Told the bytes as they come in. */
  readonly onBytes?: (bytes: number) => void;
}

/** The document has no such variant: exit 4. */
export class NoVariant extends Failure {
  constructor(message: string) {
    super(message, { code: 'record.not_found', exitCode: EXIT.notFound });
    this.name = 'NoVariant';
  }
}

/** The document of an id. Throws an ApiFailure (404: exit 4). */
export async function getDocument(id: number | string, { client, fetching }: Downloading): Promise<Row> {
  const path = pathOf(operationOf(documents, 'get'), id);
  const { data, requestId } = await client.request({
    method: 'GET',
    path,
    ...(fetching.signal && { signal: fetching.signal }),
  });
  if (isPlainObject(data)) return data;
  throw localFailure('response.malformed', `The server did not answer with document ${id}.`, { requestId });
}

/** The name the server stored a document under, empty where it tells none. */
export function storedName(document: Row): string {
  return typeof document.name === 'string' ? document.name : '';
}

/** Whether a document says where any of its files is; a list may leave that out. */
export function hasLinks(document: Row): boolean {
  return variantsOf(document).length > 0;
}

/** The link to the file of a document, and another one when it has expired. */
export class DocumentLink {
  private document: Row;
  private readonly downloading: Downloading;
  /** Set while a renewed link has given nothing yet: a second refusal is final. */
  private renewed = false;

  constructor(document: Row, downloading: Downloading) {
    this.document = document;
    this.downloading = downloading;
  }

  /** Throws a Failure: NoVariant, or exit 8 for a link that is not to be followed. */
  url(): URL {
    return readLink(linkOf(this.document, this.downloading.variant), this.downloading.client.baseUrl);
  }

  /** The server's storage identifier, which changes with the content. */
  get guid(): string | null {
    const { guidName } = this.document;
    return typeof guidName === 'string' && guidName !== '' ? guidName : null;
  }

  /** The link gave something. */
  worked(): void {
    this.renewed = false;
  }

  /** Asks for the document again after its link was refused; throws the refusal when that was done already. */
  async renew(refusal: Failure): Promise<void> {
    if (this.renewed) throw refusal;
    this.renewed = true;
    this.document = await getDocument(String(this.document.id), this.downloading);
  }
}

function variantsOf(document: Row): Variant[] {
  const storage = isPlainObject(document.storage) ? document.storage : {};
  return VARIANTS.filter((name) => typeof storage[name] === 'string');
}

function linkOf(document: Row, variant: Variant): unknown {
  const there = variantsOf(document);
  if (there.includes(variant)) return (document.storage as Row)[variant];
  const has = there.length === 0 ? 'nothing to download' : `only: ${there.join(', ')}`;
  throw new NoVariant(`Document ${document.id} has no ${variant}, ${has}.`);
}
