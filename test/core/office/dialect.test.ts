import { afterAll, beforeAll, expect, it } from 'vitest';
import { localDateSql } from '../../../src/core/office/dialect.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { type Connection, loadDriver } from '../../../src/sqlite/open.ts';

let database: Connection;
beforeAll(() => {
  // The product opens files alone, and would make one of this name.
  database = new (loadDriver())(':memory:');
});
afterAll(() => database.close());

const HOUR = 3_600_000;

it.each(['America/Denver', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'])(
  'the local date of each hour of four years in %s is that of its calendar',
  (zone) => {
    const [since, until] = ['2024-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z'];
    // The calendar that comes with Node, which the statement does not use.
    const calendar = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    const date = database.prepare(
      `SELECT ${localDateSql('instant', new LocalClock(zone), since, until)} AS date FROM (SELECT ? AS instant)`,
    );
    const wrong: string[] = [];
    for (let at = Date.parse(since); at < Date.parse(until); at += HOUR) {
      const instant = new Date(at).toISOString();
      const found = (date.get(instant) as { date: string }).date;
      if (found !== calendar.format(at)) wrong.push(`${instant}: ${found}`);
    }
    expect(wrong).toEqual([]);
  },
);
