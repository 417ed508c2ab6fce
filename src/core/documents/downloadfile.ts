import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { codeOf, Failure, fileFailure, localFailure } from '../failure.ts';
import { openAtomicFile } from '../output/atomicfile.ts';
import type { Row } from '../pages/walk.ts';
import type { ApiClient } from '../transport/client.ts';
import { fetchLink, type LinkFetching, LinkRefused, type Take } from './fetchlink.ts';
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
  /** Told each file that is there. */
  readonly onDone?: () => void;
}

/** What came in: its size in bytes and its SHA-256 in hex. */
export interface Received {
  readonly bytes: number;
  readonly sha256: string;
}

/** The document of an id. Throws an ApiFailure (404: exit 4). */
export async function getDocument(id: string, { client, fetching }: Downloading): Promise<Row> {
  const path = pathOf(operationOf(documents, 'get'), id);
  const { data, requestId } = await client.request({
    method: 'GET',
    path,
    ...(fetching.signal && { signal: fetching.signal }),
  });
  if (isPlainObject(data)) return data;
  throw localFailure('response.malformed', `The server did not answer with document ${id}.`, { requestId });
}

/** Fetches the content of a document; an expired link is asked for again once (D38). */
export async function receive<T>(document: Row, downloading: Downloading, take: Take<T>): Promise<T> {
  const { client, fetching } = downloading;
  const fetchFrom = async (from: Row) =>
    fetchLink(readLink(linkOf(from, downloading.variant), client.baseUrl), fetching, take);
  try {
    return await fetchFrom(document);
  } catch (cause) {
    if (!(cause instanceof LinkRefused)) throw cause;
    return fetchFrom(await getDocument(String(document.id), downloading));
  }
}

function linkOf(document: Row, variant: Variant): unknown {
  const storage = isPlainObject(document.storage) ? document.storage : {};
  const there = VARIANTS.filter((name) => typeof storage[name] === 'string');
  if (there.includes(variant)) return storage[variant];
  const has = there.length === 0 ? 'nothing to download' : `only: ${there.join(', ')}`;
  throw new Failure(`Document ${document.id} has no ${variant}, ${has}.`, {
    code: 'record.not_found',
    exitCode: EXIT.notFound,
  });
}

/** Writes a document's content to a file, `label` in messages, that is there whole or not at all. Exit 9 when it exists and `force` is not given. */
export async function downloadTo(
  file: { readonly path: string; readonly label: string },
  document: Row,
  downloading: Downloading,
  force: boolean,
): Promise<Received> {
  await refuseExisting(file, force);
  return receive(document, downloading, async (chunks) => {
    const sink = (await openAtomicFile(file.path)) as unknown as ByteSink;
    try {
      const received = await pass(chunks, sink.write, downloading.onBytes);
      await refuseExisting(file, force);
      await sink.commit();
      return received;
    } catch (cause) {
      await sink.abort();
      throw cause;
    }
  });
}

/** The atomic file takes bytes as they are; the type of its sink names only text. */
interface ByteSink {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly commit: () => Promise<void>;
  readonly abort: () => Promise<void>;
}

/** Writes a document's content to a stream. Another attempt goes on where the last one stopped: content never changes. */
export async function downloadInto(
  write: (bytes: Uint8Array) => Promise<void>,
  document: Row,
  downloading: Downloading,
): Promise<Received> {
  let written = 0;
  return receive(document, downloading, (chunks) => {
    let passed = 0;
    return pass(chunks, async (bytes) => {
      const fresh = bytes.subarray(Math.max(0, written - passed));
      passed += bytes.length;
      if (fresh.length === 0) return;
      written += fresh.length;
      await write(fresh);
    });
  });
}

async function pass(
  chunks: AsyncIterable<Uint8Array>,
  write: (bytes: Uint8Array) => Promise<void>,
  onBytes?: (bytes: number) => void,
): Promise<Received> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    await write(chunk);
    hash.update(chunk);
    bytes += chunk.length;
    onBytes?.(chunk.length);
  }
  return { bytes, sha256: hash.digest('hex') };
}

/**
 * Throws exit 9 for a file that exists, unless it may be replaced. A symbolic link is never written through: the name
 * was the server's, and the link may lead anywhere.
 */
async function refuseExisting(
  { path, label }: { readonly path: string; readonly label: string },
  force: boolean,
): Promise<void> {
  const found = await lstat(path).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw fileFailure(`write ${label}`, cause);
  });
  if (found === undefined || (force && !found.isSymbolicLink())) return;
  const what = found.isSymbolicLink() ? 'is a symbolic link' : 'exists already';
  const hint = found.isSymbolicLink()
    ? 'Name another file with --out.'
    : 'Replace it with --force, or name another file with --out or --dir.';
  throw localFailure('local.file', `${label} ${what}.`, { source: label, hint });
}
