import {
  CHANGE_OPERATIONS,
  DELIVERY_OPERATIONS,
  DOMAIN_TYPES,
  RESYNC,
  type StreamOperation,
} from '../../catalog/stream/domains.ts';
import { EVENT_STREAM_TYPE, NDJSON_TYPE, POSITION_HEADER } from '../../catalog/stream/messages.ts';
import { type Json, objectOf, ref } from './names.ts';
import { POSITION_SCHEMA, parameter } from './parameters.ts';
import { COMMON_FAILURES, refusals } from './responses.ts';
import { sampleId } from './samples.ts';

const ORGANIZATION = '5f0c1e2d3a4b5c6d7e8f9a0b';

const OPERATIONS: readonly StreamOperation[] = [...CHANGE_OPERATIONS, ...DELIVERY_OPERATIONS, RESYNC];

/** The envelope of a stream message (D40). */
export const STREAM_MESSAGE = objectOf(
  {
    id: {
      type: 'integer',
      format: 'int64',
      description: 'Increases in the order of commits; the position to resume from',
    },
    routingKey: { type: 'string', description: 'organizationId.locationId.domainType.operation' },
    organizationId: { type: 'string', description: 'Organization' },
    locationId: { type: 'string', description: 'Location id as text; * where the record has none' },
    domainType: { type: 'string', enum: [...DOMAIN_TYPES, '*'], description: 'Kind of record; * in a resync' },
    operation: { type: 'string', enum: OPERATIONS, description: 'What happened' },
    sendTime: { type: 'string', format: 'date-time', description: 'When it was committed' },
    correlationId: {
      type: ['string', 'null'],
      description: 'X-Correlation-ID of the async answer it belongs to; null for changes',
    },
    payload: {
      type: 'object',
      additionalProperties: true,
      description:
        'CREATE and READ: the record, a document without its download links. UPDATE: id, type where the record has one, and what changed. DELETE: id. Transactions always have their ledgerType. READ_COMPLETE: total, the number of records delivered. resync: requested and resumedAfter, message ids',
    },
  },
  'One message of the stream.',
);

/** A message, as an example. */
export const EXAMPLE_MESSAGE: Json = {
  id: 1042,
  routingKey: `${ORGANIZATION}.${sampleId('Location')}.PatientV1.UPDATE`,
  organizationId: ORGANIZATION,
  locationId: String(sampleId('Location')),
  domainType: 'PatientV1',
  operation: 'UPDATE',
  sendTime: '2026-03-02T16:41:09.882Z',
  correlationId: null,
  payload: { id: sampleId('PatientV1'), patientStatus: 'INACTIVE', lastModified: '2026-03-02T16:41:09.882Z' },
};

const DESCRIPTION = `Follow every change of the organization as it is committed, and what async endpoints deliver. The answer does not end.

Needs the scope \`model:read\`; it ends when the token expires or is revoked.

Server-Sent Events: \`id\` is the position, \`event\` the operation, \`data\` the message; a comment every 15 seconds keeps the connection. With \`Accept: ${NDJSON_TYPE}\` one message a line, and an empty line in place of the comment.

Messages come in the order of commits, each at least once. To resume, send the \`id\` of the last message seen. When messages after it are no longer kept, the first message is a \`resync\`: read the records again.`;

/** `GET /api/v1/stream` (D42). */
export const streamItem: Json = {
  get: {
    operationId: 'listenToStream',
    tags: ['stream'],
    summary: 'Follow changes as they are committed',
    description: DESCRIPTION,
    parameters: [
      parameter(
        'routingKey',
        'query',
        'Only messages whose routing key fits; may be repeated. Segments joined by dots: * stands for one, # for any number. Everything when not sent.',
        {
          style: 'form',
          explode: true,
          schema: { type: 'array', items: { type: 'string', maxLength: 255 } },
          example: [`${ORGANIZATION}.*.PatientV1.*`],
        },
      ),
      parameter(
        'lastEventId',
        'query',
        'Begin after this message; 0 for the oldest that is kept. Without it the stream begins now. The Last-Event-ID header wins.',
        { schema: POSITION_SCHEMA },
      ),
      parameter('Last-Event-ID', 'header', 'The same as lastEventId, as browsers send it when they connect again.', {
        schema: POSITION_SCHEMA,
      }),
      ref('parameters', 'OrganizationId'),
      ref('parameters', 'RequestId'),
    ],
    responses: {
      '200': {
        description: 'Messages, until either side ends it.',
        headers: {
          'X-Request-ID': ref('headers', 'RequestId'),
          [POSITION_HEADER]: {
            description: 'The message after which the stream begins.',
            schema: POSITION_SCHEMA,
          },
        },
        content: {
          [EVENT_STREAM_TYPE]: {
            schema: { type: 'string' },
            example: `id: ${EXAMPLE_MESSAGE.id}\nevent: ${EXAMPLE_MESSAGE.operation}\ndata: ${JSON.stringify(EXAMPLE_MESSAGE)}\n\n`,
          },
          [NDJSON_TYPE]: { schema: ref('schemas', 'StreamMessage'), example: EXAMPLE_MESSAGE },
        },
      },
      ...refusals([...COMMON_FAILURES, 'stream.position', 'stream.routing_key']),
    },
    security: [{ bearer: [] }, { clientCredentials: ['model:read'] }],
  },
};
