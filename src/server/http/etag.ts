import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../../catalog/define.ts';
import { documents } from '../../catalog/resources/documents.ts';

/** Their responses hold download links: each response has others, and they end. */
const WITH_LINKS: ReadonlySet<string> = new Set(Object.values(documents.operations).map(({ id }) => id));

/** Whether an operation's responses hold download links. */
export function hasLinks({ id }: Operation): boolean {
  return WITH_LINKS.has(id);
}

/** Whether an operation's responses have an ETag: those of reads do, unless they are different each time (contract §6). */
export function isTagged(operation: Operation): boolean {
  return operation.method === 'GET' && operation.shape !== 'async' && !hasLinks(operation);
}

/** Hashing larger responses, such as a page of a hundred patients, would make them a fifth slower: they have a tag on request. */
const MAX_UNASKED_BYTES = 8 * 1024;

/**
 * Gives a response its ETag, and says whether the caller has this very response (`If-None-Match`, RFC 9110, 13.1.2). It
 * is made from the response itself: what a read says also depends on the clock and on what the caller may see, and
 * several servers agree without asking each other. Weak, because the same response may be compressed.
 */
export function isKnown(request: FastifyRequest, reply: FastifyReply, body: string | Buffer): boolean {
  const asked = request.headers['if-none-match'];
  if (asked === undefined && body.length > MAX_UNASKED_BYTES) return false;
  const tag = hash('sha1', body, 'base64');
  reply.header('etag', `W/"${tag}"`);
  return asked?.trim() === '*' || asked?.match(/"[^"]*"/g)?.includes(`"${tag}"`) === true;
}
