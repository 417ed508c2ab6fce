import { expect } from 'vitest';
import type { Row, Table } from './row.ts';

/** The command fails, and its error names what the service does not have. */
function lacks(named: RegExp, line: Row['line']): Row {
  return { line, fails: true, check: (ran) => expect(ran.stderr).toMatch(named) };
}

/** Commands that need what the specification does not list. */
export const LACKING: Table = {
  'appointments list': lacks(/appointments/i, () => ['appointments', 'list']),
  'appointments get': lacks(/appointment/i, ({ first }) => ['appointments', 'get', first('appointments')]),
  'appointments create': lacks(/appointments/i, ({ first, location, service }) => [
    ...['appointments', 'create', '--start', '2026-11-24T09:00:00Z', '--patient', first('patients')],
    ...['--provider', String(service.practice.providers[0]?.id)],
    ...['--operatory', String(service.practice.operatories[0]?.id), '--set', `location=${location}`],
  ]),
  'appointments delete': lacks(/appointment/i, ({ first }) => [
    ...['appointments', 'delete', first('appointments'), '--yes'],
  ]),
  'reports collections': lacks(/appointments/i, () => ['reports', 'collections']),
  'transactiontags update': lacks(/tag/i, ({ first }) => [
    ...['transactiontags', 'update', first('transactiontags'), '--tag-text', 'Paid online'],
  ]),
  'stream listen': lacks(/stream/i, () => ['stream', 'listen', '--limit', '1']),
  'patients list --async': lacks(/stream/i, () => ['patients', 'list', '--async', '--format', 'ndjson']),
  'events list --async': lacks(/stream/i, () => ['events', 'list', '--async', '--format', 'ndjson']),
  'locationproductionnetschedule report --async': lacks(/stream/i, () => [
    ...[
      'locationproductionnetschedule',
      'report',
      '--from',
      '2026-03-02',
      '--range',
      '31',
      '--async',
      '--format',
      'ndjson',
    ],
  ]),
  'login with client credentials': {
    line: ({ service }) => [
      ...['login', '--url', service.url, '--organization', service.organization, '--allow-http'],
      ...['--client-id', 'reports', '--client-secret-stdin', '--profile', 'work'],
    ],
    stdin: 'secret\n',
    fails: true,
    check: (ran) => expect(ran.stderr).toMatch(/token/i),
  },
};
