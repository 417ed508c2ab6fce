import { createHash } from 'node:crypto';
import type { Row } from '../../pages/page.ts';
import { toldDigest } from '../links/contentdigest.ts';
import { DocumentLink, type Downloading } from '../links/documentlink.ts';
import { fetchLink, type Take } from '../links/fetchlink.ts';
import { LinkRefused, lengthOf } from '../links/linkattempt.ts';
import { hashOfFile, sizeOfFile, tidyPart } from './localfile.ts';
import { existing, type LocalPlace, PartFile } from './partfile.ts';
import { type Received, receiveFile } from './receivefile.ts';

/** What became of a file that is there now: it came, or it was there already, the same. */
export type Landed = Received & { readonly status: 'downloaded' | 'skipped' };

/**
 * Brings a document's content into a file that is there whole or not at all; what comes before a failure waits beside
 * it for another run. A file that exists is kept: it counts as done when its content is the document's, otherwise this
 * throws exit 9, unless `overwrite` is given.
 */
export async function downloadTo(
  place: LocalPlace,
  document: Row,
  downloading: Downloading,
  overwrite: boolean,
): Promise<Landed> {
  const link = new DocumentLink(document, downloading);
  const size = await sizeOfFile(place);
  if (size !== undefined && !overwrite) {
    const sha256 = await sameContent(place, size, link, downloading);
    if (sha256 === undefined) throw existing(place);
    await tidyPart(place);
    return { bytes: size, sha256, status: 'skipped' };
  }
  link.url();
  const { client, fetching, variant, onBytes } = downloading;
  const part = await PartFile.open(place, {
    server: client.baseUrl,
    organization: client.organization,
    id: Number(document.id),
    variant,
    guid: link.guid,
  });
  try {
    const received = await receiveFile(part, link, fetching, onBytes);
    // What came to stand at the place meanwhile is not written over, and a link not through.
    if (overwrite) await sizeOfFile(place);
    await part.publish(overwrite);
    return { ...received, status: 'downloaded' };
  } finally {
    await part.close();
  }
}

/** The SHA-256 of a file that is the document's, undefined when it is not. As little is fetched as will tell. */
async function sameContent(
  place: LocalPlace,
  size: number,
  link: DocumentLink,
  downloading: Downloading,
): Promise<string | undefined> {
  const same = await takeWhole(link, downloading, async (chunks, headers) => {
    const length = lengthOf(headers);
    if (length !== undefined && length !== size) return false;
    const told = toldDigest(200, headers);
    if (told !== undefined) return told.value === (await hashOfFile(place, told.algorithm));
    const hash = createHash('sha256');
    for await (const bytes of chunks) hash.update(bytes);
    return hash.digest('hex') === (await hashOfFile(place, 'sha256'));
  });
  return same ? hashOfFile(place, 'sha256') : undefined;
}

/** Fetches a document's content from the start in every attempt; a link that has expired is asked for again. */
export async function takeWhole<T>(link: DocumentLink, { fetching }: Downloading, take: Take<T>): Promise<T> {
  for (;;) {
    try {
      return await fetchLink(link.url(), fetching, (chunks, headers) => {
        link.worked();
        return take(chunks, headers);
      });
    } catch (cause) {
      if (!(cause instanceof LinkRefused)) throw cause;
      await link.renew(cause);
    }
  }
}
