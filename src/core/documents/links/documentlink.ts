import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { EXIT } from '../../../catalog/failures.ts';
import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { documents, VARIANTS, type Variant } from '../../../catalog/resources/documents.ts';
import { Failure, localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { isLoopback } from '../../transport/address.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { LinkFetching } from './fetchlink.ts';

/** What to download of documents, and with what. */
export interface Downloading {
  readonly client: ApiClient;
  readonly fetching: LinkFetching;
  readonly variant: Variant;
  /** Called with the number of bytes of each chunk received. */
  readonly onBytes?: (bytes: number) => void;
}

/** The document has no such variant: exit 4. */
export class NoVariant extends Failure {
  constructor(message: string) {
    super(message, { code: 'record.not_found', exitCode: EXIT.notFound });
    this.name = 'NoVariant';
  }
}

/** Requests a document by its id. Throws an ApiFailure (404: exit 4). */
export async function getDocument(id: number | string, { client, fetching }: Downloading): Promise<Row> {
  const path = pathOf(operationOf(documents, 'get'), id);
  const signal = fetching.signal && { signal: fetching.signal };
  const { data, requestId } = await client.request({ method: 'GET', path, ...signal });
  if (isPlainObject(data)) return data;
  throw localFailure('response.malformed', `The server did not return document ${id}.`, { requestId });
}

/** The name that the server stored a document under, empty where it is not reported. */
export function storedName(document: Row): string {
  return typeof document.name === 'string' ? document.name : '';
}

/** Whether a document has any download link; a list may leave them out. */
export function hasLinks(document: Row): boolean {
  return variantsOf(document).length > 0;
}

/** The link to a document's file, renewed when it has expired. */
export class DocumentLink {
  /** Set while a renewed link has not worked yet: a second refusal is final. */
  private renewed = false;

  constructor(
    private document: Row,
    private readonly downloading: Downloading,
  ) {}

  /** Throws a Failure: NoVariant, or exit 8 for a link that must not be followed. */
  url(): URL {
    return readLink(linkOf(this.document, this.downloading.variant), this.downloading.client.baseUrl);
  }

  /** The server's storage identifier, which changes with the content. */
  get guid(): string | null {
    const { guidName } = this.document;
    return typeof guidName === 'string' && guidName !== '' ? guidName : null;
  }

  /** Notes that the link worked, so that it may be renewed once more. */
  worked(): void {
    this.renewed = false;
  }

  /** Requests the document again after its link was refused; throws the refusal when that was done already. */
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
  const available = variantsOf(document);
  if (available.includes(variant)) return (document.storage as Row)[variant];
  const has = available.length === 0 ? 'nothing to download' : `only: ${available.join(', ')}`;
  throw new NoVariant(`Document ${document.id} has no ${variant}, ${has}.`);
}

/**
 * A download link that may be followed: at the API's own origin, https, or on this machine where the API is, too.
 * Throws a Failure with exit code 8 for any other, since the file would cross the network unencrypted.
 */
export function readLink(link: unknown, baseUrl: string): URL {
  const url = typeof link === 'string' && URL.canParse(link) ? new URL(link) : undefined;
  if (url === undefined) throw localFailure('response.malformed', 'The server sent no download link for this file.');
  const base = new URL(baseUrl);
  const isSafe = url.protocol === 'https:' || url.origin === base.origin || (isLocal(url) && isLocal(base));
  if (isSafe && url.username === '' && url.password === '') return url;
  const message = `The download link points to ${url.protocol}//${url.host}, which is neither the server itself nor https.`;
  throw localFailure('response.malformed', message, {
    hint: 'Report it to the operator of the server; the link was not followed.',
  });
}

function isLocal({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && isLoopback(hostname);
}
