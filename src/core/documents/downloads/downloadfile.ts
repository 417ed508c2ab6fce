import { createHash, type Hash } from 'node:crypto';
import { localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { reportedDigest } from '../links/contentdigest.ts';
import { DocumentLink, type Downloading } from '../links/documentlink.ts';
import { type BodyReader, fetchLink, LinkRefused, lengthOf } from '../links/fetchlink.ts';
import { fileExists, hashOfFile, type LabelledPath, removeLinkedPart, sizeOfFile } from './localfile.ts';
import { PartFile } from './partfile.ts';
import { type Received, receiveFile } from './receivefile.ts';

/** The content of a file that is there now, and whether it was downloaded or had the same content before. */
export type DownloadedContent = Received & { readonly status: 'downloaded' | 'skipped' };

/**
 * Downloads a document's content into a file that is there completely or not at all; what was received before a failure
 * waits beside it for another run. An existing file is not touched: it counts as done when its content is the
 * document's, otherwise this throws exit 9, unless `overwrite` is given.
 */
export async function downloadTo(
  target: LabelledPath,
  document: Row,
  downloading: Downloading,
  overwrite: boolean,
): Promise<DownloadedContent> {
  const link = new DocumentLink(document, downloading);
  const size = await sizeOfFile(target);
  if (size !== undefined && !overwrite) {
    const sha256 = await sameContent(target, size, link, downloading);
    if (sha256 === undefined) throw fileExists(target);
    await removeLinkedPart(target);
    return { bytes: size, sha256, status: 'skipped' };
  }
  link.url();
  const { client, fetching, variant, onBytes } = downloading;
  const part = await PartFile.open(target, {
    server: client.baseUrl,
    organization: client.organization,
    id: Number(document.id),
    variant,
    guid: link.guid,
  });
  try {
    const received = await receiveFile(part, link, fetching, onBytes);
    // A folder or link that was put there meanwhile is not replaced.
    if (overwrite) await sizeOfFile(target);
    await part.publish(overwrite);
    return { ...received, status: 'downloaded' };
  } finally {
    await part.close();
  }
}

/** The SHA-256 of a file that is the document's, undefined when it is not. Fetches no more than it takes to tell. */
async function sameContent(
  target: LabelledPath,
  size: number,
  link: DocumentLink,
  downloading: Downloading,
): Promise<string | undefined> {
  const isSame = await fetchDocument(link, downloading, async (chunks, headers) => {
    const length = lengthOf(headers);
    if (length !== undefined && length !== size) return false;
    const reported = reportedDigest(200, headers);
    if (reported !== undefined) return reported.value === (await hashOfFile(target, reported.algorithm));
    const hash = createHash('sha256');
    for await (const bytes of chunks) hash.update(bytes);
    return hash.digest('hex') === (await hashOfFile(target, 'sha256'));
  });
  return isSame ? hashOfFile(target, 'sha256') : undefined;
}

/** Fetches a document's content from the start in every attempt; a link that has expired is renewed. */
async function fetchDocument<T>(link: DocumentLink, { fetching }: Downloading, read: BodyReader<T>): Promise<T> {
  for (;;) {
    try {
      return await fetchLink(link.url(), fetching, (chunks, headers) => {
        link.worked();
        return read(chunks, headers);
      });
    } catch (cause) {
      if (!(cause instanceof LinkRefused)) throw cause;
      await link.renew(cause);
    }
  }
}

/**
 * Writes a document's content to a stream. Another attempt continues after the bytes written when it begins with the
 * same ones; what is written cannot be taken back, so a wrong digest at the end is a failure, exit 8.
 */
export async function downloadInto(
  write: (bytes: Uint8Array) => Promise<void>,
  document: Row,
  downloading: Downloading,
): Promise<Received> {
  const written = new Prefix();
  return fetchDocument(new DocumentLink(document, downloading), downloading, async (chunks, headers) => {
    const reported = reportedDigest(200, headers);
    const complete = createHash(reported?.algorithm ?? 'sha256');
    const again = new Prefix();
    let agrees = written.bytes === 0;
    const compare = () => {
      if (again.bytes !== written.bytes || again.sha256() !== written.sha256()) throw changed();
      agrees = true;
    };
    for await (const chunk of chunks) {
      complete.update(chunk);
      const repeated = agrees ? chunk.subarray(0, 0) : chunk.subarray(0, written.bytes - again.bytes);
      again.add(repeated);
      const fresh = chunk.subarray(repeated.length);
      if (fresh.length === 0) continue;
      if (!agrees) compare();
      await write(fresh);
      written.add(fresh);
      downloading.onBytes?.(fresh.length);
    }
    if (!agrees) compare();
    if (reported !== undefined && complete.digest('hex') !== reported.value)
      throw localFailure(
        'response.malformed',
        'The downloaded content does not have the hash that the server reports.',
      );
    return { bytes: written.bytes, sha256: written.sha256() };
  });
}

class Prefix {
  bytes = 0;
  private readonly hash: Hash = createHash('sha256');

  add(bytes: Uint8Array): void {
    this.hash.update(bytes);
    this.bytes += bytes.length;
  }

  sha256(): string {
    return this.hash.copy().digest('hex');
  }
}

function changed() {
  const message = 'The file changed on the server while it was being downloaded; what was written so far is not it.';
  return localFailure('response.malformed', message, { hint: 'Run the command again.' });
}
