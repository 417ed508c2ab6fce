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
const many = messageOf(44, {
  payload: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, 1])),
});

describe('the table of messages', () => {
  it('tells what happened to which record, a line a message', () => {
    const counts = [
      messageOf(2, { sendTime: '2026-11-01T08:00:15.000Z', locationId: '9'.repeat(15), payload: { total: 1, sum: 2 } }),
      messageOf(3, { payload: { note: 'x' } }),
    ];
    const names = Object.keys(many.payload).join(', ');
    expect(written(tableMessages({ clock, width: undefined }), [...messages, ...counts, many])).toBe(
      [
        'sendTime             operation      domainType              payload.id             id  locationId      payload',
        `${[19, 13, 22, 14, 9, 14, 60].map((width) => '─'.repeat(width)).join('  ')}`,
        '2026-03-02 05:00     UPDATE         PatientV1               7041                   41  5               lastName',
        '2026-03-02 05:00     READ_COMPLETE  PatientInsurancePlanV1                    1234567  *               total 12',
        '2026-03-02 05:00     UPDATE         PatientV1               1                      43  1000000000001   a\ufffd[31m',
        '2026-11-01 01:00:15 -07:00  UPDATE         PatientV1                                       2  999999999999999  total, sum',
        '2026-03-02 05:00     UPDATE         PatientV1                                       3  5               note',
        `2026-03-02 05:00     UPDATE         PatientV1                                      44  5               ${names}`,
        '',
      ].join('\n'),
    );
  });

  it('is read more easily with every second line faint', () => {
    const style = (look: string, text: string) => `${look}(${text.split(' ', 1)[0]?.slice(0, 2)})`;
    const text = written(tableMessages({ clock, width: undefined, style }), [...messages, many]);
    expect(text.split('\n').map((line) => line.split(' ', 1)[0])).toEqual([
      ...['heading(se)', 'faint(──)', '2026-03-02', 'faint(20)', '2026-03-02', 'faint(20)', ''],
    ]);
  });

  // The first is there in any case, and the last is with twenty columns.
  it.each([
    ...[
      [18, 1],
      [33, 1],
      [34, 2],
      [57, 2],
      [58, 3],
      [73, 3],
      [74, 4],
      [84, 4],
      [85, 5],
      [100, 5],
      [101, 6],
    ],
    ...[
      [122, 6],
      [123, 7],
      [200, 7],
    ],
  ] as const)('keeps to a terminal of %i columns', (width, columns) => {
    const long = { ...many, locationId: '9'.repeat(15) };
    const lines = written(tableMessages({ clock, width }), [...messages, long]).split('\n');
    expect(lines[0]).toMatch(/^sendTime/);
    expect(lines[1]?.split('  ')).toHaveLength(columns);
    const widest = Math.max(...lines.map((line) => line.length));
    if (columns === 7) expect(widest).toBe(width);
    else expect(widest).toBeLessThanOrEqual(Math.max(width, 19));
  });

  it('truncates no time, though an hour that comes twice takes more room', () => {
    const twice = messageOf(1, { sendTime: '2026-11-01T08:00:15.000Z' });
    expect(written(tableMessages({ clock, width: 40 }), [twice]).split('\n')[2]).toBe(
      '2026-11-01 01:00:15 -07:00  UPDATE',
    );
  });
});
