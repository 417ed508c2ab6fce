import { localFailure } from '../../failure.ts';
import { retryDelay } from '../../transport/retry.ts';
import { type ToldDigest, toldDigest } from '../links/contentdigest.ts';
import type { DocumentLink } from '../links/documentlink.ts';
import {
  attemptLink,
  type Ended,
  type LinkAnswer,
  type LinkFetching,
  LinkRefused,
  lengthOf,
  UntrustedContent,
  wholeOf,
} from '../links/linkattempt.ts';
import { continuedLength, rangeHeaders, validatorOf } from './contentrange.ts';
import type { PartFile } from './partfile.ts';

/** What came in: its size in bytes and its SHA-256 in hex. */
export interface Received {
  readonly bytes: number;
  readonly sha256: string;
}

/** An attempt that brought so many bytes more counts as the first again: a line that is cut all the time gets there. */
const PROGRESS = 256 * 1024;

/**
 * Brings a part to the whole file: behind what is there where the server allows it, from the start where the file is
 * another by now. Size and hash are checked where the server tells them, and a link that has expired is asked for
 * again. Throws a Failure after as many retries as a GET has; the part then holds what came.
 */
export async function receiveFile(
  part: PartFile,
  link: DocumentLink,
  fetching: LinkFetching,
  onBytes?: (bytes: number) => void,
): Promise<Received> {
  let best = part.size;
  for (let failed = 0; ; ) {
    const ended = await receiveOnce(part, link, fetching, onBytes);
    if ('value' in ended) return { bytes: part.size, sha256: part.sha256() };
    if (part.size - best >= PROGRESS) {
      best = part.size;
      failed = 0;
    }
    if (ended.failure instanceof LinkRefused) {
      const { guid } = link;
      await link.renew(ended.failure);
      if (link.guid !== guid) await part.begin(undefined);
      continue;
    }
    failed++;
    if (!ended.again || failed > fetching.retry.maxRetries) throw ended.failure;
    await fetching.clock.sleep(retryDelay(failed, fetching.retry, fetching.random, ended.retryAfter), fetching.signal);
  }
}

async function receiveOnce(
  part: PartFile,
  link: DocumentLink,
  fetching: LinkFetching,
  onBytes?: (bytes: number) => void,
): Promise<Ended<true>> {
  const { validator } = part;
  // Of a part that has every byte the last one is asked for again: the answer tells whether the file is still that one.
  const from = part.canGoOn && validator !== undefined ? Math.min(part.size, validator.total - 1) : 0;
  const asked =
    validator === undefined || from === 0
      ? { statuses: [200] }
      : { headers: rangeHeaders(from, validator), statuses: [200, 206, 416] };
  const ended = await attemptLink(link.url(), fetching, asked, async (answer) => {
    link.worked();
    const chunks = await bodyOf(answer, part, from);
    for await (const chunk of chunks) {
      await part.write(chunk);
      onBytes?.(chunk.byteLength);
    }
    return toldDigest(answer.status, answer.headers);
  });
  if (!('value' in ended)) {
    if (ended.failure.cause instanceof UntrustedContent) await part.begin(undefined);
    return ended;
  }
  return checked(part, ended.value);
}

/** The bytes to write, the part made ready for them. */
async function bodyOf(answer: LinkAnswer, part: PartFile, from: number): Promise<AsyncIterable<Uint8Array>> {
  const { status, headers, chunks } = answer;
  if (status === 200) {
    await part.begin(validatorOf(headers));
    return wholeOf(chunks, lengthOf(headers));
  }
  const length = status === 206 && part.validator ? continuedLength(from, part.validator, headers) : undefined;
  if (length === undefined) throw new UntrustedContent('The file changed on the server while it was being downloaded.');
  await part.keepFirst(from);
  return wholeOf(chunks, length);
}

async function checked(part: PartFile, told: ToldDigest | undefined): Promise<Ended<true>> {
  const total = part.validator?.total ?? part.size;
  if (part.size < total) {
    const message = `The download ended after ${part.size} of ${total} bytes.`;
    return { failure: localFailure('network.unreachable', message), again: true };
  }
  if (told === undefined) return { value: true };
  const found = told.algorithm === 'sha256' ? part.sha256() : await part.digest(told.algorithm);
  if (found === told.value) return { value: true };
  await part.begin(undefined);
  const message = `The content that came has not the ${NAMES[told.algorithm]} that the server tells of it.`;
  return { failure: localFailure('network.unreachable', message), again: true };
}

const NAMES = { sha256: 'SHA-256', sha512: 'SHA-512', md5: 'MD5' } as const;
