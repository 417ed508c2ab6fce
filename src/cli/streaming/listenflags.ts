import type { FlagInput } from '@oclif/core/interfaces';
import { usageFailure } from '../../core/failure.ts';
import { type Format, formatsFor, TERMINAL_FORMAT } from '../../core/output/formats.ts';
import { checkListenerName, isPosition } from '../../core/stream/positions.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { namedFormat } from '../flags/output.ts';
import { type FlagValues, textFlag, textFlags, wholeNumber } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';

const messages = flagGroup('MESSAGES');
const forwarding = flagGroup('FORWARDING');
const output = flagGroup('OUTPUT');
const broker = flagGroup('BROKER');
const connection = flagGroup('CONNECTION');

/** Flags of `molar stream listen`. */
export const listenFlags: FlagInput = {
  key: messages.list(
    'PATTERN',
    'Messages whose routing key fits, such as "*.*.PatientV1.*"; may be repeated; all when not given',
    {
      description:
        'A routing key is organization.location.domainType.operation. In a pattern * stands for one part, # for any number of parts.',
    },
  ),
  from: messages.text(
    'now|beginning|POSITION',
    'Where to begin: now (the default), at the oldest stored message, or at a position, such as the id of a message',
  ),
  limit: messages.text('N', 'Stop after N messages'),
  name: messages.text(
    'NAME',
    'Save the position under this name and resume there at the next start; --from applies to the first',
  ),
  'forward-to': forwarding.text('URL', 'POST each message as JSON to this address; retried until the response is 2xx', {
    exclusive: ['exec'],
  }),
  exec: forwarding.text(
    'COMMAND',
    'Run this command for each message, which it reads from standard input; retried until it exits with 0',
  ),
  format: output.text(
    formatsFor('messages').join('|'),
    'Format of the messages; table on a terminal, ndjson in a pipe, nothing with --forward-to or --exec there',
    { options: [...formatsFor('messages')] },
  ),
  json: output.toggle('Same as --format json: one array, closed at the end; errors are JSON too'),
  ...zoneFlags,
  amqp: broker.text(
    'URL',
    'Listen to a broker (amqps://user@host/vhost) instead of the API; MOLAR_AMQP_PASSWORD holds the password',
  ),
  exchange: broker.text('NAME', 'Topic exchange of the broker, molar.stream when not given', { dependsOn: ['amqp'] }),
  ...talkFlags,
  ...connectionFlags,
  'max-retries': connection.text(
    'N',
    'Abort after this many consecutive retries; by default only --exec aborts, after 5',
  ),
};

/** The flags of `molar stream listen`, checked. */
export interface ListenOptions {
  readonly keys: readonly string[];
  /** A position; 0: from the oldest stored message; undefined: from now on. */
  readonly from: string | undefined;
  readonly limit: number | undefined;
  readonly name: string | undefined;
  /** Undefined: messages are not printed. */
  readonly format: Format | undefined;
  readonly maxRetries: number | undefined;
}

/** Reads the flags. Throws a Failure (exit 2). */
export function readListenOptions(flags: FlagValues, isTTY: boolean): ListenOptions {
  const name = textFlag(flags, 'name');
  if (textFlag(flags, 'amqp') !== undefined && textFlag(flags, 'from') !== undefined) {
    throw usageFailure('--from goes with the stream of the API: a broker stores messages only for queues, by --name.', {
      source: '--from',
    });
  }
  return {
    keys: textFlags(flags, 'key'),
    from: readFrom(textFlag(flags, 'from')),
    limit: wholeNumber(flags, 'limit', 1, Number.MAX_SAFE_INTEGER),
    name: name === undefined ? undefined : checkListenerName(name, '--name'),
    format: readFormat(flags, isTTY),
    maxRetries: wholeNumber(flags, 'max-retries', 0, 100),
  };
}

function readFrom(text: string | undefined): string | undefined {
  if (text === undefined || text === 'now') return undefined;
  if (text === 'beginning') return '0';
  if (isPosition(text)) return text;
  throw usageFailure('--from must be now, beginning, a position or the id of a message.', { source: '--from' });
}

function readFormat(flags: FlagValues, isTTY: boolean): Format | undefined {
  const named = namedFormat(flags);
  if (named !== undefined || textFlag(flags, 'exec') !== undefined) return named;
  if (isTTY) return TERMINAL_FORMAT;
  return textFlag(flags, 'forward-to') === undefined ? 'ndjson' : undefined;
}
