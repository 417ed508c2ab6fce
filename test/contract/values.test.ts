import { describe, expect, it } from 'vitest';
import { refusalOf, rowOf, sourcesOf } from '../support/calls.ts';
import { NOWHERE } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { newBody, operations } from './operations.ts';
import { rowsFor, type Sender } from './senders.ts';

const service = sharedService();

let turns = 0;
/** A character that no test used before, of one UTF-16 unit or of two: some texts must be unique. */
const han = () => String.fromCodePoint(0x4e00 + ++turns);
const emoji = () => String.fromCodePoint(0x20000 + ++turns);

async function refuses(sender: Sender, name: string, values: readonly unknown[], at = name): Promise<void> {
  for (const value of values) {
    const called = await sender.send(name, value);
    expect(called.status, `${name}: ${JSON.stringify(value)}`).toBe(400);
    expect(new Set(sourcesOf(called)), JSON.stringify(value)).toEqual(new Set([at]));
  }
}

async function stores(
  sender: Sender,
  name: string,
  pairs: readonly (readonly [sent: unknown, kept: unknown])[],
): Promise<void> {
  for (const [sent, kept] of pairs) {
    const called = await sender.send(name, sent);
    expect(called.status, called.text).toBeLessThan(300);
    expect(rowOf(called)[name], JSON.stringify(sent)).toEqual(kept);
  }
}

