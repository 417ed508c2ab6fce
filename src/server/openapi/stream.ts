import {
  CHANGE_OPERATIONS,
  DELIVERY_OPERATIONS,
  DOMAIN_TYPES,
  RESYNC,
  type StreamOperation,
} from '../../catalog/stream/domains.ts';
import { EVENT_STREAM_TYPE, NDJSON_TYPE, POSITION_HEADER } from '../../catalog/stream/messages.ts';
import { type Json, objectOf, ref } from './names.ts';
import { parameter } from './parameters.ts';
import { COMMON_FAILURES, refusals } from './responses.ts';
import { sampleId } from './samples.ts';

/** A position as the stream gives it, the id of a message, or 0 (D53). */
const POSITION_SCHEMA: Json = { type: 'string', pattern: '^([0-9a-f]{8}-)?[0-9]{1,16}$' };

/** The epoch of the example. */
const EPOCH = '9d3c51b7';

const ORGANIZATION = '5f0c1e2d3a4b5c6d7e8f9a0b';

const OPERATIONS: readonly StreamOperation[] = [...CHANGE_OPERATIONS, ...DELIVERY_OPERATIONS, RESYNC];

/** The envelope of a stream message (D40). */
export const STREAM_MESSAGE = objectOf(
  {
    id: {
      type: 'integer',
      format: 'int64',
      description: 'Number of the message in its organization; increases in commit order',
    },
    routingKey: { type: 'string', description: 'organizationId.locationId.domainType.operation' },
    organizationId: { type: 'string', description: 'Organization' },
    locationId: { type: 'string', description: 'Location id as text; * where the record has none' },
    domainType: { type: 'string', enum: [...DOMAIN_TYPES, '*'], description: 'Kind of record; * in a resync' },
    operation: { type: 'string', enum: OPERATIONS, description: 'What happened' },
    sendTime: { type: 'string', format: 'date-time', description: 'When it was committed' },
    correlationId: {
      type: ['string', 'null'],
      description: 'X-Correlation-ID of the async response it belongs to; null for changes',
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

const DESCRIPTION = `Follow every change in the organization as it is committed, and the records that async endpoints deliver. The response does not end.

Requires the scope \`model:read\`; the stream ends when the token expires or is revoked.

Server-Sent Events: \`id\` is the position, \`event\` the operation, \`data\` the message; a comment every 15 seconds keeps the connection open. With \`Accept: ${NDJSON_TYPE}\`: one message per line, and an empty line instead of the comment.

Messages arrive in commit order, each at least once. To resume, send the \`id\` of the last event received; from NDJSON, the \`id\` of the last message. When messages after it have been deleted, or the server's data was restored or lost its newest part since, the first message is a \`resync\`: read the records again.`;

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
        'Only messages whose routing key matches; may be repeated. Segments are separated by dots: * matches one, # any number. All messages when not sent.',
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
        'Start at this position, the id of an event or of a message; 0 for the oldest message stored. Without it the stream starts now. The Last-Event-ID header takes precedence.',
        { schema: POSITION_SCHEMA },
      ),
      parameter('Last-Event-ID', 'header', 'The same as lastEventId, sent by browsers when they reconnect.', {
        schema: POSITION_SCHEMA,
      }),
      ref('parameters', 'OrganizationId'),
      ref('parameters', 'RequestId'),
    ],
    responses: {
      '200': {
        description: 'Messages, until either side closes the connection.',
        headers: {
          'X-Request-ID': ref('headers', 'RequestId'),
          [POSITION_HEADER]: {
            description: 'The position at which the stream starts.',
            schema: POSITION_SCHEMA,
          },
        },
        content: {
          [EVENT_STREAM_TYPE]: {
            schema: { type: 'string' },
            example: `id: ${EPOCH}-${EXAMPLE_MESSAGE.id}\nevent: ${EXAMPLE_MESSAGE.operation}\ndata: ${JSON.stringify(EXAMPLE_MESSAGE)}\n\n`,
          },
          [NDJSON_TYPE]: { schema: ref('schemas', 'StreamMessage'), example: EXAMPLE_MESSAGE },
        },
      },
      ...refusals([...COMMON_FAILURES, 'stream.position', 'stream.routing_key']),
    },
    security: [{ bearer: [] }, { clientCredentials: ['model:read'] }],
  },
};
