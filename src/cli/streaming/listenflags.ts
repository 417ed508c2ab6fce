import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { usageFailure } from '../../core/failure.ts';
import { type Format, formatsFor, TERMINAL_FORMAT } from '../../core/output/formats.ts';
import { checkListenerName } from '../../core/stream/positions.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { wholeNumber } from '../flags/numbers.ts';
import { namedFormat } from '../flags/output.ts';
import { type FlagValues, textFlag, textFlags } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';

const choice = { helpGroup: 'MESSAGES' };
const handing = { helpGroup: 'HANDING ON' };
const output = { helpGroup: 'OUTPUT' };
const broker = { helpGroup: 'BROKER' };

/** Flags of `molar stream listen`. */
export const listenFlags: FlagInput = {
  key: Flags.string({
    ...choice,
    helpValue: 'PATTERN',
    multiple: true,
    multipleNonGreedy: true,
    summary: "Messages whose routing key fits, such as '*.*.PatientV1.*'; may be repeated; all when not given",
    description:
      'A routing key is organization.location.domainType.operation. In a pattern * stands for one part, # for any number of parts.',
  }),
  from: Flags.string({
    ...choice,
    helpValue: 'now|beginning|ID',
    summary: 'Where to begin: now (the default), at the oldest message kept, or behind the message with this id',
  }),
  limit: Flags.string({ ...choice, helpValue: 'N', summary: 'End after N messages' }),
  name: Flags.string({
    ...choice,
    helpValue: 'NAME',
    summary: 'Keep the position under this name, and go on there at the next start; --from counts at the first',
  }),
  'forward-to': Flags.string({
    ...handing,
    helpValue: 'URL',
    exclusive: ['exec'],
    summary: 'POST each message as JSON to this address, again and again until it answers 2xx',
  }),
  exec: Flags.string({
    ...handing,
    helpValue: 'COMMAND',
    summary: 'Run this command for each message, which it reads from standard input; other than exit 0 is tried again',
  }),
  format: Flags.string({
    ...output,
    helpValue: formatsFor('messages').join('|'),
    options: formatsFor('messages'),
    summary: 'Form of the messages; table on a terminal, ndjson in a pipe, nothing with --forward-to or --exec there',
  }),
  json: Flags.boolean({
    ...output,
    summary: 'Same as --format json: one array, closed at the end; errors are JSON too',
  }),
  ...zoneFlags,
  amqp: Flags.string({
    ...broker,
    helpValue: 'URL',
    summary: 'Listen to a broker (amqps://user@host/vhost) in place of the API; MOLAR_AMQP_PASSWORD holds the password',
  }),
  exchange: Flags.string({
    ...broker,
    helpValue: 'NAME',
    dependsOn: ['amqp'],
    summary: 'Topic exchange of the broker, molar.stream when not given',
  }),
  ...talkFlags,
  ...connectionFlags,
  'max-retries': Flags.string({
    helpGroup: 'CONNECTION',
    helpValue: 'N',
    summary: 'Give up after so many retries in a row; by default only --exec gives up, after 5',
  }),
};

/** What the flags of `molar stream listen` ask for, checked. */
export interface ListenWishes {
  readonly keys: readonly string[];
  /** 0: the oldest kept; undefined: what comes from now on. */
  readonly from: number | undefined;
  readonly limit: number | undefined;
  readonly name: string | undefined;
  /** Undefined: messages are not printed. */
  readonly format: Format | undefined;
  readonly maxRetries: number | undefined;
}

/** Reads the flags. Throws a Failure (exit 2). */
export function readListenWishes(flags: FlagValues, isTTY: boolean): ListenWishes {
  const name = textFlag(flags, 'name');
  if (textFlag(flags, 'amqp') !== undefined && textFlag(flags, 'from') !== undefined) {
    throw usageFailure('--from goes with the stream of the API: a broker keeps messages only for queues, by --name.', {
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

function readFrom(text: string | undefined): number | undefined {
  if (text === undefined || text === 'now') return undefined;
  if (text === 'beginning') return 0;
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw usageFailure('--from must be now, beginning or the id of a message.', { source: '--from' });
}

function readFormat(flags: FlagValues, isTTY: boolean): Format | undefined {
  const named = namedFormat(flags);
  if (named !== undefined || textFlag(flags, 'exec') !== undefined) return named;
  if (isTTY) return TERMINAL_FORMAT;
  return textFlag(flags, 'forward-to') === undefined ? 'ndjson' : undefined;
}