describe.each(operations('create'))('values of %s', (_id, tested) => {
  const { fixture } = tested;
  // A stored file name has its extension behind the text that was sent (D36).
  const kept = (name: string, text: string) => (name === 'name' ? `${text}.pdf` : text);

  it.each(rowsFor(service, tested, fixture.lengths))(
    '%s: length in code points, after trimming (D9)',
    async (_name, sender, [name, min, max]) => {
      for (const length of new Set([min, max])) {
        const [one, two, three] = [han(), han(), emoji()].map((unit) => unit.repeat(length)) as [
          string,
          string,
          string,
        ];
        await stores(sender, name, [
          [one, kept(name, one)],
          [` \t${two}\n `, kept(name, two)],
          [three, kept(name, three)],
        ]);
      }
      await refuses(sender, name, ['x'.repeat(max + 1), emoji().repeat(max + 1)]);
      if (min > 0) await refuses(sender, name, ['', '  ', 'x'.repeat(min - 1)]);
    },
  );

  it.each(rowsFor(service, tested, fixture.lengths))(
    '%s: text only, without half characters or any that drives a terminal',
    async (_name, sender, [name]) => {
      await refuses(sender, name, [
        5,
        true,
        [],
        {},
        'abc\0def',
        'abcde\ud83e',
        'abc\x07def',
        'abc\x1b[2J',
        '\x0babcde',
        'abc\x9bdef',
      ]);
    },
  );

  it.each(rowsFor(service, tested, fixture.choices))(
    '%s: listed values in any letter case (D8)',
    async (_name, sender, [name, values]) => {
      const written = [
        (value: string) => value,
        (value: string) => value.toLowerCase(),
        (value: string) => ` ${value.toUpperCase()} `,
      ];
      const few = values.length > 4 ? 1 : 3;
      const pairs = values.flatMap((value, index) =>
        written.slice(0, few).map((_, turn) => [written[(index + turn) % 3]?.(value), value] as const),
      );
      await stores(sender, name, pairs);
      for (const wrong of ['NOSUCH', '', `${values[0]}x`, 'toString']) {
        const called = await sender.send(name, wrong);
        expect(refusalOf(called)).toEqual({ status: 400, errors: [`field.choice ${name}`] });
        for (const value of values) expect(called.body.errors[0]?.description).toContain(value);
      }
      await refuses(sender, name, [5, true, [values[0]], {}]);
    },
  );

  it.each(rowsFor(service, tested, fixture.links))(
    '%s: links by number or numeric text (D1)',
    async (_name, sender, [name, here, elsewhere]) => {
      await stores(sender, name, [
        [{ id: here }, { id: here }],
        [{ id: String(here) }, { id: here }],
      ]);
      await refuses(
        sender,
        name,
        [
          { id: NOWHERE },
          { id: elsewhere },
          { id: 'abc' },
          { id: 0 },
          { id: -1 },
          { id: 1.5 },
          { id: 2 ** 53 },
          { id: null },
        ],
        `${name}.id`,
      );
      await refuses(sender, name, [here, String(here), [], [{ id: here }], {}, 'x']);
      await refuses(sender, name, [{ id: here, nosuch: 1 }], `${name}.nosuch`);
    },
  );

  it.each(rowsFor(service, tested, fixture.ranges))(
    '%s: numbers in their range',
    async (_name, sender, [name, min, max]) => {
      const least = min ?? -1000;
      const most = max ?? 1_000_000;
      await stores(
        sender,
        name,
        [least, most, least + 1].flatMap(
          (value) =>
            [
              [value, value],
              [String(value), value],
            ] as const,
        ),
      );
      if (min !== null) await refuses(sender, name, [min - 1, String(min - 1)]);
      if (max !== null) await refuses(sender, name, [max + 1, 1e300]);
      await refuses(sender, name, ['abc', '', true, [], {}, '1e3', '0x5']);
    },
  );

  it.each(
    rowsFor(
      service,
      tested,
      fixture.dates?.map((name) => [name] as const),
    ),
  )('%s: dates that exist', async (_name, sender, [name]) => {
    await stores(sender, name, [
      ['2024-02-29', '2024-02-29'],
      ['0001-01-01', '0001-01-01'],
      [' 9999-12-31 ', '9999-12-31'],
    ]);
    await refuses(sender, name, [
      '2023-02-29',
      '1900-02-29',
      '2024-13-01',
      '2024-00-10',
      '2024-04-31',
      '24-01-01',
      '2024-1-1',
      '01/02/2024',
      '2024-01-01T00:00:00Z',
      '0000-01-01',
      '',
      20240101,
      {},
    ]);
  });

  it.each(
    rowsFor(
      service,
      tested,
      fixture.dateTimes?.map((name) => [name] as const),
    ),
  )('%s: date-times, emitted in UTC (D7)', async (_name, sender, [name]) => {
    await stores(sender, name, [
      ['2026-03-02T14:30:00Z', '2026-03-02T14:30:00.000Z'],
      ['2026-03-02T14:30:00.123456789Z', '2026-03-02T14:30:00.123Z'],
      ['2026-03-02 14:30:00.5-07:00', '2026-03-02T21:30:00.500Z'],
      ['2026-03-02T14:30+0530', '2026-03-02T09:00:00.000Z'],
    ]);
    await refuses(sender, name, [
      '2026-02-30T00:00:00Z',
      '2026-03-02',
      '14:30',
      '2026-03-02T25:00:00Z',
      '2026-03-02T14:60:00Z',
      'now',
      '',
      1772461800,
      {},
    ]);
  });

  it.each(
    rowsFor(
      service,
      tested,
      fixture.booleans?.map((name) => [name] as const),
    ),
  )('%s: true or false', async (_name, sender, [name]) => {
    await stores(sender, name, [
      [false, false],
      [true, true],
    ]);
    await refuses(sender, name, ['true', 1, 0, '', {}, []]);
  });

  it('reports everything that is wrong with a body together', async () => {
    const wrong = [
      ...(fixture.lengths ?? []).map(([name, , max]) => [name, 'x'.repeat(max + 1)] as const),
      ...(fixture.choices ?? []).map(([name]) => [name, 'NOSUCH'] as const),
      ...(fixture.links ?? []).map(([name]) => [name, { id: NOWHERE }] as const),
      ['nosuch', 1] as const,
    ];
    const called = await service.call('POST', tested.operation.path, {
      body: { ...newBody(tested), ...Object.fromEntries(wrong) },
    });
    const links = new Set((fixture.links ?? []).map(([name]) => name));
    for (const [name] of wrong) expect(sourcesOf(called)).toContain(links.has(name) ? `${name}.id` : name);
  });
});
