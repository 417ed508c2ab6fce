import { DOMAIN_TYPES } from '../../catalog/stream/domains.ts';
import type { Page } from './page.ts';

/** Messages, routing keys, positions and handing on of `molar stream listen` (D40–D42). */
export const STREAM: Page = {
  name: 'stream',
  about: 'messages of the streaming channel, routing keys, and how to miss none',
  sections: [
    {
      heading: 'Messages',
      blocks: [
        'Every change of a record is a message, in the order of the changes. molar prints them as they are:',
        {
          rows: [
            ['id', 'Number of the message: later ones are higher.'],
            ['routingKey', 'organizationId.locationId.domainType.operation'],
            ['locationId', 'Location of the record, * where it has none.'],
            ['domainType', `What the record is: ${DOMAIN_TYPES.join(', ')}.`],
            ['operation', 'What happened, see below.'],
            ['sendTime', 'When, UTC.'],
            ['correlationId', 'Delivery that it belongs to; null for a change.'],
            ['payload', 'What there is to know, by operation.'],
          ],
        },
        {
          rows: [
            ['CREATE', 'The whole record.'],
            ['UPDATE', 'Its id, its type if it has one, and the fields that changed.'],
            ['DELETE', 'Its id; of a transaction the ledgerType too.'],
            ['READ', 'A record that an async endpoint delivers (list --async).'],
            ['READ_COMPLETE', 'The end of such a delivery, and the total.'],
            [
              'resync',
              'Messages are gone: they were older than the server keeps them, or its data was put back. Read again what you keep a copy of.',
            ],
          ],
        },
      ],
    },
    {
      heading: 'Keys',
      blocks: [
        'A --key is a routing key in which * stands for one part and # for any number of parts. A message that fits one of the keys comes.',
        {
          code: [
            "molar stream listen --key '*.*.PatientV1.*'",
            "molar stream listen --key '*.1000000000001.#' --key '*.*.DocumentV1.CREATE'",
          ],
        },
      ],
    },
    {
      heading: 'Missing nothing',
      blocks: [
        'A lost connection is made again, for as long as it takes, behind the last message dealt with. --name NAME keeps that position, so that a listener that was stopped or killed goes on there; one listener at a time can have a name. Every message comes at least once: after a crash the last ones may come again, with the same id.',
        {
          code: [
            'molar stream listen --name mirror --from beginning --format ndjson >> changes.ndjson',
            'molar stream listen --name mirror --forward-to https://hooks.example.com/molar',
          ],
        },
      ],
    },
    {
      heading: 'Handing on',
      blocks: [
        '--forward-to POSTs each message as JSON, one after the other. X-Message-ID tells its id, so that the receiver can drop what it has had. The position moves once the receiver answers 2xx; anything else is tried again for ever, with pauses of up to 20 s, or as often as --max-retries says. No token is sent. Plain http:// goes to this machine only, or with --allow-http.',
        '--exec runs a command for each message, which it reads from standard input. Exit 0 means taken; anything else is tried again 5 times, or as often as --max-retries says, then molar ends with 6. The command finds MOLAR_MESSAGE_ID, MOLAR_MESSAGE_ROUTING_KEY, MOLAR_MESSAGE_DOMAIN_TYPE, MOLAR_MESSAGE_OPERATION and MOLAR_MESSAGE_RECORD_ID in its environment.',
        'With either, messages are printed too where --format is given or, with --forward-to, standard output is a terminal.',
        {
          code: ["molar stream listen --key '*.*.DocumentV1.CREATE' --exec 'jq -r .payload.name >> names.txt'"],
        },
      ],
    },
    {
      heading: 'From a broker',
      blocks: [
        'molar serve --amqp brings the same messages to a topic exchange. --amqp listens there, without the API: with --name to a durable queue molar.NAME, which holds what comes while nobody listens, otherwise to what comes from now on. MOLAR_AMQP_PASSWORD is the password of a user name that stands in the address alone.',
        { code: ['MOLAR_AMQP_PASSWORD=… molar stream listen --amqp amqps://reader@broker.example.com --name mirror'] },
      ],
    },
    {
      heading: 'A service without such a stream',
      blocks: [
        'The specification leaves the transport of the channel open: GET /api/v1/stream and the X-Correlation-ID of async answers are what molar serve has. Where a service lacks them, list --async ends with stream.unavailable (exit 5) and says what to run instead.',
      ],
    },
  ],
};
