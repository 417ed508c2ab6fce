import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import { refusal } from '../../catalog/failures.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import { type MimeType, mediaTypeOf } from '../../catalog/resources/documentnames.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { nowOf } from '../clock.ts';
import { fileName } from '../files/files.ts';
import { linkHolder } from '../files/signing.ts';
import { findOrganization } from '../organizations.ts';
import { notFound } from '../requests.ts';
import type { DocumentRow } from '../resources/documents.ts';
import type { Service } from '../service.ts';
import { findRecord } from '../store/records.ts';

interface FileParams {
  readonly organization: string;
  readonly document: string;
  readonly variant: string;
}

/** Signed download links (D38): no token, valid for 15 minutes, ranges supported. */
export function mountFiles(app: FastifyInstance, service: Service): void {
  app.get<{ Params: FileParams; Querystring: Record<string, string> }>(
    '/files/:organization/documents/:document/:variant',
    async (request, reply) => {
      const { organization, variant } = request.params;
      const document = asId(request.params.document) ?? 0;
      const who = await linkHolder(service, { organization, document, variant }, request.query);
      const owner = await findOrganization(service.store.read, organization);
      const row = owner && (await findRecord<DocumentRow>(service.store.read, owner, documents, document));
      if (owner === undefined || row === undefined || !row.variants.split(',').includes(variant))
        throw notFound(documents.one, document);
      service.budgets.answers.begin(owner.org, reply.raw);
      await service.reads.disclose({
        org: owner.org,
        at: nowOf(service),
        actor: { who, address: request.ip, requestId: request.id },
        operation: 'files.get',
        ids: [document],
        patients: row.patient == null ? [] : [row.patient],
        via: 'link',
      });
      return sendFile(service, row, variant, request, reply);
    },
  );
}

async function sendFile(
  { files }: Service,
  row: DocumentRow,
  variant: string,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const name = fileName(row.guid, variant);
  const record = JSON.parse(row.json) as { name: string; mimeType: MimeType };
  const size = await files.size(name);
  if (size === undefined) throw refusal('server.unexpected', null, 'The file of this document is missing.');
  // A stored file never changes, so its name identifies its content.
  const tag = `"${name}"`;
  const condition = request.headers['if-range'];
  const range = condition === undefined || condition === tag ? requestedRange(request.headers.range, size) : undefined;
  // Opened before any header is set: an unreachable storage is reported as a failure, not as part of the file.
  const content = range === 'unsatisfiable' ? undefined : await files.open(name, range);
  reply.type(mediaTypeOf(record.mimeType));
  reply.header('content-disposition', contentDisposition(record.name, { type: 'attachment' }));
  reply.header('accept-ranges', 'bytes');
  reply.header('etag', tag);
  reply.header('cache-control', 'private, no-store');
  if (range === 'unsatisfiable')
    return reply.code(416).header('content-range', `bytes */${size}`).type('text/plain').send('');
  // `Repr-Digest` (RFC 9530) of the complete file, ranges included; of a variant no hash is stored.
  if (variant === 'original') {
    reply.header('repr-digest', `sha-256=:${Buffer.from(row.sha256, 'hex').toString('base64')}:`);
  }
  reply.header('content-length', range === undefined ? size : range.end - range.start + 1);
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
  return reply.send(content);
}

/** One byte range; several ranges, or another unit, get the complete file, as HTTP allows. */
function requestedRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  if (header === undefined) return undefined;
  // A suffix longer than the file means all of it (RFC 9110, 14.1.2); the parser finds it unsatisfiable.
  const suffix = /^bytes=-(\d+)$/.exec(header.trim())?.[1];
  if (suffix !== undefined && Number(suffix) > size && size > 0) return { start: 0, end: size - 1 };
  const ranges = parseRange(size, header);
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}
