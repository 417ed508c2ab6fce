import { describe, expect, it } from 'vitest';
import type { StreamMessage } from '../../../src/catalog/stream/messages.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { jsonMessages, type MessageFormatter, ndjsonMessages } from '../../../src/core/stream/messageforms.ts';
import { tableMessages } from '../../../src/core/stream/messagetable.ts';
import { messageOf } from './messages.ts';

const messages = [
  messageOf(41),
  messageOf(1234567, {
    domainType: 'PatientInsurancePlanV1',
    operation: 'READ_COMPLETE',
    locationId: '*',
    payload: { total: 12 },
  }),
  messageOf(43, {
    locationId: '1000000000001',
    payload: { id: 1, type: 'PatientV1', 'a\u001b[31m': 1, lastModified: 'x' },
  }),
];

function written(form: MessageFormatter, given: readonly StreamMessage[] = messages): string {
  return given.map((message) => form.message(message, JSON.stringify(message))).join('') + form.end();
}

describe('messages as text', () => {
  it('are lines of JSON, as they came', () => {
    expect(
      written(ndjsonMessages())
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    ).toEqual(messages);
    expect(written(ndjsonMessages(), [])).toBe('');
  });

  it.each([0, 1, 3])('are one JSON array: %i', (count) => {
    const given = messages.slice(0, count);
    const text = written(jsonMessages(), given);
    expect(JSON.parse(text)).toEqual(given);
    expect(text.split('\n')).toHaveLength(count === 0 ? 2 : count + 3);
  });
});

const clock = new LocalClock('America/Denver');

describe('the table of messages', () => {
  it('tells what happened to which record, a line a message', () => {
    const lines = written(tableMessages({ clock, width: undefined })).split('\n');
    expect(lines.map((line) => line.split(/\s{2,}/).filter((cell) => cell !== ''))).toEqual([
      ['sendTime', 'operation', 'domainType', 'payload.id', 'id', 'locationId', 'payload'],
      [19, 13, 22, 14, 9, 14, 60].map((width) => '─'.repeat(width)),
      ['2026-03-02 05:00', 'UPDATE', 'PatientV1', '7041', '41', '5', 'lastName'],
      ['2026-03-02 05:00', 'READ_COMPLETE', 'PatientInsurancePlanV1', '1234567', '*', 'total 12'],
      ['2026-03-02 05:00', 'UPDATE', 'PatientV1', '1', '43', '1000000000001', 'a\ufffd[31m'],
      [],
    ]);
  });

  it.each([
    [20, 1],
    [60, 3],
    [80, 4],
    [100, 5],
    [120, 6],
    [140, 7],
    [200, 7],
  ])('keeps to a terminal of %i columns', (width, columns) => {
    const long = messageOf(44, {
      payload: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, 1])),
    });
    const lines = written(tableMessages({ clock, width }), [...messages, long]).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(lines[1]?.split('  ')).toHaveLength(columns);
  });
});
